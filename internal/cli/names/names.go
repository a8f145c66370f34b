// Package names says agents and people by name where rows have their ids, and finds ids by names.
package names

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/people"
)

// Of are the names of all that is there.
func Of(s *cli.Session, in *install.Install) (operatorapi.Names, error) {
	agents, tokens, err := in.Agents.List(s.Ctx, nil)
	if err != nil {
		return nil, err
	}
	everybody, err := in.People.List(s.Ctx)
	return operatorapi.NamesOf(agents, tokens, everybody), err
}

// Actor is an actor of the audit as people read it.
func Actor(n operatorapi.Names, actor string) string {
	switch name := n.Actor(actor); {
	case name == "":
		return actor
	case strings.HasPrefix(actor, "agent:"):
		return "agent " + name
	default:
		return name
	}
}

// Row is the id of a row as people read it: an agent or a person by name, others by their id and what is known of it.
func Row(n operatorapi.Names, id string) string {
	switch name := n[id]; {
	case name == "":
		return n.Said(id)
	case strings.HasPrefix(id, "agent_"), strings.HasPrefix(id, "person_"):
		return name
	default:
		return id + ", " + name
	}
}

// Person finds a person who must be there, by name or id.
func Person(s *cli.Session, in *install.Install, name string) (people.Person, error) {
	everybody, err := in.People.List(s.Ctx)
	if err != nil {
		return people.Person{}, err
	}
	name = strings.ToLower(strings.TrimSpace(name)) // as people type it
	for _, p := range everybody {
		if p.Name == name || p.ID == name {
			return p, nil
		}
	}
	return people.Person{}, NoPerson(name)
}

// Slugs names agents by their ids.
func Slugs(s *cli.Session, in *install.Install) (map[string]string, error) {
	agents, _, err := in.Agents.List(s.Ctx, nil)
	names := make(map[string]string)
	for _, a := range agents {
		names[a.ID] = a.Slug
	}
	return names, err
}

// Agent finds an agent that must be there.
func Agent(s *cli.Session, in *install.Install, slug string) (agent.Agent, error) {
	a, err := in.Agents.BySlug(s.Ctx, slug)
	if errors.Is(err, agent.ErrNotFound) {
		return a, fmt.Errorf("there is no agent %q here; `%s agents` lists them", slug, place.CalledAs())
	}
	return a, err
}

// AgentID finds the id of an agent that must be there.
func AgentID(s *cli.Session, in *install.Install, slug string) (id string, err error) {
	a, err := Agent(s, in, slug)
	return a.ID, err
}

// Only are the ids that a list is about: that of the agent that was named, or nil, which means all, where none was.
func Only(s *cli.Session, in *install.Install, slug string) ([]string, error) {
	if slug == "" {
		return nil, nil
	}
	id, err := AgentID(s, in, slug)
	return []string{id}, err
}

// NoPerson says that somebody is not there.
func NoPerson(name string) error {
	return fmt.Errorf("nobody here is called %q; `%s people` lists everybody, and `%s people add` adds somebody", name, place.CalledAs(), place.CalledAs())
}
