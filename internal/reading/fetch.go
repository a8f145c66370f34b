// Package reading is the read capability of the service: the library's fetch, and the pages that were read kept so that
// reading on reads the same page.
//
// The one rule: what one run read, no other run is ever answered from, neither its text nor the time it takes.
package reading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// atOnce is how many fetches of one agent are under way in a process; more wait. It bounds what bodies and trees of one
// agent take of the memory that all share.
const atOnce = 32

// waitBound is how long a call may wait for its turn at a host, beside the time of the fetch itself.
const waitBound = 30 * time.Second

// Options of the capability.
type Options struct {
	// Sources gives the source that reads for an agent, by its id, now; it is asked at each fetch. Required.
	Sources func(agent string) (webfetch.Source, error)
	// Shelf keeps pages. Required.
	Shelf Shelf
	// Digest gives the name under which a page is kept: keyed, so that no address can be read from it. Required.
	Digest func(parts ...string) string
	// Timeout is how long a fetch takes at most; 0 means the library's default.
	Timeout time.Duration
	// Description replaces what a model sees of the tool; empty means the built-in one.
	Description string
	// PermitCommand, RobotsSetting and Abilities are what answers may name; see webfetch.AnswerOptions.
	PermitCommand string
	RobotsSetting string
	Abilities     webfetch.Abilities
	// PageChars bounds a window in code points, beside the model's max_bytes; 0 means the library's default.
	PageChars int
}

// Reader is the read capability. It is safe for concurrent use.
type Reader struct {
	o Options

	mu    sync.Mutex
	slots map[string]chan struct{} // by agent
}

// New makes a reader. It starts nothing.
func New(o Options) (*Reader, error) {
	switch {
	case o.Sources == nil:
		return nil, errors.New("reading: no sources")
	case o.Shelf == nil:
		return nil, errors.New("reading: no shelf")
	case o.Digest == nil:
		return nil, errors.New("reading: no digest")
	}
	if o.Timeout == 0 {
		o.Timeout = webfetch.DefaultTimeout
	}
	return &Reader{o: o, slots: make(map[string]chan struct{})}, nil
}

// Definition is the tool as a tool list shows it, where other tools may be offered beside it.
func (r *Reader) Definition(with webfetch.Abilities) agenttool.Tool {
	return webfetch.Definition(r.o.Description, r.abilities(with))
}

func (r *Reader) abilities(with webfetch.Abilities) webfetch.Abilities {
	with.Documents, with.MainContent = r.o.Abilities.Documents, r.o.Abilities.MainContent
	return with
}

// Place is where a call stands: whose it is, in which run.
type Place struct {
	Agent string // id
	Run   string // id
	Call  string // id; empty before admission
	// Browser and WebSearch say which tools are offered beside this one: a text names no other.
	Browser, WebSearch bool
}

func (at Place) abilities() webfetch.Abilities {
	return webfetch.Abilities{Browser: at.Browser, WebSearch: at.WebSearch}
}

// Fetch is one call with valid arguments. It is for one goroutine.
type Fetch struct {
	r    *Reader
	args webfetch.Arguments
	kept *Kept // the page that Look found kept
	own  named // of the address that was asked for, once it was wanted
}

// Parse reads arguments strictly. What is wrong with them is a result for the model.
func (r *Reader) Parse(arguments json.RawMessage) (*Fetch, *agenttool.Result) {
	a, err := webfetch.ParseArguments(arguments, r.o.Abilities)
	if err != nil {
		bad := r.failed(err, Place{})
		return nil, &bad
	}
	return &Fetch{r: r, args: a}, nil
}

// Canonical is the arguments with defaults filled in, as JSON with sorted members.
func (f *Fetch) Canonical() json.RawMessage {
	out, err := json.Marshal(map[string]any{"content": f.args.Content, "find": f.args.Find, "format": f.args.Format, "links": f.args.Links,
		"max_bytes": f.args.MaxBytes, "offset": f.args.Offset, "url": f.args.URL})
	if err != nil { // strings and numbers only: cannot be
		return nil
	}
	return out
}

