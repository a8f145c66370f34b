// Package pace makes callers wait their turn: for each host so many in flight at once, and so many begun in any second.
//
// The one rule: the bounds hold whoever gives up meanwhile, and a wait costs nobody behind it more than its own turn.
package pace

import (
	"context"
	"sync"
	"time"
)

// Pace keeps the bounds. It is safe for concurrent use.
type Pace struct {
	inFlight  int
	perSecond int

	mu    sync.Mutex // guards what follows and the lanes' fields
	lanes map[string]*lane
	swept time.Time
}

// lane is one host's share.
type lane struct {
	slots  chan struct{} // one token for each request in flight; nil where that is not bounded
	begun  []time.Time   // the last perSecond beginnings, as a ring; the oldest stands at next
	next   int
	users  int // requests in flight and waiting
	latest time.Time
}

// New makes the bounds of each key: what is in flight at once, and what begins in a second. A bound of 0 or less is none.
func New(inFlight, perSecond int) *Pace {
	return &Pace{inFlight: inFlight, perSecond: perSecond, lanes: map[string]*lane{}}
}

// Enter waits until something for host may begin and returns what to call, once, when it is over. The error is
// that of ctx.
func (p *Pace) Enter(ctx context.Context, host string) (leave func(), err error) {
	l := p.join(host)
	if l.slots != nil {
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
			p.part(l)
			return nil, ctx.Err()
		}
	}
	leave = func() {
		if l.slots != nil {
			<-l.slots
		}
		p.part(l)
	}
	for {
		// A beginning is written down only when it happens: were it reserved ahead, calls that are given up while
		// they wait would push everyone else into the future.
		wait := p.begin(l)
		if wait <= 0 {
			return leave, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			leave()
			return nil, ctx.Err()
		}
	}
}

func (p *Pace) join(host string) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[host]
	if l == nil {
		p.forget()
		l = &lane{}
		if p.inFlight > 0 {
			l.slots = make(chan struct{}, p.inFlight)
		}
		if p.perSecond > 0 {
			l.begun = make([]time.Time, p.perSecond)
		}
		p.lanes[host] = l
	}
	l.users++
	return l
}

// begin notes a beginning, or says how long to wait before asking again.
func (p *Pace) begin(l *lane) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if len(l.begun) > 0 {
		if wait := l.begun[l.next].Add(time.Second).Sub(now); wait > 0 && !l.begun[l.next].IsZero() {
			return wait
		}
		l.begun[l.next] = now
		l.next = (l.next + 1) % len(l.begun)
	}
	l.latest = now
	return 0
}

func (p *Pace) part(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.users--
}

// forget drops the lanes that bound nothing any more, at most once a second. It is called with mu held, when a lane is
// about to be added, so that a crawl over many hosts does not pile them up.
func (p *Pace) forget() {
	now := time.Now()
	if now.Sub(p.swept) < time.Second {
		return
	}
	p.swept = now
	for host, l := range p.lanes {
		if l.users == 0 && now.Sub(l.latest) >= time.Second {
			delete(p.lanes, host)
		}
	}
}
