// Package wayleave is the service: an agent's harness attaches to it over the Model Context Protocol and gets leave to
// use the web, and people see, limit and stop what agents do. It wires the parts together and decides nothing itself:
// whether a call may be sent is package ledger's, what is read, and how, is package webfetch's.
package wayleave

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/mcpserver"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/tool"
	"github.com/wayleave/wayleave/webfetch"
)

// Options of a service. Data is required; every other zero value is a default.
type Options struct {
	// Fetch says what may be read and how. It has no Dialer, and its Politeness and Robots are replaced: each agent has its own.
	Fetch webfetch.Options
	// Data is the folder of the install: its database unless Database is set, its master key unless Key or KeyFile is.
	Data string
	// Database is PostgreSQL's address, postgres://USER@HOST:PORT/NAME; empty means SQLite in Data. It may hold a password,
	// and is never printed.
	Database string
	// KeyFile is the file of the master key; empty means master.key in Data. Key is the key itself, which counts first.
	KeyFile, Key string
	// PermitCommand is the command with which a person permits a private host in Data; a refusal of such a host names it
	// with the host. Empty means "wayleave allow".
	PermitCommand string
	// Version is what clients are told.
	Version string
	// Log gets one line a request and one a call, without content, addresses or arguments; nil logs nothing.
	Log *slog.Logger
	// PublicURL is where people and clients reach the service: scheme, host and port. Empty means the listener's own
	// address, at which people use a name of the install's own below wayleave.localhost.
	PublicURL string
	// Hosts are names, beside loopback's, by which clients may address the service: host or host:port.
	Hosts []string
	// Secure says that people come over TLS, ours or a proxy's.
	Secure bool
	// TrustedProxies are those whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// Listeners are the process's own sockets, which no agent may reach whatever is permitted; asked for at each
	// connection. nil means none.
	Listeners func() []netip.AddrPort
	// PerMinute bounds the fetches of all agents that share the install's connection; 0 means 600. An operator may set
	// another limit while the service runs.
	PerMinute int
	// AuditFile is a file to which checkpoints of the audit are added, besides the log: one that who writes to the database
	// cannot change. Empty means none.
	AuditFile string
	// Webhook is told, beside the log, when somebody is needed and where the audit stands: an address that is https, or http
	// to this machine; empty means none. WebhookKey signs what it is told: 16 bytes or more. Both may be secret, and neither is
	// printed.
	Webhook, WebhookKey string
	// PerHost and PerHostSecond bound an agent's fetches of one host: at once, and begun in a second; 0 means 4 and 10.
	PerHost, PerHostSecond int

	// extend adds tools and providers, and times: for tests of this package and the ones that run two services.
	extend func(*parts)
}

// Defaults of PerHost and PerHostSecond.
const (
	DefaultPerHost       = 4
	DefaultPerHostSecond = 10
)

// Service is Wayleave in one process.
type Service struct {
	o       Options
	log     *slog.Logger
	install *install.Install
	ledger  *ledger.Ledger
	door    *mcpserver.Server
	api     *operatorapi.Server
	meters  *meters
	chores  []func(context.Context)
	clients sync.RWMutex // each client over pipes has it for reading, the end for writing
	answers addresses
}

// Errors that a person mends before a service can be made; each text names the way out.
var (
	// ErrNeedsMigration says that the database is older than this program: run `wayleave migrate`.
	ErrNeedsMigration = schema.ErrNeedsMigration
	// ErrTooNew says that the database is newer than this program.
	ErrTooNew = schema.ErrTooNew
)

// New checks the options, opens the install and wires a service. It starts nothing; Close ends it.
func New(ctx context.Context, o Options) (*Service, error) {
	if o.PerHost == 0 {
		o.PerHost = DefaultPerHost
	}
	if o.Fetch.Conversions == nil { // one for the process: all agents share its memory
		o.Fetch.Conversions = webfetch.NewConversions(webfetch.DefaultConversions)
	}
	if o.PerHostSecond == 0 {
		o.PerHostSecond = DefaultPerHostSecond
	}
	if o.PermitCommand == "" {
		o.PermitCommand = "wayleave allow"
	}
	s := &Service{o: o, log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.Data == "" {
		return nil, errors.New("wayleave: a service needs a data folder; set Data")
	}
	if err := s.wire(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends the service's hold on its install. It is for a service that is not run any more.
func (s *Service) Close() error { return s.install.Close() }

// Handler serves agents at /mcp, people at / and /api, /healthz (200 while the process lives) and /readyz (200 while it
// can serve).
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.door.Handler())
	mux.Handle("/", s.api.Handler())
	// Where clients ask that were given the address without its path, or with the one of an older transport.
	for _, near := range []string{"POST /{$}", "/mcp/", "/sse"} {
		mux.HandleFunc(near, func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusNotFound, "nothing is served here; MCP is at /mcp, over streamable HTTP")
		})
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if why := s.Ready(r.Context()); why != nil {
			s.log.Error("not ready", "error", why)
			answer(w, http.StatusServiceUnavailable, "not ready; the log says why")
			return
		}
		answer(w, http.StatusOK, "ok")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// net/http reads a body that nobody reads before it answers, unless the connection ends with the answer; and who looks
		// at a page sends none.
		if (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
		}
		mux.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}

// Ready says why the service cannot serve now, nil where it can: the database answers and is migrated, the keys open,
// this process may send, and its clock is near the database's.
func (s *Service) Ready(ctx context.Context) error {
	if err := schema.Check(ctx, s.install.DB); err != nil {
		return err
	}
	if err := s.install.Keys.Look(); err != nil {
		return err
	}
	h := s.ledger.Health()
	switch {
	case !h.Alive:
		return errors.New("this process does not hear the database, so it sends nothing")
	case h.ClockSkew.Abs() > ledger.MaxSkew:
		return fmt.Errorf("this machine's clock is %s from the database's; set it right", h.ClockSkew)
	}
	return nil
}

