package weburl

// A refusal, and which rule made it: for programs by Kind and Rule, for people by Reason.

import (
	"net/netip"
	"strconv"
	"unicode/utf8"
)

// Kind tells a malformed URL from one that the policy refuses.
type Kind int

const (
	// Invalid: not an absolute URL as WHATWG reads it, too long, or a spelling that is not understood.
	Invalid Kind = iota + 1
	// Disallowed: understood, and refused by the policy.
	Disallowed
)

// Code is the stable word that programs outside read: "invalid_web_fetch_input" or "web_fetch_disallowed_url".
func (k Kind) Code() string {
	if k == Invalid {
		return "invalid_web_fetch_input"
	}
	return "web_fetch_disallowed_url"
}

// Rule names the check that refused, in the order in which the checks run.
type Rule string

// The rules. A resolved address is refused by RuleAddress, everything else before a name is looked up.
const (
	RulePolicy      Rule = "policy"      // no policy at all, or one with an empty entry: refused
	RuleShape       Rule = "shape"       // not text that can be a URL: blank, not UTF-8, a NUL character
	RuleLength      Rule = "length"      // more than MaxLength characters
	RuleParse       Rule = "parse"       // not an absolute URL
	RuleScheme      Rule = "scheme"      // neither http nor https
	RuleCredentials Rule = "credentials" // user name or password
	RuleHost        Rule = "host"        // empty label, or a numeric spelling that is no address
	RuleBlocked     Rule = "blocked"     // matches a blocked host or network
	RuleAllowed     Rule = "allowed"     // matches no allowed host
	RuleMetadata    Rule = "metadata"    // cloud metadata, which only a permit of its own lets pass
	RulePrivate     Rule = "private"     // private, local or special-purpose
	RulePort        Rule = "port"        // a port that is refused
	RuleOwn         Rule = "own"         // a listener of this install
	RuleAddress     Rule = "address"     // a name that resolves to a refused address
)

// Error is a refusal. Host is canonical and safe to print. Reason is one sentence without the URL.
type Error struct {
	Kind   Kind
	Rule   Rule
	Host   string // empty where no host could be read
	Reason string
	// Permit is what [ParsePermit] would take to lift this refusal, empty where no permit helps. A cloud metadata
	// address has none here, so that nobody is led to permit one because a page asked for it.
	Permit string
	// Address is the refused address, for an operator's log; invalid where no address was judged.
	Address netip.Addr
}

func (e *Error) Error() string { return e.Reason }

// invalid is a refusal of text that cannot be understood.
func invalid(rule Rule, host, reason string) *Error {
	return &Error{Kind: Invalid, Rule: rule, Host: host, Reason: reason}
}

// disallowed is a refusal of a URL that was understood.
func disallowed(rule Rule, host, reason string) *Error {
	return &Error{Kind: Disallowed, Rule: rule, Host: host, Reason: reason}
}

// maxQuoted bounds a host or scheme inside a sentence: it was chosen by whoever wrote the URL.
const maxQuoted = 80

// quote makes a name that a page may have chosen fit to stand in a sentence.
func quote(name string) string {
	if utf8.RuneCountInString(name) > maxQuoted {
		name = string([]rune(name)[:maxQuoted-1]) + "…"
	}
	return strconv.Quote(name)
}
