// Package weburl decides which addresses Wayleave may ask for. (Skeleton; see the functions.)
package weburl

import "net/netip"

// MaxLength is the most characters (code points) of a URL before parsing; seed 003.
const MaxLength = 2000

// URL is an absolute http or https URL in canonical form, as WHATWG parses it, without fragment.
type URL struct {
	href   string
	scheme string
	host   string
	port   uint16
}

// Parse reads raw as WHATWG does. It checks shape, length, syntax, scheme and credentials, not the policy.
func Parse(raw string) (*URL, error) { panic("skeleton") }

// Resolve reads ref against u, as a redirect does.
func (u *URL) Resolve(ref string) (*URL, error) { panic("skeleton") }

// String is the canonical URL without fragment.
func (u *URL) String() string { return u.href }

// Scheme is "http" or "https".
func (u *URL) Scheme() string { return u.scheme }

// Host is the canonical host without port and without a trailing dot: lower case, punycode, dotted IPv4, or IPv6 in brackets.
func (u *URL) Host() string { return u.host }

// Port is the port that will be dialled (the scheme's default where the URL has none).
func (u *URL) Port() uint16 { return u.port }

// Policy says which URLs and addresses may be asked for. The zero value is the public-web rule. A nil Policy refuses everything.
type Policy struct {
	AllowedHosts      []HostPattern  // empty: any public host
	BlockedHosts      []HostPattern  // checked first
	AllowPrivateHosts bool           // lifts the private rule, never for cloud metadata
	Permitted         []Permit       // private hosts and networks that may be asked for
	BlockedNetworks   []netip.Prefix // refused whatever else is said
	AllowedPorts      []uint16       // empty: every port that is not on the WHATWG bad-port list
}

// HostPattern is a host, "*.host" (any depth below, not the apex) or "*".
type HostPattern struct{ s string }

// ParseHostPattern canonicalises a pattern or says what is wrong with it.
func ParseHostPattern(s string) (HostPattern, error) { panic("skeleton") }

// Permit is one private host or network, with or without a port: "printer.local", "10.0.0.5:8080", "10.0.0.0/8".
type Permit struct{ s string }

// ParsePermit reads HOST, HOST:PORT, CIDR or CIDR:PORT.
func ParsePermit(s string) (Permit, error) { panic("skeleton") }

// Check applies every rule that needs no look-up, in order, and returns the URL to ask for. The error is a *Error.
func (p *Policy) Check(raw string) (*URL, error) { panic("skeleton") }

// CheckURL applies the policy to a parsed URL (a redirect target).
func (p *Policy) CheckURL(u *URL) error { panic("skeleton") }
