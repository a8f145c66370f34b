package weburl

// Kind tells a malformed URL from one that the policy refuses.
type Kind int

const (
	// Invalid: not an absolute URL as WHATWG reads it, too long, or a spelling that is not understood.
	Invalid Kind = iota + 1
	// Disallowed: understood, and refused by the policy.
	Disallowed
)

// Rule names the check that refused, in the order in which the checks run.
type Rule string

// The rules. A resolved address is refused by RuleAddress, everything else before a name is looked up.
const (
	RuleShape       Rule = "shape"       // not text that can be a URL: blank
	RuleLength      Rule = "length"      // more than MaxLength characters
	RuleParse       Rule = "parse"       // not an absolute URL
	RuleScheme      Rule = "scheme"      // neither http nor https
	RuleCredentials Rule = "credentials" // user name or password
	RuleHost        Rule = "host"        // empty label, or a numeric spelling that is no address
	RuleBlocked     Rule = "blocked"     // matches a blocked host
	RuleAllowed     Rule = "allowed"     // matches no allowed host
	RulePrivate     Rule = "private"     // private, local or special-purpose
	RuleMetadata    Rule = "metadata"    // cloud metadata, which only a permit of its own lets pass
	RulePort        Rule = "port"        // a port that is refused
	RuleAddress     Rule = "address"     // a name that resolves to a refused address
	RuleOwn         Rule = "own"         // a listener of this install
	RulePolicy      Rule = "policy"      // no policy at all: refused
)

// Error is a refusal. Host is canonical and safe to print. Reason is one sentence without the URL.
type Error struct {
	Kind   Kind
	Rule   Rule
	Host   string
	Reason string
}

func (e *Error) Error() string { return e.Reason }
