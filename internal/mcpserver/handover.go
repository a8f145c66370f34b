// This file knows whether the answer to a call reached its transport: the ledger treats a call whose caller left
// before the answer otherwise than one whose answer was given.
package mcpserver

import (
	"encoding/json"
	"sync"
)

// handover collects the calls that one HTTP request carries.
type handover struct {
	out *reply // where its answers go; nil where it is over

	mu      sync.Mutex
	over    bool
	waiting []func(handedOver bool)
}

// add has f told how it ended; at once where the request is over already, since its answer cannot be read any more.
func (h *handover) add(f func(bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		f(false)
		return
	}
	h.waiting = append(h.waiting, f)
}

// say sends a message of ours on the request's stream, and says whether it was sent.
func (h *handover) say(message []byte) bool {
	return h.out != nil && h.out.event(message) == nil
}

// end tells all of them.
func (h *handover) end(handedOver bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	for _, f := range h.waiting {
		f(handedOver)
	}
	h.waiting = nil
}

// handovers are those of the requests under way, by the request's id: the library hands a call's handler the header of
// its request and nothing else of it.
type handovers struct {
	mu   sync.Mutex
	byID map[string]*handover
}

func (h *handovers) open(id string, out *reply) *handover {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byID == nil {
		h.byID = make(map[string]*handover)
	}
	one := &handover{out: out}
	h.byID[id] = one
	return one
}

func (h *handovers) close(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.byID, id)
}

// of gives a request's handover; one that is over where the request is.
func (h *handovers) of(id string) *handover {
	h.mu.Lock()
	defer h.mu.Unlock()
	if one := h.byID[id]; one != nil {
		return one
	}
	return &handover{over: true}
}

// piped are the calls over pipes whose answers were not written yet, by the call's id.
type piped struct {
	send func(line []byte) error // writes a message of ours; set before the first call

	mu      sync.Mutex
	waiting map[string]func(bool)
}

// say writes a message of ours, and says whether it was written.
func (p *piped) say(message []byte) bool { return p.send != nil && p.send(message) == nil }

func (p *piped) add(call string, f func(bool)) {
	if call == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == nil {
		p.waiting = make(map[string]func(bool))
	}
	p.waiting[call] = f
}

// written finds whose answer a result is.
func (p *piped) written(result json.RawMessage, handedOver bool) {
	var r struct {
		Meta struct {
			Call string `json:"wayleave/call"`
		} `json:"_meta"`
	}
	if json.Unmarshal(result, &r) != nil || r.Meta.Call == "" {
		return
	}
	p.mu.Lock()
	f := p.waiting[r.Meta.Call]
	delete(p.waiting, r.Meta.Call)
	p.mu.Unlock()
	if f != nil {
		f(handedOver)
	}
}

// end tells those that were never answered.
func (p *piped) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.waiting {
		f(false)
	}
	p.waiting = nil
}
