// This file bounds what one credential may do at once or in a minute in this process. What must hold across processes is
// the ledger's.
package gate

import (
	"sync"
	"time"
)

// Minute bounds how often a key may do something in a minute of its own.
type Minute struct {
	most int
	now  func() time.Time

	mu    sync.Mutex
	began time.Time
	used  map[string]int
}

func NewMinute(most int, now func() time.Time) *Minute {
	return &Minute{most: most, now: now, used: make(map[string]int)}
}

// Take counts one; it says how long to wait where the minute is used up.
func (m *Minute) Take(key string) (wait time.Duration, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if now.Sub(m.began) >= time.Minute {
		m.began, m.used = now, make(map[string]int) // the map is bounded by what comes in a minute
	}
	if m.used[key] >= m.most {
		return m.began.Add(time.Minute).Sub(now), false
	}
	m.used[key]++
	return 0, true
}

// AtOnce bounds how many a key may have at the same time.
type AtOnce struct {
	most int

	mu sync.Mutex
	n  map[string]int
}

func NewAtOnce(most int) *AtOnce { return &AtOnce{most: most, n: make(map[string]int)} }

// Enter takes one; leave gives it back.
func (a *AtOnce) Enter(key string) (leave func(), ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n[key] >= a.most {
		return nil, false
	}
	a.n[key]++
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.n[key]--; a.n[key] == 0 {
			delete(a.n, key)
		}
	}), true
}
