package weburl

// What a text means as a URL. The standard's parser is whatwg-url's, but for the host (host.go); this file holds the
// order of the checks around it and the canonical form that everything else uses.

import (
	"net/netip"
	neturl "net/url"
	"strings"
	"unicode/utf8"

	"github.com/nlnwa/whatwg-url/errors"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

const (
	// MaxLength is the most characters (code points) of a URL before parsing.
	MaxLength = 2000

	// maxReference is the most bytes of a redirect's reference that are parsed at all. A reference may be longer than
	// the URL that it resolves to (dot segments), so this is the size of the longest URL in four-byte characters.
	// The bound is there because the parser's time grows with the square of the number of segments.
	maxReference = utf8.UTFMax * MaxLength
)

// URL is an absolute http or https URL in canonical form, as WHATWG parses it, without fragment. It has no
// credentials, and its host is either an IP address or a name without empty labels. Made by [Parse] and [URL.Resolve].
type URL struct {
	href   string
	scheme string
	host   string     // without trailing dot
	addr   netip.Addr // the host where it is an address, unmapped; else invalid
	port   uint16
}

// Parse reads raw as WHATWG does. It checks shape, length, syntax, scheme, credentials and the host's spelling, not
// the policy. The error is an [*Error] of kind [Invalid], or [Disallowed] for scheme and credentials.
func Parse(raw string) (*URL, error) {
	u, err := parseURL(raw)
	if err != nil {
		return nil, err
	}
	return u, nil
}

func parseURL(raw string) (*URL, *Error) {
	if err := checkShape(raw); err != nil {
		return nil, err
	}
	if n := utf8.RuneCountInString(raw); n > MaxLength {
		return nil, tooLong(n)
	}
	r, err := read("", raw)
	if err != nil {
		return nil, err
	}
	return r.url()
}

// Resolve reads ref against u, as a redirect does. The length is that of the resolved URL with its fragment, and a
// reference of more than 8,000 bytes is too long whatever it resolves to. Errors are those of [Parse]; an empty ref
// is u itself.
func (u *URL) Resolve(ref string) (*URL, error) {
	if len(ref) > maxReference {
		return nil, invalid(RuleLength, "", "the address is longer than any that resolves to a URL of "+thousands(MaxLength)+" characters")
	}
	if !utf8.ValidString(ref) {
		return nil, notUTF8()
	}
	if strings.IndexByte(ref, 0) >= 0 {
		return nil, withNUL()
	}
	r, err := read(u.href, ref)
	if err != nil {
		return nil, err
	}
	target, err := r.url()
	if err != nil {
		return nil, err
	}
	// A canonical URL is ASCII, so that bytes are characters.
	if n := len(target.href) + len(r.parsed.Href(false)) - len(r.parsed.Href(true)); n > MaxLength {
		return nil, tooLong(n)
	}
	return target, nil
}

// String is the canonical URL without fragment, in ASCII.
func (u *URL) String() string { return u.href }

// Scheme is "http" or "https".
func (u *URL) Scheme() string { return u.scheme }

// Host is the canonical host without port and without a trailing dot: lower case, punycode, dotted IPv4, or IPv6 in brackets.
func (u *URL) Host() string { return u.host }

// Port is the port that will be dialled (the scheme's default where the URL has none).
func (u *URL) Port() uint16 { return u.port }

// HTTP is u for a net/http request: the same host, and a request line that holds the canonical path and query byte
// for byte. It exists because net/url.Parse refuses or re-encodes some canonical URLs, which would be a second reading.
func (u *URL) HTTP() *neturl.URL {
	authority, rest := splitHref(u.href)
	path, query, hasQuery := strings.Cut(rest, "?")
	out := &neturl.URL{Scheme: u.scheme, Host: authority, RawQuery: query, ForceQuery: hasQuery && query == ""}
	decoded, err := neturl.PathUnescape(path)
	if err == nil {
		out.Path, out.RawPath = decoded, path
		if out.EscapedPath() == path {
			return out
		}
	}
	if !strings.HasPrefix(path, "//") {
		out.Path, out.RawPath, out.Opaque = "", "", path
		return out
	}
	// An opaque part that begins with two slashes would be taken for an authority, so the stray signs are encoded.
	out.Path, out.RawPath = path, ""
	if err == nil {
		out.Path = decoded
	}
	return out
}

// splitHref cuts a canonical URL into host with port, and path with query.
func splitHref(href string) (authority, rest string) {
	_, after, _ := strings.Cut(href, "://")
	i := strings.IndexByte(after, '/') // a canonical http URL always has a path
	return after[:i], after[i:]
}

// reading is what the parser made of a text: the library's answer, with our host for its placeholder.
type reading struct {
	parsed *whatwg.Url
	hostReading
}

// read parses raw, against base where that is not empty.
func read(base, raw string) (*reading, *Error) {
	r := &reading{}
	var err error
	r.parsed, err = whatwg.NewParser(whatwg.WithPreParseHostFunc(r.hostReading.read)).ParseRef(base, raw)
	if r.err != nil {
		return nil, r.err
	}
	if err != nil {
		return nil, invalid(RuleParse, "", parseReason(errors.Type(err)))
	}
	return r, nil
}

// url applies the checks that follow parsing, scheme, credentials and host, and makes the URL.
func (r *reading) url() (*URL, *Error) {
	p := r.parsed
	u := &URL{scheme: p.Scheme(), host: r.host, addr: r.addr.Unmap(), port: uint16(p.DecodedPort())}
	if u.scheme != "http" && u.scheme != "https" {
		return nil, disallowed(RuleScheme, "", "the scheme "+quote(u.scheme)+" is not allowed, only http and https are")
	}
	if p.Username() != "" || p.Password() != "" {
		return nil, disallowed(RuleCredentials, u.host, "the URL for "+quote(u.host)+" holds a user name or password, which is never sent")
	}
	if p.Port() == "0" { // the library takes it for none
		u.port = 0
	}
	if !u.addr.IsValid() {
		var err *Error
		if u.host, err = checkName(r.host); err != nil {
			return nil, err
		}
	}
	u.href = u.scheme + "://" + r.host + strings.TrimPrefix(p.Href(true), u.scheme+"://"+placeholder)
	return u, nil
}

// checkShape refuses what is no text, before anything reads it.
func checkShape(raw string) *Error {
	switch {
	case !utf8.ValidString(raw):
		return notUTF8()
	case strings.IndexByte(raw, 0) >= 0:
		return withNUL()
	case strings.TrimSpace(raw) == "":
		return invalid(RuleShape, "", "the URL is blank")
	}
	return nil
}

func notUTF8() *Error { return invalid(RuleShape, "", "the URL is not valid UTF-8") }
func withNUL() *Error { return invalid(RuleShape, "", "the URL holds a NUL character") }

func tooLong(n int) *Error {
	return invalid(RuleLength, "", "the URL has "+thousands(n)+" characters, at most "+thousands(MaxLength)+" are allowed")
}

// parseReason says in a person's words what the parser found. The parser's own text quotes its input and is not used.
func parseReason(t errors.ErrorType) string {
	switch t {
	case errors.MissingSchemeNonRelativeURL:
		return "the URL is not absolute, it must begin with http:// or https://"
	case errors.HostMissing, errors.InvalidCredentials:
		return "the URL has no host"
	case errors.PortOutOfRange:
		return "the port of the URL is above 65535"
	case errors.PortInvalid, errors.PortMissing:
		return "the port of the URL is not a number"
	}
	return "the text is not a URL"
}

// thousands writes n with commas: 2,000.
func thousands(n int) string {
	var digits []byte
	for i := 0; n > 0 || i == 0; i++ {
		if i > 0 && i%3 == 0 {
			digits = append(digits, ',')
		}
		digits = append(digits, byte('0'+n%10))
		n /= 10
	}
	for i, j := 0, len(digits)-1; i < j; i, j = i+1, j-1 {
		digits[i], digits[j] = digits[j], digits[i]
	}
	return string(digits)
}
