package events

import (
	"context"
	"time"
)

const (
	// Heartbeat is how long a stream is silent at most.
	Heartbeat = 15 * time.Second
)

// Stream is one client's stream.
type Stream struct {
	// Cursor is the id that the client had last; empty for a new one.
	Cursor string
	// Encode gives an event as data of the client's; ok is false for what is none of its business.
	Encode func(e Event) (data []byte, ok bool)
	// Alive says whether the client's credential still works; it is asked with each heartbeat.
	Alive func(ctx context.Context) bool
	// Send writes to the client and flushes.
	Send func(p []byte) error
}

// Serve serves a stream until the client leaves, its credential ends, it falls behind, or the hub ends. First it sends
// "ready", whose id is a cursor from which nothing is missed, or "reset" where the client's cursor is too old or no
// cursor, after which the client reads everything anew.
func (h *Hub) Serve(ctx context.Context, s Stream) error {
	l := h.Listen() // before looking back, so that nothing falls between
	defer l.Close()
	now, err := h.source.Now(ctx)
	if err != nil {
		return err
	}
	sent := make(map[string]bool)
	at, ok := Cursor(s.Cursor)
	switch {
	case s.Cursor == "":
		err = s.Send(Write(mark(now), "ready", []byte("{}")))
	case !ok || now.Sub(at) > Reach || at.Sub(now) > Overlap:
		err = s.Send(Write(mark(now), "reset", []byte("{}")))
	default:
		err = h.catchUp(ctx, s, at, sent)
	}
	if err != nil {
		return err
	}
	beat := time.NewTicker(Heartbeat)
	defer beat.Stop()
	for {
		select {
		case e, open := <-l.Events():
			if !open {
				return nil
			}
			if sent[e.ID()] {
				continue
			}
			if err := s.send(e); err != nil {
				return err
			}
		case <-beat.C:
			if !s.Alive(ctx) {
				return nil
			}
			if err := s.Send([]byte(": still here\n\n")); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mark is the cursor of a moment.
func mark(t time.Time) string { return Event{At: t, Kind: "mark"}.ID() }

// catchUp sends what changed since a client's cursor. What it may have had already comes again, under the same id.
func (h *Hub) catchUp(ctx context.Context, s Stream, at time.Time, sent map[string]bool) error {
	missed, now, err := h.source.Since(ctx, at.Add(-Overlap))
	if err != nil {
		return err
	}
	Sort(missed)
	for _, e := range missed {
		sent[e.ID()] = true
		if err := s.send(e); err != nil {
			return err
		}
	}
	return s.Send(Write(mark(now), "ready", []byte("{}")))
}

func (s Stream) send(e Event) error {
	data, ok := s.Encode(e)
	if !ok {
		return nil
	}
	return s.Send(Write(e.ID(), e.Kind, data))
}
