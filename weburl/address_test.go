package weburl_test

// The address table, against a list that was written from the registries a second time.

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/weburl"
)

// registry is the IANA special-purpose registries, IPv4 and IPv6, and the ranges that they do not hold any more, each
// with what lies directly before and after it: + public, - special, . nothing. Blocks that only wrap an IPv4 address
// (mapped, NAT64, 6to4) are tested below.
const registry = `
0.0.0.0/8           . +
0.0.0.0/32          . -
10.0.0.0/8          + +
100.64.0.0/10       + +
127.0.0.0/8         + +
169.254.0.0/16      + +
172.16.0.0/12       + +
192.0.0.0/24        + +
192.0.0.0/29        + -
192.0.0.8/32        - -
192.0.0.9/32        - -
192.0.0.10/32       - -
192.0.0.170/31      - -
192.0.2.0/24        + +
192.31.196.0/24     + +
192.52.193.0/24     + +
192.88.99.0/24      + +
192.168.0.0/16      + +
192.175.48.0/24     + +
198.18.0.0/15       + +
198.51.100.0/24     + +
203.0.113.0/24      + +
224.0.0.0/4         + -
240.0.0.0/4         - .
255.255.255.255/32  - .
::/128              . -
::1/128             - -
::/96               . +
::ffff:0:0:0/96     + +
64:ff9b:1::/48      + +
100::/64            + -
100:0:0:1::/64      - +
2001::/23           + +
2001::/32           + -
2001:1::1/128       - -
2001:1::2/128       - -
2001:1::3/128       - -
2001:2::/48         - -
2001:3::/32         - -
2001:4:112::/48     - -
2001:10::/28        - -
2001:20::/28        - -
2001:30::/28        - -
2001:db8::/32       + +
2620:4f:8000::/48   + +
3fff::/20           + +
5f00::/16           + +
fc00::/7            + +
fe80::/10           + -
fec0::/10           - -
ff00::/8            - .
`

func TestTM004EveryRangeFromFirstToLastAndNoFurther(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(registry)) {
		var block, before, after string
		if _, err := fmt.Sscan(line, &block, &before, &after); err != nil {
			t.Fatal(err)
		}
		prefix := netip.MustParsePrefix(block)
		first, last := prefix.Addr(), lastOf(prefix)
		expect(t, block+" first", first, "-")
		expect(t, block+" last", last, "-")
		expect(t, block+" before", first.Prev(), before)
		expect(t, block+" after", last.Next(), after)
	}
}

func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// expect compares Special, and the verdict on a URL with the address as host.
func expect(t *testing.T, what string, a netip.Addr, want string) {
	t.Helper()
	if !a.IsValid() {
		if want != "." {
			t.Errorf("%s: there is no address", what)
		}
		return
	}
	name, special := weburl.Special(a)
	if special != (want == "-") || special != (name != "") {
		t.Errorf("%s: %s is %q, special %v", what, a, name, special)
	}
	host := a.String()
	if a.Is6() {
		host = "[" + host + "]"
	}
	if _, err := new(weburl.Policy).Check("http://" + host + "/"); (err != nil) != special {
		t.Errorf("%s: http://%s/ answers %v", what, host, err)
	}
}

func TestW132EmbeddedIPv4IsJudgedAsIPv4(t *testing.T) {
	wrappings := map[string]string{
		"mapped":             "::ffff:%s",
		"NAT64":              "64:ff9b::%s",
		"6to4":               "2002:%s::",
		"6to4 with host":     "2002:%s:1:2:3:4:5",
		"ISATAP":             "2606:4700::5efe:%s",
		"ISATAP, universal":  "2606:4700::200:5efe:%s",
		"ISATAP inside 6to4": "2002:808:808::5efe:%s",
	}
	for name, form := range wrappings {
		for addr, want := range map[string]string{
			"7f00:1": "-", "a00:0": "-", "aff:ffff": "-", "b00:0": "+", "a9fe:a9fe": "-", "c0a8:1": "-", "c612:0": "-", "e000:1": "-",
			"ffff:ffff": "-", "0:0": "-", "c000:201": "-", "808:808": "+", "5db8:d822": "+", "6440:0": "-", "643f:ffff": "+",
		} {
			expect(t, name, netip.MustParseAddr(fmt.Sprintf(form, addr)), want)
		}
	}
	// Not these prefixes, so nothing is embedded.
	for _, addr := range []string{"64:ff9b::1:7f00:1", "64:ff9c::7f00:1", "2003:7f00:1::", "2606:4700::100:5efe:7f00:1", "2606:4700::5eff:7f00:1", "2606:4700::7f00:1"} {
		expect(t, "no embedding", netip.MustParseAddr(addr), "+")
	}
	// Always special, whatever is inside.
	for _, addr := range []string{"::808:808", "::ffff:0:808:808", "64:ff9b:1::808:808", "2001:0:808:808::", "fe80::5efe:808:808"} {
		expect(t, "whole range", netip.MustParseAddr(addr), "-")
	}
}

func TestZonesAndMappedSpellingsDoNotHideAnAddress(t *testing.T) {
	for _, addr := range []string{"fe80::1%eth0", "::1%lo", "::ffff:127.0.0.1", "::ffff:169.254.169.254"} {
		if _, special := weburl.Special(netip.MustParseAddr(addr)); !special {
			t.Errorf("%s passes", addr)
		}
	}
	if _, special := weburl.Special(netip.Addr{}); !special {
		t.Error("no address at all passes")
	}
	for addr, want := range map[string]bool{
		"169.254.169.254": true, "::ffff:169.254.169.254": true, "64:ff9b::a9fe:a9fe": true, "2002:a83f:8110::1": true,
		"fd00:ec2::254": true, "fd00:ec2::254%eth0": true, "168.63.129.16": true, "169.254.169.253": false, "168.63.129.17": false,
		"fd00:ec2::255": false,
	} {
		if got := weburl.Metadata(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s is metadata: %v", addr, got)
		}
	}
	if weburl.Metadata(netip.Addr{}) {
		t.Error("no address is metadata")
	}
}
