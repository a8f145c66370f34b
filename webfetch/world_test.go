package webfetch

// The web of this package's tests: names that lead to sites on loopback, whatever the real policy says of loopback.
// Only the last step, from a judged host to a socket, is replaced; everything before and after it is the product.

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/internal/testsite"
	"github.com/wayleave/wayleave/weburl"
)

// world resolves "host:port" to the address of a site. A name that is not there does not exist.
type world struct {
	mu     sync.Mutex // guards dialled
	sites  map[string]string
	dialed []string
}

func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	w.mu.Unlock()
	to, ok := w.sites[address]
	if !ok {
		host, _, _ := net.SplitHostPort(address)
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return (&net.Dialer{}).DialContext(ctx, network, to)
}

// dials are the addresses that were asked for, in order.
func (w *world) dials() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.dialed...)
}

// fetcher is Direct for this world, without politeness unless the options have one.
func (w *world) fetcher(t testing.TB, opts Options) *Fetcher {
	t.Helper()
	if opts.Politeness == nil {
		opts.Politeness = NewPoliteness(0, 0)
	}
	f, err := Direct(opts)
	if err != nil {
		t.Fatalf("Direct: %v", err)
	}
	f.transport.(*hop.Transport).Dial = w.dial
	return f
}

// siteWorld is a world in which http://site.test/ is s.
func siteWorld(s *testsite.Site) *world {
	return &world{sites: map[string]string{"site.test:80": s.Addr}}
}

// tlsWorld is a world in which https://site.test/ is s.
func tlsWorld(s *testsite.Site) *world {
	return &world{sites: map[string]string{"site.test:443": s.Addr}}
}

// web serves many hosts over http and https and answers by whole URL.
type web struct {
	world
	opts  Options
	plain *testsite.Site
	tls   *testsite.Site

	mu    sync.Mutex // guards asked
	asked []string
}

// newWeb serves the hosts. decide gets the URL that was asked for; opts are completed with what trusts the sites.
func newWeb(t testing.TB, opts Options, hosts []string, decide func(url string, r testsite.Request) testsite.Answer) *web {
	t.Helper()
	w := &web{world: world{sites: map[string]string{}}}
	serve := func(scheme string) func(*testsite.Conn) {
		return testsite.Routes(func(r testsite.Request) testsite.Answer {
			url := scheme + "://" + r.Header.Get("Host") + r.Target
			w.mu.Lock()
			w.asked = append(w.asked, url)
			w.mu.Unlock()
			return decide(url, r)
		})
	}
	authority := testsite.NewAuthority(t)
	w.plain = testsite.Serve(t, serve("http"))
	w.tls = testsite.ServeTLS(t, authority.Config(hosts, testsite.Current, "http/1.1"), serve("https"))
	for _, host := range hosts {
		w.sites[host+":80"] = w.plain.Addr
		w.sites[host+":443"] = w.tls.Addr
	}
	opts.RootCAs = authority.Pool
	w.opts = opts
	return w
}

func (w *web) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.asked...)
}

// fetch is one fetch with the web's options.
func (w *web) fetch(t testing.TB, req Request) (*Page, error) {
	t.Helper()
	return w.fetcher(t, w.opts).Fetch(t.Context(), req)
}

// wantCode fails unless err is an *Error with the code; it gives the error.
func wantCode(t testing.TB, err error, code Code) *Error {
	t.Helper()
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("error %v (%T), want an *Error with %s", err, err, code)
	}
	if e.Code != code {
		t.Fatalf("code %s (%s), want %s", e.Code, e.Message, code)
	}
	return e
}

// ends fails the test at once if f is still under way after a minute: nothing but f itself was to end it. That it ended at
// its own deadline, and not at another, its error tells.
func ends(t testing.TB, f func()) {
	t.Helper()
	stuck := time.AfterFunc(time.Minute, func() {
		all := make([]byte, 1<<20)
		panic(fmt.Sprintf("%s did not end within a minute\n%s", t.Name(), all[:runtime.Stack(all, true)]))
	})
	defer stuck.Stop()
	f()
}

// hopFunc is a transport that is one function.
type hopFunc func(ctx context.Context, u *weburl.URL, accept string) (*hop.Answer, error)

func (f hopFunc) Get(ctx context.Context, u *weburl.URL, accept string) (*hop.Answer, error) {
	return f(ctx, u, accept)
}

// textAnswer is an answer that never was on a wire.
func textAnswer(mediaType, body string) *hop.Answer {
	return &hop.Answer{Status: 200, Header: map[string][]string{"Content-Type": {mediaType}}, Length: -1,
		Body: strings.NewReader(body), Close: func() {}}
}

// private are options that also let private hosts pass.
func private(o Options) Options {
	o.Policy = &weburl.Policy{AllowPrivateHosts: true}
	return o
}

// sortedLines is text with its lines in alphabetical order.
func sortedLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
