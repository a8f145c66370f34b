// Package operatorapi is the door for people and harnesses: the HTTP API under /api, its document, its event streams, and
// the pages that people see. It decides who may ask and what an answer looks like; what is asked is the domain's.
//
// The one rule: nothing is served that no row of the table in package route allows, and what a path names is looked up
// with its agent, so that another agent's row and no row are the same answer.
package operatorapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/wayleave/wayleave/internal/catalogdata"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/doorstep"
	"github.com/wayleave/wayleave/internal/operatorapi/events"
	"github.com/wayleave/wayleave/internal/operatorapi/pages"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
)

// Deps is what the API calls. All are required.
type Deps struct {
	SignIns   SignIns
	People    People
	Agents    Agents
	Settings  Settings
	Approvals Approvals
	Ledger    Ledger
	Rows      Rows
	Tools     Tools
	Hosts     Hosts
	Pages     Pages
	Watch     Watch
	Audit     Audit
}

// Options say how the door looks from outside. Names and Label are required.
type Options struct {
	Version string
	// Label is the install's own name on loopback: people are sent to <Label>.wayleave.localhost.
	Label string
	// Names judges Host and forwarded addresses. The names that it lists are those at which people have sessions: the
	// label's host, and the host of the public URL. At any other name of ours cookies count for nothing, since a program on
	// another port of that name could have them.
	Names doorstep.Names
	// Base gives the address under which people reach the pages, without a slash at its end.
	Base func() string
	// MCP gives the address of the agents' door, for blocks to paste.
	MCP func() string
	// Secure says that people come over TLS, ours or a proxy's: the cookie is sent over nothing else.
	Secure bool
	// Unavailable says whether an error means that the database did not answer; nil means no error does.
	Unavailable func(error) bool
	// Catalog is what this build can do; the zero Catalog means catalogdata.Built.
	Catalog catalogdata.Catalog
	// OpensAMinute bounds the runs that one token opens; 0 means 60.
	OpensAMinute int
	// Log gets one line a request, without addresses, arguments or content; nil logs nothing.
	Log *slog.Logger
}

const (
	defaultOpens = 60
	// streamsEach bounds the event streams of one credential.
	streamsEach = 16
)

// Server is the door. It is safe for concurrent use.
type Server struct {
	d       Deps
	o       Options
	log     *slog.Logger
	mux     *http.ServeMux
	huma    huma.API
	rules   *connection.Rules
	rows    map[string]route.Row
	bound   map[string]bool // rows that have a handler
	hub     *events.Hub
	opens   *minute
	streams *atOnce
	cross   *http.CrossOriginProtection
	pages   *pages.Pages
	spec    []byte
}

