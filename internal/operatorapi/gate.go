// This file is the gate before every operation, in the order of its checks: who asks, whether the row lets them, whether
// a browser's request is really the person's, and whether what the path names is there for them. Nothing of the body is
// read before all four are passed.
package operatorapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

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

// visit is a request that was let in.
type visit struct {
	row  route.Row
	kind route.May
	from string // address
	// token is whose token it was, of an agent's; person is who, of a person's.
	token  agent.Identity
	person people.Principal
	// What the path names; the zero value where it names none.
	agent    agent.Agent
	run      ledger.Run
	approval approval.Approval
}

// by is how the audit names whoever asks.
func (v *visit) by() string {
	if v.kind&route.People != 0 {
		return v.person.Actor()
	}
	return "token:" + v.token.TokenID
}

// credential is the id of what was shown.
func (v *visit) credential() string {
	if v.kind&route.People != 0 {
		return v.person.Credential.ID
	}
	return v.token.TokenID
}

// scope is the agents whose rows may be listed, as ids; nil means all.
func (v *visit) scope() []string {
	switch {
	case v.kind&route.People != 0:
		return v.person.Person.Scope()
	case v.kind&(route.Tools|route.Harness) != 0:
		return []string{v.token.AgentID}
	}
	return []string{}
}

// sees says whether an agent's rows may be shown.
func (v *visit) sees(id string) bool {
	switch {
	case v.kind&route.People != 0:
		return v.person.Person.Sees(id)
	case v.kind&(route.Tools|route.Harness) != 0:
		return id != "" && id == v.token.AgentID
	}
	return false
}

// owner is the agent with which rows are looked up: an agent's token's own, else that of what the path names.
func (v *visit) owner() string {
	if v.kind&(route.Tools|route.Harness) != 0 {
		return v.token.AgentID
	}
	return v.agent.ID
}

func (v *visit) session() bool { return v.person.Credential.Kind == people.Session }

type visitKey struct{}

// enter is the gate of one row.
func (s *Server) enter(row route.Row) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		out, _ := w.(*reply)
		out.operation = row.ID
		v, f := s.admit(r, row)
		if f != nil {
			s.sendFailure(out, f)
			return
		}
		if v.kind != route.Anyone {
			out.who = v.credential()
		}
		if r.ContentLength == 0 {
			// net/http watches for the client to leave, and a deadline would look like that.
			_ = out.control.SetReadDeadline(time.Time{})
		}
		_, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		came := arrival{listed: s.o.Names.Listed(r), cookie: s.cookie(r), bearer: strings.TrimSpace(bearer)}
		next(huma.WithValue(huma.WithValue(huma.WithValue(ctx, visitKey{}, v), replyKey{}, out), arrivalKey{}, came))
	}
}

type replyKey struct{}

// arrival is what a handler may know of how a request came. Its secrets are for asking again whether they work.
type arrival struct {
	listed         bool // by a name that people are sent to
	cookie, bearer string
}

type arrivalKey struct{}

// sendFailure answers a failure, and tells the log of one that is ours.
func (s *Server) sendFailure(out *reply, f *failure) {
	s.own(out, f)
	s.refuse(out, f)
}

// own names the request in a failure of ours, and keeps its cause.
func (s *Server) own(out *reply, f *failure) {
	if f.Status < 500 || f.RequestID != "" {
		return
	}
	f.RequestID = out.id
	if errors.Is(f.cause, context.Canceled) { // the client left
		return
	}
	s.log.Error("request failed", "request_id", out.id, "operation", out.operation, "error", f.cause)
}

// admit judges a request by its row.
func (s *Server) admit(r *http.Request, row route.Row) (*visit, *failure) {
	v := &visit{row: row, from: s.o.Names.From(r)}
	if err := s.identify(r, v); err != nil {
		if row.May.Has(route.Anyone) && err.Status == http.StatusUnauthorized {
			v.kind = route.Anyone
			return v, nil
		}
		return nil, err
	}
	switch {
	case row.May.Has(route.Anyone):
	case !row.May.Has(v.kind):
		return nil, fail(http.StatusForbidden, codeForbidden, "this takes: "+row.May.Words())
	case v.kind&route.People == 0:
	case row.SignedIn && !v.session():
		return nil, fail(http.StatusForbidden, codeForbidden, "an API token may not do this; sign in")
	case row.Whole && v.person.Person.Scope() != nil:
		return nil, fail(http.StatusForbidden, codeForbidden, "this concerns all agents, and takes a person who may see all of them")
	case row.Unsafe() && !v.person.Confirmed(r.Header.Get(ConfirmHeader)):
		return nil, fail(http.StatusForbidden, codeConfirmMissing, "a browser's request that changes something carries the second secret of its session in "+ConfirmHeader+"; sign in again to get one")
	}
	if err := s.resolve(r.Context(), r, v); err != nil {
		return nil, s.failed(err)
	}
	return v, nil
}

