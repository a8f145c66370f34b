package weburl_test

// This machine as seen by the dialer: its listeners are never reached, its addresses are private.

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/weburl"
)

func TestTM006OwnListenersAreNeverReached(t *testing.T) {
	everywhere, loopback, elsewhere := listen(t, ":0"), listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	r := resolves(map[string]string{"localhost": "127.0.0.1", "me.test": "127.0.0.1", "six.test": "::1"})
	d := &weburl.Dialer{
		Policy:    &weburl.Policy{AllowPrivateHosts: true, Permitted: permits(t, "127.0.0.0/8", "localhost", "0.0.0.0", "me.test")},
		Resolver:  r,
		Listeners: func() []netip.AddrPort { return []netip.AddrPort{everywhere.addr(), loopback.addr()} },
	}
	hosts := []string{"127.0.0.1", "127.0.0.2", "0.0.0.0", "::", "::1", "::ffff:127.0.0.1", "0x7f.1", "localhost", "me.test", "six.test"}
	system, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range system {
		if ip := a.(*net.IPNet).IP; !ip.IsLinkLocalUnicast() {
			hosts = append(hosts, ip.String())
		}
	}
	for _, host := range hosts {
		if rule, err := dial(t, d, everywhere.at(host)); rule != weburl.RuleOwn {
			t.Errorf("%s: %q, %v", everywhere.at(host), rule, err)
		}
	}
	for _, host := range []string{"127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1", "localhost", "me.test"} {
		if rule, err := dial(t, d, loopback.at(host)); rule != weburl.RuleOwn {
			t.Errorf("%s: %q, %v", loopback.at(host), rule, err)
		}
	}
	if rule, err := dial(t, d, elsewhere.at("127.0.0.1")); rule != "" {
		t.Errorf("a permitted service that is not ours: %q, %v", rule, err)
	}
	if n := everywhere.settled(t) + loopback.settled(t); n != 0 {
		t.Errorf("%d connections to own listeners", n)
	}
	if n := elsewhere.settled(t); n != 1 {
		t.Errorf("%d connections to the permitted service, want 1", n)
	}
}

func TestTM006ListenerThatOpensDuringADialIsNotReached(t *testing.T) {
	late := listen(t, "127.0.0.1:0")
	asked := 0
	d := &weburl.Dialer{
		Policy:     &weburl.Policy{AllowPrivateHosts: true},
		Interfaces: noInterfaces,
		Listeners: func() []netip.AddrPort {
			if asked++; asked == 1 {
				return nil
			}
			return []netip.AddrPort{late.addr()}
		},
	}
	if rule, err := dial(t, d, late.at("127.0.0.1")); rule != weburl.RuleOwn {
		t.Errorf("%q, %v", rule, err)
	}
	if n := late.settled(t); n != 0 {
		t.Errorf("%d connections, although the socket was judged before it connected", n)
	}
}

