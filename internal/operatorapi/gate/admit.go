// This file is the gate before every operation, in the order of its checks: who asks, whether the row lets them, whether
// a browser's request is really the person's, and whether what the path names is there for them. Nothing of the body is
// read before all four are passed.
package gate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
	"github.com/wayleave/wayleave/internal/people"
)

const (
	// CookieName is the session's cookie, ConfirmHeader its second secret.
	CookieName    = "wayleave_session"
	ConfirmHeader = "Wayleave-Confirm"
)

// Visit is a request that was let in.
type Visit struct {
	row  route.Row
	Kind route.May
	From string // address
	// Token is whose token it was, of an agent's; Person is who, of a person's.
	Token  agent.Identity
	Person people.Principal
	// What the path names; the zero value where it names none.
	Agent    agent.Agent
	Run      ledger.Run
	Approval approval.Approval
}

// By is how the audit names whoever asks.
func (v *Visit) By() string {
	if v.Kind&route.People != 0 {
		return v.Person.Actor()
	}
	return "token:" + v.Token.TokenID
}

// Credential is the id of what was shown.
func (v *Visit) Credential() string {
	if v.Kind&route.People != 0 {
		return v.Person.Credential.ID
	}
	return v.Token.TokenID
}

// Scope is the agents whose rows may be listed, as ids; nil means all.
func (v *Visit) Scope() []string {
	switch {
	case v.Kind&route.People != 0:
		return v.Person.Person.Scope()
	case v.Kind&(route.Tools|route.Harness) != 0:
		return []string{v.Token.AgentID}
	}
	return []string{}
}

// Sees says whether an agent's rows may be shown.
func (v *Visit) Sees(id string) bool {
	switch {
	case v.Kind&route.People != 0:
		return v.Person.Person.Sees(id)
	case v.Kind&(route.Tools|route.Harness) != 0:
		return id != "" && id == v.Token.AgentID
	}
	return false
}

// Owner is the agent with which rows are looked up: an agent's token's own, else that of what the path names.
func (v *Visit) Owner() string {
	if v.Kind&(route.Tools|route.Harness) != 0 {
		return v.Token.AgentID
	}
	return v.Agent.ID
}

// Session says whether a person signed in, as against an API token of theirs.
func (v *Visit) Session() bool { return v.Person.Credential.Kind == people.Session }

type visitKey struct{}

// enter is the gate of one row; body says whether its handler reads one.
func (g *Gate) enter(row route.Row, body bool) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		out, _ := w.(*Reply)
		out.operation = row.ID
		v, f := g.admit(r, row)
		if f != nil {
			g.Send(out, f)
			return
		}
		if v.Kind != route.Anyone {
			out.who = v.Credential()
		}
		if r.ContentLength == 0 {
			// net/http watches for the client to leave, and a deadline would look like that.
			_ = out.control.SetReadDeadline(time.Time{})
		} else if !body {
			if f := unasked(r); f != nil {
				g.Send(out, f)
				return
			}
		}
		_, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		came := Arrival{Listed: g.o.Names.Listed(r), Cookie: g.cookie(r), Bearer: strings.TrimSpace(bearer)}
		next(huma.WithValue(huma.WithValue(huma.WithValue(ctx, visitKey{}, v), replyKey{}, out), arrivalKey{}, came))
	}
}

// unasked reads away a body that the operation has no use for. The handler lifts the deadline of reading, and net/http would
// wait for such a body without end before it answers.
func unasked(r *http.Request) *Failure {
	n, err := io.Copy(io.Discard, io.LimitReader(r.Body, bodyBytes+1))
	switch {
	case n > bodyBytes:
		return Fail(http.StatusRequestEntityTooLarge, CodeTooLarge, "this operation takes no body")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Fail(http.StatusRequestTimeout, CodeInvalidRequest, "the body did not arrive in time, and this operation takes none")
	case err != nil:
		return Fail(http.StatusBadRequest, CodeInvalidRequest, "the body did not arrive whole, and this operation takes none")
	}
	return nil
}

