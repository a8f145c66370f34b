// Package mcpserver offers tools over the Model Context Protocol: streamable HTTP in both protocol eras on one
// endpoint, and stdio.
//
// The one rule: this is a door and nothing else. It knows who calls and that the message is sound; what a tool is, does
// and says is [Tools]'. Whatever a client sends ends in a bounded answer: no message, stream or session outlives its
// limits.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/doorstep"
	"github.com/wayleave/wayleave/internal/tool"
)

// Tools is what stands behind the transport: the pipeline of tool calls.
type Tools interface {
	// List gives the tools offered to the caller, sorted by name.
	List(ctx context.Context, c tool.Caller) ([]agenttool.Tool, error)
	// Call runs one tool call. Its errors are no results: the context's own means that the caller went away,
	// tool.ErrComeAgain that the client is to be asked, a *tool.Fault says what a client learns; of any other error a
	// client learns only that there was one.
	Call(ctx context.Context, c tool.Caller, name string, arguments json.RawMessage) (tool.Result, error)
	// Answered takes what a person said to a question, by its id, in a client of this caller, where the process that asked
	// is another one. The words are the client's: an error says why they do not count.
	Answered(ctx context.Context, c tool.Caller, question, answer string) error
}

// Tokens knows who a bearer token speaks for.
type Tokens interface {
	// Verify gives the identity behind a bearer token that came from an address. agent.ErrUnknownToken refuses it; any
	// other error says that nobody can be verified now.
	Verify(bearer, from string) (agent.Identity, error)
	// Live says whether a token that was verified still works.
	Live(tokenID string) bool
}

// Limits bound what clients may take. A zero field means its default.
type Limits struct {
	BodyBytes        int64         // one message; default 1 MiB
	BodyTime         time.Duration // until a whole message has arrived; default 30 s
	WriteTime        time.Duration // for one write to a client that does not read; default 30 s
	SessionIdle      time.Duration // a legacy session without a request or stream; default 30 min
	Sessions         int           // legacy sessions in all; default 1,024
	SessionsPerToken int           // default 64; beyond it the one that is idle longest ends
	CallsPerToken    int           // requests, and calls, under way; default 128
	StreamsPerToken  int           // standing streams; default 32
}

func (l Limits) orDefaults() Limits {
	set(&l.BodyBytes, 1<<20)
	set(&l.BodyTime, 30*time.Second)
	set(&l.WriteTime, 30*time.Second)
	set(&l.SessionIdle, 30*time.Minute)
	set(&l.Sessions, 1024)
	set(&l.SessionsPerToken, 64)
	set(&l.CallsPerToken, 128)
	set(&l.StreamsPerToken, 32)
	return l
}

func set[N int | int64 | time.Duration](n *N, value N) {
	if *n == 0 {
		*n = value
	}
}

// Options of a server. The zero value serves loopback names and logs nothing.
type Options struct {
	// Version is what serverInfo says.
	Version string
	// Log gets one line a request and one a call, without content, addresses or arguments. nil logs nothing.
	Log *slog.Logger
	// Hosts are names, beside those of loopback and the listener's own address, by which clients may address the
	// server: host or host:port.
	Hosts []string
	// TrustedProxies are those whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// Sessions keeps legacy sessions for other processes of the install; nil keeps them to this one.
	Sessions Sessions
	// Sign gives a keyed digest of texts, in hexadecimal and the same in every process of the install; nil means that there
	// is one process.
	Sign   func(parts ...string) string
	Limits Limits
}

