// This file is signing in and out, and what a person has of their own: password and tokens.
package operatorapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/people"
)

// nobody is the input of operations that take nothing.
type nobody struct{}

// browser is what a sign-in says of where it comes from.
type browser struct {
	Agent string `header:"User-Agent" hidden:"true"`
	Body  wire.SignIn
}

type redeeming struct {
	Agent string `header:"User-Agent" hidden:"true"`
	Body  wire.Redeem
}

type signedIn struct {
	Cookie http.Cookie `header:"Set-Cookie"`
	Body   wire.Session
}

type signingOut struct {
	Body *wire.SignOut
}

type signedOut struct {
	Cookie http.Cookie `header:"Set-Cookie"`
}

type changingPassword struct {
	Agent string `header:"User-Agent" hidden:"true"`
	Body  wire.ChangePassword
}

type namingToken struct {
	Body wire.NameToken
}

// OfToken names a token.
type OfToken struct {
	Token string `path:"token" maxLength:"80"`
}

func (s *Server) registerSignIn() {
	gate.HandleWith(s.gate, "sign-in", nil, func(ctx context.Context, v *gate.Visit, in *browser) (*signedIn, error) {
		from, err := s.comesFrom(ctx, v, in.Agent)
		if err != nil {
			return nil, err
		}
		got, err := s.d.SignIns.SignIn(ctx, in.Body.Name, in.Body.Password, from)
		if err != nil {
			return nil, err
		}
		return s.begin(ctx, got)
	})
	gate.HandleWith(s.gate, "redeem-link", nil, func(ctx context.Context, v *gate.Visit, in *redeeming) (*signedIn, error) {
		from, err := s.comesFrom(ctx, v, in.Agent)
		if err != nil {
			return nil, err
		}
		if in.Body.Password != "" { // looked at before the link is used up
			if err := people.CheckPassword(in.Body.Password); err != nil {
				return nil, gate.Fail(http.StatusUnprocessableEntity, gate.CodeInvalidRequest, err.Error()).At("password")
			}
		}
		got, err := s.d.SignIns.Redeem(ctx, in.Body.Secret, from)
		if err != nil {
			return nil, err
		}
		if in.Body.Password != "" {
			if err := s.d.People.SetPassword(ctx, got.Person.ID, in.Body.Password, got.Session.ID, people.Actor(got.Person.ID)); err != nil {
				return nil, err
			}
			got.Person.HasPassword = true
		}
		return s.begin(ctx, got)
	})
	gate.HandleWith(s.gate, "sign-out", optionalBody, func(ctx context.Context, v *gate.Visit, in *signingOut) (*signedOut, error) {
		person := v.Person.Person.ID
		if in.Body != nil && in.Body.Everywhere {
			if _, err := s.d.People.SignOutEverywhere(ctx, person, v.By()); err != nil {
				return nil, err
			}
		} else if err := s.d.People.End(ctx, person, v.Credential(), v.By()); err != nil {
			return nil, err
		}
		gone := s.session("", time.Time{})
		gone.MaxAge = -1
		return &signedOut{gone}, nil
	})
	gate.Handle(s.gate, "who-am-i", func(ctx context.Context, v *gate.Visit, _ *nobody) (wire.Me, error) {
		if v.Kind == route.Harness {
			return wire.Me{Kind: "harness_token", Agent: v.Token.Agent}, nil
		}
		p, err := s.person(ctx, v.Person.Person)
		me := wire.Me{Kind: "person_token", Person: &p, SignedIn: v.Session()}
		if v.Session() {
			me.Kind = "session"
		}
		return me, err
	})
	gate.HandleWith(s.gate, "change-password", nil, func(ctx context.Context, v *gate.Visit, in *changingPassword) (*signedIn, error) {
		if err := people.CheckPassword(in.Body.New); err != nil {
			return nil, gate.Fail(http.StatusUnprocessableEntity, gate.CodeInvalidRequest, err.Error()).At("new_password")
		}
		from, err := s.comesFrom(ctx, v, in.Agent)
		if err != nil {
			return nil, err
		}
		// Signing in anew is the one way to ask for a password: it is counted, and its session is the one that stays.
		got, err := s.d.SignIns.SignIn(ctx, v.Person.Person.Name, in.Body.Old, from)
		if err != nil {
			return nil, err
		}
		if err := s.d.People.SetPassword(ctx, got.Person.ID, in.Body.New, got.Session.ID, v.By()); err != nil {
			return nil, err
		}
		return s.begin(ctx, got)
	})
	gate.Handle(s.gate, "list-my-tokens", func(ctx context.Context, v *gate.Visit, _ *nobody) (wire.Tokens, error) {
		all, err := s.d.People.Credentials(ctx, v.Person.Person.ID)
		out := wire.Tokens{Tokens: []wire.Token{}}
		for _, c := range all {
			if c.Kind == people.Token {
				out.Tokens = append(out.Tokens, personToken(c))
			}
		}
		return out, err
	})
	gate.Handle(s.gate, "create-my-token", func(ctx context.Context, v *gate.Visit, in *namingToken) (wire.NewToken, error) {
		c, text, err := s.d.People.NewToken(ctx, v.Person.Person.ID, in.Body.Label, time.Duration(in.Body.Days)*24*time.Hour, v.By())
		if err != nil {
			return wire.NewToken{}, err
		}
		return wire.NewToken{Token: personToken(c), Secret: text.Reveal()}, nil
	})
	gate.Act(s.gate, "revoke-my-token", func(ctx context.Context, v *gate.Visit, in *OfToken) error {
		return s.d.People.End(ctx, v.Person.Person.ID, in.Token, v.By())
	})
}

// optionalBody documents a body that may be left out.
func optionalBody(op *huma.Operation) {
	op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{}}
}

// comesFrom describes the browser that signs in. It refuses one that came by a name at which there are no sessions.
func (s *Server) comesFrom(ctx context.Context, v *gate.Visit, label string) (people.Browser, error) {
	in := gate.ArrivalOf(ctx)
	if !in.Listed {
		return people.Browser{}, gate.Fail(http.StatusForbidden, gate.CodeInvalidHost, "people sign in under this install's own name, to which `wayleave sign-in` prints a link; a session at this one could be any program's on this machine")
	}
	return people.Browser{Address: v.From, Cookie: in.Cookie, Label: label}, nil
}

// begin is the answer that begins a session.
func (s *Server) begin(ctx context.Context, got people.SignedIn) (*signedIn, error) {
	p, err := s.person(ctx, got.Person)
	if err != nil {
		return nil, err
	}
	until := got.Session.Expires
	return &signedIn{Cookie: s.session(got.Cookie.Reveal(), until), Body: wire.Session{Person: p, Confirm: got.Confirm.Reveal(), Until: until.UTC()}}, nil
}

// session is the cookie. It belongs to this very host name, is no script's to read, and comes with no request that
// another site began.
func (s *Server) session(value string, until time.Time) http.Cookie {
	return http.Cookie{Name: gate.CookieName, Value: value, Path: "/", Expires: until, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.o.Secure}
}

func personToken(c people.Credential) wire.Token {
	return wire.Token{ID: c.ID, Label: c.Label, Created: c.Created.UTC(), Used: moment(c.Used), Expires: moment(c.Expires), Revoked: moment(c.Ended)}
}

// moment is a time that may not have been.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
