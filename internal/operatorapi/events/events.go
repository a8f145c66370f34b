// Package events tells live pages what changed: it reads rows by their times, with an overlap, since the order of commits
// is not that of times; tells each change once to whoever listens; and lets a listener go on after a cut.
//
// The one rule: an event has ids and states, never a word of a page, and one change has one id in every process. After a
// cut a change may be told again; none is left out.
package events

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// Overlap is how far back each look reaches behind the one before: longer than a transaction lasts.
	Overlap = 5 * time.Second
	// Reach is how old a cursor may be. Beyond it a listener is told to read everything anew.
	Reach = 10 * time.Minute
	// every is the time between looks while somebody listens.
	every = time.Second
	// buffer is how many events a listener may be behind; one that is further behind starts anew.
	buffer = 512
)

// Event is one change. Agent is an id.
type Event struct {
	At                           time.Time // by the database's clock
	Kind, Row, Agent, Run, Stage string
	State                        string
	Version, Seq                 int64
}

// ID is the event's id: the same in every process that sees the change.
func (e Event) ID() string {
	return strconv.FormatInt(e.At.UnixMicro(), 10) + "." + e.Kind + "." + e.Row + "." + e.Stage
}

// Cursor is the place in time that an id stands for; ok is false for what is no id of ours.
func Cursor(id string) (at time.Time, ok bool) {
	if len(id) > 200 {
		return time.Time{}, false
	}
	digits, _, _ := strings.Cut(id, ".")
	us, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || us <= 0 || len(digits) > 18 {
		return time.Time{}, false
	}
	return time.UnixMicro(us), true
}

// Source is where changes are read.
type Source interface {
	// Since lists what changed since a time of the database's clock, and says what that clock shows now.
	Since(ctx context.Context, t time.Time) ([]Event, time.Time, error)
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Hub looks for changes while somebody listens. It is safe for concurrent use.
type Hub struct {
	source Source
	log    *slog.Logger
	wake   chan struct{}

	mu        sync.Mutex
	listeners map[*Listener]bool
	closed    bool
}

// New makes a hub. Without Run nobody is told anything.
func New(source Source, log *slog.Logger) *Hub {
	return &Hub{source: source, log: log, wake: make(chan struct{}, 1), listeners: make(map[*Listener]bool)}
}

// Listener gets events until it is closed.
type Listener struct {
	hub *Hub
	c   chan Event
}

// Events gives the events; it is closed when the listener fell too far behind, or the hub ended.
func (l *Listener) Events() <-chan Event { return l.c }

// Close ends it.
func (l *Listener) Close() { l.hub.drop(l) }

// Listen begins to listen.
func (h *Hub) Listen() *Listener {
	l := &Listener{hub: h, c: make(chan Event, buffer)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(l.c)
		return l
	}
	h.listeners[l] = true
	select {
	case h.wake <- struct{}{}:
	default:
	}
	return l
}

func (h *Hub) drop(l *Listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listeners[l] {
		delete(h.listeners, l)
		close(l.c)
	}
}

func (h *Hub) watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners) > 0
}

// Run looks for changes until ctx ends; then it ends all listeners.
func (h *Hub) Run(ctx context.Context) {
	defer h.end()
	for {
		select {
		case <-h.wake:
		case <-ctx.Done():
			return
		}
		h.look(ctx)
	}
}

func (h *Hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for l := range h.listeners {
		delete(h.listeners, l)
		close(l.c)
	}
}

// look tells what changes while somebody listens.
func (h *Hub) look(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	told := make(map[string]time.Time)
	var since time.Time
	for h.watched() {
		var err error
		if since.IsZero() {
			since, err = h.source.Now(ctx)
		}
		if err == nil {
			since, err = h.tell(ctx, since, told)
		}
		if err != nil && ctx.Err() == nil {
			h.log.Error("look for changes", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// tell tells what changed since a time and was not told before. It gives the time from which to look on.
func (h *Hub) tell(ctx context.Context, since time.Time, told map[string]time.Time) (time.Time, error) {
	found, now, err := h.source.Since(ctx, since.Add(-Overlap))
	if err != nil {
		return since, err
	}
	Sort(found)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range found {
		if _, old := told[e.ID()]; old {
			continue
		}
		told[e.ID()] = now
		for l := range h.listeners {
			select {
			case l.c <- e:
			default: // it does not read; it begins anew with its cursor
				delete(h.listeners, l)
				close(l.c)
			}
		}
	}
	for id, at := range told {
		if now.Sub(at) > 4*Overlap { // no look reaches it any more
			delete(told, id)
		}
	}
	return now, nil
}

// Sort puts events in the order of their times, and of their ids where these are equal.
func Sort(es []Event) {
	slices.SortStableFunc(es, func(a, b Event) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID(), b.ID())) })
}

// Write gives an event as a server-sent one. data is one line.
func Write(id, kind string, data []byte) []byte {
	return fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", id, kind, data)
}