// Source is where the call goes: the canonical address and its host.
func (f *Fetch) Source() ledger.Source {
	if f.asked().host == "" {
		return ledger.Source{}
	}
	return ledger.Source{Host: f.own.host, URL: f.own.url}
}

// Bound is how long the call may take.
func (f *Fetch) Bound() time.Duration { return f.r.o.Timeout + waitBound }

// Kept says whether Look found the page kept, so that nothing will be sent.
func (f *Fetch) Kept() bool { return f.kept != nil }

// Look judges the address, and finds the page if the call reads on in one that is kept. The result is a refusal. What may
// not be read now is not read on either, though it was kept when it might.
func (f *Fetch) Look(ctx context.Context, at Place) (*agenttool.Result, error) {
	source, err := f.r.o.Sources(at.Agent)
	if err != nil {
		return nil, fmt.Errorf("source of agent %s: %w", at.Agent, err)
	}
	judge, ok := source.(interface {
		Check(webfetch.Request) error
	})
	if ok {
		if err := judge.Check(f.args.Request()); err != nil {
			refused := f.r.failed(err, at)
			return &refused, nil
		}
	}
	if f.args.Offset == 0 && f.args.Find == "" {
		return nil, nil
	}
	kept, err := f.r.o.Shelf.Take(ctx, at.Run, f.asked().key)
	if err != nil {
		return nil, fmt.Errorf("look for a kept page: %w", unkept(ctx, err))
	}
	if kept == nil {
		return nil, nil
	}
	if came := f.args.Request(); ok && kept.Page.FinalURL != "" {
		if came.URL = kept.Page.FinalURL; judge.Check(came) != nil {
			return nil, nil // it is fetched anew, and refused where it leads
		}
	}
	f.kept = kept
	return nil, nil
}

// Answer is what a call gave.
type Answer struct {
	Result   agenttool.Result
	Output   json.RawMessage // the host's record; nil for a failure
	Code     string          // of a failure
	Evidence []ledger.Evidence
	// Sent says that the permit was opened.
	Sent bool
	// Why says why it went so, where outcome and code do not: in words of ours, for the call's record.
	Why string
}

// Read answers an admitted call: from the page that Look found, else by fetching. gate gives the permit, which is opened
// just before the source is asked. The error is a cancelled context's own, or a fault of ours.
func (f *Fetch) Read(ctx context.Context, at Place, gate func(context.Context) (ledger.Permit, error)) (Answer, error) {
	if f.kept != nil {
		a := f.answer(f.kept.Page, at, Put{Snapshot: f.kept.Snapshot}, nil, false)
		a.Why = "answered from the page that is kept for this run, so nothing was sent"
		return a, nil
	}
	source, err := f.r.o.Sources(at.Agent)
	if err != nil {
		return Answer{}, fmt.Errorf("source of agent %s: %w", at.Agent, err)
	}
	slots := f.r.slotsOf(at.Agent)
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	defer func() { <-slots }()
	ask, err := f.asking(ctx, at, source)
	if err != nil {
		return Answer{}, err
	}
	permit, err := gate(ctx)
	if err != nil {
		return Answer{}, err
	}
	sending, err := permit.Open(ctx)
	if err != nil {
		return Answer{}, err
	}
	page, err := ask(sending)
	switch {
	case err != nil && sending.Err() != nil:
		return Answer{Sent: true}, context.Cause(sending)
	case err != nil:
		return Answer{Result: f.r.failed(err, at), Code: codeOf(err), Sent: true, Why: whyOf(err)}, nil
	}
	// It is paid for, whether its caller has left or not, and cannot be asked for again in this call.
	put, err := f.r.o.Shelf.Put(context.WithoutCancel(ctx), at, f.keys(page), page)
	if err != nil {
		return Answer{Sent: true}, fmt.Errorf("keep the page: %w", unkept(context.WithoutCancel(ctx), err))
	}
	a := f.answer(page, at, put, notes(f.args, put), true)
	a.Why = whyRead(page)
	return a, nil
}

