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
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/catalogdata"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/doorstep"
	"github.com/wayleave/wayleave/internal/operatorapi/events"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
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

// Names of the session's cookie and of the header with its second secret.
const (
	CookieName    = gate.CookieName
	ConfirmHeader = gate.ConfirmHeader
)

// Server is the door. It is safe for concurrent use.
type Server struct {
	d       Deps
	o       Options
	log     *slog.Logger
	gate    *gate.Gate
	rules   *connection.Rules
	hub     *events.Hub
	opens   *gate.Minute
	streams *gate.AtOnce
	pages   *pages.Pages
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
	if o.OpensAMinute == 0 {
		o.OpensAMinute = defaultOpens
	}
	if len(o.Catalog.Providers) == 0 {
		o.Catalog = catalogdata.Built()
	}
	s := &Server{d: d, o: o, log: o.Log, opens: gate.NewMinute(o.OpensAMinute, time.Now), streams: gate.NewAtOnce(streamsEach)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if s.rules, err = connection.New(o.Catalog); err != nil {
		return nil, err
	}
	s.hub = events.New(&changes{s: s}, s.log)
	s.gate, err = gate.New(gate.Options{Version: o.Version, Names: o.Names, People: d.SignIns, Agents: d.Agents, Runs: d.Rows, Approvals: d.Approvals,
		Unavailable: o.Unavailable, Log: s.log})
	if err != nil {
		return nil, err
	}
	for _, register := range []func(){s.registerSignIn, s.registerPeople, s.registerInstall, s.registerAgents, s.registerRuns, s.registerCalls,
		s.registerDecisions, s.registerSettings, s.registerRecord, s.registerReads} {
		register()
	}
	if err := s.gate.Complete(); err != nil {
		return nil, err
	}
	s.pages, err = pages.New(s.gate, pages.Options{Sessions: o.Names.Listed, Log: s.log})
	return s, err
}

// Run keeps the event streams supplied until ctx ends, and then ends them.
func (s *Server) Run(ctx context.Context) { s.hub.Run(ctx) }

// OpenAPI is the document that GET /api/openapi.json serves.
func (s *Server) OpenAPI() ([]byte, error) { return s.gate.Spec() }

// Routes is the table that is served.
func (s *Server) Routes() []route.Row { return route.Table() }

// Handler serves the API and the pages. Mount it at /.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/api" {
			s.gate.ServeHTTP(w, r)
			return
		}
		out := gate.NewReply(w)
		defer s.gate.Guard(out, r, "page")()
		if !s.o.Names.Ours(r) {
			pages.Headers(out.Header())
			s.gate.Refuse(out, gate.InvalidHost())
			return
		}
		s.pages.ServeHTTP(out, r)
	})
}
