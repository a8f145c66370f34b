// This file collects delivery marks.
package ledger

import "sync"

// marks are delivery marks on their way to the rows. They are written together: a commit for each answer would cost as
// much as the call itself.
type marks struct {
	mu      sync.Mutex // guards waiting
	waiting map[answered]Delivery
}

// answered is an answer to a call: whose it was to deliver.
type answered struct{ call, owner string }

func newMarks() *marks { return &marks{waiting: make(map[answered]Delivery)} }

// add puts a mark in line. That an answer was handed over is not taken back by another who did not get it.
func (m *marks) add(k Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if of := (answered{k.Call, k.Owner}); m.waiting[of] != HandedOver {
		m.waiting[of] = k.Delivery
	}
}

// take gives all that wait.
func (m *marks) take() []Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Mark, 0, len(m.waiting))
	for of, d := range m.waiting {
		out = append(out, Mark{Call: of.call, Owner: of.owner, Delivery: d})
	}
	clear(m.waiting)
	return out
}
