// This file is which run a call belongs to.
package tool

import (
	"context"
	"errors"
	"sync"

	"github.com/wayleave/wayleave/internal/ledger"
)

// place is the run of a call: the one that is named, else the session's, else the implicit one of agent, token and client.
func (p *Pipeline) place(ctx context.Context, c Caller) (ledger.Run, error) {
	var run ledger.Run
	var err error
	switch {
	case c.Run != "":
		run, err = p.o.Ledger.NamedRun(ctx, c.Agent, c.Run)
	case c.SessionRun != "":
		run, err = p.o.Ledger.NamedRun(ctx, c.Agent, c.SessionRun)
	case c.Session != "":
		run, err = p.o.Ledger.SessionRun(ctx, c.Agent, c.Session, c.client())
	default:
		run, err = p.o.Ledger.ImplicitRun(ctx, c.Agent, c.Token, c.client())
	}
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return ledger.Run{}, ErrUnknownRun
	case err != nil:
		return ledger.Run{}, faultOf(ctx, err)
	}
	return run, nil
}

// client is by what its runs are known.
func (c Caller) client() ledger.Client { return ledger.Client{Name: c.Client, UserAgent: c.UserAgent} }

// knownAtMost is how many implicit runs a process remembers.
const knownAtMost = 4096

// implicitRuns are the implicit runs that callers were found to have. What is remembered may be over by now: it spares
// most calls a question to the database, and answers none.
type implicitRuns struct {
	mu sync.Mutex
	of map[implicitKey]ledger.Run
}

type implicitKey struct{ agent, token, client string }

func keyOf(c Caller) (key implicitKey, implicit bool) {
	return implicitKey{c.Agent, c.Token, c.Client}, c.Run == "" && c.SessionRun == "" && c.Session == ""
}

func (k *implicitRuns) get(c Caller) (ledger.Run, bool) {
	key, implicit := keyOf(c)
	if !implicit {
		return ledger.Run{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	run, known := k.of[key]
	return run, known
}

func (k *implicitRuns) put(c Caller, run ledger.Run) {
	key, implicit := keyOf(c)
	if !implicit {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || len(k.of) >= knownAtMost {
		k.of = make(map[implicitKey]ledger.Run)
	}
	k.of[key] = run
}

// settle puts a call whose run was remembered into the one that it has now, and says whether that is another one. Only a
// call that nothing stands in the way of does without: so nothing is refused, or written down, in a run that is over.
func (q *inquiry) settle(ctx context.Context) (moved bool, err error) {
	if !q.remembered {
		return false, nil
	}
	run, err := q.place(ctx, q.c)
	if err != nil {
		return false, err
	}
	q.remembered = false
	q.known.put(q.c, run)
	moved = run.ID != q.run.ID
	q.run, q.ask.Run, q.ask.Audience = run, run.ID, run.Audience
	return moved, nil
}
