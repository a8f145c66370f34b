package weburl_test

// Fuzzing of everything that strangers write: URLs, redirect targets, dial addresses; and of what operators write.
//
//	go test -run XXX -fuzz FuzzPolicy -fuzztime 5m -fuzzminimizetime 20x ./weburl
//
// Minimising is bounded, since its default of a minute for each new input is most of a short run.

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/weburl"
)

// seed adds URLs of every kind.
func seed(f *testing.F, add func(raw string)) {
	f.Helper()
	gen := newURLGen(3)
	for range 200 {
		add(gen.url())
		add(gen.reference())
	}
	for _, raw := range []string{"", "http://", "http://h", "http://[::1]/", "http://1.2.3.4:80/a?b#c", "http://xn--\u00e9/", "http://%ff/", "\x00", "\xff"} {
		add(raw)
	}
}

// sound checks what holds of every URL that was parsed.
func sound(t *testing.T, u *weburl.URL) {
	t.Helper()
	href := u.String()
	if strings.ContainsFunc(href, func(r rune) bool { return r <= ' ' || r >= 0x7f }) || strings.Contains(href, "#") {
		t.Errorf("%q is not canonical", href)
	}
	if !strings.HasPrefix(href, u.Scheme()+"://"+u.Host()) || u.Scheme() != "http" && u.Scheme() != "https" {
		t.Errorf("%q does not begin with scheme %q and host %q", href, u.Scheme(), u.Host())
	}
	if host := u.Host(); host == "" || host != strings.ToLower(host) || strings.HasSuffix(host, ".") || strings.Contains(host, "..") || host[0] == '.' {
		t.Errorf("%q has host %q", href, host)
	}
	if again, err := u.Resolve(""); len(href) <= weburl.MaxLength && (err != nil || *again != *u) {
		t.Errorf("%q is read as %v, %v", href, again, err)
	}
	line, _ := requestOf(t, u)
	if !strings.HasPrefix(line, "GET /") || !strings.HasSuffix(line, " HTTP/1.1") || strings.Count(line, " ") != 2 {
		if !strings.ContainsAny(u.Host(), "\"`{}") { // net/http refuses these hosts
			t.Errorf("%q is asked for by %q", href, line)
		}
	}
}

// refused checks what holds of every refusal.
func refused(t *testing.T, raw string, err error) {
	t.Helper()
	var refusal *weburl.Error
	if !errors.As(err, &refusal) || refusal.Kind == 0 || refusal.Rule == "" || refusal.Reason == "" || len(refusal.Reason) > 600 {
		t.Errorf("%q: %#v", raw, err)
	}
}

func FuzzParse(f *testing.F) {
	seed(f, func(raw string) { f.Add(raw) })
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := weburl.Parse(raw)
		if err != nil {
			refused(t, raw, err)
			return
		}
		sound(t, u)
	})
}

func FuzzResolve(f *testing.F) {
	seed(f, func(raw string) { f.Add("https://example.com/a/b?c", raw) })
	f.Fuzz(func(t *testing.T, base, ref string) {
		from, err := weburl.Parse(base)
		if err != nil {
			return
		}
		u, err := from.Resolve(ref)
		if err != nil {
			refused(t, ref, err)
			return
		}
		sound(t, u)
		if len(u.String()) > weburl.MaxLength {
			t.Errorf("%q against %q has %d characters", ref, base, len(u.String()))
		}
		// An absolute URL means the same whatever it stands against.
		if alone, err := weburl.Parse(ref); err == nil && alone.Scheme() != from.Scheme() && *alone != *u {
			t.Errorf("%q is %s alone and %s against %q", ref, alone, u, base)
		}
	})
}

