// Package allowed keeps the private hosts that a person allowed agents to read while the service runs.
//
// The one rule: only a person's command writes here. Each host is checked before it is kept, and a list that cannot be
// read allows nothing.
package allowed

import (
	"context"
	"errors"
	"sync"

	"github.com/wayleave/wayleave/weburl"
)

var (
	// ErrNotFound says that there is no such agent.
	ErrNotFound = errors.New("not found")
	// ErrNotAllowed says that a host that was to be removed is not on the list.
	ErrNotAllowed = errors.New("is not on the list")
)

// Rows keeps the list. Each method is one transaction; by is who changes something, as the audit names actors.
type Rows interface {
	// Hosts gives all hosts in the order in which they were allowed, and the number of configuration writes at that moment.
	// Where that is seen, which the caller read before, it gives no hosts.
	Hosts(ctx context.Context, seen int64) (hosts []Host, epoch int64, err error)
	// Add keeps a host, and gives the one that is kept. ErrNotFound.
	Add(ctx context.Context, h Host, by string) (Host, error)
	// Remove takes a host off the list. ErrNotAllowed.
	Remove(ctx context.Context, host, agent, by string) (Host, error)
	// Import keeps hosts if there is none yet, and says whether it did.
	Import(ctx context.Context, hosts []Host, by string) (bool, error)
}

// Register is the hosts that a person allowed agents to read. It is safe for concurrent use, and asks the database at
// each question whether something changed, by whatever process.
type Register struct {
	rows Rows

	mu    sync.Mutex // guards what follows
	epoch int64      // of hosts; 0: never read
	hosts []Host
	whose map[string]allowance // by agent; made anew with hosts
}

type allowance struct {
	permits []weburl.Permit
	edition string
}

// NewRegister opens the list that rows keep.
func NewRegister(rows Rows) *Register { return &Register{rows: rows} }

// For gives what an agent, by its id, is allowed, and a text that is another one when that changed. The error says why
// nothing can be allowed now. The permits are shared: they are for reading.
func (r *Register) For(ctx context.Context, agent string) (permits []weburl.Permit, edition string, err error) {
	if err := r.refresh(ctx); err != nil {
		return nil, "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a, known := r.whose[agent]
	if !known {
		for _, h := range r.hosts {
			if h.AgentID != "" && h.AgentID != agent {
				continue
			}
			p, err := weburl.ParsePermit(h.Host)
			if err != nil { // it was parsed before it was kept: somebody else wrote here
				return nil, "", err
			}
			a.permits = append(a.permits, p)
			a.edition += p.String() + "\n"
		}
		r.whose[agent] = a
	}
	return a.permits, a.edition, nil
}

// refresh reads the list again if configuration changed.
func (r *Register) refresh(ctx context.Context) error {
	r.mu.Lock()
	seen := r.epoch
	r.mu.Unlock()
	hosts, epoch, err := r.rows.Hosts(ctx, seen)
	if err != nil || epoch == seen {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if epoch > r.epoch { // else somebody read a newer one meanwhile
		r.epoch, r.hosts, r.whose = epoch, hosts, make(map[string]allowance)
	}
	return nil
}

// List gives all hosts in the order in which they were allowed.
func (r *Register) List(ctx context.Context) ([]Host, error) {
	hosts, _, err := r.rows.Hosts(ctx, 0)
	return hosts, err
}

// Allow adds a host for an agent, by its id (empty: for every agent), and gives it as it is kept. One that is there
// already is no error.
func (r *Register) Allow(ctx context.Context, host, agent, by string) (Host, error) {
	p, err := weburl.ParsePermit(host)
	if err != nil {
		return Host{}, err
	}
	return r.rows.Add(ctx, Host{Host: p.String(), AgentID: agent, By: by}, by)
}

// Remove takes a host off the list of an agent, by its id, or off that of every agent.
func (r *Register) Remove(ctx context.Context, host, agent, by string) (Host, error) {
	p, err := weburl.ParsePermit(host)
	if err != nil {
		return Host{}, err
	}
	return r.rows.Remove(ctx, p.String(), agent, by)
}
