// This file is the people of an install and their signing in, over rows that a database keeps.
package people

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/secret"
)

// Rows keeps people and their credentials. Each method is one transaction; times are the database's. by is who changes
// something, as the audit names actors; a change that changes nothing is not audited.
type Rows interface {
	// All lists people by name; One finds a person, ByName one with the encoded password (empty: none).
	All(ctx context.Context) ([]Person, error)
	One(ctx context.Context, id string) (Person, error)
	ByName(ctx context.Context, name string) (p Person, password string, err error)
	// Add makes a person. ErrNameTaken, ErrUnknownAgent.
	Add(ctx context.Context, p Person, by string) (Person, error)
	// Change lets edit change role, agents and state. ErrLastOwner, ErrUnknownAgent. Disabling ends all credentials.
	Change(ctx context.Context, id, by string, edit func(*Person)) (Person, error)
	// SetPassword keeps an encoded password, and ends the person's links and sessions but for keep.
	SetPassword(ctx context.Context, id, encoded, keep, by string) error

	// AddLink keeps a link of the person of a name, and ends their older ones. An empty name means the owner who was first,
	// who is made as first where there is none yet. ErrNotFound, ErrDisabled.
	AddLink(ctx context.Context, name string, first Person, f Fresh, by string) (Person, error)
	// Redeem ends the link of a hash and begins a session of its person; it ends the session of the hash old. ErrLinkGone.
	Redeem(ctx context.Context, link string, f Fresh, old string) (Person, Credential, error)
	// Begin begins a session of a person who still has the encoded password, ends the session of the hash old, takes back
	// what Attempt counted, and forgets what it counted for the first of the subjects. ErrNotFound.
	Begin(ctx context.Context, person, encoded string, f Fresh, old string, subjects ...string) (Person, Credential, error)
	// AddToken keeps a token of an active person. ErrNotFound.
	AddToken(ctx context.Context, person string, f Fresh, by string) (Credential, error)
	// Find finds a session or token that works now, with its active person, and notes, to the minute, that it was used. A
	// session that was not used for idle does not work. ErrNotFound.
	Find(ctx context.Context, kind Kind, hash string, idle time.Duration) (p Person, c Credential, confirm string, err error)
	// Of lists a person's sessions and tokens that work, newest first.
	Of(ctx context.Context, person string, idle time.Duration) ([]Credential, error)
	// End ends one credential of a person's, EndAll all of these kinds and says how many.
	End(ctx context.Context, person, id, by string) error
	EndAll(ctx context.Context, person string, kinds []Kind, by string) (int, error)

	// Attempt counts one sign-in for each of the subjects, if none of them has used up limit in window; else it counts none
	// and says how long to wait.
	Attempt(ctx context.Context, limit int, window time.Duration, subjects ...string) (wait time.Duration, err error)
}

// Options of a Directory. The zero value works.
type Options struct {
	// Cost is what a password costs to try; the zero Cost is the default.
	Cost Cost
	// SessionTime and SessionIdle are how long a browser stays signed in, in all and unused; 0, and what is longer than the
	// constants of these names, means those.
	SessionTime, SessionIdle time.Duration
}

// Directory knows the people of an install. It is safe for concurrent use, and asks the database at each question: what
// one process ended is over for all.
type Directory struct {
	rows       Rows
	hasher     *hasher
	life, idle time.Duration // of sessions
}

// NewDirectory opens the people that rows keep.
func NewDirectory(rows Rows, o Options) *Directory {
	return &Directory{rows: rows, hasher: newHasher(o.Cost), life: atMost(o.SessionTime, SessionTime), idle: atMost(o.SessionIdle, SessionIdle)}
}

func atMost(d, most time.Duration) time.Duration {
	if d <= 0 || d > most {
		return most
	}
	return d
}

// personID and the others are prefixes of ids.
const (
	personID     = "person"
	credentialID = "cred"
)

// FirstOwner is the name that the first owner gets.
const FirstOwner = "owner"

