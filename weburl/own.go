package weburl

// This machine: its listeners, which nothing may reach, and its addresses, which count as private.

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// interfacesAge is how long a list of the machine's addresses is used. Short, since a VPN that comes up brings new ones.
const interfacesAge = 5 * time.Second

// onLinkBits is the size of an IPv6 network of one link (RFC 4291, 2.5.4), whatever prefix an address was configured with.
const onLinkBits = 64

// machine is the addresses of this machine's interfaces, listed anew when they have aged.
type machine struct {
	mu     sync.Mutex // guards the rest
	own    ownAddresses
	listed time.Time
}

func (m *machine) addresses(list func() ([]netip.Prefix, error)) (ownAddresses, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.listed.IsZero() && time.Since(m.listed) < interfacesAge {
		return m.own, nil
	}
	if list == nil {
		list = systemInterfaces
	}
	own, err := list()
	if err != nil {
		return nil, err
	}
	m.own, m.listed = slices.Clone(own), time.Now()
	return m.own, nil
}

// systemInterfaces lists the addresses of all interfaces with their networks.
func systemInterfaces() ([]netip.Prefix, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	own := make([]netip.Prefix, 0, len(addrs))
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				bits, _ := n.Mask.Size()
				own = append(own, netip.PrefixFrom(ip.Unmap(), bits))
			}
		}
	}
	return own, nil
}

// ownAddresses are the addresses of this machine, each with its network.
type ownAddresses []netip.Prefix

// has reports whether a bare address is this machine. Connecting to an unspecified address means loopback.
func (o ownAddresses) has(a netip.Addr) bool {
	return a.IsLoopback() || a.IsUnspecified() || slices.ContainsFunc(o, func(p netip.Prefix) bool { return bare(p.Addr()) == a })
}

// private says why an address that looks public is private all the same, or is empty: it is this machine's own, with
// whatever listens on all interfaces, or its neighbour on an IPv6 link, where every printer has a public address.
func (o ownAddresses) private(a netip.Addr) string {
	a = bare(a)
	if o.has(a) {
		return "an address of this machine"
	}
	for _, p := range o {
		if own := bare(p.Addr()); own.Is6() && a.Is6() && netip.PrefixFrom(own, onLinkBits).Masked().Contains(a) {
			return "an address on this machine's own network"
		}
	}
	return ""
}

// listens reports whether one of the listeners is reached at a bare address and port.
func (o ownAddresses) listens(listeners []netip.AddrPort, a netip.Addr, port uint16) bool {
	return slices.ContainsFunc(listeners, func(l netip.AddrPort) bool {
		at := bare(l.Addr())
		if l.Port() != port {
			return false
		}
		if !at.IsValid() || at.IsUnspecified() {
			return o.has(a)
		}
		return at == a || a.IsUnspecified() && o.has(at)
	})
}
