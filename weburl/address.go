package weburl

// Which addresses are not the public internet. One table, kept beside the registries that it comes from; everything
// that judges an address asks here. Reviewed for each release.

import (
	"net/netip"
	"slices"
)

// addressRange is a block that is not the public internet.
type addressRange struct {
	prefix netip.Prefix
	name   string
}

// specialRanges: the IANA IPv4 and IPv6 Special-Purpose Address Registries as of 2026-11, multicast, and what they no
// longer or never list but machines still route (6to4 relays, site-local, IPv4-compatible, IPv4-translated). Ranges
// that only hold an IPv4 address (mapped, NAT64, 6to4) are not here: see embedded. The few blocks in the registries
// that are globally reachable anycast (AS112, AMT) are refused as well: no web page is served from them.
var specialRanges = []addressRange{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},                 // RFC 791
	{netip.MustParsePrefix("10.0.0.0/8"), "private network"},             // RFC 1918
	{netip.MustParsePrefix("100.64.0.0/10"), "carrier-grade NAT"},        // RFC 6598
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},                   // RFC 1122
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},              // RFC 3927
	{netip.MustParsePrefix("172.16.0.0/12"), "private network"},          // RFC 1918
	{netip.MustParsePrefix("192.0.0.0/24"), "IETF protocol assignments"}, // RFC 6890
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},             // RFC 5737
	{netip.MustParsePrefix("192.31.196.0/24"), "AS112"},                  // RFC 7535
	{netip.MustParsePrefix("192.52.193.0/24"), "multicast tunnelling"},   // RFC 7450
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relay"},              // RFC 7526
	{netip.MustParsePrefix("192.168.0.0/16"), "private network"},         // RFC 1918
	{netip.MustParsePrefix("192.175.48.0/24"), "AS112"},                  // RFC 7534
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking"},             // RFC 2544
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},          // RFC 5737
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},           // RFC 5737
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},                  // RFC 5771
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},                   // RFC 1112, with broadcast
	{netip.MustParsePrefix("::/128"), "unspecified"},                     // RFC 4291
	{netip.MustParsePrefix("::1/128"), "loopback"},                       // RFC 4291
	{netip.MustParsePrefix("::/96"), "IPv4-compatible"},                  // RFC 4291, deprecated
	{netip.MustParsePrefix("::ffff:0:0:0/96"), "IPv4-translated"},        // RFC 2765
	{netip.MustParsePrefix("64:ff9b:1::/48"), "local NAT64"},             // RFC 8215
	{netip.MustParsePrefix("100::/64"), "discard-only"},                  // RFC 6666
	{netip.MustParsePrefix("100:0:0:1::/64"), "dummy prefix"},            // RFC 9780
	{netip.MustParsePrefix("2001::/32"), "Teredo"},                       // RFC 4380
	{netip.MustParsePrefix("2001::/23"), "IETF protocol assignments"},    // RFC 2928
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},            // RFC 3849
	{netip.MustParsePrefix("2620:4f:8000::/48"), "AS112"},                // RFC 7534
	{netip.MustParsePrefix("3fff::/20"), "documentation"},                // RFC 9637
	{netip.MustParsePrefix("5f00::/16"), "segment routing"},              // RFC 9602
	{netip.MustParsePrefix("fc00::/7"), "unique local"},                  // RFC 4193
	{netip.MustParsePrefix("fe80::/10"), "link-local"},                   // RFC 4291
	{netip.MustParsePrefix("fec0::/10"), "site-local"},                   // RFC 3879, deprecated
	{netip.MustParsePrefix("ff00::/8"), "multicast"},                     // RFC 4291
}

// metadataAddresses hand out a machine's identity to any program on it. As of 2026-11, from the providers' pages.
var metadataAddresses = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), // nearly every cloud
	netip.MustParseAddr("169.254.170.2"),   // AWS, credentials of containers
	netip.MustParseAddr("169.254.170.23"),  // AWS, credentials of pods
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("168.63.129.16"),   // Azure's host, on a public-looking address
	netip.MustParseAddr("192.0.0.192"),     // Oracle
	netip.MustParseAddr("fd00:ec2::254"),   // AWS
	netip.MustParseAddr("fd00:ec2::23"),    // AWS, credentials of pods
	netip.MustParseAddr("fd20:ce::254"),    // Google
}

// Special names the range that makes a not public, or answers false for an address of the public internet. An IPv4
// address inside an IPv6 one (mapped, NAT64, 6to4, ISATAP) is judged as the IPv4 address. An invalid address is special.
func Special(a netip.Addr) (name string, special bool) {
	if !a.IsValid() {
		return "no address", true
	}
	a = bare(a)
	for i := range specialRanges {
		if specialRanges[i].prefix.Contains(a) {
			return specialRanges[i].name, true
		}
	}
	inner, n := embedded(a)
	for _, v4 := range inner[:n] {
		if name, special := Special(v4); special {
			return name + ", as " + v4.String() + " inside an IPv6 address", true
		}
	}
	return "", false
}

// Metadata reports whether a is a cloud metadata address, also when it is embedded in an IPv6 address.
func Metadata(a netip.Addr) bool {
	a = bare(a)
	if slices.Contains(metadataAddresses, a) {
		return true
	}
	inner, n := embedded(a)
	for _, v4 := range inner[:n] {
		if slices.Contains(metadataAddresses, v4) {
			return true
		}
	}
	return false
}

// bare is a without zone and without the IPv4-mapped spelling: the form in which addresses are compared.
func bare(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// embedded finds the IPv4 addresses that a bare IPv6 address delivers to: the last 32 bits of the well-known NAT64
// prefix (RFC 6052), bits 16 to 47 of 6to4 (RFC 3056), the interface identifier of ISATAP (RFC 5214, both values of the
// universal bit). An address can be 6to4 and ISATAP at once.
func embedded(a netip.Addr) (found [2]netip.Addr, n int) {
	if !a.Is6() {
		return found, 0
	}
	b := a.As16()
	add := func(four []byte) {
		found[n] = netip.AddrFrom4([4]byte(four))
		n++
	}
	if nat64.Contains(a) {
		add(b[12:16])
	}
	if b[0] == 0x20 && b[1] == 0x02 {
		add(b[2:6])
	}
	if b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe {
		add(b[12:16])
	}
	return found, n
}

var nat64 = netip.MustParsePrefix("64:ff9b::/96")