// NewLink makes a sign-in link's secret for a person, by name; empty means the owner who was first, who is made here if
// there is none. It works once, for ten minutes, and ends the person's older links. The secret is for a terminal: whoever
// has it is signed in.
func (d *Directory) NewLink(ctx context.Context, name, by string) (Person, secret.Value, error) {
	name = fold(name)
	if name != "" && CheckName(name) != nil {
		return Person{}, secret.Value{}, ErrNotFound
	}
	text := mint(linkPrefix)
	first := Person{ID: rowid.New(personID), Name: FirstOwner, Role: Owner, Agents: Agents{All: true}}
	p, err := d.rows.AddLink(ctx, name, first, Fresh{ID: rowid.New(credentialID), Hash: hash(text.Reveal()), Life: LinkTime}, by)
	if err != nil {
		return Person{}, secret.Value{}, err
	}
	return p, text, nil
}

// Browser is where a sign-in comes from.
type Browser struct {
	// Address is that of the caller, without a port.
	Address string
	// Cookie is the session that the browser brought along; it ends with the new sign-in. Empty for none.
	Cookie string
	// Label is what the browser calls itself.
	Label string
}

func (b Browser) old() string {
	if !plausible(b.Cookie, cookiePrefix) {
		return ""
	}
	return hash(b.Cookie)
}

// Redeem signs in by a link's secret, once. ErrLinkGone.
func (d *Directory) Redeem(ctx context.Context, link string, from Browser) (SignedIn, error) {
	if !plausible(link, linkPrefix) {
		return SignedIn{}, ErrLinkGone
	}
	return d.begin(from, func(f Fresh) (Person, Credential, error) { return d.rows.Redeem(ctx, hash(link), f, from.old()) })
}

func (d *Directory) begin(from Browser, keep func(Fresh) (Person, Credential, error)) (SignedIn, error) {
	cookie, confirm := mint(cookiePrefix), mint(confirmPrefix)
	p, c, err := keep(Fresh{ID: rowid.New(credentialID), Label: plain(from.Label), From: plain(from.Address),
		Hash: hash(cookie.Reveal()), Confirm: hash(confirm.Reveal()), Life: d.life})
	if err != nil {
		return SignedIn{}, err
	}
	return SignedIn{Person: p, Session: c, Cookie: cookie, Confirm: confirm}, nil
}

// SignIn signs in by name and password. ErrWrong where they do not match, in the same time and words for names that are
// not known; *TooMany after 20 wrong ones of a name, or from an address, in a quarter of an hour.
func (d *Directory) SignIn(ctx context.Context, name, password string, from Browser) (SignedIn, error) {
	name = fold(name)
	subjects := []string{nameSubject(name), addressSubject(from.Address)}
	wait, err := d.rows.Attempt(ctx, attempts, attemptWindow, subjects...)
	if err != nil {
		return SignedIn{}, err
	}
	if wait > 0 {
		return SignedIn{}, &TooMany{Wait: wait}
	}
	p, encoded, err := d.known(ctx, name)
	if err != nil {
		return SignedIn{}, err
	}
	right, err := d.hasher.matches(ctx, password, encoded)
	if err != nil {
		return SignedIn{}, err
	}
	if !right {
		return SignedIn{}, ErrWrong
	}
	out, err := d.begin(from, func(f Fresh) (Person, Credential, error) {
		return d.rows.Begin(ctx, p.ID, encoded, f, from.old(), subjects...)
	})
	if errors.Is(err, ErrNotFound) { // disabled, or given another password, while this one was tried
		return SignedIn{}, ErrWrong
	}
	return out, err
}

// known finds who may sign in by password under a name, and their password; empty for everybody else.
func (d *Directory) known(ctx context.Context, name string) (Person, string, error) {
	if CheckName(name) != nil {
		name = "-" // nobody's: the question is asked all the same, since its time would tell
	}
	p, encoded, err := d.rows.ByName(ctx, name)
	if errors.Is(err, ErrNotFound) || err == nil && p.Disabled {
		return Person{}, "", nil
	}
	return p, encoded, err
}

// Session finds who a browser's cookie stands for. ErrSignedOut. Other errors say that the database could not be asked,
// in which case nobody is let in.
func (d *Directory) Session(ctx context.Context, cookie string) (Principal, error) {
	return d.find(ctx, Session, cookie, cookiePrefix)
}

// Token finds who a bearer token stands for. ErrSignedOut.
func (d *Directory) Token(ctx context.Context, bearer string) (Principal, error) {
	return d.find(ctx, Token, bearer, tokenPrefix)
}

