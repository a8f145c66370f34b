// This file is what owners do with people.
package operatorapi

import (
	"context"
	"slices"
	"strings"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/people"
)

type addingPerson struct {
	Body wire.AddPerson
}

type changingPerson struct {
	OfPerson
	Body wire.ChangePerson
}

// OfPerson names a person.
type OfPerson struct {
	Person string `path:"person" maxLength:"80"`
}

func (s *Server) registerPeople() {
	gate.Handle(s.gate, "list-people", func(ctx context.Context, _ *gate.Visit, _ *nobody) (wire.PeopleList, error) {
		all, err := s.d.People.List(ctx)
		if err != nil {
			return wire.PeopleList{}, err
		}
		slugs, err := s.slugs(ctx)
		out := wire.PeopleList{People: []wire.Person{}}
		for _, p := range all {
			out.People = append(out.People, PersonOf(p, slugs))
		}
		return out, err
	})
	gate.Handle(s.gate, "create-person", func(ctx context.Context, v *gate.Visit, in *addingPerson) (wire.Link, error) {
		agents, err := s.agentIDs(ctx, in.Body.All, in.Body.Agents)
		if err != nil {
			return wire.Link{}, err
		}
		name := strings.ToLower(strings.TrimSpace(in.Body.Name)) // as people type it
		if err := people.CheckName(name); err != nil {
			return wire.Link{}, gate.Unprocessable("name", err)
		}
		p, err := s.d.People.Add(ctx, name, people.Role(in.Body.Role), agents, v.By())
		if err != nil {
			return wire.Link{}, err
		}
		return s.link(ctx, p.Name, v.By())
	})
	gate.Handle(s.gate, "change-person", func(ctx context.Context, v *gate.Visit, in *changingPerson) (wire.Person, error) {
		p, err := s.d.People.ByID(ctx, in.Person)
		if err != nil {
			return wire.Person{}, err
		}
		agents, err := s.agentIDs(ctx, in.Body.All, in.Body.Agents)
		if err != nil {
			return wire.Person{}, err
		}
		// Disabling comes first and enabling last, so that nobody acts between the two with what they are about to lose.
		if in.Body.State == stateDisabled {
			if p, err = s.d.People.Disable(ctx, p.ID, v.By()); err != nil {
				return wire.Person{}, err
			}
		}
		if p, err = s.d.People.SetRole(ctx, p.ID, people.Role(in.Body.Role), agents, v.By()); err != nil {
			return wire.Person{}, err
		}
		if in.Body.State == stateActive {
			if p, err = s.d.People.Enable(ctx, p.ID, v.By()); err != nil {
				return wire.Person{}, err
			}
		}
		return s.person(ctx, p)
	})
	gate.Handle(s.gate, "create-sign-in-link", func(ctx context.Context, v *gate.Visit, in *OfPerson) (wire.Link, error) {
		p, err := s.d.People.ByID(ctx, in.Person)
		if err != nil {
			return wire.Link{}, err
		}
		if p.Disabled {
			return wire.Link{}, gate.Conflict("this person is disabled; enable them first")
		}
		return s.link(ctx, p.Name, v.By())
	})
	gate.Act(s.gate, "sign-person-out", func(ctx context.Context, v *gate.Visit, in *OfPerson) error {
		p, err := s.d.People.ByID(ctx, in.Person)
		if err == nil {
			_, err = s.d.People.SignOutEverywhere(ctx, p.ID, v.By())
		}
		return err
	})
}

// link makes a sign-in link. Its secret stands behind #, which no browser sends to a server.
func (s *Server) link(ctx context.Context, name, by string) (wire.Link, error) {
	p, text, err := s.d.People.NewLink(ctx, name, by)
	if err != nil {
		return wire.Link{}, err
	}
	now, err := s.d.Rows.Now(ctx)
	if err != nil {
		return wire.Link{}, err
	}
	who, err := s.person(ctx, p)
	return wire.Link{Person: who, URL: s.o.Base() + "/sign-in#" + text.Reveal(), Expires: now.Add(people.LinkTime).UTC()}, err
}

const (
	stateActive   = "active"
	stateDisabled = "disabled"
)

// slugs are the slugs of all agents, by id.
func (s *Server) slugs(ctx context.Context) (map[string]string, error) {
	agents, _, err := s.d.Agents.List(ctx, nil)
	return slugsOf(agents), err
}

func slugsOf(agents []agent.Agent) map[string]string {
	out := make(map[string]string, len(agents))
	for _, a := range agents {
		out[a.ID] = a.Slug
	}
	return out
}

// agentIDs reads a list of slugs.
func (s *Server) agentIDs(ctx context.Context, all bool, slugs []string) (people.Agents, error) {
	if all {
		if len(slugs) > 0 {
			return people.Agents{}, gate.Unprocessable("agents", errBoth)
		}
		return people.Agents{All: true}, nil
	}
	out := people.Agents{List: []string{}}
	for _, slug := range slugs {
		a, err := s.d.Agents.BySlug(ctx, slug)
		if err != nil {
			return people.Agents{}, s.unprocessableOr("agents", err)
		}
		if !slices.Contains(out.List, a.ID) {
			out.List = append(out.List, a.ID)
		}
	}
	return out, nil
}

func (s *Server) person(ctx context.Context, p people.Person) (wire.Person, error) {
	slugs, err := s.slugs(ctx)
	return PersonOf(p, slugs), err
}

// PersonOf is a person as the API shows them; names has the slugs of their agents.
func PersonOf(p people.Person, names Names) wire.Person {
	out := wire.Person{ID: p.ID, Name: p.Name, Role: string(p.Role), Agents: []string{}, All: p.Agents.All || p.Role == people.Owner,
		State: stateActive, HasPassword: p.HasPassword, Since: p.Created.UTC()}
	if p.Disabled {
		out.State = stateDisabled
	}
	if out.All {
		return out
	}
	for _, id := range p.Agents.List {
		if slug := names[id]; slug != "" {
			out.Agents = append(out.Agents, slug)
		}
	}
	slices.Sort(out.Agents)
	return out
}