type replyKey struct{}

// Arrival is what a handler may know of how a request came. Its secrets are for asking again whether they work.
type Arrival struct {
	Listed         bool // by a name that people are sent to
	Cookie, Bearer string
}

type arrivalKey struct{}

// ArrivalOf is how the request of a handler's context came, ReplyOf its way out.
func ArrivalOf(ctx context.Context) Arrival {
	in, _ := ctx.Value(arrivalKey{}).(Arrival)
	return in
}

// ReplyOf is the way out of the request of a handler's context.
func ReplyOf(ctx context.Context) *Reply {
	out, _ := ctx.Value(replyKey{}).(*Reply)
	return out
}

// Send answers a failure, and tells the log of one that is ours.
func (g *Gate) Send(out *Reply, f *Failure) {
	g.own(out, f)
	g.Refuse(out, f)
}

// own names the request in a failure of ours, and keeps its cause.
func (g *Gate) own(out *Reply, f *Failure) {
	if f.Status < 500 || f.RequestID != "" {
		return
	}
	f.RequestID = out.id
	if errors.Is(f.cause, context.Canceled) { // the client left
		return
	}
	g.log.Error("request failed", "request_id", out.id, "operation", out.operation, "error", f.cause)
}

// admit judges a request by its row.
func (g *Gate) admit(r *http.Request, row route.Row) (*Visit, *Failure) {
	v := &Visit{row: row, From: g.o.Names.From(r)}
	if err := g.identify(r, v); err != nil {
		if row.May.Has(route.Anyone) && err.Status == http.StatusUnauthorized {
			v.Kind = route.Anyone
			return v, nil
		}
		return nil, err
	}
	switch {
	case row.May.Has(route.Anyone):
	case !row.May.Has(v.Kind):
		return nil, Fail(http.StatusForbidden, CodeForbidden, "not with this credential ("+v.Kind.Words()+"): this takes "+row.May.Words())
	case v.Kind&route.People == 0:
	case row.SignedIn && !v.Session():
		return nil, Fail(http.StatusForbidden, CodeForbidden, "an API token may not do this; sign in")
	case row.Whole && v.Person.Person.Scope() != nil:
		return nil, Fail(http.StatusForbidden, CodeForbidden, "this concerns all agents, and takes a person who may see all of them")
	case row.Unsafe() && !v.Person.Confirmed(r.Header.Get(ConfirmHeader)):
		return nil, Fail(http.StatusForbidden, CodeConfirmMissing, "a browser's request that changes something carries the second secret of its session in "+ConfirmHeader+"; sign in again to get one")
	}
	if f := unwritten(r); f != nil {
		return nil, f
	}
	if err := g.resolve(r.Context(), r, v); err != nil {
		return nil, g.Failed(err)
	}
	return v, nil
}

// unwritten refuses an address with a name or value that is no text: nothing is called so, and no database takes it. Nor
// is one read that says something twice, or cannot be read whole: what is left out of a filter would widen it.
func unwritten(r *http.Request) *Failure {
	if !isText(r.URL.Path) {
		return NotFound()
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return Fail(http.StatusUnprocessableEntity, CodeInvalidRequest, "the query is not NAME=VALUE with & between and %XX for other characters")
	}
	for name, values := range query {
		why := ""
		switch {
		case !isText(name): // the HTTP library knows no such name
		case slices.ContainsFunc(values, func(v string) bool { return !isText(v) }):
			why = "it is not UTF-8, or has the character NUL"
		case len(values) > 1:
			why = "it stands more than once"
		}
		if why != "" {
			f := Fail(http.StatusUnprocessableEntity, CodeInvalidRequest, name+": "+why)
			f.Field = name
			return f
		}
	}
	return nil
}

