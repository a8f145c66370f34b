// This file knows the calls that are in flight in this process.
package ledger

import (
	"time"
)

// enter adds a call; false when the process is ending.
func (l *Ledger) enter(c *Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[c.record.ID] = c
	return !l.closing
}

// forget drops a call whose delivery mark is written, and wakes who waited for it.
func (l *Ledger) forget(id string) {
	l.mu.Lock()
	c := l.calls[id]
	delete(l.calls, id)
	l.mu.Unlock()
	if c != nil {
		c.shout()
		l.leftFlight()
	}
}

// leftFlight tells a drain to count again.
func (l *Ledger) leftFlight() {
	select {
	case l.quiet <- struct{}{}:
	default:
	}
}

// inFlight are the calls that are not settled.
func (l *Ledger) inFlight() []*Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*Call
	for _, c := range l.calls {
		if !c.over() {
			out = append(out, c)
		}
	}
	return out
}

// revokeAll ends what calls in flight were permitted.
func (l *Ledger) revokeAll(cause error) {
	for _, c := range l.inFlight() {
		c.stop(cause)
	}
}

// drain ends the admissions and waits for what is in flight: first for settling, then a moment for delivery.
func (l *Ledger) drain() {
	l.mu.Lock()
	l.closing = true
	close(l.stopped)
	l.mu.Unlock()

	unsettled := func() bool { return len(l.inFlight()) > 0 }
	if l.waitWhile(unsettled, l.o.Drain) {
		l.o.Log.Warn("calls in flight are stopped, since the process ends", "calls", len(l.inFlight()))
		l.revokeAll(ErrClosing)
		if l.waitWhile(unsettled, bound) {
			l.o.Log.Error("calls are left to a sweep", "calls", len(l.inFlight()))
		}
	}
	l.waitWhile(func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.calls) > 0
	}, handOver)
}

// waitWhile waits until busy is false and gives false; true when the time is over first.
func (l *Ledger) waitWhile(busy func() bool, atMost time.Duration) bool {
	t := time.NewTimer(atMost)
	defer t.Stop()
	for busy() {
		select {
		case <-l.quiet:
		case <-t.C:
			return busy()
		}
	}
	return false
}
