// This file is the life of one HTTP request, in the order of its checks: Host, Origin, size, token, scope, place,
// shape, session; then the era that the request speaks.
package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/tool"
)

const (
	versionHeader   = "Mcp-Protocol-Version"
	sessionHeader   = "Mcp-Session-Id"
	requestIDHeader = "X-Request-Id"
	// modernEra is the first protocol revision without handshake and sessions. Revisions are dates, so later ones
	// sort behind it.
	modernEra = "2026-07-28"
	// batchMethod stands for the methods of a batch.
	batchMethod = "batch"
)

// refusalTime bounds what is waited for of the body of a request that is refused.
const refusalTime = 5 * time.Second

var revision = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// visit is one HTTP request on its way through the checks.
type visit struct {
	id     string
	reply  *reply
	r      *http.Request
	who    agent.Identity
	method string // JSON-RPC method, for the log
	modern bool
	body   []byte // of a POST
	asked  int    // requests in it, which are answered each
}

// Handler serves the MCP endpoint. Mount it at one path.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{id: newRequestID(), r: r, reply: newReply(w, s.o.Limits.WriteTime)}
		w.Header().Set(requestIDHeader, v.id)
		began := time.Now()
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("request panicked", "request_id", v.id, "kind", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
				v.reply.problem(http.StatusInternalServerError, "internal_error", "something went wrong here", v.id)
			}
			s.note(v, time.Since(began))
		}()
		s.serve(v)
	})
}

func (s *Server) note(v *visit, took time.Duration) {
	status, sent := v.reply.end()
	level := slog.LevelDebug
	if status >= 400 {
		level = slog.LevelInfo
	}
	s.log.Log(context.Background(), level, "request", "request_id", v.id, "http_method", clean(v.r.Method, 10),
		"rpc_method", v.method, "modern", v.modern, "agent", v.who.Agent, "token", v.who.TokenID, "status", status, "bytes", sent, "took_ms", milliseconds(took))
}

// milliseconds is a duration as a log's reader takes it, to the microsecond.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (s *Server) serve(v *visit) {
	r, out := v.r, v.reply
	// What a refusal leaves of a body net/http reads before it answers, for as long as that takes. Without a body it
	// watches for the client to leave, and a deadline would look like that.
	var patience time.Time
	if r.ContentLength != 0 {
		patience = time.Now().Add(min(s.o.Limits.BodyTime, refusalTime))
	}
	_ = out.control.SetReadDeadline(patience)
	switch {
	case !s.names.Ours(r):
		out.problem(http.StatusForbidden, "invalid_host", "this server is not reached by that Host; --public-url names the ones it answers to", v.id)
		return
	case !ownOrigin(r):
		out.problem(http.StatusForbidden, "invalid_origin", "web pages may not call this server", v.id)
		return
	case r.ContentLength > s.o.Limits.BodyBytes+maxDrain:
		out.refuse(tooLarge(s.o.Limits.BodyBytes, nil), v.id)
		return
	}
	if !s.admit(v) {
		return
	}
	leave, ok := s.roster.request(v.who.TokenID)
	if !ok {
		out.problem(http.StatusTooManyRequests, "rate_limit", "this token has too many requests under way", v.id)
		return
	}
	defer leave()

	for _, name := range []string{versionHeader, sessionHeader, runHeader} {
		if len(r.Header.Values(name)) > 1 { // each of them would mean another request
			out.refuse(malformed("the header %s stands more than once", name), v.id)
			return
		}
	}
	version := r.Header.Get(versionHeader)
	dated := version == "" || revision.MatchString(version)
	if !dated && r.Method != http.MethodPost {
		out.refuse(malformed("%s is a date, such as %s", versionHeader, modernEra), v.id)
		return
	}
	// A message in a version that is none is answered by the newest era, which names the versions there are.
	v.modern = (!dated || version >= modernEra) && r.Header.Get(sessionHeader) == ""
	// What the library hands to handlers is the header, so the request's own name travels in it.
	r.Header.Set(requestIDHeader, v.id)

	switch r.Method {
	case http.MethodPost:
		s.post(v)
	case http.MethodGet, http.MethodDelete:
		if v.modern {
			out.Header().Set("Allow", "POST")
			out.problem(http.StatusMethodNotAllowed, "invalid_request", "this protocol revision uses POST only", v.id)
			return
		}
		s.inSession(v, r.Method == http.MethodGet)
	default:
		out.Header().Set("Allow", "GET, POST, DELETE")
		out.problem(http.StatusMethodNotAllowed, "invalid_request", "the methods are POST, GET and DELETE", v.id)
	}
}