// isText says whether a database keeps a text as it is.
func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// identify finds out who asks. A credential that opens nothing is never passed over for another one.
func (g *Gate) identify(r *http.Request, v *Visit) *Failure {
	ctx := r.Context()
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		scheme, bearer, _ := strings.Cut(values[0], " ")
		bearer = strings.TrimSpace(bearer)
		if len(values) != 1 || !strings.EqualFold(scheme, "bearer") || bearer == "" || strings.ContainsAny(bearer, " \t,") {
			return unknown("send one header Authorization: Bearer TOKEN")
		}
		if people.IsToken(bearer) {
			return g.principal(v)(g.o.People.Token(ctx, bearer))
		}
		who, err := g.o.Agents.Verify(bearer, v.From)
		switch {
		case errors.Is(err, agent.ErrUnknownToken):
			return unknown("the token is not known here, or was revoked")
		case err != nil:
			return g.unchecked(err)
		}
		v.Token, v.Kind = who, route.Tools
		if who.Scope == agent.ScopeHarness {
			v.Kind = route.Harness
		}
		return nil
	}
	cookie := g.cookie(r)
	if cookie == "" {
		return unknown("sign in, or send the header Authorization: Bearer TOKEN")
	}
	return g.principal(v)(g.o.People.Session(ctx, cookie))
}

// cookie is the session's; empty at a name of ours that people are not sent to, and where there is more than one.
func (g *Gate) cookie(r *http.Request) string {
	if !g.o.Names.Listed(r) {
		return ""
	}
	if found := r.CookiesNamed(CookieName); len(found) == 1 {
		return found[0].Value
	}
	return ""
}

func (g *Gate) principal(v *Visit) func(people.Principal, error) *Failure {
	return func(p people.Principal, err error) *Failure {
		switch {
		case errors.Is(err, people.ErrSignedOut):
			return unknown("not signed in, or the sign-in is over")
		case err != nil:
			return g.unchecked(err)
		}
		kinds := map[people.Role]route.May{people.Owner: route.Owner, people.Operator: route.Operator, people.Viewer: route.Viewer}
		kind, ok := kinds[p.Person.Role]
		if !ok || p.Person.Disabled {
			return unknown("not signed in, or the sign-in is over")
		}
		v.Person, v.Kind = p, kind
		return nil
	}
}

func (g *Gate) unchecked(err error) *Failure {
	return Fail(http.StatusServiceUnavailable, CodeUnavailable, "credentials cannot be checked now; try again").Because(err)
}

func unknown(detail string) *Failure {
	return Fail(http.StatusUnauthorized, CodeInvalidToken, detail).With("WWW-Authenticate", `Bearer realm="wayleave"`)
}

// resolve looks up what the path names. What is there and may not be seen is not there.
func (g *Gate) resolve(ctx context.Context, r *http.Request, v *Visit) (err error) {
	id := r.PathValue(string(v.row.Of))
	switch v.row.Of {
	case route.Nothing:
		return nil
	case route.OfAgent:
		if v.Agent, err = g.o.Agents.BySlug(ctx, id); err == nil && !v.Sees(v.Agent.ID) {
			return NotFound()
		}
		return err
	case route.OfRun:
		mine := ""
		if v.Kind&route.People == 0 {
			mine = v.Token.AgentID // never empty: what it names is looked up as this agent's
		}
		if v.Run, err = g.o.Runs.Run(ctx, mine, id); err != nil {
			return err
		}
		return g.agentOf(ctx, v, v.Run.Agent)
	case route.OfApproval:
		if v.Approval, err = g.o.Approvals.Show(ctx, id); err != nil {
			return err
		}
		return g.agentOf(ctx, v, v.Approval.Agent)
	}
	return errors.New("a row names something that cannot be looked up")
}

func (g *Gate) agentOf(ctx context.Context, v *Visit, id string) (err error) {
	if !v.Sees(id) {
		return NotFound()
	}
	v.Agent, err = g.o.Agents.ByID(ctx, id)
	return err
}
