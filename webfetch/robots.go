package webfetch

// Which sites' robots.txt is obeyed, what they said, and for how long that holds. Off unless a host chooses it.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/wayleave/wayleave/internal/robots"
	"github.com/wayleave/wayleave/weburl"
)

// RobotsChoice says whose robots.txt is obeyed. The zero value obeys none.
type RobotsChoice struct {
	// Obey is the choice for every site that neither list names.
	Obey bool
	// Obeyed and Ignored name sites by host patterns, as lists of hosts do. Where several match, the most specific
	// decides: a host before *.host, and a longer one before a shorter. One pattern in both lists is an error.
	Obeyed, Ignored []weburl.HostPattern
}

// Robots obeys robots.txt (RFC 9309): before a URL of an obeyed site is asked for, the site's file is, over the same
// policy, politeness and deadline, and what it disallows is refused. The file is kept for at most a day. One that the site
// does not have (4xx) allows everything, one that it cannot give (5xx, a redirect that is refused) nothing; where the site
// does not answer, the fetch fails.
//
// Make one value an agent and share it between that agent's fetchers; what one agent was told, another should not know. It
// is safe for concurrent use.
type Robots struct {
	choice RobotsChoice
	now    func() time.Time

	mu     sync.Mutex // guards what follows
	sites  map[string]*robotsSite
	asking map[string]chan struct{} // closed once the file of that site is known
	held   int64                    // bytes of files
}

// robotsSite is what the file of one site said.
type robotsSite struct {
	rules  *robots.Rules
	status int // 0: no answer
	closed bool
	read   time.Time
	until  time.Time
	used   time.Time
	bytes  int64
}

// Bounds of what an agent's Robots keeps, and for how long.
const (
	robotsSites = 500
	robotsBytes = 8 << 20
	robotsLife  = 24 * time.Hour // RFC 9309, 2.4: no longer
	robotsLeast = time.Minute    // of any answer: no site makes each of its pages cost two requests
)

// NewRobots makes what obeys a choice. The error is an *OptionError.
func NewRobots(c RobotsChoice) (*Robots, error) {
	for _, p := range c.Obeyed {
		if slices.Contains(c.Ignored, p) {
			return nil, &OptionError{"robots_obey", strconv.Quote(p.String()), "in one of robots_obey and robots_ignore alone"}
		}
	}
	for _, p := range slices.Concat(c.Obeyed, c.Ignored) {
		if p == (weburl.HostPattern{}) {
			return nil, &OptionError{"robots_obey", "a pattern that was not parsed", "patterns of weburl.ParseHostPattern"}
		}
	}
	return newRobots(c), nil
}

func newRobots(c RobotsChoice) *Robots {
	return &Robots{choice: c, now: time.Now, sites: make(map[string]*robotsSite), asking: make(map[string]chan struct{})}
}

// Apart makes one of the same choice that knows of no file yet: for another agent. nil gives nil.
func (r *Robots) Apart() *Robots {
	if r == nil {
		return nil
	}
	apart := newRobots(r.choice)
	apart.now = r.now
	return apart
}

// Obeys says whether the robots.txt of a URL's site is obeyed.
func (r *Robots) Obeys(u *weburl.URL) bool {
	if r == nil {
		return false
	}
	obeyed, most := r.choice.Obey, -1
	for _, list := range []struct {
		patterns []weburl.HostPattern
		obeyed   bool
	}{{r.choice.Obeyed, true}, {r.choice.Ignored, false}} {
		for _, p := range list.patterns {
			if s := specificity(p); s > most && p.Matches(u) {
				obeyed, most = list.obeyed, s
			}
		}
	}
	return obeyed
}

// specificity orders the patterns that match one host.
func specificity(p weburl.HostPattern) int {
	const exact = 1 << 10 // longer than any host
	if s := p.String(); s[0] == '*' {
		return len(s)
	}
	return exact
}

// RobotsProduct is the name under which a robots.txt knows who sends a User-Agent: the letters, hyphens and underscores that
// it begins with. Empty where it begins with none; then only the rules for everybody count.
func RobotsProduct(userAgent string) string { return robots.Product(userAgent) }

