package doorstep

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestNamesThatAreOurs(t *testing.T) {
	n, err := New([]string{"Box.example", "x7k2q9.wayleave.localhost", "other.example:8443"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host         string
		ours, listed bool
	}{
		{"box.example", true, true}, {"BOX.example:443", true, true}, {"box.example.", true, true},
		{"x7k2q9.wayleave.localhost:7477", true, true}, {"other.example:8443", true, true}, {"other.example", false, false}, {"other.example:1", false, false},
		{"localhost", true, false}, {"localhost:7477", true, false}, {"wayleave.localhost:1", true, false},
		{"127.0.0.1:7477", true, false}, {"[::1]:7477", true, false}, {"127.9.9.9", true, false}, {"[::ffff:127.0.0.1]", true, false},
		{"192.0.2.4:7477", true, false}, {"192.0.2.5:7477", false, false},
		{"evil.test", false, false}, {"localhost.evil.test", false, false}, {"zzzzzz.wayleave.localhost", false, false}, {"evil.localhost", false, false},
		{"box.example.evil.test", false, false}, {"", false, false}, {"box.example@evil.test", false, false},
		{"box.example:7477@evil.test", false, false}, {"localhost:80@evil.test", false, false}, {"box.example:", false, false}, {"box.example:99999", false, false},
	} {
		r := httptest.NewRequest("GET", "http://unused/", nil)
		r.Host = c.host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.ParseIP("192.0.2.4"), Port: 7477})))
		if n.Ours(r) != c.ours || n.Listed(r) != c.listed {
			t.Errorf("Host %q: ours %v, listed %v; want %v, %v", c.host, n.Ours(r), n.Listed(r), c.ours, c.listed)
		}
	}
	for _, bad := range []string{"", " ", "http://box.example", "a@b", "*.example", "a b"} {
		if _, err := New([]string{bad}, nil); err == nil {
			t.Errorf("%q was taken for a host", bad)
		}
	}
}

func TestTM051ForwardedAddressesAreBelievedFromProxiesOnly(t *testing.T) {
	n, err := New(nil, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		peer string
		fwd  []string
		want string
	}{
		{"203.0.113.9:1", []string{"10.0.0.1"}, "203.0.113.9"},
		{"192.0.2.1:1", nil, "192.0.2.1"},
		{"192.0.2.1:1", []string{"203.0.113.7"}, "203.0.113.7"},
		{"192.0.2.1:1", []string{"10.0.0.1, 203.0.113.7"}, "203.0.113.7"},
		{"192.0.2.1:1", []string{"203.0.113.7, 192.0.2.9"}, "203.0.113.7"},
		{"192.0.2.1:1", []string{"203.0.113.7", "garbage"}, "192.0.2.1"},
		{"pipe", []string{"203.0.113.7"}, ""},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		for _, f := range c.fwd {
			r.Header.Add("X-Forwarded-For", f)
		}
		if got := n.From(r); got != c.want {
			t.Errorf("from %s with %q: %q, want %q", c.peer, c.fwd, got, c.want)
		}
	}
}
