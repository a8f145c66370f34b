package tooltest

import (
	"context"
	"errors"
	"sync"
)

// Points at which a script may act, in the order in which a call passes them. Inputs of an effect have points of their
// own: Input(1), Input(2), each before it is sent.
const (
	Look = "look" // the look ahead
	Gate = "gate" // before the right to send is asked for
	Open = "open" // the right is had and not used yet
	Sent = "sent" // all was sent
	End  = "end"  // the answer is there
)

// Input is the point before an effect's n-th input, counted from 1.
func Input(n int) string { return "input " + string(rune('0'+n)) }

// What a script may give back. Any other error is a fault of the capability.
var (
	// ErrCovered, at Gate: a known refusal before any input.
	ErrCovered = errors.New("something lies above the target")
	// ErrBroken, at an Input or Sent: the connection broke, and nobody knows what arrived.
	ErrBroken = errors.New("the connection broke")
	// ErrUnseen, at Sent: all was sent, and what followed could not be looked at.
	ErrUnseen = errors.New("the page could not be read")
	// ErrFailed, at Sent of a query or observation: the other side answered with an error.
	ErrFailed = errors.New("the other side failed")
)

// Script is what tools do at each point beside their work. The zero Script does nothing. It is safe for concurrent use.
type Script struct {
	mu sync.Mutex
	at map[string]func(ctx context.Context) error
}

// At makes every later call act at a point: it may block until ctx ends, panic, or give an error. nil does nothing.
func (s *Script) At(point string, do func(ctx context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at = make(map[string]func(context.Context) error)
	}
	s.at[point] = do
}

func (s *Script) reach(ctx context.Context, point string) error {
	s.mu.Lock()
	do := s.at[point]
	s.mu.Unlock()
	if do == nil {
		return nil
	}
	return do(ctx)
}

// Stop is a point's act that stops there: Reached is closed when the first call comes, and the call goes on when Go is
// called or its context ends, which is the error then.
type Stop struct {
	Reached chan struct{}
	once    sync.Once
	on      chan struct{}
}

// NewStop makes a stop.
func NewStop() *Stop { return &Stop{Reached: make(chan struct{}), on: make(chan struct{})} }

// Do is the act.
func (s *Stop) Do(ctx context.Context) error {
	s.once.Do(func() { close(s.Reached) })
	select {
	case <-s.on:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Go lets all calls go on. It is called once.
func (s *Stop) Go() { close(s.on) }