// New checks what it is given and builds the door. It starts nothing: Run does.
func New(d Deps, o Options) (*Server, error) {
	for name, missing := range map[string]bool{"SignIns": d.SignIns == nil, "People": d.People == nil, "Agents": d.Agents == nil,
		"Settings": d.Settings == nil, "Approvals": d.Approvals == nil, "Ledger": d.Ledger == nil, "Rows": d.Rows == nil,
		"Tools": d.Tools == nil, "Hosts": d.Hosts == nil, "Pages": d.Pages == nil, "Watch": d.Watch == nil, "Audit": d.Audit == nil} {
		if missing {
			return nil, fmt.Errorf("operatorapi: there is no %s", name)
		}
	}
	if o.Label == "" || o.Base == nil || o.MCP == nil {
		return nil, errors.New("operatorapi: Label, Base and MCP say where people and agents find this install; give all three")
	}
	if o.Unavailable == nil {
		o.Unavailable = func(error) bool { return false }
	}
	if o.OpensAMinute == 0 {
		o.OpensAMinute = defaultOpens
	}
	if len(o.Catalog.Providers) == 0 {
		o.Catalog = catalogdata.Built()
	}
	s := &Server{d: d, o: o, log: o.Log, mux: http.NewServeMux(), rows: make(map[string]route.Row), bound: make(map[string]bool),
		opens: newMinute(o.OpensAMinute, time.Now), streams: newAtOnce(streamsEach), cross: http.NewCrossOriginProtection()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if s.rules, err = connection.New(o.Catalog); err != nil {
		return nil, err
	}
	s.hub = events.New(&changes{s: s}, s.log)
	for _, r := range route.Table() {
		if s.rows[r.ID].ID != "" {
			return nil, fmt.Errorf("operatorapi: two rows have the id %s", r.ID)
		}
		s.rows[r.ID] = r
	}
	s.huma = humago.New(s.mux, document(o.Version))
	for _, register := range []func(){s.registerSignIn, s.registerPeople, s.registerInstall, s.registerAgents, s.registerRuns, s.registerCalls,
		s.registerDecisions, s.registerSettings, s.registerRecord} {
		register()
	}
	for id := range s.rows {
		if !s.bound[id] {
			return nil, fmt.Errorf("operatorapi: the row %s has no handler", id)
		}
	}
	if err := s.describe(); err != nil {
		return nil, err
	}
	s.mux.HandleFunc("/api/", s.nowhere)
	if s.pages, err = pages.New(http.HandlerFunc(s.serveAPI), pages.Options{SignIn: o.Base, Sessions: o.Names.Listed, Log: s.log}); err != nil {
		return nil, err
	}
	return s, nil
}

// Run keeps the event streams supplied until ctx ends, and then ends them.
func (s *Server) Run(ctx context.Context) { s.hub.Run(ctx) }

// OpenAPI is the document that GET /api/openapi.json serves.
func (s *Server) OpenAPI() []byte { return s.spec }

// Routes is the table that is served.
func (s *Server) Routes() []route.Row { return route.Table() }

// Handler serves the API and the pages. Mount it at /.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/api" {
			s.serveAPI(w, r)
			return
		}
		out := newReply(w)
		defer s.guarded(out, r, "page")()
		if !s.o.Names.Ours(r) {
			pages.Headers(out.Header())
			s.refuse(out, invalidHost())
			return
		}
		s.pages.ServeHTTP(out, r)
	})
}

// serveAPI serves one request of the API, with all its checks. Pages come in by it too.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	out := newReply(w)
	out.Header().Set("Cache-Control", "no-store") // first of all: it stands beside whatever is answered
	defer s.guarded(out, r, "api")()
	switch {
	case !s.o.Names.Ours(r):
		s.refuse(out, invalidHost())
	case s.cross.Check(r) != nil || !sameSite(r):
		s.refuse(out, fail(http.StatusForbidden, codeInvalidOrigin, "pages of other sites may not call this server"))
	default:
		s.mux.ServeHTTP(out, r)
	}
}

// sameSite says whether the page that sent a request, if one did, is ours. It is asked of safe requests too: an answer
// is nobody else's to read, whatever a browser would let pass.
func sameSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
	default:
		return false
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, r.Host)
}

// nowhere answers what no row of the table is about.
func (s *Server) nowhere(w http.ResponseWriter, r *http.Request) {
	var allow []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := s.mux.Handler(other); pattern != "/api/" && pattern != "/" {
			allow = append(allow, method)
		}
	}
	if len(allow) == 0 || r.URL.Path == "/api/" {
		s.refuse(w, notFound())
		return
	}
	s.refuse(w, fail(http.StatusMethodNotAllowed, codeInvalidRequest, "the methods here are "+strings.Join(allow, ", ")).with("Allow", strings.Join(allow, ", ")))
}

// refuse answers with a problem outside of the HTTP library.
func (s *Server) refuse(w http.ResponseWriter, f *failure) {
	h := w.Header()
	for name, values := range f.header {
		h[name] = values
	}
	h.Set("Content-Type", problemType)
	w.WriteHeader(f.Status)
	text, _ := encode(f.Problem) // strings and numbers: it cannot fail
	_, _ = w.Write(text)
}

func invalidHost() *failure {
	return fail(http.StatusForbidden, codeInvalidHost, "this server is not reached by that Host; --public-url names the one it answers to")
}
