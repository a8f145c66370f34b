package people

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
)

// oneSession is rows with one credential of each kind, all of the same secret.
type oneSession struct {
	Rows  // what is not named here is not called
	known map[Kind]string
	asked []string
	fails error
}

func (r *oneSession) Find(_ context.Context, kind Kind, hash string, _ time.Duration) (Person, Credential, string, error) {
	r.asked = append(r.asked, hash)
	if r.fails != nil {
		return Person{}, Credential{}, "", r.fails
	}
	if r.known[kind] != hash {
		return Person{}, Credential{}, "", ErrNotFound
	}
	return Person{ID: "person_1", Role: Viewer}, Credential{ID: "cred_1", Kind: kind}, strings.Repeat("ab", 32), nil
}

func (r *oneSession) Redeem(_ context.Context, link string, f Fresh, old string) (Person, Credential, error) {
	r.asked = append(r.asked, link)
	if old != "" {
		r.asked = append(r.asked, old)
	}
	if r.known[Link] != link {
		return Person{}, Credential{}, ErrLinkGone
	}
	return Person{ID: "person_1"}, Credential{ID: f.ID, Kind: Session, Label: f.Label}, nil
}

// FuzzTM075Strangers holds what anybody may send as a cookie, a token, a link or a second secret against the one there is.
func FuzzTM075Strangers(f *testing.F) {
	const random = "0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b"
	right := map[Kind]string{Session: cookiePrefix + random, Token: tokenPrefix + random, Link: linkPrefix + random}
	for _, s := range []string{"", random, right[Session], right[Token], right[Link], confirmPrefix + random, strings.ToUpper(right[Token]), right[Session] + ";", "\x00", strings.Repeat("wl_session_", 99)} {
		f.Add(s, "Browser 1.0")
	}
	hexHash := regexp.MustCompile(`^[0-9a-f]{64}$`)
	f.Fuzz(func(t *testing.T, text, label string) {
		r := &oneSession{known: map[Kind]string{}}
		for kind, secret := range right {
			r.known[kind] = hash(secret)
		}
		d := NewDirectory(r, Options{Cost: cheap})
		ctx := t.Context()
		session, err := d.Session(ctx, text)
		if text == right[Session] != (err == nil) || err != nil && err != ErrSignedOut {
			t.Fatalf("%q as a cookie: %v", text, err)
		}
		if session.Confirmed(text) || session.Confirmed(label) {
			t.Fatalf("%q or %q is a second secret", text, label)
		}
		if _, err := d.Token(ctx, text); text == right[Token] != (err == nil) || err != nil && err != ErrSignedOut {
			t.Fatalf("%q as a token: %v", text, err)
		}
		in, err := d.Redeem(ctx, text, Browser{Cookie: text, Label: label, Address: label})
		if text == right[Link] != (err == nil) || err != nil && err != ErrLinkGone {
			t.Fatalf("%q as a link: %v", text, err)
		}
		if len([]rune(in.Session.Label)) > maxLabel || strings.ContainsAny(in.Session.Label, "\n\r\x1b\x00") {
			t.Fatalf("label %q", in.Session.Label)
		}
		for _, h := range r.asked {
			if !hexHash.MatchString(h) {
				t.Fatalf("the database was asked for %q", h)
			}
		}
	})
}

func TestNobodyIsLetInWhileTheDatabaseCannotBeAsked(t *testing.T) {
	r := &oneSession{fails: errors.New("gone")}
	d := NewDirectory(r, Options{Cost: cheap})
	for name, ask := range map[string]func() (Principal, error){
		"session": func() (Principal, error) { return d.Session(t.Context(), mint(cookiePrefix).Reveal()) },
		"token":   func() (Principal, error) { return d.Token(t.Context(), mint(tokenPrefix).Reveal()) },
	} {
		if p, err := ask(); err == nil || errors.Is(err, ErrSignedOut) || p.Person.ID != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
