package pace

import "context"

// Turns lets so many do something at once; the others wait, first come first served. nil bounds nothing.
type Turns chan struct{}

// NewTurns makes the bound; 0 or less is none.
func NewTurns(atOnce int) Turns {
	if atOnce <= 0 {
		return nil
	}
	return make(Turns, atOnce)
}

// Take waits for a turn and returns what to call, once, when it is over. The error is that of ctx.
func (t Turns) Take(ctx context.Context) (leave func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