// admit checks the token. It answers what it refuses.
func (s *Server) admit(v *visit) bool {
	const challenge = "WWW-Authenticate"
	token, given := bearer(v.r)
	if !given {
		v.reply.Header().Set(challenge, `Bearer realm="wayleave"`)
		v.reply.problem(http.StatusUnauthorized, "invalid_token",
			"send the header Authorization: Bearer TOKEN; `wayleave agents token new` makes a token", v.id)
		return false
	}
	who, err := s.tokens.Verify(token, s.names.From(v.r))
	switch {
	case errors.Is(err, agent.ErrUnknownToken):
		v.reply.Header().Set(challenge, `Bearer realm="wayleave", error="invalid_token"`)
		v.reply.problem(http.StatusUnauthorized, "invalid_token", err.Error(), v.id)
	case err != nil:
		s.log.Error("tokens cannot be read", "request_id", v.id, "error", err)
		v.reply.problem(http.StatusServiceUnavailable, "store_unavailable", "tokens cannot be checked now", v.id)
	case who.Scope != agent.ScopeTools:
		v.reply.Header().Set(challenge, `Bearer realm="wayleave", error="insufficient_scope", scope="tools"`)
		v.reply.problem(http.StatusForbidden, "forbidden", "this token has scope "+string(who.Scope)+"; calling tools takes scope tools", v.id)
	default:
		v.who = who
		return true
	}
	return false
}

func (s *Server) post(v *visit) {
	body, refused := readBody(v.reply.w, v.r, s.o.Limits.BodyBytes, s.o.Limits.BodyTime)
	if refused != nil {
		v.reply.refuse(refused, v.id)
		return
	}
	if kind, _, _ := strings.Cut(v.r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		v.reply.problem(http.StatusUnsupportedMediaType, "invalid_request", "the Content-Type of a message is application/json", v.id)
		return
	}
	messages, batch, refused := inspect(body)
	if refused != nil {
		v.reply.refuse(refused, v.id)
		return
	}
	v.body = body
	for _, m := range messages {
		if m.isCall() {
			v.asked++
		}
	}
	v.r.Body = io.NopCloser(bytes.NewReader(body))
	v.r.ContentLength = int64(len(body))
	m := messages[0]
	if batch {
		m = message{method: batchMethod}
	}
	if refused := unknownVersion(v.r.Header.Get(versionHeader), m); refused != nil {
		v.reply.refuse(refused, v.id)
		return
	}
	if !batch && m.method != "" && !s.served[m.method] {
		s.unserved(v, m)
		return
	}
	v.method = m.method
	// A message that speaks the newest era without saying so in the header is that era's to refuse.
	v.modern = v.modern || m.revision >= modernEra && v.r.Header.Get(sessionHeader) == ""
	switch {
	case v.modern:
		s.pass(v, s.modern, m.method == methodListen)
	case v.r.Header.Get(sessionHeader) != "":
		s.inSession(v, m.method == methodListen)
	default:
		if needsSession(messages) {
			v.reply.refuse(adrift(m), v.id)
			return
		}
		s.openSession(v, body)
	}
}

// unserved answers a method that this server does not have. The library would end a legacy client's session over it.
func (s *Server) unserved(v *visit, m message) {
	if !m.isCall() {
		v.reply.WriteHeader(http.StatusAccepted) // JSON-RPC answers no notification
		return
	}
	status := http.StatusOK
	if v.modern {
		status = http.StatusNotFound
	}
	v.reply.refuse(&refusal{status: status, code: jsonrpc.CodeMethodNotFound, word: "not_found",
		text: "method " + printable(m.method, 80) + " is not served here", id: m.id}, v.id)
}

