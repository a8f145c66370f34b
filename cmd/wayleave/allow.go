// This file is `wayleave allow`: a person lets agents read a private host, while the service runs.
package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
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
	_, folder, err := c.beside(s)
	if err != nil {
		return err
	}
	store := allowed.NewStore(folder, nil)
	changed := []allowed.Host{}
	for _, text := range c.Hosts {
		change, done := store.Allow, "agents may read %s now%s\n"
		if c.Remove {
			change, done = store.Remove, "%s is off the list%s\n"
		}
		host, err := change(text, c.Agent)
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
	}
	if len(c.Hosts) == 0 {
		if changed, err = store.List(); err != nil {
			return err
		}
	}
	if c.JSON {
		return s.out.jsonIndented(changed)
	}
	if len(c.Hosts) > 0 {
		return nil
	}
	return table(s, "HOST\tAGENT\tSINCE", func(row func(...any)) {
		for _, h := range changed {
			row(h.Host, orAll(h.Agent), h.Created.Format(time.DateOnly))
		}
	})
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
