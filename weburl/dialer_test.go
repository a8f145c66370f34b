package weburl_test

// The dialer: what it looks up, what it connects to, what it refuses.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/weburl"
)

func fields(s string) []string { return strings.Fields(s) }

// dial dials and closes, and answers the rule of a refusal.
func dial(t *testing.T, d *weburl.Dialer, address string) (weburl.Rule, error) {
	t.Helper()
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err == nil {
		conn.Close()
		return "", nil
	}
	if refusal := (*weburl.Error)(nil); errors.As(err, &refusal) {
		return refusal.Rule, err
	}
	return "failed", err
}

func TestDialerConnectsToAPublicNameWithOneLookup(t *testing.T) {
	r := resolves(map[string]string{"example.com": "93.184.216.34 2606:4700::1"})
	n := &fakeNetwork{}
	d := fakeDialer(&weburl.Policy{}, r, n)
	for _, address := range []string{"example.com:443", "EXAMPLE.com:443"} {
		if rule, err := dial(t, d, address); err != nil {
			t.Errorf("%s: %s, %v", address, rule, err)
		}
	}
	if got := r.lookups(); !slices.Equal(got, []string{"example.com", "example.com"}) {
		t.Errorf("looked up %v, once for each dial", got)
	}
	if got := n.dials(); !slices.Equal(got, []string{"93.184.216.34:443", "93.184.216.34:443"}) {
		t.Errorf("dialled %v", got)
	}
}

func TestTM036RefusedHostIsNotLookedUp(t *testing.T) {
	r := resolves(nil)
	n := &fakeNetwork{}
	d := fakeDialer(&weburl.Policy{
		AllowedHosts: patterns(t, "*.allowed.example", "localhost", "*.internal", "10.0.0.1", "[::1]"),
		BlockedHosts: patterns(t, "blocked.allowed.example"),
	}, r, n)
	for address, want := range map[string]weburl.Rule{
		"secret.exfiltrated.example:443": weburl.RuleAllowed, "blocked.allowed.example:443": weburl.RuleBlocked,
		"localhost:80": weburl.RulePrivate, "db.internal:80": weburl.RulePrivate, "10.0.0.1:80": weburl.RulePrivate,
		"[::1]:80": weburl.RulePrivate, "www.allowed.example:25": weburl.RulePort, "a..allowed.example:80": weburl.RuleHost,
		"0x0a000001:80": weburl.RulePrivate, "167772161:80": weburl.RulePrivate, "[::ffff:10.0.0.1]:80": weburl.RulePrivate,
		"1.2.3.256:80": weburl.RuleParse, "www.allowed.example": weburl.RuleHost, "www.allowed.example:http": weburl.RulePort,
		"www.allowed.example:99999": weburl.RulePort, "[fe80::1%eth0]:80": weburl.RuleParse, ":80": weburl.RuleHost, "a/b:80": weburl.RuleHost,
	} {
		if got, err := dial(t, d, address); got != want {
			t.Errorf("%s: refused by %q, want %q (%v)", address, got, want, err)
		}
	}
	if len(r.lookups())+len(n.dials()) > 0 {
		t.Errorf("looked up %v, dialled %v", r.lookups(), n.dials())
	}
}

func TestTM001AddressIsNeverLookedUp(t *testing.T) {
	r := resolves(nil)
	n := &fakeNetwork{}
	d := fakeDialer(&weburl.Policy{}, r, n)
	for _, address := range []string{"93.184.216.34:80", "1572395042:80", "[::ffff:93.184.216.34]:80", "[2606:4700::1]:80", "0x5d.184.55330:80", "93.184.216.34.:80"} {
		if rule, err := dial(t, d, address); err != nil {
			t.Errorf("%s: %s, %v", address, rule, err)
		}
	}
	want := []string{"93.184.216.34:80", "93.184.216.34:80", "93.184.216.34:80", "[2606:4700::1]:80", "93.184.216.34:80", "93.184.216.34:80"}
	if got := n.dials(); !slices.Equal(got, want) || len(r.lookups()) > 0 {
		t.Errorf("looked up %v, dialled %v", r.lookups(), got)
	}
}

func TestTM002PrivateAnswersRefuseTheName(t *testing.T) {
	for name, addrs := range map[string]string{
		"private.test":    "10.0.0.5",
		"mixed.test":      "93.184.216.34 127.0.0.1",
		"mixed6.test":     "93.184.216.34 ::1",
		"last.test":       strings.Repeat("93.184.216.34 ", 5_000) + "192.168.1.1",
		"mapped.test":     "::ffff:10.0.0.5",
		"nat64.test":      "64:ff9b::7f00:1",
		"zone.test":       "fe80::1%eth0",
		"metadata.test":   "169.254.169.254",
		"azure.test":      "168.63.129.16",
		"nowhere.test":    "0.0.0.0",
		"127.0.0.1.nip.x": "127.0.0.1",
	} {
		n := &fakeNetwork{}
		rule, err := dial(t, fakeDialer(&weburl.Policy{}, resolves(map[string]string{name: addrs}), n), name+":80")
		if rule != weburl.RuleAddress || len(n.dials()) > 0 {
			t.Errorf("%s: refused by %q (%v), dialled %v", name, rule, err, n.dials())
			continue
		}
		refusal := err.(*weburl.Error)
		meta := strings.HasPrefix(name, "metadata") || strings.HasPrefix(name, "azure")
		if refusal.Host != name || (refusal.Permit == name) == meta || !refusal.Address.IsValid() || strings.Contains(refusal.Reason, refusal.Address.String()+" ") {
			t.Errorf("%s: %+v", name, refusal)
		}
	}
	invalid := &fakeResolver{answers: map[string][][]netip.Addr{"broken.test": {{netip.Addr{}}}}}
	if rule, err := dial(t, fakeDialer(&weburl.Policy{}, invalid, &fakeNetwork{}), "broken.test:80"); rule != weburl.RuleAddress {
		t.Errorf("an invalid answer: %q, %v", rule, err)
	}
}

