// Package wayleave is the service: an agent's harness attaches to it over the Model Context Protocol and gets leave to
// use the web. It wires the parts together and decides nothing itself; what is read, and how, is package webfetch's.
package wayleave

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/mcpserver"
	"github.com/wayleave/wayleave/internal/reading"
	"github.com/wayleave/wayleave/webfetch"
)

// Options of a service. The zero value reads the public web and serves MCP over pipes only.
type Options struct {
	// Fetch says what may be read and how. It has no Dialer, and its Politeness is replaced: each agent has one of its own.
	Fetch webfetch.Options
	// Data is the folder with agents, tokens and what a person allowed. Without one there is no HTTP: nobody could be
	// verified.
	Data string
	// DataLater has Data not made where it is not there: until another process makes it, nothing in it is permitted. For a
	// service over pipes, which needs no token.
	DataLater bool
	// PermitCommand is the command with which a person permits a private host in Data; a refusal of such a host names it
	// with the host. Empty means "wayleave allow"; without Data none is named.
	PermitCommand string
	// Version is what clients are told.
	Version string
	// Log gets one line a request and one a call, without content, addresses or arguments; nil logs nothing.
	Log *slog.Logger
	// Hosts are names, beside loopback's, by which clients may address the service: host or host:port.
	Hosts []string
	// TrustedProxies are those whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// Listeners are the process's own sockets, which no agent may reach whatever is permitted; asked for at each
	// connection. nil means none.
	Listeners func() []netip.AddrPort
	// PerMinute bounds an agent's fetches; 0 means 600.
	PerMinute int
	// PerHost and PerHostSecond bound an agent's fetches of one host: at once, and begun in a second; 0 means 4 and 10.
	PerHost, PerHostSecond int
}

// Defaults of PerHost and PerHostSecond.
const (
	DefaultPerHost       = 4
	DefaultPerHostSecond = 10
)

// Service is Wayleave in one process.
type Service struct {
	o      Options
	log    *slog.Logger
	store  *agent.Store // nil without Options.Data
	reader *reading.Reader
	door   *mcpserver.Server
}

// New checks the options and wires a service. It opens the data folder and starts nothing; Close ends what was served.
func New(o Options) (*Service, error) {
	if o.PerHost == 0 {
		o.PerHost = DefaultPerHost
	}
	if o.Fetch.Conversions == nil { // one for the process: all agents share its memory
		o.Fetch.Conversions = webfetch.NewConversions(webfetch.DefaultConversions)
	}
	if o.PerHostSecond == 0 {
		o.PerHostSecond = DefaultPerHostSecond
	}
	switch {
	case o.Data == "":
		o.PermitCommand = ""
	case o.PermitCommand == "":
		o.PermitCommand = "wayleave allow"
	}
	s := &Service{o: o, log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var tokens mcpserver.Tokens
	readers := &readers{o: o, log: s.log, agents: make(map[string]*agentReader)}
	if o.Data != "" {
		open := datafolder.Open
		if o.DataLater {
			open = datafolder.Expect
		}
		folder, err := open(o.Data)
		if err != nil {
			return nil, err
		}
		s.store = agent.NewStore(folder, nil)
		tokens, readers.allowed = s.store, allowed.NewStore(folder, nil)
		// What could let nobody in, or nothing through, is said now and not at the first call.
		if _, _, err := s.store.List(); err != nil {
			return nil, err
		}
		if _, err := readers.allowed.List(); err != nil {
			return nil, err
		}
	}
	// An invalid option fails here and not at the first call.
	if _, err := readers.source(agent.Local); err != nil {
		return nil, err
	}
	description, pageChars := "", 0
	if o.Fetch.Description != nil {
		description = *o.Fetch.Description
	}
	if o.Fetch.PageChars != nil {
		pageChars = *o.Fetch.PageChars
	}
	var err error
	s.reader, err = reading.New(reading.Options{Sources: readers.source, Description: description, PermitCommand: o.PermitCommand,
		PageChars: pageChars, PerMinute: o.PerMinute, Abilities: webfetch.Abilities{Documents: o.Fetch.Documents != nil}})
	if err != nil {
		return nil, err
	}
	s.door, err = mcpserver.New(tools{s.reader}, tokens, mcpserver.Options{Version: o.Version, Log: o.Log, Hosts: o.Hosts, TrustedProxies: o.TrustedProxies})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// tools offers the reader to the door.
type tools struct{ reader *reading.Reader }

func (t tools) List(context.Context, mcpserver.Caller) ([]agenttool.Tool, error) {
	return []agenttool.Tool{t.reader.Definition()}, nil
}

func (t tools) Call(ctx context.Context, c mcpserver.Caller, tool string, arguments json.RawMessage) (agenttool.Result, error) {
	if tool != webfetch.ToolName {
		return agenttool.Result{}, mcpserver.ErrUnknownTool
	}
	return t.reader.Call(ctx, reading.Caller{Agent: c.Agent, TokenID: c.TokenID, Connection: c.Connection}, arguments)
}

// Handler serves /mcp, /healthz (200 while the process lives) and /readyz (200 while it can serve). Everything under
// /mcp needs an agent's token.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.door.Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.ready(); err != nil {
			s.log.Error("not ready", "error", err)
			answer(w, http.StatusServiceUnavailable, "not ready; the log says why")
			return
		}
		answer(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, "not found; MCP is at /mcp")
	})
	return mux
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}

