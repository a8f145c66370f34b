package webfetch

// Redirects, followed by hand: every target is judged anew, and the first of these answers at each hop: the policy on
// the target, the step from https down to http, a loop, the limit.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/weburl"
)

// trail is the way to the answer.
type trail struct {
	requested string
	urls      []*weburl.URL // asked for, in order; the last is where we are
	status    int           // of the redirect that led to the last; 0 for the first
	robots    []RobotsVerdict
	kept      *Page // that the host keeps of this request; nil for none
	asked     bool  // the last hop asked whether the site still has that page
}

func (t *trail) here() *weburl.URL { return t.urls[len(t.urls)-1] }

// redirects are the URLs that redirected; never nil.
func (t *trail) redirects() []string {
	urls := make([]string, 0, len(t.urls))
	for _, u := range t.urls[:len(t.urls)-1] {
		urls = append(urls, u.String())
	}
	return urls
}

// follow asks for t's URL and on through its redirects, and gives the answer that is no redirect. The caller ends the
// hop with answer.Close. Bodies of redirects are not read.
func (f *Fetcher) follow(ctx context.Context, t *trail, accept string) (*hop.Answer, error) {
	for {
		if err := f.obey(ctx, t); err != nil {
			return nil, err
		}
		a, err := f.hop(ctx, t, accept)
		if err != nil {
			return nil, err
		}
		location, ok := redirectTarget(a)
		if !ok {
			return a, nil
		}
		a.Close()
		target, bad := f.next(t, a.Status, location)
		if bad != nil {
			return nil, bad
		}
		t.urls, t.status = append(t.urls, target), a.Status
	}
}

// hop asks once for where the trail is. The politeness of a host is held until the hop ends.
func (f *Fetcher) hop(ctx context.Context, t *trail, accept string) (*hop.Answer, error) {
	here := t.here()
	leave, err := f.politeness.pace.Enter(ctx, here.Host())
	if err != nil {
		return nil, err
	}
	a, err := f.ask(ctx, t, accept)
	if err == nil {
		end := a.Close
		a.Close = sync.OnceFunc(func() { end(); leave() }) // ended early where the body is whole, and once more by a defer
		return a, nil
	}
	leave()
	if e, ok := errors.AsType[*weburl.Error](err); ok { // the name resolves to where nothing may be asked
		if len(t.urls) > 1 {
			from := t.urls[len(t.urls)-2]
			return nil, refusedRedirect(from, t.status, here.Host(), e)
		}
		return nil, refused(t.requested, e)
	}
	return nil, unavailable(here.String(), err)
}

// redirectTarget is the Location of a redirect. Every other answer is a page, 300 and 304 included.
func redirectTarget(a *hop.Answer) (location string, ok bool) {
	switch a.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if values := a.Header.Values("Location"); len(values) > 0 {
			return values[0], true
		}
	}
	return "", false
}

// next judges where a redirect leads. It decides and sends nothing.
func (f *Fetcher) next(t *trail, status int, location string) (*weburl.URL, *Error) {
	here := t.here()
	target, err := here.Resolve(location)
	if err == nil {
		err = f.judge(target)
	}
	if err != nil {
		e, ok := errors.AsType[*weburl.Error](err)
		if !ok {
			e = &weburl.Error{Kind: weburl.Disallowed, Reason: "the policy could not judge the target"}
		}
		return nil, refusedRedirect(here, status, e.Host, e)
	}
	if here.Scheme() == "https" && target.Scheme() == "http" {
		return nil, refusedRedirect(here, status, target.Host(), &weburl.Error{Kind: weburl.Disallowed, Rule: weburl.RuleScheme, Host: target.Host(),
			Reason: "the redirect leads from https to http"})
	}
	if slices.ContainsFunc(t.urls, func(u *weburl.URL) bool { return u.String() == target.String() }) {
		return nil, tooManyRedirects(here, status, target.Host(), "the redirects form a loop")
	}
	if len(t.urls) > f.maxRedirects {
		return nil, tooManyRedirects(here, status, target.Host(), fmt.Sprintf("more than %d redirects", f.maxRedirects))
	}
	return target, nil
}

// refusedRedirect is a redirect that may not be followed; from is the URL that redirected.
func refusedRedirect(from *weburl.URL, status int, target string, e *weburl.Error) *Error {
	return &Error{Code: CodeDisallowedRedirect, Status: status, URL: from.String(), Host: from.Host(), Target: target, PrivateHost: permittable(e),
		Reason: e.Reason, Message: "the redirect of " + from.Host() + " is refused: " + e.Reason, Cause: e}
}

func tooManyRedirects(from *weburl.URL, status int, target, reason string) *Error {
	return &Error{Code: CodeTooManyRedirects, Status: status, URL: from.String(), Host: from.Host(), Target: target, Reason: reason, Message: from.Host() + ": " + reason}
}
