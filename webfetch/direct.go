package webfetch

// The built-in source: one deadline over everything, from the first look-up to the end of the conversion.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/internal/robots"
	"github.com/wayleave/wayleave/weburl"
)

// Fetcher is the built-in Source: it asks the site itself and converts here. Made by Direct; safe for concurrent use.
// It keeps nothing between calls but the politeness owed to each host, and what a robots.txt said where that is obeyed: no
// page, cookie, connection or TLS ticket.
type Fetcher struct {
	policy       *weburl.Policy
	judge        func(*weburl.URL) error // the policy on a redirect target
	transport    hopper
	politeness   *Politeness
	robots       *Robots // nil: none is obeyed
	product      string  // under which a robots.txt knows us
	maxRedirects int
	maxBodyBytes int64
	timeout      time.Duration
	converter    converter
}

// The Accept values. Markdown comes first, so that a site that negotiates spares us the conversion; who wants the raw
// body wants the HTML, though.
const (
	acceptAuto = "text/markdown, text/html;q=0.9, application/json;q=0.8, text/plain;q=0.8, */*;q=0.5"
	acceptRaw  = "text/html, text/markdown;q=0.9, application/json;q=0.8, text/plain;q=0.8, */*;q=0.5"
)

// hopper sends the one request of a hop.
type hopper interface {
	Get(ctx context.Context, u *weburl.URL, accept string) (*hop.Answer, error)
}

var _ Source = (*Fetcher)(nil)

// Direct makes the built-in fetcher. An invalid option is an *OptionError.
func Direct(opts Options) (*Fetcher, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	dialer, err := opts.dialer()
	if err != nil {
		return nil, err
	}
	transport, err := opts.newTransport(dialer)
	if err != nil {
		return nil, err
	}
	f := &Fetcher{
		policy:       dialer.Policy,
		judge:        dialer.CheckURL,
		transport:    transport,
		politeness:   opts.Politeness,
		robots:       opts.Robots,
		product:      robots.Product(transport.UserAgent),
		maxRedirects: valueOr(opts.MaxRedirects, DefaultMaxRedirects),
		maxBodyBytes: valueOr(opts.MaxBodyBytes, DefaultMaxBodyBytes),
		timeout:      valueOr(opts.Timeout, DefaultTimeout),
		converter:    converter{html: opts.Converter, documents: opts.Documents, part: opts.Content, links: opts.Links, list: opts.ListLinks, turns: opts.Conversions},
	}
	if f.converter.turns == nil {
		f.converter.turns = NewConversions(DefaultConversions)
	}
	if f.politeness == nil {
		f.politeness = NewPoliteness(DefaultInFlight, DefaultPerSecond)
	}
	return f, nil
}

// Fetch reads one URL whole. The error is an *Error, or ctx's own error if the caller gave up: that passes as it is
// and wins over a deadline that passed as well. The call ends at the deadline whatever the network or a converter
// does; what is still under way then is told to stop and leaves nothing behind once it does.
func (f *Fetcher) Fetch(ctx context.Context, req Request) (*Page, error) {
	url := trimURL(req.URL)
	return within(ctx, f.timeout, url, func(ctx context.Context) (*Page, error) {
		return f.fetch(ctx, url, req, nil)
	})
}

// fetch is Fetch without its deadline. Of a page that is kept it gives that one, where the site says that it still holds.
func (f *Fetcher) fetch(ctx context.Context, url string, req Request, kept *Page) (*Page, error) {
	format := req.Format
	t, bad := f.begin(url, req)
	if bad != nil {
		return nil, bad
	}
	t.kept = kept
	accept := acceptAuto
	if format == FormatRaw {
		accept = acceptRaw
	}
	a, err := f.follow(ctx, t, accept)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	retrieved := time.Now().UTC()
	if t.asked && (a.Status == http.StatusNotModified || a.Status == http.StatusPreconditionFailed) {
		if p := t.stillHolds(a.Header, retrieved); p != nil && a.Status == http.StatusNotModified {
			return p, nil
		}
		a.Close() // the answer is about the condition, and says nothing of the page
		return f.fetch(ctx, url, req, nil)
	}
	r := reply{url: t.here().String(), status: a.Status, contentType: a.Header.Values("Content-Type"), format: format, retryAfter: a.Header.Values("Retry-After"), pointers: pointers(a.Header)}
	if fields := a.Header.Values("Refresh"); len(fields) == 1 {
		r.refresh = fields[0]
	}
	if r.body, err = f.body(a, &r); err != nil {
		return nil, err
	}
	a.Close() // the host's slot is free while we convert
	c, err := f.converter.asked(req).read(ctx, &r)
	if err != nil {
		return nil, err
	}
	p := c.page(int64(len(r.body)))
	p.RequestedURL, p.FinalURL, p.Status = t.requested, r.url, a.Status
	p.RetrievedAt, p.Headers, p.Redirects, p.Robots = retrieved, keptHeaders(a.Header), t.redirects(), t.robots
	p.NoStore, p.Age = noStore(a.Header), ageOf(a.Header)
	return p, nil
}