func (s *Service) ready() error {
	if s.store == nil {
		return errors.New("no data folder, so nobody can be verified")
	}
	_, _, err := s.store.List()
	return err
}

const (
	// flushEvery is how much of "last used" a crash may lose.
	flushEvery = time.Minute
	// stopGrace is how long calls may go on after the end was asked for.
	stopGrace = 10 * time.Second
	// headerTime and idleTime bound connections on which nothing happens, requestTime a request that does not end (the
	// door has bounds of its own), maxHeader what a header may hold.
	headerTime  = 10 * time.Second
	requestTime = 15 * time.Second
	idleTime    = 2 * time.Minute
	maxHeader   = 64 << 10
)

// Run serves the listeners until ctx ends, then stops gracefully: new work is refused, standing streams end, calls may
// finish for ten seconds and are cancelled after that. The error is a listener's.
func (s *Service) Run(ctx context.Context, listeners ...net.Listener) error {
	if s.store == nil {
		return errors.New("wayleave: serving HTTP takes a data folder")
	}
	background, stop := context.WithCancel(context.Background())
	work := start(
		func() { s.door.Run(background) },
		func() { s.reader.Run(background) },
		func() { s.flush(background) },
	)
	defer func() {
		stop()
		work()
	}()

	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, IdleTimeout: idleTime, WriteTimeout: stopGrace,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- server.Serve(l) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	}
	s.door.Drain()
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	if server.Shutdown(grace) != nil {
		s.log.Info("calls were cancelled at the end")
	}
	s.door.Close()
	_ = server.Close()
	return err
}

// start runs functions in the background and gives a function that waits for them.
func start(fs ...func()) (wait func()) {
	done := make(chan struct{}, len(fs))
	for _, f := range fs {
		go func() {
			f()
			done <- struct{}{}
		}()
	}
	return func() {
		for range fs {
			<-done
		}
	}
}

// flush writes when tokens were last used, now and then and at the end.
func (s *Service) flush(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			over = true
		}
		if err := s.store.Flush(); err != nil {
			s.log.Error("note when tokens were used", "error", err)
		}
	}
}

// ServeStdio serves one client over pipes for one agent, until in ends or ctx does. It needs no data folder.
func (s *Service) ServeStdio(ctx context.Context, agentSlug string, in io.Reader, out io.Writer) error {
	if err := agent.CheckSlug(agentSlug); err != nil {
		return err
	}
	defer s.door.Close()
	return s.door.ServeStdio(ctx, agentSlug, in, out)
}
