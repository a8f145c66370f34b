package webfetch

// How a site's robots.txt is asked for, and what an answer to that means (RFC 9309, 2.3.1).

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/charset"
	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/internal/robots"
	"github.com/wayleave/wayleave/weburl"
)

const (
	acceptRobots    = "text/plain, */*;q=0.5"
	robotsRedirects = 5                // RFC 9309, 2.3.1.2
	robotsWait      = 10 * time.Second // for the file, or a third of the deadline where that is less: the page needs the rest
)

// heeds says whether a URL waits for the word of its site's robots.txt. The file itself never does.
func (f *Fetcher) heeds(u *weburl.URL) bool {
	path, _, _ := strings.Cut(u.HTTP().RequestURI(), "?")
	return f.robots.Obeys(u) && path != robots.Path
}

// obey asks what the robots.txt says of where the trail is. The error is a refusal, what kept the file from being read, or
// ctx's.
func (f *Fetcher) obey(ctx context.Context, t *trail) error {
	here := t.here()
	if !f.heeds(here) {
		return nil
	}
	v, err := f.robots.judge(ctx, here, func(ctx context.Context) (*robotsSite, error) { return f.robotsOf(ctx, t) })
	if err != nil {
		return err
	}
	t.robots = append(t.robots, *v)
	if !v.Allowed {
		return t.disallowed(v)
	}
	return nil
}

// disallowed is the refusal of where the trail is.
func (t *trail) disallowed(v *RobotsVerdict) *Error {
	refusal := &RobotsRefusal{*v}
	e := &Error{Code: CodeDisallowedURL, Status: http.StatusForbidden, URL: t.requested, Host: v.Host, Message: refusal.Error(), Cause: refusal}
	if n := len(t.urls); n > 1 {
		from := t.urls[n-2]
		e.Code, e.Status, e.URL, e.Host, e.Target = CodeDisallowedRedirect, t.status, from.String(), from.Host(), v.Host
	}
	return e
}

// robotsOf asks the site where the trail is for its file, under the policy and politeness that pages have.
func (f *Fetcher) robotsOf(ctx context.Context, t *trail) (*robotsSite, error) {
	wait := min(robotsWait, f.timeout/3)
	bounded, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	file, header, status, err := f.robotsFile(bounded, t.here())
	if err != nil {
		if over(bounded) != nil {
			err = unavailable(t.here().String(), hop.Fault("no answer came within "+duration(wait)))
		}
		return nil, t.withoutRobots(err)
	}
	s := &robotsSite{rules: &robots.Rules{}, status: status, read: f.robots.now().UTC()}
	switch {
	case status >= 200 && status < 300:
		s.rules, s.bytes = robots.Parse(octets(file), f.product), int64(len(file))
	case status >= 400 && status < 500: // there is none
	default:
		s.closed = true
		s.until = s.read.Add(robotsLeast)
		return s, nil
	}
	s.until = s.read.Add(robotsFor(header))
	return s, nil
}

// octets is a file as UTF-8 where it begins with the mark of wider characters, as editors of some systems save it. Other files are
// compared octet by octet, whatever they are.
func octets(file []byte) []byte {
	if !charset.Wide(file, "", charset.None) {
		return file
	}
	text, _ := charset.Decode(file, "", charset.None)
	return []byte(text)
}

// robotsFile gives what the site answers.
func (f *Fetcher) robotsFile(ctx context.Context, u *weburl.URL) (file []byte, header http.Header, status int, err error) {
	at, err := u.Resolve(robots.Path)
	if err != nil {
		return nil, nil, 0, err
	}
	asking := *f
	asking.robots, asking.maxRedirects = nil, robotsRedirects
	a, err := asking.follow(ctx, &trail{requested: at.String(), urls: []*weburl.URL{at}}, acceptRobots)
	if bad, ok := errors.AsType[*Error](err); ok {
		switch bad.Code {
		case CodeTooManyRedirects: // a file that is never reached is none
			return nil, nil, http.StatusNotFound, nil
		case CodeDisallowedRedirect: // what it says is not for us to read
			return nil, nil, bad.Status, nil
		}
	}
	if err != nil {
		return nil, nil, 0, err
	}
	defer a.Close()
	if a.Status/100 == 2 {
		if file, err = hop.ReadStart(a.Header, a.Body, robots.MaxBytes+1); err != nil {
			return nil, nil, 0, unavailable(at.String(), err)
		}
	}
	return file, a.Header, a.Status, nil
}

// withoutRobots is the failure of where the trail is, since its robots.txt could not be had. Where the host itself is
// refused, that is the answer for its page too.
func (t *trail) withoutRobots(err error) error {
	here := t.here()
	if e, ok := errors.AsType[*weburl.Error](err); ok {
		if n := len(t.urls); n > 1 {
			return refusedRedirect(t.urls[n-2], t.status, here.Host(), e)
		}
		return refused(t.requested, e)
	}
	bad, ok := errors.AsType[*Error](err)
	if !ok {
		bad = unavailable(here.String(), err)
	}
	failed := *bad
	failed.URL = here.String()
	failed.Reason = "robots.txt of the site is obeyed here and cannot be had: " + failed.Reason
	failed.Message = "robots.txt: " + failed.Message
	return &failed
}

// robotsFor is how long an answer holds: as long as the site says, within bounds.
func robotsFor(header http.Header) time.Duration {
	life := robotsLife
	for directive := range strings.SplitSeq(strings.ToLower(strings.Join(header.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return robotsLeast
		case "max-age":
			if n, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil {
				life = min(life, time.Duration(n)*time.Second)
			}
		}
	}
	return max(life, robotsLeast)
}
