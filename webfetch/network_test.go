package webfetch

// From a name to a socket, through the real dialer: a resolver that lies, many addresses, IPv6, proxies.

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/internal/testsite"
	"github.com/wayleave/wayleave/weburl"
)

// names answers look-ups; each further look-up of a name gets the next list, the last one for ever.
type names struct {
	mu      sync.Mutex // guards asked
	answers map[string][][]string
	asked   map[string]int
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asked == nil {
		n.asked = map[string]int{}
	}
	lists := n.answers[host]
	if len(lists) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	list := lists[min(n.asked[host], len(lists)-1)]
	n.asked[host]++
	var addrs []netip.Addr
	for _, a := range list {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

// publicWeb dials by the real rules with this resolver; sockets to public addresses lead to the site.
func publicWeb(site *testsite.Site, n *names, connected *atomic.Int32) Options {
	_, port, _ := net.SplitHostPort(site.Addr)
	return Options{Politeness: NewPoliteness(0, 0), Dialer: &weburl.Dialer{Policy: &weburl.Policy{}, Resolver: n,
		Connect: func(ctx context.Context, network, address string) (net.Conn, error) {
			connected.Add(1)
			conn, err := (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+port)
			if err != nil {
				return nil, err
			}
			return asIf{conn, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))}, nil
		}}}
}

// asIf is a connection that says it goes somewhere else.
type asIf struct {
	net.Conn
	remote net.Addr
}

func (a asIf) RemoteAddr() net.Addr { return a.remote }

func TestTM002NamesThatResolveToPrivateAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		answers map[string][][]string
		hops    int
		code    Code
	}{
		"hardening-001 private":              {map[string][][]string{"start.test": {{"10.0.0.5"}}}, 1, CodeDisallowedURL},
		"hardening-002 mixed":                {map[string][][]string{"start.test": {{"93.184.216.34", "127.0.0.1"}}}, 1, CodeDisallowedURL},
		"mixed over both families":           {map[string][][]string{"start.test": {{"93.184.216.34", "::1"}}}, 1, CodeDisallowedURL},
		"mapped":                             {map[string][][]string{"start.test": {{"::ffff:10.0.0.1"}}}, 1, CodeDisallowedURL},
		"metadata":                           {map[string][][]string{"start.test": {{"169.254.169.254"}}}, 1, CodeDisallowedURL},
		"after a hop":                        {map[string][][]string{"start.test": {{"93.184.216.34"}}, "next.test": {{"192.168.1.1"}}}, 2, CodeDisallowedRedirect},
		"the same name, changed after a hop": {map[string][][]string{"start.test": {{"93.184.216.34"}, {"127.0.0.1"}}}, 2, CodeDisallowedRedirect},
	} {
		t.Run(name, func(t *testing.T) {
			_, changed := c.answers["next.test"]
			site := testsite.Serve(t, testsite.Routes(func(testsite.Request) testsite.Answer {
				if changed {
					return to("http://next.test/")
				}
				return to("/again")
			}))
			var connected atomic.Int32
			f, err := Direct(publicWeb(site, &names{answers: c.answers}, &connected))
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Fetch(t.Context(), Request{URL: "http://start.test/"})
			e := wantCode(t, err, c.code)
			if int(connected.Load()) != c.hops-1 {
				t.Errorf("%d connections, want %d", connected.Load(), c.hops-1)
			}
			if c.code == CodeDisallowedRedirect && (e.Status != 302 || e.URL != "http://start.test/" || e.Target == "") {
				t.Errorf("error %+v", e)
			}
			if c.code == CodeDisallowedURL && (e.Status != 403 || e.Host != "start.test" || e.URL != "http://start.test/") {
				t.Errorf("error %+v", e)
			}
		})
	}
}

