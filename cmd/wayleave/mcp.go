// This file is `wayleave mcp`: one client over pipes, which the client's own harness starts. It reads in this process
// and needs no token; of the data folder, if there is one, it reads what a person allowed. Standard output belongs to the protocol.
package main

import (
	"log/slog"

	"github.com/wayleave/wayleave"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/webfetch"
)

// serviceFlags are those of both doors.
type serviceFlags struct {
	readFlags
	Description   *string `help:"What a model sees of web_fetch, in place of the built-in text." placeholder:"TEXT"`
	PerMinute     int     `help:"Fetches of an agent in a minute (1 or more; default 600)." default:"600" placeholder:"N"`
	PerHost       int     `help:"Fetches of an agent from one host at once (1 or more; default 4)." default:"4" placeholder:"N"`
	PerHostSecond int     `help:"Fetches of an agent from one host in a second (1 or more; default 10)." default:"10" placeholder:"N"`
	LogLevel      string  `enum:"debug,info,warn,error" default:"info" help:"What is logged on standard error: debug, info, warn, error."`
}

func (f serviceFlags) service() (wayleave.Options, error) {
	fetch, err := f.options()
	if err != nil {
		return wayleave.Options{}, err
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"per-minute", f.PerMinute}, {"per-host", f.PerHost}, {"per-host-second", f.PerHostSecond}} {
		if n.value < 1 {
			return wayleave.Options{}, misused("--%s is %d, must be 1 or more", n.flag, n.value)
		}
	}
	fetch.Description = f.Description
	// Before a folder is made or a port opened over it.
	if _, err := webfetch.Direct(fetch); err != nil {
		return wayleave.Options{}, optionMisused(err)
	}
	return wayleave.Options{Fetch: fetch, Version: thisBuild().Version,
		PerMinute: f.PerMinute, PerHost: f.PerHost, PerHostSecond: f.PerHostSecond}, nil
}

// logger writes JSON lines to standard error.
func (f serviceFlags) logger(s *session) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.LogLevel)); err != nil {
		return nil, misused("--log-level: %v", err)
	}
	return slog.New(slog.NewJSONHandler(s.err, &slog.HandlerOptions{Level: level})), nil
}

type mcpCommand struct {
	serviceFlags
	dataFlags
	Agent string `default:"local" help:"The agent that calls. Default: local." placeholder:"SLUG"`
}

// Run serves until the client closes standard input.
func (c *mcpCommand) Run(s *session) error {
	if err := agent.CheckSlug(c.Agent); err != nil {
		return misused("--agent: %v", err)
	}
	o, err := c.service()
	if err != nil {
		return err
	}
	if o.Log, err = c.logger(s); err != nil {
		return err
	}
	// What a person allows counts here too, also later, but a first start needs no folder. One that was named must be there:
	// a slip of the finger would read as a list with nothing on it.
	if path, err := c.path(s); err == nil {
		o.Data, o.DataLater, o.PermitCommand = path, true, c.permitCommand(s)
		o.Listeners = neighbour(path)
	}
	if c.Data != "" {
		if _, err := datafolder.Look(c.Data); err != nil {
			return err
		}
	}
	service, err := wayleave.New(o)
	if err != nil {
		return optionMisused(err)
	}
	hidden(o.Log)
	if s.out.terminal {
		s.err.printf("this speaks MCP on standard input and output, for a harness that starts it; `wayleave attach generic --stdio` prints its block\n")
	}
	// The protocol's bytes go out as they are: a terminal there is somebody looking.
	return service.ServeStdio(s.ctx, c.Agent, s.pipe, s.out.w)
}