// inSession serves a legacy request that names its session. A session that is not there and one of another token get
// the same answer, which tells a client to start anew. That answer must not be a JSON-RPC error: clients read those as
// one call's, and would keep the dead session.
func (s *Server) inSession(v *visit, stream bool) {
	id := v.r.Header.Get(sessionHeader)
	leave, ok := s.roster.join(id, v.who.TokenID)
	if !ok {
		found, err := s.adopt(v.r.Context(), id, v.who)
		if err != nil {
			s.log.Error("sessions cannot be read", "request_id", v.id, "error", err)
			v.reply.problem(http.StatusServiceUnavailable, "store_unavailable", "sessions cannot be found now", v.id)
			return
		}
		if found {
			leave, ok = s.roster.join(id, v.who.TokenID)
		}
	}
	if !ok {
		text := "no such session; send initialize without " + sessionHeader
		if id == "" {
			text = "the request names no session; send initialize, then the header " + sessionHeader + " that it answers with"
		}
		v.reply.problem(http.StatusNotFound, "not_found", text, v.id)
		return
	}
	defer leave()
	caller := tool.Caller{Agent: v.who.AgentID, Slug: v.who.Agent, Token: v.who.TokenID, Session: sessionName(id)}
	if s.takeAnswers(v.r.Context(), caller.Session, caller, v.body) {
		v.reply.WriteHeader(http.StatusAccepted)
		return
	}
	s.pass(v, s.legacy, stream)
	switch {
	case v.r.Method == http.MethodDelete:
		s.roster.remove(id)
		s.forget(v, func(ctx context.Context) error { return s.o.Sessions.Ended(ctx, sessionName(id)) })
	case s.roster.due(id):
		s.forget(v, func(ctx context.Context) error { return s.o.Sessions.Used(ctx, sessionName(id)) })
	}
}

// forget tells the other processes about a session. That they do not hear it costs a client one handshake at most.
func (s *Server) forget(v *visit, tell func(context.Context) error) {
	if s.o.Sessions == nil {
		return
	}
	if err := tell(context.WithoutCancel(v.r.Context())); err != nil {
		s.log.Warn("other processes do not know of a session", "request_id", v.id, "error", err)
	}
}

// openSession serves a legacy request without a session; if it is an initialize, one is there afterwards.
func (s *Server) openSession(v *visit, message []byte) {
	if s.draining.Err() != nil {
		v.reply.problem(http.StatusServiceUnavailable, "store_unavailable", "the server is stopping", v.id)
		return
	}
	if v.method == "initialize" {
		end, ok := s.roster.room(v.who.TokenID)
		if !ok {
			v.reply.problem(http.StatusTooManyRequests, "rate_limit", "this token has too many sessions at work", v.id)
			return
		}
		if end != "" {
			s.endSession(end)
		}
	}
	opened := ""
	v.reply.onHeader = func(h http.Header) {
		// Before the client can read the id and use it.
		if opened = h.Get(sessionHeader); opened != "" {
			s.roster.add(opened, v.who.TokenID)
			if v.method == "initialize" {
				s.forget(v, func(ctx context.Context) error {
					return s.o.Sessions.Opened(ctx, Session{Name: sessionName(opened), Agent: v.who.AgentID, Token: v.who.TokenID, Initialize: message})
				})
			}
		}
	}
	s.pass(v, s.legacy, false)
	if opened != "" && s.o.Sessions != nil && s.session(opened) != nil {
		// The client says so too, but perhaps to another process.
		if err := s.confirm(context.WithoutCancel(v.r.Context()), opened, v.who); err != nil {
			s.log.Warn("a handshake was not confirmed", "request_id", v.id, "error", err)
		}
	}
	if opened != "" && s.session(opened) == nil {
		s.roster.remove(opened) // the library ended it: the handshake failed
	}
}

// pass hands the request to the protocol library.
func (s *Server) pass(v *visit, era http.Handler, stream bool) {
	r := v.r
	if stream {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.draining, cancel)()
		leave, ok := s.roster.stream(v.who.TokenID, cancel)
		if !ok {
			v.reply.problem(http.StatusTooManyRequests, "rate_limit", "this token has too many streams open", v.id)
			return
		}
		defer leave()
		r = r.WithContext(ctx)
		v.reply.standing = true
	}
	answers := s.answers.open(v.id, v.reply)
	defer s.answers.close(v.id)
	s.verified(v.who, era).ServeHTTP(v.reply, r)
	answers.end(r.Context().Err() == nil && v.reply.sound() && v.reply.answered(v.asked))
}

// verified hands an identity to the library, which ties a session to TokenInfo.UserID: that guards it a second time.
func (s *Server) verified(who agent.Identity, era http.Handler) http.Handler {
	known := func(context.Context, string, *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: who.TokenID, Extra: map[string]any{identityKey: who}}, nil
	}
	checked := auth.RequireBearerToken(known, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(era)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" { // a message of our own
			r.Header.Set("Authorization", "Bearer -")
		}
		checked.ServeHTTP(w, r)
	})
}

// identityKey is where a verified identity stands in the library's TokenInfo.
const identityKey = "wayleave"