func TestNameIsLookedUpOncePerHopAndOnlyWhenAllowed(t *testing.T) {
	site := testsite.Serve(t, testsite.Always(testsite.Answer{Fields: []string{"Content-Type: text/plain"}, Body: "hello"}))
	n := &names{answers: map[string][][]string{"ok.test": {{"93.184.216.34"}, {"127.0.0.1"}}}}
	var connected atomic.Int32
	f, err := Direct(publicWeb(site, n, &connected))
	if err != nil {
		t.Fatal(err)
	}
	if page, err := f.Fetch(t.Context(), Request{URL: "http://ok.test/"}); err != nil || page.Content != "hello" {
		t.Errorf("page %+v, error %v", page, err)
	}
	for _, refused := range []string{"http://localhost/", "http://x.internal/", "http://ok.test:25/", "http://u:p@ok.test/"} {
		_, err := f.Fetch(t.Context(), Request{URL: refused})
		wantCode(t, err, CodeDisallowedURL)
	}
	_, err = f.Fetch(t.Context(), Request{URL: "http://nowhere.test/"})
	if e := wantCode(t, err, CodeUnavailable); e.Reason != "there is no such host name" {
		t.Errorf("reason %q", e.Reason)
	}
	if n.asked["ok.test"] != 1 || len(n.asked) != 1 {
		t.Errorf("looked up %v", n.asked)
	}
}