// Server is the door. New starts nothing; Run sweeps, Handler serves HTTP, ServeStdio serves one client over pipes.
type Server struct {
	tools  Tools
	tokens Tokens
	o      Options
	log    *slog.Logger
	names  doorstep.Names
	roster *roster

	mcp    *mcp.Server // all HTTP clients, both eras
	served map[string]bool
	modern http.Handler // 2026-07-28 and later: no sessions
	legacy http.Handler // sessions

	// life ends when the server is closed: every call and session ends with it. draining ends before it, when the
	// server stops taking new work: standing streams end with it.
	life, draining context.Context
	endLife, drain context.CancelFunc
	closing        sync.WaitGroup // sessions that are being closed

	answers   handovers
	questions *questions
	adopting  sync.Mutex // one session at a time is adopted
	adoption  sync.Mutex // guards adopted
	adopted   map[string]*mcp.Server
}

// New makes a server. tokens may be nil for a server that speaks stdio only.
func New(tools Tools, tokens Tokens, o Options) (*Server, error) {
	if tools == nil {
		return nil, errors.New("mcpserver: no tools")
	}
	names, err := doorstep.New(o.Hosts, o.TrustedProxies)
	if err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	o.Limits = o.Limits.orDefaults()
	s := &Server{tools: tools, tokens: tokens, o: o, log: o.Log, names: names, roster: newRoster(o.Limits), questions: newQuestions(o.Sign)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.life, s.endLife = context.WithCancel(context.Background())
	s.draining, s.drain = context.WithCancel(s.life)
	s.adopted = make(map[string]*mcp.Server)
	s.mcp, s.served = s.newProtocol(nil, nil)
	// The library's own Host check knows only loopback; package doorstep's list has replaced it.
	s.modern = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless: true, DisableLocalhostProtection: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: -1})
	s.legacy = mcp.NewStreamableHTTPHandler(s.protocolFor, &mcp.StreamableHTTPOptions{
		DisableLocalhostProtection: true, MaxRequestBodyBytes: -1})
	return s, nil
}

// sweepEvery is how long a revoked token's streams and an idle session may outlive their end.
const sweepEvery = 5 * time.Second

// Run ends sessions and streams whose time is over, until ctx ends. Without it nothing is served worse, only longer.
func (s *Server) Run(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.life.Done():
			return
		case now := <-tick.C:
			s.sweep(now)
		}
	}
}

func (s *Server) sweep(now time.Time) {
	for _, id := range s.roster.over(now, s.tokens.Live) {
		s.endSession(id)
	}
}

// endSession closes a legacy session in the background: closing waits for its calls.
func (s *Server) endSession(id string) {
	s.roster.remove(id)
	if ss := s.session(id); ss != nil {
		s.closing.Go(func() { _ = ss.Close() })
	}
	s.adoption.Lock()
	defer s.adoption.Unlock()
	delete(s.adopted, id)
}

func (s *Server) session(id string) *mcp.ServerSession {
	for _, server := range s.servers() {
		for ss := range server.Sessions() {
			if ss.ID() == id {
				return ss
			}
		}
	}
	return nil
}

// servers are the library's: the one of all, and those of adopted sessions.
func (s *Server) servers() []*mcp.Server {
	s.adoption.Lock()
	defer s.adoption.Unlock()
	return append([]*mcp.Server{s.mcp}, slices.Collect(maps.Values(s.adopted))...)
}

// Changed tells clients that listen that their tools may have changed. They ask again, each for its own.
func (s *Server) Changed() {
	for _, server := range s.servers() {
		// The library tells so when a tool of its own comes or goes, and has no other way.
		server.AddTool(&mcp.Tool{Name: nudge, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("no tool")
		})
		server.RemoveTools(nudge)
	}
}

// nudge is the name of a tool that is never there.
const nudge = "wayleave_nudge"

// Drain ends standing streams and refuses new sessions, so that an http.Server that is shutting down has only calls to
// wait for.
func (s *Server) Drain() { s.drain() }

// Close cancels every call and ends every session. It returns when they are gone.
func (s *Server) Close() {
	s.endLife()
	for _, server := range s.servers() {
		for ss := range server.Sessions() {
			s.closing.Go(func() { _ = ss.Close() })
		}
	}
	s.closing.Wait()
}
