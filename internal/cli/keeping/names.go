// This file says agents and people by name where rows have their ids, and finds ids by names.
package keeping

import (
	"strings"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/people"
)

// named are the names of all that is there.
func named(s *cli.Session, in *install.Install) (operatorapi.Names, error) {
	agents, tokens, err := in.Agents.List(s.Ctx, nil)
	if err != nil {
		return nil, err
	}
	everybody, err := in.People.List(s.Ctx)
	return operatorapi.NamesOf(agents, tokens, everybody), err
}

// actorSaid is an actor of the audit as people read it.
func actorSaid(n operatorapi.Names, actor string) string {
	switch name := n.Actor(actor); {
	case name == "":
		return actor
	case strings.HasPrefix(actor, "agent:"):
		return "agent " + name
	default:
		return name
	}
}

// rowSaid is the id of a row as people read it: an agent or a person by name, others by their id and what is known of it.
func rowSaid(n operatorapi.Names, id string) string {
	switch name := n[id]; {
	case name == "":
		return n.Said(id)
	case strings.HasPrefix(id, "agent_"), strings.HasPrefix(id, "person_"):
		return name
	default:
		return id + ", " + name
	}
}

// personOf finds a person who must be there, by name or id.
func personOf(s *cli.Session, in *install.Install, name string) (people.Person, error) {
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
	return people.Person{}, noPerson(name)
}