func TestTM006OwnListenersBehindAnEgressProxy(t *testing.T) {
	d := &weburl.Dialer{
		Policy:     &weburl.Policy{AllowPrivateHosts: true},
		Interfaces: func() ([]netip.Prefix, error) { return []netip.Prefix{netip.MustParsePrefix("93.184.216.34/24")}, nil },
		Listeners: func() []netip.AddrPort {
			return []netip.AddrPort{netip.MustParseAddrPort("0.0.0.0:7477"), netip.MustParseAddrPort("127.0.0.1:7478")}
		},
	}
	for raw, want := range map[string]weburl.Rule{
		"http://localhost:7477/": weburl.RuleOwn, "http://a.localhost:7478/": weburl.RuleOwn, "http://127.0.0.1:7477/": weburl.RuleOwn,
		"http://[::1]:7477/": weburl.RuleOwn, "http://93.184.216.34:7477/": weburl.RuleOwn, "http://93.184.216.34:7478/": "",
		"http://localhost:7479/": "", "http://example.com:7477/": "", "http://93.184.216.35:7477/": "",
	} {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := ruleOf(t, d.CheckURL(u)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
	if got := ruleOf(t, d.CheckURL(nil)); got == "" {
		t.Error("no URL is allowed")
	}
}

func TestTM005OwnAddressesAndTheirIPv6NetworkArePrivate(t *testing.T) {
	d := &weburl.Dialer{
		Policy: &weburl.Policy{},
		Interfaces: func() ([]netip.Prefix, error) {
			return []netip.Prefix{netip.MustParsePrefix("93.184.216.34/24"), netip.MustParsePrefix("2606:4700:1:2::5/128"), netip.MustParsePrefix("2a00:1:2:3::9/48")}, nil
		},
	}
	table := map[string]bool{ // private?
		"93.184.216.34": true, "[::ffff:93.184.216.34]": true, "93.184.216.35": false, "93.184.217.34": false,
		"[2606:4700:1:2::5]": true, "[2606:4700:1:2::]": true, "[2606:4700:1:2:ffff:ffff:ffff:ffff]": true,
		"[2606:4700:1:1:ffff:ffff:ffff:ffff]": false, "[2606:4700:1:3::]": false, "[2a00:1:2:3::1]": true, "[2a00:1:2:4::9]": false,
	}
	for host, private := range table {
		n := &fakeNetwork{}
		d := &weburl.Dialer{Policy: d.Policy, Interfaces: d.Interfaces, Connect: n.Connect}
		name := map[string]string{"name.test": host}
		if host[0] == '[' {
			name["name.test"] = host[1 : len(host)-1]
		}
		d.Resolver = resolves(name)
		for address, want := range map[string]weburl.Rule{host + ":80": weburl.RulePrivate, "name.test:80": weburl.RuleAddress} {
			if !private {
				want = ""
			}
			if got, err := dial(t, d, address); got != want {
				t.Errorf("%s as %s: %q, want %q (%v)", host, address, got, want, err)
			}
		}
		if private != (len(n.dials()) == 0) {
			t.Errorf("%s: dialled %v", host, n.dials())
		}
		for _, lifted := range []*weburl.Policy{{AllowPrivateHosts: true}, {Permitted: permits(t, "93.184.216.0/24", "2606:4700::/32", "2a00::/16")}} {
			d := &weburl.Dialer{Policy: lifted, Interfaces: d.Interfaces, Connect: n.Connect, Resolver: d.Resolver}
			if got, err := dial(t, d, host+":80"); got != "" {
				t.Errorf("%s permitted: %q, %v", host, got, err)
			}
		}
	}
}

func TestTM005SystemInterfacesAreAsked(t *testing.T) {
	system, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	asked := func(p *weburl.Policy) *weburl.Dialer {
		return &weburl.Dialer{Policy: p, Listeners: func() []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort("[::]:7477")} }}
	}
	for _, a := range system {
		ip := a.(*net.IPNet).IP
		if rule, err := dial(t, asked(&weburl.Policy{AllowPrivateHosts: true}), net.JoinHostPort(ip.String(), "7477")); rule != weburl.RuleOwn {
			t.Errorf("%s: %q, %v", ip, rule, err)
		}
	}
}

func TestWithoutTheListOfInterfacesNothingIsReached(t *testing.T) {
	n := &fakeNetwork{}
	broken := errors.New("not permitted")
	d := &weburl.Dialer{Policy: &weburl.Policy{}, Connect: n.Connect, Interfaces: func() ([]netip.Prefix, error) { return nil, broken }}
	if rule, err := dial(t, d, "93.184.216.34:80"); rule != "failed" || !errors.Is(err, broken) || len(n.dials()) > 0 {
		t.Errorf("%q, %v, dialled %v", rule, err, n.dials())
	}
}

func TestInterfacesAreListedAnewAfterFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists := 0
		d := fakeDialer(&weburl.Policy{}, resolves(nil), &fakeNetwork{})
		d.Interfaces = func() ([]netip.Prefix, error) {
			lists++
			own := []netip.Prefix{}
			if lists > 1 { // a VPN came up
				own = append(own, netip.MustParsePrefix("93.184.216.34/32"))
			}
			return own, nil
		}
		var rules []string
		for _, wait := range []time.Duration{0, 4 * time.Second, 2 * time.Second} {
			<-time.After(wait)
			rule, _ := dial(t, d, "93.184.216.34:80")
			rules = append(rules, fmt.Sprint(rule))
		}
		if want := []string{"", "", "private"}; !slices.Equal(rules, want) || lists != 2 {
			t.Errorf("rules %q, want %q; listed %d times", rules, want, lists)
		}
	})
}