const (
	// flushEvery is how much of "last used" a crash may lose.
	flushEvery = time.Minute
	// stopGrace is how long calls may go on after the end was asked for.
	stopGrace = 10 * time.Second
	// headerTime and idleTime bound connections on which nothing happens, requestTime a request that does not end (the
	// doors have bounds of their own), maxHeader what a header may hold.
	headerTime  = 10 * time.Second
	requestTime = 15 * time.Second
	idleTime    = 2 * time.Minute
	maxHeader   = 64 << 10
	// schemaEvery is between looks whether a newer program's migration has shut this one out of the database.
	schemaEvery = time.Second
)

// Run serves the listeners until ctx ends, then stops gracefully: new work is refused, standing streams end, calls may
// finish for ten seconds and are cancelled after that; an effect that is being delivered is finished and recorded. The
// error is a listener's or the database's; ErrTooNew where a newer program has migrated the database meanwhile in a way that
// this one does not know, which ends it too. A service is run once.
func (s *Service) Run(ctx context.Context, listeners ...net.Listener) error {
	background, stop := context.WithCancel(context.Background())
	life := make(chan error, 1)
	go func() { life <- s.ledger.Run(background) }()
	ended, err := s.lives(ctx, life)
	work := start(append([]func(context.Context){s.door.Run, s.api.Run, s.flush}, s.chores...), background)
	if len(listeners) > 0 {
		s.answers.set(listeners[0].Addr())
	}

	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, IdleTimeout: idleTime, WriteTimeout: stopGrace,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	outdated := make(chan error, 1)
	go s.outdated(background, outdated)
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- server.Serve(l) }()
	}
	select {
	case <-s.over(ended):
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	case err = <-outdated:
	case err = <-life:
		ended = true
		if err != nil {
			err = fmt.Errorf("the ledger: %w", err)
		}
	}
	s.door.Drain()
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	if server.Shutdown(grace) != nil || !s.left(grace) {
		s.log.Info("calls were cancelled at the end")
	}
	s.door.Close()
	_ = server.Close()
	stop() // the ledger finishes what is being delivered
	if !ended {
		err = errors.Join(err, <-life)
	}
	work()
	return err
}

// outdated tells once a newer program's migration says that this one may not use the database any more: its statements
// could mean something else there. A database that does not answer is not asked again before the next look.
func (s *Service) outdated(ctx context.Context, tell chan<- error) {
	look := time.NewTicker(schemaEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		if err := schema.Check(ctx, s.install.DB); errors.Is(err, ErrTooNew) {
			s.log.Error("this program is shut out of the database", "error", err)
			tell <- err
			return
		}
	}
}

// lives waits until the ledger lets this process send, so that the first request is not refused for coming early.
// Where the database does not answer for long it is not waited for: then /readyz says why.
func (s *Service) lives(ctx context.Context, life <-chan error) (ended bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, headerTime)
	defer cancel()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for !s.ledger.Health().Alive {
		select {
		case <-look.C:
		case err := <-life:
			return true, fmt.Errorf("the ledger: %w", err)
		case <-ctx.Done():
			return false, nil
		}
	}
	return false, nil
}

// left waits until the clients over pipes have had their answers and are gone, and says whether they are.
func (s *Service) left(ctx context.Context) bool {
	gone := make(chan struct{})
	go func() {
		s.clients.Lock() // for good: from here on no client is let in
		close(gone)
	}()
	select {
	case <-gone:
		return true
	case <-ctx.Done():
		return false
	}
}

// over is a channel that is closed where something is over already.
func (s *Service) over(is bool) <-chan struct{} {
	c := make(chan struct{})
	if is {
		close(c)
	}
	return c
}

// start runs functions in the background and gives a function that waits for them.
func start(fs []func(context.Context), ctx context.Context) (wait func()) {
	done := make(chan struct{}, len(fs))
	for _, f := range fs {
		go func() {
			f(ctx)
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
		if err := s.install.Agents.Flush(context.WithoutCancel(ctx)); err != nil {
			s.log.Error("note when tokens were used", "error", err)
		}
	}
}

// ServeStdio serves one client over pipes for one agent, until in ends or ctx does. The agent is made where it is not
// there: who may start this process may have agents. Run must be running.
func (s *Service) ServeStdio(ctx context.Context, slug string, in io.Reader, out io.Writer) error {
	return s.serveStdio(ctx, slug, in, out, func(refused error) error { return refused })
}

// serveStdio tells whether a client is served before it is.
func (s *Service) serveStdio(ctx context.Context, slug string, in io.Reader, out io.Writer, tell func(refused error) error) error {
	if !s.clients.TryRLock() {
		return errors.New("this process is ending") // not told: the client looks for the next one
	}
	defer s.clients.RUnlock()
	if err := agent.CheckSlug(slug); err != nil {
		return errors.Join(err, tell(err))
	}
	a, _, err := s.install.Agents.EnsureAgent(ctx, slug, localActor)
	if err == nil && a.Disabled {
		err = fmt.Errorf("agent %s is disabled; an owner enables it", slug)
	}
	if err != nil {
		return errors.Join(err, tell(err))
	}
	if err := tell(nil); err != nil {
		return err
	}
	return s.door.ServeStdio(ctx, tool.Caller{Agent: a.ID, Slug: a.Slug}, in, out)
}

// localActor is who makes an agent for a process of the same user, in the audit.
const localActor = "local"
