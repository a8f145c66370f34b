// This file says agents and people by what they are called now, beside the ids by which rows know them.
package operatorapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/people"
)

// Names are what ids of agents, their tokens and people stand for.
type Names map[string]string

// NamesOf names them all.
func NamesOf(agents []agent.Agent, tokens []agent.Token, everybody []people.Person) Names {
	n := make(Names)
	for _, a := range agents {
		n[a.ID] = a.Slug
	}
	for _, t := range tokens {
		n[t.ID] = "token of " + t.Agent
	}
	for _, p := range everybody {
		n[p.ID] = p.Name
	}
	return n
}

// Actor is an actor of the audit by name; empty where it is called what it is.
func (n Names) Actor(actor string) string {
	_, id, ok := strings.Cut(actor, ":")
	if !ok {
		return ""
	}
	return n[id]
}

// Row finds the one agent or person that somebody named. A text that names none stays as it is: an id, another row's, or of
// nobody. The error says that an agent and a person have the name.
func (n Names) Row(text string) (string, error) {
	var found []string
	for id, name := range n {
		if name == text && (strings.HasPrefix(id, "agent_") || strings.HasPrefix(id, "person_")) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return text, nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s is an agent and a person; give the id, %s", text, strings.Join(found, " or "))
}

// ActorNamed is Row for an actor of the audit. Those that are no rows are no names.
func (n Names) ActorNamed(text string) (string, error) {
	if slices.Contains([]string{"", "cli", "system", "local"}, text) {
		return text, nil
	}
	kind, name, qualified := strings.Cut(text, ":")
	if !qualified {
		name = text
	}
	for id, is := range n {
		if prefix, _, _ := strings.Cut(id, "_"); qualified && is == name && prefix == kind {
			return kind + ":" + id, nil
		}
	}
	id, err := n.Row(name)
	if err != nil || id == name {
		return text, err
	}
	kind, _, _ = strings.Cut(id, "_")
	return kind + ":" + id, nil
}

// In are the names of those ids that stand in texts; nil where none does.
func (n Names) In(texts ...string) Names {
	var found Names
	for id, name := range n {
		for _, text := range texts {
			if strings.Contains(text, id) {
				if found == nil {
					found = make(Names)
				}
				found[id] = name
				break
			}
		}
	}
	return found
}

// Said is a text with names in the place of ids.
func (n Names) Said(text string) string {
	for id, name := range n.In(text) {
		text = strings.ReplaceAll(text, id, name)
	}
	return text
}

// names are those of all that is there: for who may see it.
func (s *Server) names(ctx context.Context) (Names, error) {
	agents, tokens, err := s.d.Agents.List(ctx, nil)
	if err != nil {
		return nil, err
	}
	everybody, err := s.d.People.List(ctx)
	return NamesOf(agents, tokens, everybody), err
}

// namePause names who paused.
func (s *Server) namePause(ctx context.Context, p *wire.Pause) error {
	if p == nil {
		return nil
	}
	names, err := s.names(ctx)
	p.ByName = names.Actor(p.By)
	return err
}

// nameVerdict names who stated what happened, to people: a harness is none of them.
func (s *Server) nameVerdict(ctx context.Context, v *gate.Visit, verdict *wire.Verdict) error {
	if verdict == nil || v.Kind&route.People == 0 {
		return nil
	}
	names, err := s.names(ctx)
	verdict.ByName = names[verdict.By]
	return err
}
