package webfetch

// Asking again for a page that a host keeps: the site says whether it still holds, by what it gave with it (RFC 9110, 13).

import (
	"context"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/weburl"
)

// Refetch is Fetch for a host that keeps kept, the page that the same request gave: the site is asked for the page unless
// it is that one. The page's Same then says so, and it is a copy of kept as of now. What identifies a page (an entity tag, a
// date) goes to the URL that gave it and to no other, and so does nothing of a page that the site did not want stored.
// Neither Fetch nor the tool of this package ever asks so. The error is as of Fetch; kept may be nil.
func (f *Fetcher) Refetch(ctx context.Context, req Request, kept *Page) (*Page, error) {
	url := trimURL(req.URL)
	return within(ctx, f.timeout, url, func(ctx context.Context) (*Page, error) {
		return f.fetch(ctx, url, req, kept)
	})
}

// conditional sends a request that depends on what the asker has.
type conditional interface {
	GetIf(ctx context.Context, u *weburl.URL, accept string, c hop.Condition) (*hop.Answer, error)
}

// ask sends the request of a hop, with a condition where the kept page came from there.
func (f *Fetcher) ask(ctx context.Context, t *trail, accept string) (*hop.Answer, error) {
	t.asked = false
	if c := t.condition(); c != (hop.Condition{}) {
		if able, ok := f.transport.(conditional); ok {
			t.asked = true
			return able.GetIf(ctx, t.here(), accept, c)
		}
	}
	return f.transport.Get(ctx, t.here(), accept)
}

// entityTag is one that can be sent as it is; a header that was cut, or that came twice, is none.
var entityTag = regexp.MustCompile(`^(?:W/)?"[!#-~]*"$`)

// sure is how much older than its answer a page has to be for its date to tell it from a later one (RFC 9110, 8.8.2.2).
const sure = time.Minute

// condition is what the kept page can be known by at the place that it came from.
func (t *trail) condition() (c hop.Condition) {
	p := t.kept
	if p == nil || p.NoStore || p.Status != http.StatusOK || p.FinalURL != t.here().String() {
		return c
	}
	if tag := p.Headers["etag"]; len(tag) < keptHeaderBytes && entityTag.MatchString(tag) {
		c.NoneMatch = tag
	}
	if at, err := http.ParseTime(p.Headers["last-modified"]); err == nil && (c.NoneMatch != "" || p.RetrievedAt.Sub(at) >= sure) {
		c.ModifiedSince = at.UTC().Format(http.TimeFormat)
	}
	return c
}

// stillHolds is the kept page as of now; nil where the answer speaks of another one.
func (t *trail) stillHolds(header http.Header, now time.Time) *Page {
	p := *t.kept
	headers := maps.Clone(p.Headers)
	fresh := keptHeaders(header)
	if tag, told := fresh["etag"]; told && headers["etag"] != "" && opaque(tag) != opaque(headers["etag"]) {
		return nil
	}
	for _, name := range []string{"etag", "last-modified"} { // the others describe a body, and this answer has none
		if value, told := fresh[name]; told {
			headers[name] = value
		}
	}
	p.RequestedURL, p.Redirects, p.RetrievedAt, p.Headers, p.Robots = t.requested, t.redirects(), now, headers, t.robots
	p.Age, p.Same, p.NoStore = ageOf(header), true, noStore(header)
	return &p
}

func opaque(tag string) string { return strings.TrimPrefix(tag, "W/") }

// noStore says whether a site asked that nothing be stored of an answer, or that what is stored answers no request.
func noStore(header http.Header) bool {
	for _, field := range []struct{ name, word string }{{"Cache-Control", "no-store"}, {"Vary", "*"}} {
		for value := range strings.SplitSeq(strings.Join(header.Values(field.name), ","), ",") {
			if strings.EqualFold(strings.TrimSpace(value), field.word) {
				return true
			}
		}
	}
	return false
}

// ageOf reads the header where it is one number of seconds.
func ageOf(header http.Header) time.Duration {
	values := header.Values("Age")
	if len(values) != 1 {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(values[0]), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