// RobotsVerdict is what the robots.txt of a site says of one URL.
type RobotsVerdict struct {
	Host    string // the site's, canonical
	Allowed bool
	// Status is that of the answer to the request for the file; one that redirects without end counts as 404.
	Status int
	// Line is that of the rule that decides, 0 where none does; Rule is its pattern, which is the site's words. Named says
	// that it stands in a group for this product and not in one for everybody.
	Line  int
	Rule  string
	Named bool
	// Read is when the file was read. Asked says that it was for this URL: else it was kept.
	Read  time.Time
	Asked bool
}

// RobotsRefusal is the cause of an Error for a URL that robots.txt does not allow.
type RobotsRefusal struct{ RobotsVerdict }

// Error is for the host and quotes the rule.
func (r *RobotsRefusal) Error() string {
	if r.Line == 0 {
		return fmt.Sprintf("robots.txt of %s could not be read (status %d), which refuses everything", r.Host, r.Status)
	}
	return fmt.Sprintf("robots.txt of %s, line %d, disallows it: %s", r.Host, r.Line, strconv.Quote(clip(r.Rule, maxQuotedCause)))
}

// origin is the site whose file speaks for a URL.
func origin(u *weburl.URL) string {
	return u.Scheme() + "://" + u.Host() + ":" + strconv.Itoa(int(u.Port()))
}

// says is what the file says of a URL of its site.
func (s *robotsSite) says(u *weburl.URL) *RobotsVerdict {
	v := s.rules.Judge(u.HTTP().RequestURI())
	return &RobotsVerdict{Host: u.Host(), Allowed: v.Allowed && !s.closed, Status: s.status, Line: v.Line, Rule: v.Rule, Named: v.Named, Read: s.read}
}

// known gives what the kept file says of a URL; nil where none is kept.
func (r *Robots) known(u *weburl.URL) *RobotsVerdict {
	r.mu.Lock()
	s := r.fresh(origin(u))
	r.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.says(u)
}

// fresh is a site's file that still holds. mu is held.
func (r *Robots) fresh(site string) *robotsSite {
	s, now := r.sites[site], r.now()
	if s == nil || !now.Before(s.until) {
		return nil
	}
	s.used = now
	return s
}

// judge says what the site's file says of a URL, and asks for it where it is not kept. Of several who want the same file
// one asks; if that one is called off, the next does. The error is ask's, or ctx's.
func (r *Robots) judge(ctx context.Context, u *weburl.URL, ask func(context.Context) (*robotsSite, error)) (*RobotsVerdict, error) {
	site := origin(u)
	for {
		r.mu.Lock()
		s, other := r.fresh(site), r.asking[site]
		if s == nil && other == nil {
			r.asking[site] = make(chan struct{})
		}
		r.mu.Unlock()
		switch {
		case s != nil:
			return s.says(u), nil
		case other == nil:
			return r.learn(ctx, u, ask)
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// learn asks for a site's file. It has the turn, and gives it back whatever happens.
func (r *Robots) learn(ctx context.Context, u *weburl.URL, ask func(context.Context) (*robotsSite, error)) (*RobotsVerdict, error) {
	site := origin(u)
	var s *robotsSite
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if s != nil {
			r.keep(site, s)
		}
		close(r.asking[site])
		delete(r.asking, site)
	}()
	answer, err := ask(ctx)
	if gone := over(ctx); gone != nil { // that there was no answer is then the caller's doing
		return nil, gone
	}
	if err != nil {
		return nil, err
	}
	s = answer
	v := s.says(u)
	v.Asked = true
	return v, nil
}

// keep remembers a file, and forgets those that were used longest ago where there are too many. mu is held.
func (r *Robots) keep(site string, s *robotsSite) {
	s.used = s.read
	if old := r.sites[site]; old != nil {
		r.held -= old.bytes
	}
	r.sites[site] = s
	r.held += s.bytes
	for len(r.sites) > 1 && (len(r.sites) > robotsSites || r.held > robotsBytes) {
		oldest := ""
		for name, other := range r.sites {
			if name != site && (oldest == "" || cmp.Or(other.used.Compare(r.sites[oldest].used), cmp.Compare(name, oldest)) < 0) {
				oldest = name
			}
		}
		r.held -= r.sites[oldest].bytes
		delete(r.sites, oldest)
	}
}