// begin checks a request, content and format first, and says where to start.
func (f *Fetcher) begin(url string, req Request) (*trail, *Error) {
	if isPart(req.Content) != nil {
		return nil, invalidInput("content", clip(url, weburl.MaxLength), `content must be "main" or "full"`)
	}
	switch req.Format {
	case "", FormatAuto, FormatRaw:
	default:
		return nil, invalidInput("format", clip(url, weburl.MaxLength), `format must be "auto" or "raw"`)
	}
	u, err := f.policy.Check(url)
	if err == nil {
		err = f.judge(u)
	}
	if err != nil {
		e, ok := errors.AsType[*weburl.Error](err)
		if !ok {
			e = &weburl.Error{Kind: weburl.Disallowed, Reason: "the policy could not judge the URL", Rule: weburl.RulePolicy}
		}
		return nil, refused(clip(url, weburl.MaxLength), e)
	}
	return &trail{requested: url, urls: []*weburl.URL{u}}, nil
}

// body reads the body of the final answer. Declared length, then challenge, then what reading shows.
func (f *Fetcher) body(a *hop.Answer, r *reply) ([]byte, error) {
	if a.Length > f.maxBodyBytes {
		return nil, r.tooLarge(f.maxBodyBytes, fmt.Sprintf("%d bytes are declared", a.Length))
	}
	if values := a.Header.Values("Cf-Mitigated"); len(values) == 1 && values[0] == "challenge" {
		return nil, r.failure(CodeBlocked, "the site answered with a bot challenge", nil)
	}
	body, err := hop.ReadBody(a.Header, a.Body, f.maxBodyBytes)
	switch {
	case errors.Is(err, hop.ErrTooLarge):
		return nil, r.tooLarge(f.maxBodyBytes, "stopped reading")
	case err != nil:
		return nil, unavailable(r.url, err)
	}
	return body, nil
}

// within runs work under one deadline and returns when it, the deadline or the caller's patience ends, whichever is
// first. Work that ignores its context is left behind; its result goes nowhere.
func within(ctx context.Context, timeout time.Duration, url string, work func(context.Context) (*Page, error)) (*Page, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	inner, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	type outcome struct {
		page *Page
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		page, err := sheltered(inner, url, work)
		done <- outcome{page, err}
	}()
	var o outcome
	select {
	case o = <-done:
		if o.err == nil {
			return o.page, nil
		}
	case <-inner.Done():
	}
	return nil, ending(over(ctx), over(inner), o.err, timedOut(clip(url, weburl.MaxLength), timeout))
}

// over is why ctx has ended, nil while it has not. A socket that was given the same deadline may notice it a moment
// before the context's own timer does, so the clock counts too.
func over(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return nil
}

// ending says why a call ended without a page. What failed once the end had come is the end's doing, and the caller's
// end goes before the deadline's.
func ending(caller, deadline, failure error, timeout *Error) error {
	switch {
	case caller != nil:
		return caller
	case deadline != nil:
		return timeout
	}
	return failure
}

// sheltered turns a panic over hostile bytes into a failure of this one call. The caller cannot do so itself: work
// runs on a goroutine of its own.
func sheltered(ctx context.Context, url string, work func(context.Context) (*Page, error)) (page *Page, err error) {
	defer func() {
		if p := recover(); p != nil {
			page, err = nil, unavailable(clip(url, weburl.MaxLength), fmt.Errorf("internal fault: %v\n%s", p, debug.Stack()))
		}
	}()
	return work(ctx)
}

// keptHeaderBytes bounds each header value of a page, so that a stored page stays small.
const keptHeaderBytes = 1 << 10

// keptHeaders are the few headers that say something about the text; no other leaves this package.
func keptHeaders(h http.Header) map[string]string {
	var kept map[string]string
	for _, name := range []string{"content-type", "content-length", "last-modified", "etag", "x-markdown-tokens", "cf-mitigated"} {
		values := h.Values(name)
		if len(values) == 0 {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		value := strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
		for len(value) > keptHeaderBytes {
			_, size := utf8.DecodeLastRuneInString(value[:min(len(value), keptHeaderBytes+1)])
			value = value[:min(len(value), keptHeaderBytes+1)-size]
		}
		kept[name] = value
	}
	return kept
}

// trimURL drops what stands around a pasted URL.
func trimURL(url string) string {
	return strings.Trim(strings.TrimSpace(url), "\ufeff")
}

// clip cuts s to n characters.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func valueOr[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}