// identify finds out who asks. A credential that opens nothing is never passed over for another one.
func (s *Server) identify(r *http.Request, v *visit) *failure {
	ctx := r.Context()
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		scheme, bearer, _ := strings.Cut(values[0], " ")
		bearer = strings.TrimSpace(bearer)
		if len(values) != 1 || !strings.EqualFold(scheme, "bearer") || bearer == "" || strings.ContainsAny(bearer, " \t,") {
			return unknown("send one header Authorization: Bearer TOKEN")
		}
		if people.IsToken(bearer) {
			return s.principal(v)(s.d.SignIns.Token(ctx, bearer))
		}
		who, err := s.d.Agents.Verify(bearer, v.from)
		switch {
		case errors.Is(err, agent.ErrUnknownToken):
			return unknown("the token is not known here, or was revoked")
		case err != nil:
			return s.unchecked(err)
		}
		v.token, v.kind = who, route.Tools
		if who.Scope == agent.ScopeHarness {
			v.kind = route.Harness
		}
		return nil
	}
	cookie := s.cookie(r)
	if cookie == "" {
		return unknown("sign in, or send the header Authorization: Bearer TOKEN")
	}
	return s.principal(v)(s.d.SignIns.Session(ctx, cookie))
}

// cookie is the session's; empty at a name of ours that people are not sent to, and where there is more than one.
func (s *Server) cookie(r *http.Request) string {
	if !s.o.Names.Listed(r) {
		return ""
	}
	if found := r.CookiesNamed(CookieName); len(found) == 1 {
		return found[0].Value
	}
	return ""
}

func (s *Server) principal(v *visit) func(people.Principal, error) *failure {
	return func(p people.Principal, err error) *failure {
		switch {
		case errors.Is(err, people.ErrSignedOut):
			return unknown("not signed in, or the sign-in is over")
		case err != nil:
			return s.unchecked(err)
		}
		kinds := map[people.Role]route.May{people.Owner: route.Owner, people.Operator: route.Operator, people.Viewer: route.Viewer}
		kind, ok := kinds[p.Person.Role]
		if !ok || p.Person.Disabled {
			return unknown("not signed in, or the sign-in is over")
		}
		v.person, v.kind = p, kind
		return nil
	}
}

func (s *Server) unchecked(err error) *failure {
	return fail(http.StatusServiceUnavailable, codeUnavailable, "credentials cannot be checked now; try again").because(err)
}

func unknown(detail string) *failure {
	return fail(http.StatusUnauthorized, codeInvalidToken, detail).with("WWW-Authenticate", `Bearer realm="wayleave"`)
}

// resolve looks up what the path names. What is there and may not be seen is not there.
func (s *Server) resolve(ctx context.Context, r *http.Request, v *visit) (err error) {
	id := r.PathValue(string(v.row.Of))
	switch v.row.Of {
	case route.Nothing:
		return nil
	case route.OfAgent:
		if v.agent, err = s.d.Agents.BySlug(ctx, id); err == nil && !v.sees(v.agent.ID) {
			return notFound()
		}
		return err
	case route.OfRun:
		mine := ""
		if v.kind&route.People == 0 {
			mine = v.token.AgentID // never empty: what it names is looked up as this agent's
		}
		if v.run, err = s.d.Rows.Run(ctx, mine, id); err != nil {
			return err
		}
		return s.agentOf(ctx, v, v.run.Agent)
	case route.OfApproval:
		if v.approval, err = s.d.Approvals.Show(ctx, id); err != nil {
			return err
		}
		return s.agentOf(ctx, v, v.approval.Agent)
	}
	return errors.New("a row names something that cannot be looked up")
}

func (s *Server) agentOf(ctx context.Context, v *visit, id string) (err error) {
	if !v.sees(id) {
		return notFound()
	}
	v.agent, err = s.d.Agents.ByID(ctx, id)
	return err
}