func TestTM002RebindingReachesNothing(t *testing.T) {
	trap := listen(t, "127.0.0.1:0")
	// Public at the first look-up, this machine ever after.
	r := resolves(nil).then("rebind.test", "93.184.216.34").then("rebind.test", "127.0.0.1")
	n := &fakeNetwork{}
	d := fakeDialer(&weburl.Policy{}, r, n)
	if rule, err := dial(t, d, trap.at("rebind.test")); err != nil {
		t.Errorf("first: %q, %v", rule, err)
	}
	d.Connect = nil // real sockets: what the second look-up says would be reached
	if rule, err := dial(t, d, trap.at("rebind.test")); rule != weburl.RuleAddress {
		t.Errorf("second: %q, %v", rule, err)
	}
	if got := n.dials(); len(got) != 1 || !strings.HasPrefix(got[0], "93.184.216.34:") {
		t.Errorf("dialled %v", got)
	}
	if got := trap.settled(t); got != 0 {
		t.Errorf("%d connections to this machine", got)
	}
}

func TestTM002ConnectedSocketIsJudgedAgain(t *testing.T) {
	for remote, want := range map[string]weburl.Rule{
		"127.0.0.1:80": weburl.RuleAddress, "[::1]:80": weburl.RuleAddress, "93.184.216.34:81": weburl.RuleAddress, "pipe": weburl.RuleAddress,
		"93.184.216.34:80": "", "[::ffff:93.184.216.34]:80": "",
	} {
		n := &fakeNetwork{connect: func(context.Context, string) (string, error) { return remote, nil }}
		d := fakeDialer(&weburl.Policy{}, resolves(map[string]string{"example.com": "93.184.216.34 93.184.216.35"}), n)
		if rule, err := dial(t, d, "example.com:80"); rule != want {
			t.Errorf("connected to %s: %q, %v", remote, rule, err)
		}
		if open, dials := n.open.Load(), n.dials(); open != 0 || len(dials) != 1 {
			t.Errorf("connected to %s: %d connections left open, dialled %v", remote, open, dials)
		}
	}
}

func TestTM002SystemSocketIsJudgedWhereItLeads(t *testing.T) {
	// Linux connects 0.0.0.0 to loopback: the permit of the one is no permit of the other.
	trap := listen(t, "127.0.0.1:0")
	d := &weburl.Dialer{Policy: &weburl.Policy{Permitted: permits(t, "0.0.0.0")}, Interfaces: noInterfaces}
	if rule, err := dial(t, d, trap.at("0.0.0.0")); rule == "" {
		t.Errorf("connected to loopback through 0.0.0.0: %v", err)
	}
}

func TestPermittedNameReachesItsPrivateAddress(t *testing.T) {
	server := listen(t, "127.0.0.1:0")
	r := resolves(map[string]string{"printer.lan": "127.0.0.1", "other.lan": "127.0.0.1", "meta.lan": "169.254.169.254", "deep.net": "127.0.0.1"})
	port := server.addr().Port()
	d := &weburl.Dialer{
		Policy:     &weburl.Policy{Permitted: permits(t, fmt.Sprintf("printer.lan:%d", port), "meta.lan", fmt.Sprintf("127.0.0.0/8:%d", port+1))},
		Resolver:   r,
		Interfaces: noInterfaces,
	}
	for address, want := range map[string]weburl.Rule{
		server.at("printer.lan"):  "",
		server.at("PRINTER.lan"):  "",
		"printer.lan:80":          weburl.RuleAddress, // another port was permitted
		server.at("other.lan"):    weburl.RuleAddress,
		server.at("127.0.0.1"):    weburl.RulePrivate,
		"meta.lan:80":             weburl.RuleAddress, // metadata is named singly, not through a name
		server.at("printer.lan."): "failed",           // the resolver knows no such name with a dot: it was asked for exactly that
	} {
		if got, err := dial(t, d, address); got != want {
			t.Errorf("%s: %q, want %q (%v)", address, got, want, err)
		}
	}
	d.Policy = &weburl.Policy{Permitted: permits(t, "127.0.0.0/8")}
	for address, want := range map[string]weburl.Rule{
		server.at("deep.net"): "", server.at("127.0.0.1"): "", server.at("localhost"): weburl.RulePrivate,
	} {
		if got, err := dial(t, d, address); got != want {
			t.Errorf("permitted network, %s: %q, want %q (%v)", address, got, want, err)
		}
	}
	if got := server.settled(t); got != 4 {
		t.Errorf("%d connections, want 4", got)
	}
}

