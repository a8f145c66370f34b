package weburl

// The policy: which URLs and addresses may be asked for. Pure decisions; nothing here looks up or connects.

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Policy says which URLs and addresses may be asked for. The zero value is the public-web rule. A nil Policy refuses
// everything, and so does one that holds a zero pattern, permit or network, which only a mistake can make. A Policy may
// be used by several goroutines as long as none changes it.
type Policy struct {
	AllowedHosts      []HostPattern  // empty: any public host
	BlockedHosts      []HostPattern  // checked first
	AllowPrivateHosts bool           // lifts the private rule, never for cloud metadata
	Permitted         []Permit       // private hosts and networks that may be asked for
	BlockedNetworks   []netip.Prefix // refused whatever else is said, as literal or as what a name resolves to
	AllowedPorts      []uint16       // empty: every port that is not on the WHATWG bad-port list, which always holds
}

// Check applies every rule that needs no look-up, in order, and returns the URL to ask for. The error is a [*Error].
func (p *Policy) Check(raw string) (*URL, error) {
	u, err := p.check(raw)
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (p *Policy) check(raw string) (*URL, *Error) {
	u, err := parseURL(raw)
	if err != nil {
		return nil, err
	}
	if err := p.checkHost(u.host, u.addr, u.port); err != nil {
		return nil, err
	}
	return u, nil
}

// CheckURL applies the policy to a parsed URL (a redirect target). The error is a [*Error].
func (p *Policy) CheckURL(u *URL) error {
	if u == nil {
		u = &URL{} // refused for its empty host
	}
	if err := p.checkHost(u.host, u.addr, u.port); err != nil {
		return err
	}
	return nil
}

// checkHost judges a canonical host and port; addr is valid where the host is an address.
func (p *Policy) checkHost(host string, addr netip.Addr, port uint16) *Error {
	if err := p.unsound(host); err != nil {
		return err
	}
	if slices.ContainsFunc(p.BlockedHosts, func(h HostPattern) bool { return h.matches(host, addr) }) {
		return disallowed(RuleBlocked, host, "the host "+quote(host)+" is on the list of blocked hosts")
	}
	if addr.IsValid() && p.blocks(addr) {
		return (&finding{RuleBlocked, "is blocked"}).ofLiteral(host, addr)
	}
	if len(p.AllowedHosts) > 0 && !slices.ContainsFunc(p.AllowedHosts, func(h HostPattern) bool { return h.matches(host, addr) }) {
		return disallowed(RuleAllowed, host, "the host "+quote(host)+" is not on the list of allowed hosts")
	}
	if err := p.checkPrivate(host, addr, port); err != nil {
		if p.checkPort(host, port) != nil {
			err.Permit = "" // whoever permits the host is refused the port
		}
		return err
	}
	return p.checkPort(host, port)
}

// checkPrivate is the private rule for a host as it stands: a local name or a literal.
func (p *Policy) checkPrivate(host string, addr netip.Addr, port uint16) *Error {
	if addr.IsValid() {
		if f := p.judge(host, addr, port, ""); f != nil {
			return f.ofLiteral(host, addr)
		}
		return nil
	}
	if !localName(host) || p.lifts(host, netip.Addr{}, port) {
		return nil
	}
	err := disallowed(RulePrivate, host, "the host "+quote(host)+" is not public: a local name")
	err.Permit = host
	return err
}

// checkPort is the last rule, so that a refused host is not answered with advice about ports.
func (p *Policy) checkPort(host string, port uint16) *Error {
	switch {
	case badPort(port):
		return disallowed(RulePort, host, "port "+strconv.Itoa(int(port))+" of the host "+quote(host)+" belongs to another protocol than HTTP")
	case len(p.AllowedPorts) > 0 && !slices.Contains(p.AllowedPorts, port):
		return disallowed(RulePort, host, "port "+strconv.Itoa(int(port))+" of the host "+quote(host)+" is not on the list of allowed ports")
	}
	return nil
}

// finding is why an address is refused.
type finding struct {
	rule Rule
	what string // "is blocked", "is not public: loopback"
}

// ofLiteral is the refusal of a host that is the address itself.
func (f *finding) ofLiteral(host string, a netip.Addr) *Error {
	err := disallowed(f.rule, host, "the host "+quote(host)+" "+f.what)
	err.Address = a
	if f.rule == RulePrivate {
		err.Permit = host
	}
	return err
}

// ofName is the refusal of a name that resolves to the address. The address stands in no sentence, since names of an
// inner network are not to be looked up through refusals.
func (f *finding) ofName(host string, a netip.Addr) *Error {
	err := disallowed(RuleAddress, host, "the host "+quote(host)+" resolves to an address that "+f.what)
	err.Address = a
	if f.rule == RulePrivate {
		err.Permit = host
	}
	return err
}

// judge applies the address rules to one address under which host is reached; nil lets it pass. own, if not empty,
// says why the address is private although the table does not know it: it is this machine's.
func (p *Policy) judge(host string, a netip.Addr, port uint16, own string) *finding {
	a = bare(a)
	if p.blocks(a) {
		return &finding{RuleBlocked, "is blocked"}
	}
	if Metadata(a) {
		if slices.ContainsFunc(p.Permitted, func(t Permit) bool { return t.namesAddr(a, port) }) {
			return nil
		}
		return &finding{RuleMetadata, "is not public: a cloud metadata address"}
	}
	what, special := Special(a)
	if !special && own != "" {
		what, special = own, true
	}
	if !special || p.lifts(host, a, port) {
		return nil
	}
	return &finding{RulePrivate, "is not public: " + what}
}

// lifts reports whether the private rule is lifted for a host, or for an address under which it is reached.
func (p *Policy) lifts(host string, a netip.Addr, port uint16) bool {
	return p.AllowPrivateHosts || slices.ContainsFunc(p.Permitted, func(t Permit) bool {
		return t.coversName(host, port) || a.IsValid() && t.coversAddr(a, port)
	})
}

// blocks reports whether an address is blocked under whatever name: by a network, or by a pattern that is an address.
// An IPv4 address is also blocked where it is embedded in an IPv6 one.
func (p *Policy) blocks(a netip.Addr) bool {
	if len(p.BlockedNetworks) == 0 && len(p.BlockedHosts) == 0 {
		return false
	}
	a = bare(a)
	inner, n := embedded(a)
	for _, a := range append([]netip.Addr{a}, inner[:n]...) {
		if slices.ContainsFunc(p.BlockedNetworks, func(net netip.Prefix) bool { return unmapped(net).Contains(a) }) ||
			slices.ContainsFunc(p.BlockedHosts, func(h HostPattern) bool { return h.addr == a }) {
			return true
		}
	}
	return false
}

// unmapped writes a network of IPv4-mapped addresses as the IPv4 network.
func unmapped(net netip.Prefix) netip.Prefix {
	if net.Addr().Is4In6() && net.Bits() >= 96 {
		return netip.PrefixFrom(net.Addr().Unmap(), net.Bits()-96)
	}
	return net
}

// unsound fails closed where there is no policy, or one with an entry that says nothing.
func (p *Policy) unsound(host string) *Error {
	if p == nil {
		return disallowed(RulePolicy, host, "no address policy is set, so the host "+quote(host)+" is refused")
	}
	empty := func(h HostPattern) bool { return h.s == "" }
	if slices.ContainsFunc(p.AllowedHosts, empty) || slices.ContainsFunc(p.BlockedHosts, empty) ||
		slices.ContainsFunc(p.Permitted, Permit.zero) ||
		slices.ContainsFunc(p.BlockedNetworks, func(net netip.Prefix) bool { return !net.IsValid() }) {
		return disallowed(RulePolicy, host, "the address policy has an empty entry, so the host "+quote(host)+" is refused")
	}
	return nil
}

// localName reports whether a canonical name is local by itself, without a look-up. So is none, as in a zero URL.
func localName(host string) bool {
	return host == "" || host == "localhost" || host == "internal" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal")
}
