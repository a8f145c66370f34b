// This file is a process that owns a data folder: it serves agents and people over HTTP, and the clients over pipes
// that other processes of the same user bring.
package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"github.com/wayleave/wayleave"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/document/child"
	"github.com/wayleave/wayleave/internal/document/served"
)

// owner owns a folder from take to leave.
type owner struct {
	service  *wayleave.Service
	folder   *datafolder.Folder
	log      *slog.Logger
	listener net.Listener
	metrics  net.Listener // nil: no metrics are served
	pipes    net.Listener
	closers  []func() error // in reverse order
}

// ownerPlan is what an owner is to be.
type ownerPlan struct {
	folder  *datafolder.Folder
	options wayleave.Options
	front   place.Front
	listen  string
	metrics string // address of the metrics; empty for none
	// anyPort lets the listener take another port where its own is taken.
	anyPort bool
	// documents makes what reads documents; nil where nothing does.
	documents func() (*child.Pools, error)
}

// take makes this process the folder's owner. datafolder.ErrOwned: there is one. Nothing is left behind by an error.
func take(ctx context.Context, p ownerPlan) (_ *owner, err error) {
	o := &owner{folder: p.folder, log: p.options.Log}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.leave())
		}
	}()
	release, err := p.folder.Own()
	if err != nil {
		return nil, err
	}
	o.closers = append(o.closers, func() error { release(); return nil })
	listen := func(address, flag string) (net.Listener, netip.AddrPort, error) {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			if errors.Is(err, syscall.EADDRINUSE) && !p.anyPort {
				err = errors.New(inUse(ctx, flag, address))
			}
			return nil, netip.AddrPort{}, fmt.Errorf("%s %s: %w", flag, address, err)
		}
		o.closers = append(o.closers, func() error { _ = l.Close(); return nil })
		own, err := netip.ParseAddrPort(l.Addr().String())
		return l, own, err
	}
	var own []netip.AddrPort
	at := netip.AddrPort{}
	if o.listener, at, err = listen(p.listen, "--listen"); err != nil && p.anyPort {
		o.listener, at, err = listen("127.0.0.1:0", "--listen")
	}
	if err != nil {
		return nil, err
	}
	own = append(own, at)
	if p.metrics != "" {
		m := netip.AddrPort{}
		if o.metrics, m, err = listen(p.metrics, "--metrics-listen"); err != nil {
			return nil, err
		}
		own = append(own, m)
	}
	p.options.Listeners = func() []netip.AddrPort { return own }
	pipes, path, remove, err := p.folder.ListenPipe()
	if err != nil {
		return nil, err
	}
	o.pipes = pipes
	o.closers = append(o.closers, func() error { _ = pipes.Close(); remove(); return nil })
	if err := o.readDocuments(&p); err != nil {
		return nil, err
	}
	if o.service, err = wayleave.New(ctx, p.options); err != nil {
		return nil, err
	}
	o.closers = append(o.closers, o.service.Close)
	withdraw, err := p.folder.Announce(datafolder.Server{URL: p.front.URL(at), Listen: at.String(), Pipe: path, User: datafolder.Me(), Elsewhere: p.options.Database != ""})
	if err != nil {
		return nil, err
	}
	o.closers = append(o.closers, withdraw)
	if p.front.TLS != nil {
		o.listener = tls.NewListener(o.listener, p.front.TLS)
	}
	return o, nil
}

// inUse says who listens where this process was to, as far as it can be seen from here, and the way out.
func inUse(ctx context.Context, flag, address string) string {
	who := "another program listens there already"
	if healthy(ctx, address) {
		who = "another wayleave serves there already, from another data folder"
	}
	if user := listenerUser(portOf(address)); user != "" {
		who += ", as user " + user
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("%s: stop it, or give another address; %s %s takes any port that is free", who, flag, net.JoinHostPort(host, "0"))
}

// healthy says whether a wayleave without TLS answers at an address of this machine.
func healthy(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+reachable(address)+"/healthz", nil)
	if err != nil {
		return false
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16))
	return err == nil && answer.StatusCode == http.StatusOK && string(text) == "ok\n"
}

// portOf is an address's port; 0 where it has none.
func portOf(address string) uint16 {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return 0
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return uint16(port)
}

// readDocuments lets the service read documents, in children that end before the owner leaves.
func (o *owner) readDocuments(p *ownerPlan) error {
	if p.documents == nil {
		return nil
	}
	pools, err := p.documents()
	if pools == nil || err != nil {
		return err
	}
	p.options.Fetch.Documents = served.Documents{Reader: pools}
	// A child that starts takes processor time from the server that does; a document that comes before has its own started.
	plain := time.AfterFunc(plainWait, pools.Plain.Warm)
	// One with the engine holds more memory than the server and is there in a tenth of a second, once the engine was
	// compiled: that is done ahead, and the first PDF file has it started.
	starting, leave := context.WithCancel(context.Background())
	engine := time.AfterFunc(engineWait, func() {
		if page.EngineKept() {
			return
		}
		if _, _, err := pools.Engine.Holds(starting); err == nil {
			page.NoteEngine()
		}
	})
	o.closers = append(o.closers, func() error {
		plain.Stop()
		engine.Stop()
		leave()
		ctx, cancel := context.WithTimeout(context.Background(), documentsEnd)
		defer cancel()
		pools.Close(ctx)
		return nil
	})
	return nil
}

const (
	documentsAtOnce = 2
	plainWait       = time.Second
	engineWait      = 10 * time.Second
	documentsEnd    = 3 * time.Second // for documents that are being read when the owner leaves
)

// documents makes what reads documents for a session's service.
func documents(s *cli.Session, log *slog.Logger) func() (*child.Pools, error) {
	return func() (*child.Pools, error) { return page.Documents(s, documentsAtOnce, log) }
}

// run serves until ctx ends and everything has ended in order.
func (o *owner) run(ctx context.Context) error {
	pipes := make(chan error, 1)
	go func() { pipes <- o.service.ServePipes(ctx, o.pipes) }()
	if o.metrics != nil {
		// Nobody is asked for a credential there, so it is a listener of its own.
		server := &http.Server{Handler: o.service.Metrics(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
			ErrorLog: slog.NewLogLogger(o.log.Handler(), slog.LevelDebug)}
		go func() { _ = server.Serve(o.metrics) }()
		defer server.Close()
	}
	err := o.service.Run(ctx, o.listener)
	_ = o.pipes.Close()
	if pipe := <-pipes; pipe != nil && ctx.Err() == nil && !errors.Is(pipe, net.ErrClosed) {
		err = errors.Join(err, pipe)
	}
	return err
}

// leave lets the folder go.
func (o *owner) leave() (err error) {
	for i := len(o.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, o.closers[i]())
	}
	o.closers = nil
	return err
}
