// This file is `wayleave allow`: a person lets agents read a private host, while the service runs.
package keeping

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/weburl"
)

// Allow is the command.
type Allow struct {
	place.DataFlags
	Hosts  []string `arg:"" optional:"" name:"host" help:"HOST[:PORT] or CIDR[:PORT]. Without one: the list."`
	Agent  string   `setting:"-" help:"Only for this agent. Default: every agent." placeholder:"SLUG"`
	Remove bool     `setting:"-" help:"Take it off the list."`
	JSON   bool     `setting:"-" help:"As JSON."`
}

// Run changes the list, or shows it.
func (c *Allow) Run(s *cli.Session) error {
	if c.Agent != "" {
		if err := agent.CheckSlug(c.Agent); err != nil {
			return cli.Misused("--agent: %v", err)
		}
	}
	if len(c.Hosts) == 0 && c.Remove {
		return cli.Misused("--remove takes a host")
	}
	if err := c.noVerb(); err != nil {
		return err
	}
	in, at, err := c.Beside(s)
	if err != nil {
		return err
	}
	defer in.Close()
	of := ""
	if c.Agent != "" && len(c.Hosts) > 0 {
		a, made, err := in.Agents.EnsureAgent(s.Ctx, c.Agent, place.ByCLI)
		if err != nil {
			return err
		}
		if made {
			s.Err.Printf("note: there was no agent %s; it is made, without a token\n", c.Agent)
		}
		of = a.ID
	}
	changed := []allowed.Host{}
	for _, text := range c.Hosts {
		change, done := in.Allowed.Allow, "agents may read %s now%s\n"
		if c.Remove {
			change, done = in.Allowed.Remove, "%s is off the list%s\n"
		}
		host, err := change(s.Ctx, text, of, place.ByCLI)
		host.Agent = c.Agent
		if errors.Is(err, allowed.ErrNotAllowed) {
			return fmt.Errorf("%s %w", text, err)
		}
		if err != nil {
			return cli.Misused("%v", err)
		}
		changed = append(changed, host)
		if !c.JSON {
			s.Out.Printf(done, host.Host, forAgent(host.Agent))
		}
		if !c.Remove {
			c.stillRefused(s, host.Host, at)
		}
	}
	if len(c.Hosts) == 0 {
		hosts, err := in.Allowed.List(s.Ctx)
		if err != nil {
			return err
		}
		changed = append(changed, hosts...) // never nil: an empty list is [] as JSON
	}
	if c.JSON {
		return s.Out.JSON(changed)
	}
	if len(c.Hosts) > 0 {
		return nil
	}
	if len(changed) == 0 {
		s.Out.Printf("no private host is allowed by this list; `%s allow HOST[:PORT]%s` adds one\n", place.CalledAs(), c.Again())
		return nil
	}
	return cli.Table(s, "HOST\tAGENT\tSINCE", func(row func(...any)) {
		for _, h := range changed {
			row(h.Host, orAll(h.Agent), h.Created.Format(time.DateOnly))
		}
	})
}

// noVerb refuses a first word that is meant as a command, where other commands have such words: it would be allowed as a
// host, and what it was to take away with it.
func (c *Allow) noVerb() error {
	if len(c.Hosts) == 0 {
		return nil
	}
	switch word := c.Hosts[0]; word {
	case "remove", "rm", "delete", "revoke", "deny":
		return cli.Misused("%q is no host: `%s allow --remove HOST%s` takes one off the list (a host of that name: %s:80)", word, place.CalledAs(), c.Again(), word)
	case "list", "ls", "show", "add":
		return cli.Misused("%q is no host: `%s allow%s` shows the list, and `%s allow HOST%s` adds to it (a host of that name: %s:80)", word, place.CalledAs(), c.Again(), place.CalledAs(), c.Again(), word)
	}
	return nil
}

// stillRefused says what a permit seems to cover and does not.
func (c *Allow) stillRefused(s *cli.Session, host string, at datafolder.Server) {
	permit, err := weburl.ParsePermit(host)
	if err != nil {
		return // it was just taken
	}
	if inside := permit.Metadata(); len(inside) > 0 {
		var names []string
		for _, a := range inside {
			names = append(names, a.String())
		}
		s.Err.Printf("note: cloud metadata addresses stay refused until each is allowed by itself, here %s\n", strings.Join(names, ", "))
	}
	if name := publicName(host); name != "" {
		s.Err.Printf("note: where %s is public, no permit is needed; this one counts where the name leads to a private address. It shuts no other host out: `serve --allowed-hosts` does\n", name)
	}
	if place.Covers(permit, at) {
		s.Err.Printf("note: the server's own listener %s stays refused: no agent ever reads it, allowed or not\n", at.Listen)
	}
}

// publicName is the name of a permit that may be read without one, as far as its spelling shows; empty where it may not.
func publicName(host string) string {
	name := strings.TrimPrefix(host, "*.")
	if new(weburl.Policy).Judge("http://"+name+"/").Verdict != "allow" {
		return ""
	}
	return name
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
