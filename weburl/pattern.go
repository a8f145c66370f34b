package weburl

// Host patterns: the words of allow and block lists.

import (
	"fmt"
	"net/netip"
	"strings"
)

// HostPattern is a host, "*.host" (any depth below, not the apex) or "*". Made by [ParseHostPattern]; a [Policy] that
// holds the zero value refuses everything.
type HostPattern struct {
	s    string     // canonical, without trailing dot
	addr netip.Addr // valid where the pattern is an address; unmapped
}

// ParseHostPattern canonicalises a pattern as a URL's host would be, or says what is wrong with it. Refused are an
// empty pattern, a star that is not alone or the first label, a scheme, path, port, credentials, white space, an
// impossible address, and "*." before an address, which could never match.
func ParseHostPattern(s string) (HostPattern, error) {
	t := strings.TrimSpace(s)
	switch {
	case t == "":
		return HostPattern{}, fmt.Errorf("host pattern %s is empty", quote(s))
	case t == "*":
		return HostPattern{s: "*"}, nil
	}
	rest, wild := strings.CutPrefix(t, "*.")
	host, addr, err := canonicalHost(rest)
	switch {
	case err != nil:
		return HostPattern{}, fmt.Errorf("host pattern %s: %s", quote(s), err.Reason)
	case strings.Contains(host, "*"):
		return HostPattern{}, fmt.Errorf("host pattern %s: a star stands alone, or as \"*.\" before a name", quote(s))
	case wild && addr.IsValid():
		return HostPattern{}, fmt.Errorf("host pattern %s: there is nothing below an address", quote(s))
	case wild:
		return HostPattern{s: "*." + host}, nil
	}
	return HostPattern{s: host, addr: addr}, nil
}

// String is the canonical pattern: "*", "*.example.org", "example.com", "93.184.216.34", "[::1]".
func (h HostPattern) String() string { return h.s }

// Matches reports whether the host of u is one of the pattern's. An address also matches in its IPv4-mapped spelling.
func (h HostPattern) Matches(u *URL) bool { return h.matches(u.host, u.addr) }

// matches compares with a canonical host; addr is valid where the host is an address.
func (h HostPattern) matches(host string, addr netip.Addr) bool {
	switch {
	case h.s == "*":
		return true
	case h.addr.IsValid():
		return h.addr == addr
	case strings.HasPrefix(h.s, "*."):
		return strings.HasSuffix(host, h.s[1:]) // never all of it, as no host begins with a dot
	}
	return h.s == host && h.s != ""
}
