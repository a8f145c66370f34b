package weburl

// The host of a URL. It is read here and not by the URL library, whose host parser takes signs in numbers ("-1" and
// "0x+1" become addresses), any number of brackets, and refuses international names with an underscore.

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"
)

// hostReading takes the place of the library's host parser during one parse. If several hosts are parsed (a base and a
// reference), the last one is the URL's.
type hostReading struct {
	host string     // canonical, with its trailing dot
	addr netip.Addr // valid where the host is an address
	err  *Error
}

// placeholder is the host that the library sees.
const placeholder = "host"

// read is the library's hook before it parses a host as written.
func (r *hostReading) read(u *whatwg.Url, written string) string {
	if !u.IsSpecialScheme() {
		return written // opaque to us, and refused for its scheme
	}
	r.host, r.addr, r.err = parseHost(written)
	return placeholder
}

// parseHost is the standard's host parser for http and its like (URL Standard, 3.5). The address is as written, an
// IPv4-mapped one still IPv6.
func parseHost(written string) (string, netip.Addr, *Error) {
	refuse := func(reason string) (string, netip.Addr, *Error) {
		return "", netip.Addr{}, invalid(RuleParse, "", reason)
	}
	if inner, bracket := strings.CutPrefix(written, "["); bracket {
		inner, closed := strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !closed || err != nil || !addr.Is6() || addr.Zone() != "" {
			return refuse("the host of the URL has brackets but is not an IPv6 address")
		}
		return hostOf(addr), addr, nil
	}
	name, ok := asciiDomain(written)
	if !ok {
		return refuse("the host of the URL is not a valid domain name")
	}
	for i := range len(name) {
		if forbidden(name[i]) {
			return refuse("the host of the URL holds a character that no host may hold")
		}
	}
	if !endsInNumber(name) {
		return name, netip.Addr{}, nil
	}
	addr, ok := parseIPv4(name)
	if !ok {
		return refuse("the host of the URL ends in a number but is not an IPv4 address")
	}
	return addr.String(), addr, nil
}

// domainProfile is "domain to ASCII" of the URL Standard with beStrict false.
var domainProfile = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.ValidateLabels(true),
	idna.CheckHyphens(false), idna.StrictDomainName(false), idna.VerifyDNSLength(false), idna.Transitional(false))

// asciiDomain decodes percent signs and maps to lower case and punycode.
func asciiDomain(written string) (string, bool) {
	domain := written
	if strings.IndexByte(domain, '%') >= 0 {
		domain = percentDecode(domain)
	}
	if plain(domain) {
		return strings.ToLower(domain), domain != ""
	}
	if !utf8.ValidString(domain) {
		return "", false
	}
	name, err := domainProfile.ToASCII(domain)
	return name, err == nil && name != "" && !mixedPunycode(domain)
}