// asking says how the source is asked: for a page that the run still keeps, only whether it still holds, where the source
// can ask that and the site said how.
func (f *Fetch) asking(ctx context.Context, at Place, source webfetch.Source) (func(context.Context) (*webfetch.Page, error), error) {
	again, able := source.(interface {
		Refetch(context.Context, webfetch.Request, *webfetch.Page) (*webfetch.Page, error)
	})
	if !able {
		return func(ctx context.Context) (*webfetch.Page, error) { return source.Fetch(ctx, f.args.Request()) }, nil
	}
	kept, err := f.r.o.Shelf.Tagged(ctx, at.Run, f.asked().key)
	if err != nil {
		return nil, fmt.Errorf("look for a kept page: %w", unkept(ctx, err))
	}
	var page *webfetch.Page
	if kept != nil {
		page = kept.Page
	}
	return func(ctx context.Context) (*webfetch.Page, error) { return again.Refetch(ctx, f.args.Request(), page) }, nil
}

// unkept says that a shelf which did not answer is a fault of the database and not of the call. A caller that left is neither.
func unkept(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, ledger.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w: %w", ledger.ErrStore, err)
}

func (f *Fetch) answer(p *webfetch.Page, at Place, put Put, extra []webfetch.Note, sent bool) Answer {
	shown := *p
	shown.RequestedURL = f.args.URL // of this call: a page may be read on under the address that it was found at
	o := webfetch.AnswerOptions{PageChars: f.r.o.PageChars, Notes: extra, Snapshot: put.Snapshot, PermitCommand: f.r.o.PermitCommand, Abilities: f.r.abilities(at.abilities())}
	w := webfetch.ReadWindow(&shown, f.args, o)
	return Answer{Result: webfetch.WindowResult(w, o), Output: output(w, put.Snapshot), Sent: sent, Evidence: f.evidence(p, put.SHA256)}
}

// named is an address in its canonical spelling without its fragment, its host, and the name under which its page is kept.
// An address that is none has no host.
type named struct{ url, host, key string }

// asked is that of the address that was asked for.
func (f *Fetch) asked() named {
	if f.own.url == "" {
		f.own = f.name(f.args.URL)
	}
	return f.own
}

func (f *Fetch) name(url string) (n named) {
	if u, err := weburl.Parse(url); err == nil {
		url, n.host = u.String(), u.Host()
	}
	n.url, n.key = withoutFragment(url), f.key(url)
	return n
}

// key is the name under which the page of an address is kept: a main part, or a text with links, is a text of its own.
func (f *Fetch) key(canonical string) string {
	asked := f.args.Request()
	return f.r.o.Digest("page", withoutFragment(canonical), string(asked.Format), string(asked.Content), strconv.FormatBool(asked.Links))
}

// final is that of the address that an answer came from, which is most often the one that was asked for.
func (f *Fetch) final(p *webfetch.Page) named {
	if url := p.FinalURL; url != "" && url != f.asked().url {
		return f.name(url)
	}
	return f.asked()
}

// keys are the names of a page: the address asked for, and where the answer came from, since a header line names that
// one and a model may read on under it.
func (f *Fetch) keys(p *webfetch.Page) []string {
	keys := []string{f.asked().key}
	if final := f.final(p).key; final != keys[0] {
		keys = append(keys, final)
	}
	return keys
}

func (r *Reader) slotsOf(agent string) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	slots := r.slots[agent]
	if slots == nil {
		slots = make(chan struct{}, atOnce)
		r.slots[agent] = slots
	}
	return slots
}

func (r *Reader) failed(err error, at Place) agenttool.Result {
	return webfetch.ErrorResult(err, webfetch.AnswerOptions{PermitCommand: r.o.PermitCommand, RobotsSetting: r.o.RobotsSetting, Abilities: r.abilities(at.abilities())})
}
