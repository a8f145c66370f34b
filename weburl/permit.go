package weburl

// Permits: the private hosts and networks that an operator lets agents read. A permit lifts the private rule and
// nothing else.

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Permit is one private host or network, with or without a port: "printer.lan", "*.lan", "10.0.0.5:8080",
// "[fd00::5]:8080", "10.0.0.0/8", "fd00::/8:8080". Made by [ParsePermit]; a [Policy] that holds the zero value refuses
// everything.
type Permit struct {
	name   HostPattern  // where it is a name; else the zero pattern
	prefix netip.Prefix // where it is an address or a network; unmapped, full length for an address
	port   uint16       // 0: every port that is not bad
}

// ParsePermit reads HOST, HOST:PORT, CIDR or CIDR:PORT. HOST is a name, "*.name", an IPv4 address, or an IPv6 address
// in brackets. Refused are "*" (that is AllowPrivateHosts), a network with host bits set, and a port that is never
// spoken to.
func ParsePermit(s string) (Permit, error) {
	wrap := func(err error) error { return fmt.Errorf("permit %s: %w", quote(s), err) }
	t := strings.TrimSpace(s)
	if strings.Contains(t, "://") {
		return Permit{}, wrap(errors.New("give the host alone, without scheme and path"))
	}
	host, port, err := cutPort(t)
	if err != nil {
		return Permit{}, wrap(err)
	}
	if before, _, _ := strings.Cut(host, "/"); before != host && strings.Trim(before, "[]0123456789abcdefABCDEF.:") != "" {
		return Permit{}, wrap(errors.New("give the host alone, without scheme and path"))
	}
	if strings.Contains(host, "/") {
		prefix, err := parseNetwork(host)
		if err != nil {
			return Permit{}, wrap(err)
		}
		return Permit{prefix: prefix, port: port}, nil
	}
	name, err := ParseHostPattern(host)
	switch {
	case err != nil:
		return Permit{}, wrap(errors.New("give a host or a network such as 10.0.0.0/8, perhaps with a port"))
	case name.s == "*":
		return Permit{}, wrap(errors.New("this would permit every private host; say so with allow_private_hosts"))
	case name.addr.IsValid():
		return Permit{prefix: netip.PrefixFrom(name.addr, name.addr.BitLen()), port: port}, nil
	}
	return Permit{name: name, port: port}, nil
}

// cutPort cuts ":PORT" off a host or network. Colons of an IPv6 address stand in brackets or before a slash.
func cutPort(s string) (host string, port uint16, err error) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || i < strings.LastIndexAny(s, "]/") {
		return s, 0, nil
	}
	if !strings.ContainsAny(s, "]/") && strings.IndexByte(s, ':') != i {
		return "", 0, errors.New("an IPv6 address is written in brackets, such as [fd00::5] or [fd00::5]:8080")
	}
	n, err := strconv.ParseUint(s[i+1:], 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("port %s is not a number from 1 to 65535", quote(s[i+1:]))
	}
	if badPort(uint16(n)) {
		return "", 0, fmt.Errorf("port %d belongs to another protocol than HTTP and is never spoken to", n)
	}
	return s[:i], uint16(n), nil
}

// parseNetwork reads a network in CIDR form, unmapped.
func parseNetwork(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, errors.New("a network is written like 10.0.0.0/8 or fd00::/8")
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return netip.Prefix{}, errors.New("a network is either IPv4 or IPv6")
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if m := p.Masked(); m != p {
		return netip.Prefix{}, fmt.Errorf("%s is an address inside a network; the network is %s", p, m)
	}
	return p, nil
}

// String is the canonical permit.
func (t Permit) String() string {
	if t.zero() {
		return ""
	}
	host := t.name.s
	if t.prefix.IsValid() {
		if host = t.prefix.String(); t.prefix.IsSingleIP() {
			host = hostOf(t.prefix.Addr())
		}
	}
	if t.port != 0 {
		host += ":" + strconv.Itoa(int(t.port))
	}
	return host
}

func (t Permit) zero() bool { return t == Permit{} }

// coversName reports whether the permit names the host, whose private addresses it then lifts the rule for.
func (t Permit) coversName(host string, port uint16) bool {
	return t.coversPort(port) && t.name.s != "" && t.name.matches(host, netip.Addr{})
}

// coversAddr reports whether the bare address is the permit's, or in its network.
func (t Permit) coversAddr(a netip.Addr, port uint16) bool {
	return t.coversPort(port) && t.prefix.IsValid() && t.prefix.Contains(a)
}

// namesAddr reports whether the permit is of exactly this bare address, which is what lifts the metadata rule.
func (t Permit) namesAddr(a netip.Addr, port uint16) bool {
	return t.coversAddr(a, port) && t.prefix.IsSingleIP()
}

func (t Permit) coversPort(port uint16) bool { return t.port == 0 || t.port == port }

// Metadata gives the cloud metadata addresses inside the permit's network. They stay refused: each needs a permit of
// its own. nil for a name and for an address.
func (t Permit) Metadata() []netip.Addr {
	if !t.prefix.IsValid() || t.prefix.IsSingleIP() {
		return nil
	}
	var inside []netip.Addr
	for _, a := range metadataAddresses {
		if t.prefix.Contains(a) {
			inside = append(inside, a)
		}
	}
	return inside
}