func FuzzPolicy(f *testing.F) {
	seed(f, func(raw string) { f.Add(raw, "example.com", "10.0.0.0/8", false) })
	f.Fuzz(func(t *testing.T, raw, pattern, permit string, private bool) {
		var zero weburl.Policy
		u, err := zero.Check(raw)
		if err != nil {
			refused(t, raw, err)
		} else {
			public(t, u)
		}
		p := &weburl.Policy{AllowPrivateHosts: private}
		listed, patternErr := weburl.ParseHostPattern(pattern)
		permitted, permitErr := weburl.ParsePermit(permit)
		if patternErr == nil {
			p.AllowedHosts = append(p.AllowedHosts, listed)
		}
		if permitErr == nil {
			p.Permitted = append(p.Permitted, permitted)
		}
		u, err = p.Check(raw)
		if err != nil {
			refused(t, raw, err)
			return
		}
		if patternErr == nil && !listed.Matches(u) {
			t.Errorf("%s is allowed and does not match %s", u, listed)
		}
		if a, literal := literalOf(u); literal && weburl.Metadata(a) && !strings.HasPrefix(permitted.String(), u.Host()) && !strings.HasPrefix(permitted.String(), a.Unmap().String()) {
			t.Errorf("metadata %s is allowed by permit %q", u, permitted)
		}
		p.BlockedHosts = append(p.BlockedHosts, listed)
		if patternErr == nil && p.CheckURL(u) == nil {
			t.Errorf("%s is allowed although %s is blocked", u, listed)
		}
	})
}

// public checks what holds of every URL that the zero policy allows.
func public(t *testing.T, u *weburl.URL) {
	t.Helper()
	if a, literal := literalOf(u); literal {
		if name, special := weburl.Special(a); special || weburl.Metadata(a) {
			t.Errorf("%s is allowed: %s", u, name)
		}
	}
	if last := u.Host()[strings.LastIndexByte(u.Host(), '.')+1:]; last == "localhost" || last == "internal" {
		t.Errorf("%s is allowed", u)
	}
	// What other programs would connect to under this host is public as well, or a name.
	if ip := net.ParseIP(strings.Trim(u.Host(), "[]")); ip != nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsUnspecified() || ip.IsLinkLocalUnicast() || ip.IsMulticast()) {
		t.Errorf("%s is allowed, %s is not public", u, ip)
	}
}

func literalOf(u *weburl.URL) (netip.Addr, bool) {
	a, err := netip.ParseAddr(strings.Trim(u.Host(), "[]"))
	return a, err == nil
}

func FuzzParseHostPattern(f *testing.F) {
	gen := newURLGen(4)
	for range 200 {
		f.Add(gen.pick("", "*.", "*", " ") + gen.host())
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := weburl.ParseHostPattern(text)
		if err != nil {
			return
		}
		if again, err := weburl.ParseHostPattern(p.String()); err != nil || again != p {
			t.Errorf("%q: canonical %q reads as %q, %v", text, p, again, err)
		}
		host := strings.Replace(p.String(), "*", "below.it", 1)
		u, err := weburl.Parse("http://" + host + "/")
		if err != nil || !p.Matches(u) {
			t.Errorf("%q: %s does not match %s (%v)", text, p, host, err)
		}
	})
}

func FuzzParsePermit(f *testing.F) {
	gen := newURLGen(5)
	for range 200 {
		f.Add(gen.pick("", "*.", "*", " ") + gen.host() + gen.port() + gen.pick("", "", "/8", "/64", "/128", "/96:80"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := weburl.ParsePermit(text)
		if err != nil {
			return
		}
		if again, err := weburl.ParsePermit(p.String()); err != nil || again != p {
			t.Errorf("%q: canonical %q reads as %q, %v", text, p, again, err)
		}
	})
}

// FuzzDial checks that whatever is dialled, only public addresses are connected to, and none is looked up.
func FuzzDial(f *testing.F) {
	gen := newURLGen(6)
	for range 200 {
		f.Add(gen.host() + gen.port())
	}
	f.Fuzz(func(t *testing.T, address string) {
		r := anyName{t}
		d := &weburl.Dialer{Policy: &weburl.Policy{}, Resolver: r, Interfaces: noInterfaces, Connect: func(_ context.Context, _, at string) (net.Conn, error) {
			if _, special := weburl.Special(netip.MustParseAddrPort(at).Addr()); special {
				t.Errorf("%q connects to %s", address, at)
			}
			return nil, errors.New("connection refused")
		}}
		if conn, err := d.DialContext(t.Context(), "tcp", address); err == nil {
			conn.Close()
			t.Errorf("%q is connected", address)
		}
	})
}

// anyName resolves every name to a public address, and reports hosts that are no names.
type anyName struct{ t *testing.T }

func (r anyName) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || host == "localhost" || strings.HasSuffix(host, ".internal") {
		r.t.Errorf("looked up %q", host)
	}
	return parseAddrs("93.184.216.34"), nil
}
