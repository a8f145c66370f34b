// Package agent knows who calls: agents, and the tokens with which their harnesses prove it.
//
// The one rule: a token is shown once, when it is made. What is kept is its SHA-256, which nobody can turn back into
// 256 random bits, so neither the data folder nor a copy of it opens a door.
package agent

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/secret"
)

// Local is the agent of `wayleave mcp` and the one that a first start makes.
const Local = "local"

// Scope is what a token may do.
type Scope string

// The scopes.
const (
	// ScopeTools lists and calls tools, nothing else. It is what a pasted block carries.
	ScopeTools Scope = "tools"
	// ScopeHarness is for a harness's own calls about its runs; it calls no tool.
	ScopeHarness Scope = "harness"
)

// Scopes are all scopes, in the order in which help texts name them.
func Scopes() []Scope { return []Scope{ScopeTools, ScopeHarness} }

// ParseScope reads a scope; the error names the ones there are.
func ParseScope(s string) (Scope, error) {
	for _, scope := range Scopes() {
		if s == string(scope) {
			return scope, nil
		}
	}
	return "", fmt.Errorf("scope %q is not one of tools, harness", s)
}

// MaxSlug is the longest slug of an agent, in characters.
const MaxSlug = 40

var slug = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// CheckSlug says what is wrong with an agent's slug: 1 to 40 lower-case letters, digits and hyphens, the first no
// hyphen.
func CheckSlug(s string) error {
	if len(s) > MaxSlug || !slug.MatchString(s) {
		return fmt.Errorf("agent %q: a slug is 1 to %d lower-case letters, digits and hyphens, and does not begin with a hyphen", clip(s), MaxSlug)
	}
	return nil
}

// clip bounds what a caller typed before it stands in an error.
func clip(s string) string {
	if len(s) > MaxSlug {
		return s[:MaxSlug] + "…"
	}
	return s
}

// Agent is who the tools are for.
type Agent struct {
	ID       string    `json:"-"`
	Slug     string    `json:"slug"`
	Name     string    `json:"-"`
	Disabled bool      `json:"-"`
	Paused   Pause     `json:"-"`
	Created  time.Time `json:"created"`
	// GrantsVersion grows when all that was offered to the agent becomes stale.
	GrantsVersion int64 `json:"-"`
	// Elicitation says that the agent's client asks a person.
	Elicitation bool `json:"-"`
}

// Pause is who stopped calls, as the audit names actors, and when; the zero Pause is none.
type Pause struct {
	By string
	At time.Time
}

// Token is what is kept of a token. Hash is hexadecimal SHA-256 of the whole token text.
type Token struct {
	ID      string    `json:"id"`
	Agent   string    `json:"agent"` // slug
	AgentID string    `json:"-"`
	Scope   Scope     `json:"scope"`
	Hash    string    `json:"hash"`
	Created time.Time `json:"created"`
	Revoked time.Time `json:"revoked,omitzero"`
	LastUse Use       `json:"-"`
}

// Use is when a token was used last, and the address that it came from.
type Use struct {
	At   time.Time `json:"at"`
	From string    `json:"from,omitempty"`
}

// Identity is who a verified token speaks for: the agent's slug and id.
type Identity struct {
	Agent   string
	AgentID string
	TokenID string
	Scope   Scope
}

// ErrUnknownToken says that a token is malformed, unknown or revoked; which of them is nobody's business but the
// operator's.
var ErrUnknownToken = errors.New("the token is not known here, or was revoked; `wayleave attach` makes one, with the data folder that this server has")

const (
	// tokenPrefix begins every token, so that scanners of repositories and logs find one that leaked.
	tokenPrefix = "wl_"
	// tokenBytes is the randomness of a token: 256 bits, so that guessing needs no rate limit.
	tokenBytes = 32
)

// Prefixes of ids. Those of the files' tokens are kept when they are imported.
const (
	agentID = "agent"
	tokenID = "tok"
)

func newID(prefix string) string { return rowid.New(prefix) }

// maxAddress bounds what is kept of where a token was used from, in bytes: any address and port fit.
const maxAddress = 64

func clipAddress(from string) string {
	return strings.ToValidUTF8(from[:min(len(from), maxAddress)], "")
}

var encoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// maxToken is the length of the longest token; longer bearer texts are not even hashed.
var maxToken = len(tokenPrefix) + len(ScopeHarness) + len("_") + encoding.EncodedLen(tokenBytes)

func mint(scope Scope) secret.Value {
	b := make([]byte, tokenBytes)
	_, _ = rand.Read(b) // documented never to fail
	return secret.New(tokenPrefix + string(scope) + "_" + encoding.EncodeToString(b))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func plausible(text string) bool {
	return len(text) <= maxToken && strings.HasPrefix(text, tokenPrefix)
}
