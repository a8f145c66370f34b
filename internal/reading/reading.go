// Package reading is the read capability of the service: the library's fetch, and the pages that were read kept so that
// reading on reads the same page.
//
// The one rule: what one caller read, no other caller is ever answered from, neither its text nor the time it takes. A
// kept page belongs to one agent, one token and one connection.
package reading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/webfetch"
)

// PerMinute is how many fetches an agent has in a minute where no provider's account is spent.
const PerMinute = 600

// atOnce is how many fetches of one agent are under way at a time; more wait. It bounds what bodies and trees of one
// agent take of the memory that all share.
const atOnce = 32

// Caller is who reads: kept pages are theirs alone.
type Caller struct{ Agent, TokenID, Connection string }

// Options of a reader.
type Options struct {
	// Sources gives the source that reads for an agent now; it is asked at each fetch. Required.
	Sources func(agent string) (webfetch.Source, error)
	// Description replaces what a model sees of the tool; empty means the built-in one.
	Description string
	// PermitCommand and Abilities are what answers may name; see webfetch.AnswerOptions.
	PermitCommand string
	Abilities     webfetch.Abilities
	// PageChars bounds a window in code points, beside the model's max_bytes; 0 means the library's default.
	PageChars int
	// PerMinute bounds an agent's fetches; 0 means the constant PerMinute.
	PerMinute int
	// Bounds of kept pages; zero fields mean their defaults.
	Bounds Bounds
	// Now gives the time; nil means the system's clock.
	Now func() time.Time
}

// Reader is the web_fetch tool of the service. It is safe for concurrent use.
type Reader struct {
	o     Options
	shelf *shelf

	mu     sync.Mutex
	agents map[string]*reader
}

// reader is what bounds one agent.
type reader struct {
	slots chan struct{}

	mu     sync.Mutex
	minute time.Time // the minute that used counts
	used   int
}

// New makes a reader. It starts nothing.
func New(o Options) (*Reader, error) {
	if o.Sources == nil {
		return nil, errors.New("reading: no sources")
	}
	if o.PerMinute == 0 {
		o.PerMinute = PerMinute
	}
	if o.PerMinute < 0 {
		return nil, fmt.Errorf("reading: %d fetches a minute", o.PerMinute)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Reader{o: o, shelf: newShelf(o.Bounds, o.Now), agents: make(map[string]*reader)}, nil
}

// Definition is the tool as a tool list shows it.
func (r *Reader) Definition() agenttool.Tool {
	return webfetch.Definition(r.o.Description, r.o.Abilities)
}

// Run drops kept pages whose time is over, until ctx ends. Without it they go at the next read.
func (r *Reader) Run(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.shelf.expire()
		}
	}
}

// Call runs one web_fetch call. A call that begins a page (offset 0, no find) fetches it; one that reads on reads the
// kept page and sends nothing. The error is the caller's own cancellation, or a fault of ours.
func (r *Reader) Call(ctx context.Context, c Caller, arguments json.RawMessage) (agenttool.Result, error) {
	if err := ctx.Err(); err != nil {
		return agenttool.Result{}, err
	}
	a, err := webfetch.ParseArguments(arguments, r.o.Abilities)
	if err != nil {
		return r.failed(err), nil
	}
	key := pageKey{Caller: c, url: withoutFragment(a.URL), format: a.Format}
	if a.Offset > 0 || a.Find != "" {
		if page, snapshot, ok := r.shelf.take(key); ok {
			return r.answer(page, a, snapshot, nil), nil
		}
	}
	source, err := r.o.Sources(c.Agent)
	if err != nil {
		return agenttool.Result{}, fmt.Errorf("source of agent %s: %w", c.Agent, err)
	}
	page, refused, err := r.agent(c.Agent).fetch(ctx, source, a.Request(), r.o)
	switch {
	case refused != nil:
		return *refused, nil
	case err != nil && ctx.Err() != nil:
		return agenttool.Result{}, ctx.Err()
	case err != nil:
		return r.failed(err), nil
	}
	kept := r.shelf.put(key, page)
	return r.answer(page, a, kept.snapshot, notes(a, kept)), nil
}

func (r *Reader) agent(slug string) *reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	me := r.agents[slug]
	if me == nil {
		me = &reader{slots: make(chan struct{}, atOnce)}
		r.agents[slug] = me
	}
	return me
}

// fetch asks the source, within the agent's limits. A URL that is refused costs nothing, and is refused as such even
// where the minute is used up.
func (me *reader) fetch(ctx context.Context, source webfetch.Source, req webfetch.Request, o Options) (*webfetch.Page, *agenttool.Result, error) {
	if judge, ok := source.(interface {
		Check(webfetch.Request) error
	}); ok {
		if err := judge.Check(req); err != nil {
			return nil, nil, err
		}
	}
	if wait, ok := me.admit(o.Now(), o.PerMinute); !ok {
		refused := rateLimited(o.PerMinute, wait)
		return nil, &refused, nil
	}
	select {
	case me.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	defer func() { <-me.slots }()
	page, err := source.Fetch(ctx, req)
	return page, nil, err
}

// admit counts one fetch. Where the minute is used up it says how long until the next begins.
func (me *reader) admit(now time.Time, perMinute int) (wait time.Duration, ok bool) {
	me.mu.Lock()
	defer me.mu.Unlock()
	minute := now.Truncate(time.Minute)
	if !minute.Equal(me.minute) {
		me.minute, me.used = minute, 0
	}
	if me.used >= perMinute {
		return minute.Add(time.Minute).Sub(now), false
	}
	me.used++
	return 0, true
}

func (r *Reader) answer(p *webfetch.Page, a webfetch.Arguments, snapshot int, notes []webfetch.Note) agenttool.Result {
	shown := *p
	shown.RequestedURL = a.URL // of this call: a page may be read on under the address that it was found at
	return webfetch.Answer(&shown, a, webfetch.AnswerOptions{PageChars: r.o.PageChars,
		Notes: notes, Snapshot: snapshot, PermitCommand: r.o.PermitCommand, Abilities: r.o.Abilities})
}

func (r *Reader) failed(err error) agenttool.Result {
	return webfetch.ErrorResult(err, webfetch.AnswerOptions{PermitCommand: r.o.PermitCommand, Abilities: r.o.Abilities})
}

// notes say what a model must know of a page that is not the one it read before.
func notes(a webfetch.Arguments, k kept) []webfetch.Note {
	switch {
	case a.Offset > 0 || a.Find != "" && k.known:
		fact := "the page that was read before is gone; it was fetched anew"
		if k.changed {
			fact += fmt.Sprintf(" and differs; snapshot %d", k.snapshot)
		}
		return []webfetch.Note{{Kind: "reread", Fact: fact, Data: map[string]any{"snapshot": k.snapshot}}}
	case k.changed:
		return []webfetch.Note{{Kind: "snapshot", Fact: fmt.Sprintf("the page was fetched anew and differs; snapshot %d", k.snapshot),
			Data: map[string]any{"snapshot": k.snapshot}}}
	}
	return nil
}

func withoutFragment(url string) string {
	url, _, _ = strings.Cut(url, "#")
	return url
}