func TestBlockedNetworkAndAddressHoldForResolvedNames(t *testing.T) {
	r := resolves(map[string]string{"a.test": "93.184.216.34", "b.test": "8.8.8.8", "c.test": "64:ff9b::808:808", "d.test": "9.9.9.9", "e.test": "10.1.0.1"})
	d := fakeDialer(&weburl.Policy{
		BlockedHosts:    patterns(t, "93.184.216.34"),
		BlockedNetworks: []netip.Prefix{netip.MustParsePrefix("8.8.0.0/16"), netip.MustParsePrefix("10.1.0.0/16")},
		Permitted:       permits(t, "10.0.0.0/8"),
	}, r, &fakeNetwork{})
	for address, want := range map[string]weburl.Rule{
		"a.test:80": weburl.RuleAddress, "b.test:80": weburl.RuleAddress, "c.test:80": weburl.RuleAddress, "d.test:80": "", "e.test:80": weburl.RuleAddress,
	} {
		if got, err := dial(t, d, address); got != want {
			t.Errorf("%s: %q, want %q (%v)", address, got, want, err)
		}
	}
}

func TestDialerWithoutPolicyRefusesEverything(t *testing.T) {
	n := &fakeNetwork{}
	r := resolves(map[string]string{"example.com": "93.184.216.34"})
	for _, address := range []string{"example.com:80", "93.184.216.34:80"} {
		if rule, err := dial(t, fakeDialer(nil, r, n), address); rule != weburl.RulePolicy {
			t.Errorf("%s: %q, %v", address, rule, err)
		}
		if rule, err := dial(t, new(weburl.Dialer), address); rule != weburl.RulePolicy {
			t.Errorf("zero dialer, %s: %q, %v", address, rule, err)
		}
	}
	if len(n.dials())+len(r.lookups()) > 0 {
		t.Errorf("dialled %v, looked up %v", n.dials(), r.lookups())
	}
}

func TestDialerSpeaksTCPOnly(t *testing.T) {
	r := resolves(map[string]string{"example.com": "93.184.216.34 2606:4700::1", "four.example": "93.184.216.34", "bad.example": "93.184.216.34 ::1"})
	n := &fakeNetwork{}
	d := fakeDialer(&weburl.Policy{}, r, n)
	if _, err := d.DialContext(t.Context(), "udp", "example.com:80"); err == nil {
		t.Error("dialled udp")
	}
	if _, err := d.DialContext(t.Context(), "tcp6", "four.example:80"); err == nil {
		t.Error("dialled tcp6 without an address for it")
	}
	if _, err := d.DialContext(t.Context(), "tcp4", "bad.example:80"); err == nil {
		t.Error("an answer for the other family was not judged")
	}
	if conn, err := d.DialContext(t.Context(), "tcp6", "example.com:80"); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	if got := n.dials(); !slices.Equal(got, []string{"[2606:4700::1]:80"}) {
		t.Errorf("dialled %v", got)
	}
}

func TestFailedLookupIsNoRefusal(t *testing.T) {
	n := &fakeNetwork{connect: func(context.Context, string) (string, error) { return "", errors.New("connection refused") }}
	d := fakeDialer(&weburl.Policy{}, resolves(map[string]string{"empty.test": "", "down.test": "93.184.216.34 93.184.216.35"}), n)
	for address, want := range map[string]string{
		"gone.test:80":  "look up gone.test: ",
		"empty.test:80": "look up empty.test: no address",
		"down.test:80":  "connect to down.test, 2 of 2 addresses tried: connection refused",
	} {
		if rule, err := dial(t, d, address); rule != "failed" || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %q, %v", address, rule, err)
		}
	}
	if dns := (*net.DNSError)(nil); !errors.As(func() error { _, err := dial(t, d, "gone.test:80"); return err }(), &dns) {
		t.Error("the resolver's error is lost")
	}
}

func TestRefusalIsFoundBehindNetHTTP(t *testing.T) {
	d := fakeDialer(&weburl.Policy{}, resolves(map[string]string{"rebind.test": "10.0.0.5"}), &fakeNetwork{})
	transport := &http.Transport{DialContext: d.DialContext}
	defer transport.CloseIdleConnections()
	for raw, want := range map[string]weburl.Rule{
		"http://rebind.test/": weburl.RuleAddress, "https://rebind.test/": weburl.RuleAddress, "http://0x7f.1/": weburl.RulePrivate,
		"http://[::ffff:7f00:1]/": weburl.RulePrivate, "http://localhost./": weburl.RulePrivate, "http://127.1:8080/": weburl.RulePrivate,
	} {
		_, err := (&http.Client{Transport: transport}).Get(raw)
		refusal := (*weburl.Error)(nil)
		if !errors.As(err, &refusal) || refusal.Rule != want {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
