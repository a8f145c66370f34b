// This file is `wayleave allow`: a person lets agents read a private host, while the service runs.
package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/weburl"
)

type allowCommand struct {
	dataFlags
	Hosts  []string `arg:"" optional:"" name:"host" help:"HOST[:PORT] or CIDR[:PORT]. Without one: the list."`
	Agent  string   `setting:"-" help:"Only for this agent. Default: every agent." placeholder:"SLUG"`
	Remove bool     `setting:"-" help:"Take it off the list."`
	JSON   bool     `setting:"-" help:"As JSON."`
}

// Run changes the list, or shows it.
func (c *allowCommand) Run(s *session) error {
	if c.Agent != "" {
		if err := agent.CheckSlug(c.Agent); err != nil {
			return misused("--agent: %v", err)
		}
	}
	if len(c.Hosts) == 0 && c.Remove {
		return misused("--remove takes a host")
	}
	in, at, err := c.beside(s)
	if err != nil {
		return err
	}
	defer in.Close()
	of := ""
	if c.Agent != "" && len(c.Hosts) > 0 {
		a, _, err := in.Agents.EnsureAgent(s.ctx, c.Agent, byCLI)
		if err != nil {
			return err
		}
		of = a.ID
	}
	changed := []allowed.Host{}
	for _, text := range c.Hosts {
		change, done := in.Allowed.Allow, "agents may read %s now%s\n"
		if c.Remove {
			change, done = in.Allowed.Remove, "%s is off the list%s\n"
		}
		host, err := change(s.ctx, text, of, byCLI)
		host.Agent = c.Agent
		if errors.Is(err, allowed.ErrNotAllowed) {
			return fmt.Errorf("%s %w", text, err)
		}
		if err != nil {
			return misused("%s: %v", strconv.Quote(text), err)
		}
		changed = append(changed, host)
		if !c.JSON {
			s.out.printf(done, host.Host, forAgent(host.Agent))
		}
		if !c.Remove {
			c.stillRefused(s, host.Host, at)
		}
	}
	if len(c.Hosts) == 0 {
		hosts, err := in.Allowed.List(s.ctx)
		if err != nil {
			return err
		}
		changed = append(changed, hosts...) // never nil: an empty list is [] as JSON
	}
	if c.JSON {
		return s.out.jsonIndented(changed)
	}
	if len(c.Hosts) > 0 {
		return nil
	}
	if len(changed) == 0 {
		s.out.printf("no private host is allowed by this list; `%s allow HOST[:PORT]%s` adds one\n", calledAs(), c.again())
		return nil
	}
	return table(s, "HOST\tAGENT\tSINCE", func(row func(...any)) {
		for _, h := range changed {
			row(h.Host, orAll(h.Agent), h.Created.Format(time.DateOnly))
		}
	})
}

// stillRefused says what a permit seems to cover and does not.
func (c *allowCommand) stillRefused(s *session, host string, at datafolder.Server) {
	permit, err := weburl.ParsePermit(host)
	if err != nil {
		return // it was just taken
	}
	if inside := permit.Metadata(); len(inside) > 0 {
		var names []string
		for _, a := range inside {
			names = append(names, a.String())
		}
		s.err.printf("note: cloud metadata addresses stay refused until each is allowed by itself, here %s\n", strings.Join(names, ", "))
	}
	if covers(permit, at) {
		s.err.printf("note: the server's own listener %s stays refused: no agent ever reads it, allowed or not\n", at.Listen)
	}
}

func forAgent(slug string) string {
	if slug == "" {
		return ""
	}
	return " (agent " + slug + ")"
}

func orAll(slug string) string {
	if slug == "" {
		return "(all)"
	}
	return slug
}
