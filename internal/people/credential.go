// This file is how a person proves who they are: links, sessions and tokens.
package people

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/secret"
)

// Kind is what a credential is for.
type Kind string

// The kinds.
const (
	Link    Kind = "link"    // signs in once
	Session Kind = "session" // a browser that is signed in
	Token   Kind = "token"   // a program that acts for the person
)

// How long credentials work.
const (
	LinkTime    = 10 * time.Minute
	SessionTime = 7 * 24 * time.Hour
	SessionIdle = 12 * time.Hour
)

// Credential is what is kept of one; its secrets are not.
type Credential struct {
	ID, Person string
	Kind       Kind
	Label      string // a token's name, or what a browser called itself
	Created    time.Time
	Used       time.Time // zero: never
	Expires    time.Time // zero: never
	Ended      time.Time // zero: it works until it expires
}

// Fresh is a credential that is to be kept. Its secrets are there as hexadecimal SHA-256.
type Fresh struct {
	ID, Label string
	From      string // address, for the audit
	Hash      string
	Confirm   string        // a session's second secret; empty for others
	Life      time.Duration // 0: until it is ended
}

// Principal is a person who has proved who they are, and by what.
type Principal struct {
	Person     Person
	Credential Credential
	confirm    string
}

// Actor is how the audit names the person.
func (p Principal) Actor() string { return Actor(p.Person.ID) }

// Actor is how the audit names a person.
func Actor(person string) string { return "person:" + person }

// Confirmed says whether a request may do more than look. A token is enough by itself, since no browser sends it unasked;
// a session needs its second secret, which a page holds in memory and no browser sends by itself.
func (p Principal) Confirmed(second string) bool {
	if p.Credential.Kind != Session {
		return p.Credential.Kind == Token
	}
	return p.confirm != "" && plausible(second, confirmPrefix) && subtle.ConstantTimeCompare([]byte(hash(second)), []byte(p.confirm)) == 1
}

// SignedIn is a session that was just begun, with both secrets: they are given here and never again.
type SignedIn struct {
	Person  Person
	Session Credential
	Cookie  secret.Value
	Confirm secret.Value
}

var (
	// ErrSignedOut says that a cookie or token opens nothing: it is malformed, unknown, over, or its person is disabled.
	ErrSignedOut = errors.New("not signed in, or the sign-in is over")
	// ErrLinkGone says that a sign-in link opens nothing. Which of the reasons it is, is not told.
	ErrLinkGone = errors.New("the link was used, replaced by a newer one, or is older than 10 minutes; `wayleave sign-in` prints a fresh one")
	// ErrWrong says that name and password do not match; whether the name is known is not told.
	ErrWrong = errors.New("the name or the password is wrong")
)

// Prefixes of secrets, so that scanners of repositories and logs find one that leaked.
const (
	linkPrefix    = "wl_link_"
	cookiePrefix  = "wl_session_"
	confirmPrefix = "wl_confirm_"
	tokenPrefix   = "wl_person_"
)

// secretBytes is the randomness of a secret: 256 bits, so that guessing one needs no limit of tries.
const secretBytes = 32

var encoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func mint(prefix string) secret.Value {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // documented never to fail
	return secret.New(prefix + encoding.EncodeToString(b))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// plausible says whether a text has the shape of a secret; what has not is not even hashed.
func plausible(text, prefix string) bool {
	return len(text) == len(prefix)+encoding.EncodedLen(secretBytes) && strings.HasPrefix(text, prefix)
}

// IsToken says whether a bearer text has the shape of a person's token, as against an agent's.
func IsToken(bearer string) bool { return plausible(bearer, tokenPrefix) }