func (d *Directory) find(ctx context.Context, kind Kind, text, prefix string) (Principal, error) {
	if !plausible(text, prefix) {
		return Principal{}, ErrSignedOut
	}
	person, c, confirm, err := d.rows.Find(ctx, kind, hash(text), d.idle)
	if errors.Is(err, ErrNotFound) {
		return Principal{}, ErrSignedOut
	}
	if err != nil {
		return Principal{}, fmt.Errorf("look for a %s: %w", kind, err)
	}
	return Principal{Person: person, Credential: c, confirm: confirm}, nil
}

// NewToken makes a token with which a program acts as a person, for a time, or until it is ended where life is 0. The
// secret is given here and never again.
func (d *Directory) NewToken(ctx context.Context, person, label string, life time.Duration, by string) (Credential, secret.Value, error) {
	text := mint(tokenPrefix)
	c, err := d.rows.AddToken(ctx, person, Fresh{ID: rowid.New(credentialID), Label: plain(label), Hash: hash(text.Reveal()), Life: life}, by)
	if err != nil {
		return Credential{}, secret.Value{}, err
	}
	return c, text, nil
}

// Credentials lists a person's sessions and tokens that work, newest first.
func (d *Directory) Credentials(ctx context.Context, person string) ([]Credential, error) {
	return d.rows.Of(ctx, person, d.idle)
}

// End ends one credential of a person's: signs a browser out, revokes a token. Ending what has ended is no error.
func (d *Directory) End(ctx context.Context, person, credential, by string) error {
	return d.rows.End(ctx, person, credential, by)
}

// SignOutEverywhere ends all sessions and links of a person, and says how many there were. Tokens stay.
func (d *Directory) SignOutEverywhere(ctx context.Context, person, by string) (int, error) {
	return d.rows.EndAll(ctx, person, []Kind{Link, Session}, by)
}

// List gives all people by name.
func (d *Directory) List(ctx context.Context) ([]Person, error) { return d.rows.All(ctx) }

// ByID finds a person.
func (d *Directory) ByID(ctx context.Context, id string) (Person, error) { return d.rows.One(ctx, id) }

// ByName finds a person.
func (d *Directory) ByName(ctx context.Context, name string) (Person, error) {
	p, _, err := d.rows.ByName(ctx, fold(name))
	return p, err
}

// Add makes a person, who can sign in once a link or a password was made for them. Agents are ids.
func (d *Directory) Add(ctx context.Context, name string, role Role, agents Agents, by string) (Person, error) {
	name = fold(name)
	if err := CheckName(name); err != nil {
		return Person{}, err
	}
	if _, err := ParseRole(string(role)); err != nil {
		return Person{}, err
	}
	return d.rows.Add(ctx, Person{ID: rowid.New(personID), Name: name, Role: role, Agents: agents}, by)
}

// SetRole changes what a person may do, from their next request on.
func (d *Directory) SetRole(ctx context.Context, person string, role Role, agents Agents, by string) (Person, error) {
	if _, err := ParseRole(string(role)); err != nil {
		return Person{}, err
	}
	return d.rows.Change(ctx, person, by, func(p *Person) { p.Role, p.Agents = role, agents })
}

// Disable ends all that a person may do, and all their credentials for good.
func (d *Directory) Disable(ctx context.Context, person, by string) (Person, error) {
	return d.rows.Change(ctx, person, by, func(p *Person) { p.Disabled = true })
}

// Enable lets a person sign in again.
func (d *Directory) Enable(ctx context.Context, person, by string) (Person, error) {
	return d.rows.Change(ctx, person, by, func(p *Person) { p.Disabled = false })
}

// SetPassword sets a person's password and ends their links and sessions, but for the session of the id keep.
func (d *Directory) SetPassword(ctx context.Context, person, password, keep, by string) error {
	if err := CheckPassword(password); err != nil {
		return err
	}
	encoded, err := d.hasher.encode(ctx, password)
	if err != nil {
		return err
	}
	return d.rows.SetPassword(ctx, person, encoded, keep, by)
}

// fold is a name as it is kept: people type it with a capital, or a space behind it.
func fold(name string) string { return strings.ToLower(strings.TrimSpace(name)) }