// mixedPunycode reports whether a label begins with xn-- and yet holds a letter outside ASCII once it is mapped. UTS #46
// (4, step 4) refuses it; x/net/idna decodes it to some other name.
func mixedPunycode(domain string) bool {
	isDot := func(r rune) bool { return r == '.' || r == '\u3002' || r == '\uff0e' || r == '\uff61' }
	for label := range strings.FieldsFuncSeq(domain, isDot) {
		var mapped strings.Builder
		for _, r := range label {
			piece := string(r)
			if m, _ := domainProfile.ToASCII(piece); plain(m) {
				piece = m // a letter in disguise, or one that vanishes
			}
			mapped.WriteString(strings.ToLower(piece))
			if mapped.Len() >= 4 && !strings.HasPrefix(mapped.String(), "xn--") {
				break
			}
		}
		if m := mapped.String(); strings.HasPrefix(m, "xn--") && !ascii(m) {
			return true
		}
	}
	return false
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// plain reports whether mapping a domain means no more than lower case: ASCII without a punycode label.
func plain(domain string) bool {
	for i := range len(domain) {
		if domain[i] >= utf8.RuneSelf {
			return false
		}
		start := i == 0 || domain[i-1] == '.'
		if start && len(domain)-i >= 4 && strings.EqualFold(domain[i:i+4], "xn--") {
			return false
		}
	}
	return true
}

// forbidden is the standard's forbidden domain code point, of ASCII.
func forbidden(c byte) bool {
	return c <= ' ' || c == 0x7f || strings.IndexByte("#/:<>?@[\\]^|%", c) >= 0
}

// percentDecode decodes %XX and leaves every other percent sign, as the standard does.
func percentDecode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// endsInNumber reports whether a domain is to be read as an IPv4 address: its last label, a trailing dot aside, is
// digits, or a hex number (0x alone is one).
func endsInNumber(domain string) bool {
	domain = strings.TrimSuffix(domain, ".")
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// parseIPv4 is the standard's IPv4 parser for a lower-case domain: one to four parts in decimal, octal (0…) or hex
// (0x…), the last one filling what is left, and perhaps a trailing dot.
func parseIPv4(domain string) (netip.Addr, bool) {
	parts := strings.Split(strings.TrimSuffix(domain, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		n, ok := parseIPv4Part(part)
		limit, shift := uint64(1)<<8, 8*(3-i)
		if i == len(parts)-1 {
			limit, shift = uint64(1)<<(8*(5-len(parts))), 0
		}
		if !ok || n >= limit {
			return netip.Addr{}, false
		}
		sum |= n << shift
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

func parseIPv4Part(part string) (uint64, bool) {
	base := 10
	digits, hex := strings.CutPrefix(part, "0x")
	switch {
	case hex && digits == "":
		return 0, true
	case hex:
		base = 16
	case len(part) > 1 && part[0] == '0':
		digits, base = part[1:], 8
	}
	n, err := strconv.ParseUint(digits, base, 64) // ParseUint, unlike ParseInt, takes no sign
	return n, err == nil
}

// hostOf writes an address as the host of a URL, which knows no dotted tail in IPv6.
func hostOf(a netip.Addr) string {
	switch {
	case a.Is4():
		return a.String()
	case a.Is4In6():
		b := a.As16()
		hex := func(hi, lo byte) string { return strconv.FormatUint(uint64(hi)<<8|uint64(lo), 16) }
		return "[::ffff:" + hex(b[12], b[13]) + ":" + hex(b[14], b[15]) + "]"
	}
	return "[" + a.String() + "]"
}

// checkName says what must hold of a canonical name beyond the standard: it has no empty label, a trailing dot aside.
// It returns the name without that dot.
func checkName(host string) (string, *Error) {
	name := strings.TrimSuffix(host, ".")
	if name == "" || name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, "..") {
		return "", invalid(RuleHost, name, "the host "+quote(host)+" has an empty label")
	}
	return name, nil
}

// canonicalHost reads a host that stands alone, in a pattern, a permit or a dial address, as it would be read in a
// URL: without a trailing dot, IPv6 in brackets. The second result is the bare address where the host is one.
func canonicalHost(host string) (string, netip.Addr, *Error) {
	refuse := func(reason string) (string, netip.Addr, *Error) {
		return "", netip.Addr{}, invalid(RuleHost, "", reason)
	}
	if checkShape(host) != nil {
		return refuse("the host is blank, not UTF-8 or holds a NUL character")
	}
	if len(host) > MaxLength {
		return refuse("the host is too long")
	}
	if i := strings.IndexAny(host, "/\\?#@ \t\r\n"); i >= 0 {
		return refuse("a host holds no " + quote(host[i:i+1]))
	}
	switch bracket := strings.HasPrefix(host, "["); {
	case bracket && !strings.HasSuffix(host, "]"):
		return refuse("a bracketed address ends with its bracket, no port may follow")
	case !bracket && strings.Contains(host, ":"):
		return refuse("a host holds no port and no scheme, and an IPv6 address is written in brackets")
	}
	canonical, addr, err := parseHost(host)
	if err != nil {
		return "", netip.Addr{}, err
	}
	if addr.IsValid() {
		return canonical, addr.Unmap(), nil
	}
	name, err := checkName(canonical)
	return name, netip.Addr{}, err
}
