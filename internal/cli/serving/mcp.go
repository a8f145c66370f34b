// This file is `wayleave mcp`: one client over pipes, which the client's own harness starts. It needs no token: who may
// read the data folder may call. Standard output belongs to the protocol.
package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/wayleave/wayleave"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/relay"
	"github.com/wayleave/wayleave/webfetch"
)

// serviceFlags are those of both doors.
type serviceFlags struct {
	page.ReadFlags
	Description   *string `help:"What a model sees of web_fetch, in place of the built-in text." placeholder:"TEXT"`
	PerMinute     int     `help:"Fetches of all agents together in a minute (1 or more; default 600)." default:"600" placeholder:"N"`
	PerHost       int     `help:"Fetches of an agent from one host at once (1 or more; default 4)." default:"4" placeholder:"N"`
	PerHostSecond int     `help:"Fetches of an agent from one host in a second (1 or more; default 10)." default:"10" placeholder:"N"`
	LogLevel      string  `enum:"debug,info,warn,error" default:"info" help:"What is logged on standard error: debug, info, warn, error."`
}

func (f serviceFlags) service(ctx context.Context, build cli.Build) (wayleave.Options, error) {
	fetch, err := f.Options(ctx)
	if err != nil {
		return wayleave.Options{}, err
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"per-minute", f.PerMinute}, {"per-host", f.PerHost}, {"per-host-second", f.PerHostSecond}} {
		if n.value < 1 {
			return wayleave.Options{}, cli.Misused("--%s is %d, must be 1 or more", n.flag, n.value)
		}
	}
	fetch.Description = f.Description
	// Before a folder is made or a port opened over it.
	if _, err := webfetch.Direct(fetch); err != nil {
		return wayleave.Options{}, page.OptionMisused(err)
	}
	return wayleave.Options{Fetch: fetch, Version: build.Version,
		PerMinute: f.PerMinute, PerHost: f.PerHost, PerHostSecond: f.PerHostSecond}, nil
}

// logger writes JSON lines to standard error.
func (f serviceFlags) logger(s *cli.Session) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.LogLevel)); err != nil {
		return nil, cli.Misused("--log-level: %v", err)
	}
	return slog.New(slog.NewJSONHandler(s.Err, &slog.HandlerOptions{Level: level, ReplaceAttr: withoutEmpty})), nil
}

// withoutEmpty leaves out of a line what has no value, such as the token of a client over pipes.
func withoutEmpty(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindString && a.Value.String() == "" {
		return slog.Attr{}
	}
	return a
}

// MCP is the command.
type MCP struct {
	serviceFlags
	place.DataFlags
	Agent string `default:"local" help:"The agent that calls. Default: local." placeholder:"SLUG"`
}

// Run serves until the client closes standard input. The process that owns the data folder serves it; where there is
// none, this one becomes the owner.
func (c *MCP) Run(s *cli.Session) error {
	if err := agent.CheckSlug(c.Agent); err != nil {
		return cli.Misused("--agent: %v", err)
	}
	o, err := c.service(s.Ctx, s.Build)
	if err != nil {
		return err
	}
	if o.Log, err = c.logger(s); err != nil {
		return err
	}
	if c.Data != "" { // a slip of the finger would make another folder, whose owner nobody else knows
		if _, err := datafolder.Look(c.Data); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w; give the folder that the server has, or make this one first if it is meant", err)
		} else if err != nil {
			return err
		}
	}
	if err := warn(s, c.DataFlags); err != nil {
		return err
	}
	folder, err := c.Folder(s)
	if err != nil {
		return err
	}
	c.DataFlags.Into(s, folder, &o)
	o.PermitCommand = c.PermitCommand(s)
	if s.Out.Terminal {
		s.Err.Printf("this speaks MCP on standard input and output, for a harness that starts it; `wayleave attach generic --stdio` prints its block\n")
	}
	ends := &pipeEnds{s: s, c: c, folder: folder, options: o}
	r := &relay.Relay{Dial: ends.dial, Log: func(message string, err error) { o.Log.Info(message, "error", err) }}
	// The protocol's bytes go out as they are: a terminal there is somebody looking.
	return errors.Join(r.Run(s.Ctx, s.Pipe, s.Out.Raw()), ends.leave())
}

// pipeEnds finds who serves this process's client.
type pipeEnds struct {
	s       *cli.Session
	c       *MCP
	folder  *datafolder.Folder
	options wayleave.Options
	own     func() error // ends the service of this process; nil where another serves
}

// dial reaches the folder's owner, or becomes it.
func (p *pipeEnds) dial(ctx context.Context) (relay.Conn, error) {
	at, owned, err := p.folder.Owner()
	switch {
	case err != nil:
		return nil, err
	case owned && at.Pipe == "":
		return nil, errors.New("the owner of the data folder has not said yet where it is")
	case owned:
		conn, err := wayleave.DialPipe(ctx, at.Pipe, p.c.Agent)
		var refused *wayleave.RefusedError
		if errors.As(err, &refused) {
			return nil, &relay.Final{Err: err}
		}
		if err == nil {
			p.sayIgnored()
		}
		return conn, err
	}
	own, err := take(p.s.Ctx, ownerPlan{folder: p.folder, options: p.options, listen: place.DefaultListen, anyPort: true, documents: documents(p.s, p.options.Log)})
	switch {
	case errors.Is(err, datafolder.ErrOwned):
		return nil, err // somebody was faster
	case err != nil:
		return nil, &relay.Final{Err: page.OptionMisused(err)}
	}
	hidden(p.options.Log)
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- own.run(ctx) }()
	p.own = func() error {
		stop()
		return errors.Join(<-ended, own.leave())
	}
	at, _, err = p.folder.Owner()
	if err == nil {
		p.options.Log.Info("this process owns the data folder and serves people too", "at", strings.TrimSuffix(at.URL, "/mcp"))
	}
	return inProcess(ctx, own.service, p.c.Agent), nil
}

// sayIgnored names what was said to this process and does not count: the owner's facts do (TM-052).
func (p *pipeEnds) sayIgnored() {
	var ignored []string
	for _, set := range p.s.Settings.All {
		if set.Origin != "default" && !slices.Contains([]string{"data", "agent", "log-level", "config"}, set.Name) {
			ignored = append(ignored, set.Name)
		}
	}
	if len(ignored) > 0 {
		p.options.Log.Warn("the process that owns the data folder decides; these settings of this one count for nothing", "settings", ignored)
	}
}

func (p *pipeEnds) leave() error {
	if p.own == nil {
		return nil
	}
	return p.own()
}

// inProcess serves a client in this process.
func inProcess(ctx context.Context, service *wayleave.Service, slug string) relay.Conn {
	fromClient, toService := io.Pipe()
	fromService, toClient := io.Pipe()
	go func() {
		err := service.ServeStdio(ctx, slug, fromClient, toClient)
		_ = toClient.CloseWithError(err)
		_ = fromClient.CloseWithError(err)
	}()
	return &pipePair{fromService, toService}
}

type pipePair struct {
	*io.PipeReader
	to *io.PipeWriter
}

func (p *pipePair) Write(b []byte) (int, error) { return p.to.Write(b) }
func (p *pipePair) CloseWrite() error           { return p.to.Close() }
func (p *pipePair) Close() error                { return errors.Join(p.to.Close(), p.PipeReader.Close()) }
