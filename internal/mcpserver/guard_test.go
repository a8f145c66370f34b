package mcpserver

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/wayleave/wayleave/internal/doorstep"
)

func requestTo(host, local string, header http.Header) *http.Request {
	addr, err := net.ResolveTCPAddr("tcp", local)
	if err != nil {
		panic(err)
	}
	r := &http.Request{Method: http.MethodPost, Host: host, Header: header}
	if header == nil {
		r.Header = http.Header{}
	}
	return r.WithContext(context.WithValue(context.Background(), http.LocalAddrContextKey, net.Addr(addr)))
}

func TestTM050HostIsOneOfOurs(t *testing.T) {
	g, err := doorstep.New([]string{"wayleave.example", "proxy.example:8443"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host, local string
		want        bool
	}{
		{"127.0.0.1:7477", "127.0.0.1:7477", true},
		{"localhost:7477", "127.0.0.1:7477", true},
		{"LOCALHOST", "127.0.0.1:7477", true},
		{"localhost.:7477", "127.0.0.1:7477", true},
		{"wayleave.localhost:7477", "127.0.0.1:7477", true},
		{"[::1]:7477", "[::1]:7477", true},
		{"127.0.0.1:80", "172.17.0.2:7477", true}, // a container's published port
		{"192.0.2.5:7477", "192.0.2.5:7477", true},
		{"[::ffff:192.0.2.5]:7477", "192.0.2.5:7477", true},
		{"192.0.2.6:7477", "192.0.2.5:7477", false},
		{"wayleave.example", "127.0.0.1:7477", true},
		{"Wayleave.Example:443", "127.0.0.1:7477", true},
		{"proxy.example:8443", "127.0.0.1:7477", true},
		{"proxy.example", "127.0.0.1:7477", false},
		{"proxy.example:80", "127.0.0.1:7477", false},
		{"evil.test", "127.0.0.1:7477", false},
		{"evil.test:7477", "127.0.0.1:7477", false},
		{"localhost.evil.test", "127.0.0.1:7477", false},
		{"127.0.0.1.evil.test", "127.0.0.1:7477", false},
		{"x.localhost", "127.0.0.1:7477", false},
		{"wayleave.example.evil.test", "127.0.0.1:7477", false},
		{"0.0.0.0:7477", "127.0.0.1:7477", false},
		{"2130706433:7477", "127.0.0.1:7477", false},
		{"", "127.0.0.1:7477", false},
		{"localhost@evil.test", "127.0.0.1:7477", false},
	} {
		if got := g.Ours(requestTo(c.host, c.local, nil)); got != c.want {
			t.Errorf("Host %q at %s: %v, want %v", c.host, c.local, got, c.want)
		}
	}
}

func TestConfiguredHostsAreChecked(t *testing.T) {
	for _, bad := range []string{"", "*", "https://a.example", "a.example/x", "u@a.example", "*.a.example"} {
		if _, err := doorstep.New([]string{bad}, nil); err == nil {
			t.Errorf("host %q was taken", bad)
		}
	}
}

func TestTM050OnlyOurOwnPagesMayCall(t *testing.T) {
	const host = "127.0.0.1:7477"
	for _, c := range []struct {
		header http.Header
		want   bool
	}{
		{http.Header{}, true},
		{http.Header{"Origin": {"http://127.0.0.1:7477"}}, true},
		{http.Header{"Origin": {"https://127.0.0.1:7477"}}, true}, // a proxy does TLS
		{http.Header{"Origin": {"http://127.0.0.1:7478"}}, false},
		{http.Header{"Origin": {"http://localhost:7477"}}, false},
		{http.Header{"Origin": {"null"}}, false},
		{http.Header{"Origin": {""}}, false},
		{http.Header{"Origin": {"https://evil.test"}}, false},
		{http.Header{"Origin": {"http://127.0.0.1:7477@evil.test"}}, false},
		{http.Header{"Origin": {"http://127.0.0.1:7477/"}}, false},
		{http.Header{"Origin": {"file://127.0.0.1:7477"}}, false},
		{http.Header{"Origin": {"http://127.0.0.1:7477", "https://evil.test"}}, false},
		{http.Header{"Sec-Fetch-Site": {"cross-site"}}, false},
		{http.Header{"Sec-Fetch-Site": {"same-site"}}, false},
		{http.Header{"Sec-Fetch-Site": {"none"}}, true},
		{http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://127.0.0.1:7477"}}, true},
	} {
		if got := ownOrigin(requestTo(host, host, c.header)); got != c.want {
			t.Errorf("%v: %v, want %v", c.header, got, c.want)
		}
	}
}

func TestTM051ForwardedAddressCountsFromTrustedProxiesOnly(t *testing.T) {
	g, err := doorstep.New(nil, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"192.0.2.1:5", nil, "192.0.2.1"},
		{"192.0.2.1:5", []string{"203.0.113.9"}, "192.0.2.1"},
		{"10.0.0.1:5", nil, "10.0.0.1"},
		{"10.0.0.1:5", []string{"203.0.113.9"}, "203.0.113.9"},
		{"10.0.0.1:5", []string{"198.51.100.1, 203.0.113.9"}, "203.0.113.9"},
		{"10.0.0.1:5", []string{"198.51.100.1", "203.0.113.9"}, "203.0.113.9"},
		{"10.0.0.1:5", []string{"198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"10.0.0.1:5", []string{"<script>"}, "10.0.0.1"},
		{"10.0.0.1:5", []string{"198.51.100.1, nonsense"}, "10.0.0.1"},
		{"[::ffff:10.0.0.1]:5", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		{"@", []string{"203.0.113.9"}, ""},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := g.From(r); got != c.want {
			t.Errorf("from %s, forwarded %q: %q, want %q", c.peer, c.forwarded, got, c.want)
		}
	}
}

func TestBearer(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   string // "" means none
	}{
		{[]string{"Bearer abc"}, "abc"},
		{[]string{"bearer   abc "}, "abc"},
		{nil, ""},
		{[]string{""}, ""},
		{[]string{"abc"}, ""},
		{[]string{"Bearer "}, ""},
		{[]string{"Basic abc"}, ""},
		{[]string{"Bearer a b"}, ""},
		{[]string{"Bearer a, Bearer b"}, ""},
		{[]string{"Bearer a", "Bearer b"}, ""},
	} {
		got, ok := bearer(&http.Request{Header: http.Header{"Authorization": c.values}})
		if got != c.want && ok || ok != (c.want != "") {
			t.Errorf("%q: %q, %v", c.values, got, ok)
		}
	}
}
