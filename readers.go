// This file gives each agent what reads for it: a fetcher of its own, with what a person allowed it.
package wayleave

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// readers make what reads for each agent: a fetcher with the agent's own politeness and what a person allowed it.
type readers struct {
	o       Options
	allowed *allowed.Register
	log     *slog.Logger

	mu   sync.Mutex // guards what follows
	byID map[string]*agentReader
	told string // the last complaint about allowed, so that it is logged once
}

type agentReader struct {
	politeness *webfetch.Politeness
	robots     *webfetch.Robots // what sites told this agent alone
	edition    string           // of what was allowed when fetcher was made
	fetcher    source
}

// permits are what a person allowed the agent. A list that cannot be read allows nothing: what is public is read on,
// and the log says why private hosts are refused.
func (r *readers) permits(id string) (permits []weburl.Permit, edition string) {
	permits, edition, err := r.allowed.For(context.Background(), id)
	complaint := ""
	if err != nil {
		complaint = err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if complaint != r.told {
		r.told = complaint
		if err != nil {
			r.log.Error("the list of allowed hosts cannot be read; nothing on it is allowed", "error", err)
		} else {
			r.log.Info("the list of allowed hosts can be read again")
		}
	}
	return permits, edition
}

// source gives an agent's fetcher, made anew when a person changed what it may read.
func (r *readers) source(id string) (webfetch.Source, error) {
	permits, edition := r.permits(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.byID[id]
	if a == nil {
		a = &agentReader{politeness: webfetch.NewPoliteness(r.o.PerHost, r.o.PerHostSecond), robots: r.o.Fetch.Robots.Apart()}
		r.byID[id] = a
	}
	if a.fetcher.Fetcher != nil && a.edition == edition {
		return a.fetcher, nil
	}
	var policy weburl.Policy
	if r.o.Fetch.Policy != nil {
		policy = *r.o.Fetch.Policy
	}
	policy.Permitted = slices.Concat(policy.Permitted, permits)
	o := r.o.Fetch
	o.Policy, o.Dialer, o.Politeness, o.Robots = nil, &weburl.Dialer{Policy: &policy, Listeners: r.o.Listeners}, a.politeness, a.robots
	fetcher, err := webfetch.Direct(o)
	if err != nil {
		return nil, err
	}
	a.fetcher, a.edition = source{fetcher, &weburl.Dialer{Policy: &weburl.Policy{AllowPrivateHosts: true}, Listeners: r.o.Listeners}}, edition
	return a.fetcher, nil
}

// source is a fetcher that gives no advice which would not help: the service's own listeners are never read, whatever a
// person permits.
type source struct {
	*webfetch.Fetcher
	own *weburl.Dialer // refuses what no permit lifts
}

func (s source) Check(req webfetch.Request) error { return s.judged(s.Fetcher.Check(req)) }

func (s source) Fetch(ctx context.Context, req webfetch.Request) (*webfetch.Page, error) {
	page, err := s.Fetcher.Fetch(ctx, req)
	return page, s.judged(err)
}

func (s source) Refetch(ctx context.Context, req webfetch.Request, kept *webfetch.Page) (*webfetch.Page, error) {
	page, err := s.Fetcher.Refetch(ctx, req, kept)
	return page, s.judged(err)
}

func (s source) judged(err error) error {
	var refused *webfetch.Error
	if !errors.As(err, &refused) || !refused.PrivateHost {
		return err
	}
	u, bad := weburl.Parse(refused.URL)
	if bad != nil || s.own.CheckURL(u) == nil {
		return err
	}
	final := *refused
	final.PrivateHost = false
	return &final
}
