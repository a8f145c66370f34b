package webfetch

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/thin"
	"github.com/wayleave/wayleave/internal/untrusted"
)

// The tool for a program of one's own: arguments in, page from the source, answer out. It keeps nothing between calls,
// so reading on with offset fetches again; a Source that caches changes that.

// ToolOptions make a tool. The zero value works: the built-in fetcher, named web_fetch, for the public web.
type ToolOptions struct {
	// Name is 1 to 40 letters, digits or underscores; empty means ToolName.
	Name string
	// Options are those of the built-in fetcher. With a Source only PageChars, Timeout and Description may be set.
	Options Options
	// Source takes the place of the built-in fetcher; nil means the built-in one.
	Source Source
	// Abilities say what the agent is offered beside the tool. Documents is set by itself where Options.Documents is, and
	// MainContent for the built-in fetcher; with a Source, MainContent says that it heeds a request's Content and Links.
	Abilities Abilities
}

const maxNameChars = 40

// NewTool makes the web_fetch tool. An invalid option is an *OptionError; nothing is fetched.
//
// The tool's handler answers with a Result for everything that a model should know. A Source's error that is no *Error
// is told as CodeUnavailable. A Source that outlives Timeout is left behind, with CodeTimeout. The handler's error is
// the caller's own cancellation, as it is.
func NewTool(o ToolOptions) (agenttool.Tool, error) {
	r, err := newReader(o)
	if err != nil {
		return agenttool.Tool{}, err
	}
	description := ""
	if o.Options.Description != nil {
		description = *o.Options.Description
	}
	tool := Definition(description, r.answer.Abilities)
	if o.Name != "" {
		tool.Name = o.Name
	}
	tool.Handler = r.call
	return tool, nil
}

// reader is what stands behind a tool.
type reader struct {
	source Source
	answer AnswerOptions
}

func newReader(o ToolOptions) (*reader, error) {
	if o.Name != "" && !isToolName(o.Name) {
		return nil, &OptionError{"name", strconv.Quote(o.Name), "1 to 40 letters, digits or underscores"}
	}
	if err := o.Options.validate(); err != nil {
		return nil, err
	}
	r := &reader{answer: AnswerOptions{PageChars: valueOr(o.Options.PageChars, DefaultPageChars), Abilities: o.Abilities}}
	if o.Source == nil {
		direct, err := Direct(o.Options)
		if err != nil {
			return nil, err
		}
		r.source = direct
		// Whoever brings a converter gets whole pages: what is main in them is not known.
		r.answer.Abilities.MainContent = o.Options.Converter == nil
		r.answer.Abilities.Documents = o.Abilities.Documents || o.Options.Documents != nil
		return r, nil
	}
	if isNil(o.Source) {
		return nil, &OptionError{"source", "nil of its type", "a source that can fetch"}
	}
	if err := o.Options.besideSource(); err != nil {
		return nil, err
	}
	r.source = guarded{source: o.Source, timeout: valueOr(o.Options.Timeout, DefaultTimeout)}
	return r, nil
}

func isToolName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '_' && !('0' <= c && c <= '9') && !('a' <= c|0x20 && c|0x20 <= 'z') {
			return false
		}
	}
	return len(name) <= maxNameChars
}

// isNil tells an interface that holds a nil pointer or function, which could only fail at the first call.
func isNil(s Source) bool {
	switch v := reflect.ValueOf(s); v.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan:
		return v.IsNil()
	}
	return false
}

// call is the tool's handler.
func (r *reader) call(ctx context.Context, arguments json.RawMessage) (agenttool.Result, error) {
	if err := ctx.Err(); err != nil {
		return agenttool.Result{}, err
	}
	a, err := ParseArguments(arguments, r.answer.Abilities)
	if err != nil {
		return ErrorResult(err, r.answer), nil
	}
	page, err := r.source.Fetch(ctx, a.Request())
	if gone := ctx.Err(); gone != nil {
		return agenttool.Result{}, gone
	}
	if err != nil {
		return ErrorResult(err, r.answer), nil
	}
	return Answer(page, a, r.answer), nil
}

// guarded is a Source of somebody else's: it keeps the deadline for it, and makes of its page one that windows can be
// cut from.
type guarded struct {
	source  Source
	timeout time.Duration
}

func (g guarded) Fetch(ctx context.Context, req Request) (*Page, error) {
	page, err := within(ctx, g.timeout, req.URL, func(ctx context.Context) (*Page, error) {
		return g.source.Fetch(ctx, req)
	})
	if err != nil {
		return nil, err
	}
	if page == nil {
		return nil, errors.New("the source gave neither page nor error")
	}
	return wholePage(page, req), nil
}

// wholePage is a copy of a Source's page in which text, lengths and defaults are as the built-in fetcher makes them. A
// Source may share its page between calls, so it is not changed.
func wholePage(given *Page, req Request) *Page {
	p := *given
	p.Content = strings.ToValidUTF8(p.Content, "\uFFFD")
	if req.Format != FormatRaw {
		var dropped int
		if p.Content, dropped = untrusted.DropInvisible(p.Content); dropped > 0 {
			p.Notes = append(p.Notes[:len(p.Notes):len(p.Notes)], droppedNote(dropped))
		}
	}
	p.TotalChars = utf8.RuneCountInString(p.Content)
	p.FullChars = max(p.FullChars, p.TotalChars)
	if p.RequestedURL == "" {
		p.RequestedURL = req.URL
	}
	if p.ContentKind == "" {
		p.ContentKind = PartFull
	}
	if p.Via == "" {
		p.Via = ViaText
	}
	if p.Provider == "" {
		p.Provider = "source"
	}
	if p.RetrievedAt.IsZero() {
		p.RetrievedAt = time.Now()
	}
	if p.Thin == nil && (p.Via == ViaMarkdown || p.Via == ViaConverted || p.Via == ViaRendered) { // a source that knows better says so
		p.Thin = asThin(thin.Text(p.Content, thin.Page{Status: p.Status, Title: p.Title}))
	}
	return &p
}

// SourceFunc is a Source that is one function.
type SourceFunc func(ctx context.Context, req Request) (*Page, error)

// Fetch calls the function.
func (f SourceFunc) Fetch(ctx context.Context, req Request) (*Page, error) { return f(ctx, req) }