// Real sockets on loopback, with the policy that permits them.
func TestManyAddressesAndIPv6(t *testing.T) {
	site := testsite.ServeOn(t, "[::1]:0", testsite.Always(testsite.Answer{Fields: []string{"Content-Type: text/plain"}, Body: "hello"}))
	_, port, _ := net.SplitHostPort(site.Addr)
	many := []string{"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "::1"}
	f, err := Direct(Options{Dialer: &weburl.Dialer{Policy: &weburl.Policy{AllowPrivateHosts: true}, Resolver: &names{answers: map[string][][]string{"many.test": {many}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"http://[::1]:" + port + "/", "http://many.test:" + port + "/"} {
		page, err := f.Fetch(t.Context(), Request{URL: url})
		if err != nil || page.Content != "hello" || page.FinalURL != url {
			t.Errorf("%s: page %+v, error %v", url, page, err)
		}
	}
	if got := site.Requests()[0].Header.Get("Host"); got != "[::1]:"+port {
		t.Errorf("Host %q", got)
	}
}

func TestPrivateHostsOnPurpose(t *testing.T) {
	site := testsite.Serve(t, testsite.Always(testsite.Answer{Fields: []string{"Content-Type: text/plain"}, Body: "local"}))
	_, err := Fetch(t.Context(), Request{URL: site.URL + "/"}, Options{})
	if e := wantCode(t, err, CodeDisallowedURL); !e.PrivateHost || e.Host != "127.0.0.1" {
		t.Errorf("error %+v", e)
	}
	if site.Accepted() != 0 {
		t.Error("the site was connected to")
	}
	page, err := Fetch(t.Context(), Request{URL: site.URL + "/"}, Options{Policy: &weburl.Policy{AllowPrivateHosts: true}})
	if err != nil || page.Content != "local" {
		t.Errorf("page %+v, error %v", page, err)
	}
}

// A proxy that counts: plain requests it answers itself, tunnels it makes.
func proxy(t testing.TB, upstream map[string]string, credentials string) *testsite.Site {
	return testsite.Serve(t, proxyScript(upstream, credentials))
}

func proxyScript(upstream map[string]string, credentials string) func(*testsite.Conn) {
	return testsite.OnRequest(func(c *testsite.Conn, r testsite.Request) {
		switch {
		case credentials != "" && r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(credentials)):
			c.Send("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
		case strings.HasPrefix(r.Target, "status."): // the proxy's own answer to a CONNECT
			c.Send("HTTP/1.1 " + r.Target[len("status."):][:3] + " Told\r\nContent-Length: 0\r\n\r\n")
		case strings.HasPrefix(r.Target, "noise."):
			c.Send("SSH-2.0-noise\r\n")
		case strings.HasPrefix(r.Target, "silent."):
			c.Close()
		case r.Method != "CONNECT":
			testsite.Answer{Fields: []string{"Content-Type: text/plain"}, Body: "proxied " + r.Target}.Send(c)
		case upstream[r.Target] == "":
			c.Send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
		default:
			up, err := net.Dial("tcp", upstream[r.Target])
			if err != nil {
				return
			}
			defer up.Close()
			c.Send("HTTP/1.1 200 Connection established\r\n\r\n")
			done := make(chan bool)
			go func() { io.Copy(plainWriter{up}, c.Buffered()); up.(*net.TCPConn).CloseWrite(); close(done) }()
			io.Copy(c, plainReader{up}) // between two sockets, io.Copy keeps pipes for later
			c.Close()
			<-done
		}
	})
}

type (
	plainReader struct{ io.Reader }
	plainWriter struct{ io.Writer }
)

func TestEgressProxy(t *testing.T) {
	testsite.LeavesNothing(t)
	authority, stranger := testsite.NewAuthority(t), testsite.NewAuthority(t)
	site := testsite.ServeTLS(t, authority.Config([]string{"site.test"}, testsite.Current, "http/1.1"),
		testsite.Always(testsite.Answer{Fields: []string{"Content-Type: text/plain"}, Body: "through a tunnel"}))
	liar := testsite.ServeTLS(t, authority.Config([]string{"liar.test"}, testsite.Current, "http/1.1"),
		testsite.Always(testsite.Answer{Status: 407}))
	upstream := map[string]string{"site.test:443": site.Addr, "liar.test:443": liar.Addr}
	plain := proxy(t, upstream, "")
	guarded := proxy(t, upstream, "user:pässword")
	secure := testsite.ServeTLS(t, authority.Config([]string{"127.0.0.1"}, testsite.Current), proxyScript(upstream, ""))
	untrusted := testsite.ServeTLS(t, stranger.Config([]string{"127.0.0.1"}, testsite.Current), proxyScript(upstream, ""))
	bare := testsite.Serve(t, func(c *testsite.Conn) { c.Send("HTTP/1.1 400 Bad Request\r\n\r\n") })
	gone := string(hop.ProxyGone) + ": "
	at := func(s *testsite.Site, userinfo string) string {
		return strings.Replace(s.URL, "://", "://"+userinfo, 1)
	}
	for name, c := range map[string]struct {
		proxy, url, content string
		code                Code
		reason              string
		again               bool // worth another try
	}{
		"http":                      {at(plain, ""), "http://site.test/a?b=%zz", "proxied http://site.test/a?b=%zz", "", "", false},
		"http with a port":          {at(plain, ""), "http://site.test:8080//x", "proxied http://site.test:8080//x", "", "", false},
		"tunnel":                    {at(plain, ""), "https://site.test/", "through a tunnel", "", "", false},
		"credentials, http":         {at(guarded, "user:p%C3%A4ssword@"), "http://site.test/", "proxied http://site.test/", "", "", false},
		"credentials, tunnel":       {at(guarded, "user:p%C3%A4ssword@"), "https://site.test/", "through a tunnel", "", "", false},
		"no credentials":            {at(guarded, ""), "http://site.test/", "", CodeUnavailable, string(hop.ProxyBare), false},
		"no credentials, tunnel":    {at(guarded, ""), "https://site.test/", "", CodeUnavailable, string(hop.ProxyBare), false},
		"wrong credentials":         {at(guarded, "user:canary@"), "http://site.test/", "", CodeUnavailable, string(hop.ProxyAuth), false},
		"wrong credentials, tunnel": {at(guarded, "user:canary@"), "https://site.test/", "", CodeUnavailable, string(hop.ProxyAuth), false},
		"over TLS, http":            {at(secure, ""), "http://site.test/", "proxied http://site.test/", "", "", false},
		"over TLS, tunnel":          {at(secure, ""), "https://site.test/", "through a tunnel", "", "", false},
		"refused by the proxy":      {at(plain, ""), "https://other.test/", "", CodeUnavailable, string(hop.ProxyRefused), false},
		"a method it does not take": {at(plain, ""), "https://status.405.test/", "", CodeUnavailable, string(hop.ProxyRefused), false},
		"the proxy has no way":      {at(plain, ""), "https://status.502.test/", "", CodeUnavailable, string(hop.ProxyFailed), true},
		"the proxy waited":          {at(plain, ""), "https://status.504.test/", "", CodeUnavailable, string(hop.ProxyFailed), true},
		"the proxy is busy":         {at(plain, ""), "https://status.429.test/", "", CodeUnavailable, string(hop.ProxyFailed), true},
		"no proxy of HTTP":          {at(plain, ""), "https://noise.test/", "", CodeUnavailable, string(hop.ProxyUnclear), false},
		"it hangs up":               {at(plain, ""), "https://silent.test/", "", CodeUnavailable, gone + string(hop.Cut), true},
		"not there":                 {"http://" + testsite.Unused(t), "http://site.test/", "", CodeUnavailable, gone + "the connection was refused", true},
		"not a proxy over TLS":      {strings.Replace(at(bare, "user:canary@"), "http:", "https:", 1), "http://site.test/", "", CodeUnavailable, gone + "it does not answer with TLS, as https takes", false},
		"not trusted":               {at(untrusted, "user:canary@"), "http://site.test/", "", CodeUnavailable, gone + "its certificate is from an authority that is not trusted here", false},
		"a name that is not there":  {"http://user:canary@proxy.invalid:3128", "http://site.test/", "", CodeUnavailable, gone + "there is no such host name", false},
		"a site that says 407":      {at(plain, "user:canary@"), "https://liar.test/", "", CodeHTTPError, "", false},
		"policy holds, literal":     {at(plain, ""), "http://127.0.0.1/", "", CodeDisallowedURL, "", false},
		"policy holds, local name":  {at(plain, ""), "https://localhost/", "", CodeDisallowedURL, "", false},
		"policy holds, the proxy":   {at(plain, ""), plain.URL + "/", "", CodeDisallowedURL, "", false},
		"policy holds, a bad port":  {at(plain, ""), "http://site.test:22/", "", CodeDisallowedURL, "", false},
		"a name the proxy resolves": {at(plain, ""), "http://127.0.0.1.nip.example/", "proxied http://127.0.0.1.nip.example/", "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			page, err := Fetch(t.Context(), Request{URL: c.url}, Options{EgressProxy: &c.proxy, RootCAs: authority.Pool})
			if c.code != "" {
				e := wantCode(t, err, c.code)
				if c.reason != "" && e.Reason != c.reason || e.Retryable != c.again {
					t.Errorf("reason %q, again %v", e.Reason, e.Retryable)
				}
				told := ErrorResult(err, AnswerOptions{})
				if next := map[bool]string{true: "next: retry ·", false: "next: fix_settings ·"}[c.again]; c.code == CodeUnavailable && !strings.Contains(told.Text(), next) {
					t.Errorf("told %s, want %s", told.Text(), next)
				}
				pair := base64.StdEncoding.EncodeToString([]byte("user:canary"))
				for _, text := range []string{told.Text(), string(told.Structured), err.Error(), fmt.Sprintf("%+v", e.Cause)} {
					if strings.Contains(text, "canary") || strings.Contains(text, pair) {
						t.Errorf("the proxy's credentials are shown: %s", text)
					}
				}
				return
			}
			if err != nil || page.Content != c.content || page.FinalURL != c.url {
				t.Errorf("page %+v, error %v", page, err)
			}
		})
	}
	for _, r := range site.Requests() {
		if r.Header.Get("Proxy-Authorization") != "" {
			t.Error("the site saw the credentials of the proxy")
		}
	}
}

func TestSlowProxyEndsAtTheDeadline(t *testing.T) {
	testsite.LeavesNothing(t)
	for _, url := range []string{"http://site.test/", "https://site.test/"} {
		silent := testsite.Serve(t, testsite.Hold)
		ends(t, func() {
			_, err := Fetch(t.Context(), Request{URL: url}, Options{EgressProxy: &silent.URL, Timeout: new(100 * time.Millisecond)})
			wantCode(t, err, CodeTimeout)
		})
	}
}

func TestEgressProxyOptionIsChecked(t *testing.T) {
	for _, bad := range []string{"", "proxy.test:3128", "socks5://proxy.test", "http://", "http://h/path", "http://h?x", "http://u:secret@h:port"} {
		_, err := Direct(Options{EgressProxy: &bad})
		e, ok := err.(*OptionError)
		if !ok || e.Option != "egress_proxy" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestTM013AmbientProxyIsIgnored(t *testing.T) {
	counting := testsite.Serve(t, testsite.Always(testsite.Answer{Body: "from the proxy"}))
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, counting.URL)
	}
	w := newWeb(t, Options{}, []string{"site.test"}, func(string, testsite.Request) testsite.Answer {
		return testsite.Answer{Fields: []string{"Content-Type: text/plain"}, Body: "from the site"}
	})
	for _, url := range []string{"http://site.test/", "https://site.test/"} {
		page, err := w.fetch(t, Request{URL: url})
		if err != nil || page.Content != "from the site" {
			t.Errorf("%s: page %+v, error %v", url, page, err)
		}
	}
	if counting.Accepted() != 0 {
		t.Errorf("%d connections to the ambient proxy", counting.Accepted())
	}
}

func TestTM014PolitenessHoldsOverRealSockets(t *testing.T) {
	var inFlight, most atomic.Int32
	arrived, release := make(chan bool, 64), make(chan bool)
	site := testsite.Serve(t, testsite.Once(func(c *testsite.Conn) {
		most.Store(max(most.Load(), inFlight.Add(1)))
		arrived <- true
		<-release
		inFlight.Add(-1)
		c.Send(wholePlain)
	}))
	f := siteWorld(site).fetcher(t, Options{Politeness: NewPoliteness(DefaultInFlight, 0)})
	var calls sync.WaitGroup
	for i := range 50 {
		calls.Go(func() {
			if _, err := f.Fetch(t.Context(), Request{URL: fmt.Sprintf("http://site.test/%d", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	for range DefaultInFlight {
		<-arrived
	}
	close(release)
	calls.Wait()
	if most.Load() > DefaultInFlight {
		t.Errorf("%d requests were in flight", most.Load())
	}
}

func TestPolitenessWaitCountsInTheDeadline(t *testing.T) {
	testsite.LeavesNothing(t)
	site := testsite.Serve(t, testsite.Once(testsite.Hold))
	w := siteWorld(site)
	polite := NewPoliteness(1, 0)
	first := w.fetcher(t, Options{Politeness: polite, Timeout: new(400 * time.Millisecond)})
	second := w.fetcher(t, Options{Politeness: polite, Timeout: new(100 * time.Millisecond)})
	var calls sync.WaitGroup
	calls.Go(func() {
		_, err := first.Fetch(t.Context(), Request{URL: "http://site.test/first"})
		wantCode(t, err, CodeTimeout)
	})
	for len(site.Requests()) == 0 {
		select {
		case <-t.Context().Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
	ends(t, func() {
		_, err := second.Fetch(t.Context(), Request{URL: "http://site.test/second"})
		wantCode(t, err, CodeTimeout)
	})
	calls.Wait()
	if n := len(site.Requests()); n != 1 {
		t.Errorf("%d requests; the second was to wait", n)
	}
}
