// This file is `wayleave people`: who signs in, what each may do, and which agents they see. Who may read the data
// folder's key may change it, as an owner may on the API.
package signing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/names"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/people"
)

// People is the command.
type People struct {
	List    PeopleList    `cmd:"" default:"withargs" help:"List people (what people alone does)."`
	Add     PeopleAdd     `cmd:"" help:"Add a person and print a link with which they sign in and set a password."`
	Change  PeopleChange  `cmd:"" help:"Change a person's role and the agents that they see."`
	Disable PeopleDisable `cmd:"" help:"End all that a person may do: their sessions, links and tokens are gone for good."`
	Enable  PeopleEnable  `cmd:"" help:"Let a person sign in again."`
	SignOut PeopleSignOut `cmd:"" name:"sign-out" help:"End all sessions and links of a person; their tokens go on working."`
	Token   PeopleToken   `cmd:"" help:"Make, list and revoke tokens with which programs use the API as a person."`
}

// PeopleList is the command.
type PeopleList struct {
	place.DataFlags
	Name string `arg:"" optional:"" name:"person" help:"Only this one."`
	JSON bool   `setting:"-" help:"As JSON: an array of people, as the API has them."`
}

// Run lists people.
func (c *PeopleList) Run(s *cli.Session) error {
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	everybody, err := in.People.List(s.Ctx)
	if err != nil {
		return err
	}
	if c.Name != "" {
		p, err := names.Person(s, in, c.Name)
		if err != nil {
			return err
		}
		everybody = []people.Person{p}
	}
	called, err := names.Of(s, in)
	if err != nil {
		return err
	}
	if c.JSON {
		shown := []any{}
		for _, p := range everybody {
			shown = append(shown, operatorapi.PersonOf(p, called))
		}
		return s.Out.JSON(shown)
	}
	if len(everybody) == 0 {
		s.Out.Printf("nobody has signed in yet; `%s sign-in%s` makes the first owner and prints their link\n", place.CalledAs(), c.Again())
		return nil
	}
	return cli.Table(s, "PERSON\tROLE\tAGENTS\tPASSWORD\tSTATE\tSINCE", func(row func(...any)) {
		for _, p := range everybody {
			row(p.Name, p.Role, seen(p, called), map[bool]string{true: "set", false: "none"}[p.HasPassword], map[bool]string{true: "disabled", false: "active"}[p.Disabled], cli.When(p.Created))
		}
	})
}

// seen called the agents that a person may see.
func seen(p people.Person, called operatorapi.Names) string {
	shown := operatorapi.PersonOf(p, called)
	switch {
	case shown.All:
		return "all"
	case len(shown.Agents) == 0:
		return "none"
	}
	return strings.Join(shown.Agents, ", ")
}

// rights are what a person may do.
type rights struct {
	Role   string   `setting:"-" required:"" help:"owner (everything), operator (sees and decides for the agents named) or viewer (looks)." placeholder:"ROLE"`
	Agents []string `setting:"-" help:"The agents that the person sees. May be given again; commas part them." placeholder:"SLUG"`
	All    bool     `setting:"-" name:"all-agents" help:"All agents, those too that are made later. An owner sees them in any case."`
}

// check reads them, before anything is opened.
func (r rights) check() (people.Role, error) {
	role, err := people.ParseRole(r.Role)
	if err != nil {
		return "", cli.Misused("--role: %v", err)
	}
	if r.All && len(r.Agents) > 0 {
		return "", cli.Misused("--agents and --all-agents do not go together")
	}
	return role, nil
}

// agents are those of the rights, as ids.
func (r rights) agents(s *cli.Session, in *install.Install) (people.Agents, error) {
	out := people.Agents{All: r.All, List: []string{}}
	for _, slug := range r.Agents {
		id, err := names.AgentID(s, in, slug)
		if err != nil {
			return out, err
		}
		if !slices.Contains(out.List, id) {
			out.List = append(out.List, id)
		}
	}
	return out, nil
}

// warn says that somebody sees nothing.
func (r rights) warn(s *cli.Session, p people.Person) {
	if p.Role != people.Owner && !r.All && len(r.Agents) == 0 {
		s.Err.Printf("note: %s sees no agent; `%s people change %s --role %s --agents SLUG` or --all-agents changes that\n", p.Name, place.CalledAs(), p.Name, p.Role)
	}
}

// PeopleAdd is the command.
type PeopleAdd struct {
	place.DataFlags
	place.ListenFlags
	rights
	Name string `arg:"" name:"person" help:"Their name: lower-case letters, digits and . _ @ + -."`
	JSON bool   `setting:"-" help:"As JSON: url, person, expires_in_seconds, served (whether a server of this data folder runs)."`
}

// Run adds.
func (c *PeopleAdd) Run(s *cli.Session) error {
	role, err := c.check()
	if err != nil {
		return err
	}
	name := strings.ToLower(strings.TrimSpace(c.Name)) // as people type it
	if err := people.CheckName(name); err != nil {
		return &cli.UsageError{Err: err}
	}
	in, at, err := c.Beside(s)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := c.Pages(s.Ctx, at.URL, in.Label); err != nil { // before somebody is added who would get no link
		return err
	}
	agents, err := c.agents(s, in)
	if err != nil {
		return err
	}
	p, err := in.People.Add(s.Ctx, name, role, agents, place.ByCLI)
	if errors.Is(err, people.ErrNameTaken) {
		return fmt.Errorf("%s is here already; `%s sign-in %s%s` prints a link for them, `%s people change %s` changes what they may do", name, place.CalledAs(), name, c.Again(), place.CalledAs(), name)
	}
	if err != nil {
		return err
	}
	p, link, err := freshLink(s, in, c.ListenFlags, at.URL, p.Name)
	if err != nil {
		return fmt.Errorf("%s is added, and has no link: %w; `%s sign-in %s%s` prints one", name, err, place.CalledAs(), name, c.Again())
	}
	if c.JSON {
		return s.Out.JSON(linkJSON(p, link, at.URL != ""))
	}
	c.warn(s, p)
	sayLink(s, p, link)
	return nil
}

// PeopleChange is the command.
type PeopleChange struct {
	place.DataFlags
	rights
	Name string `arg:"" name:"person" help:"The person."`
	JSON bool   `setting:"-" help:"As JSON: the person, as the API has them."`
}

// Help says that it is whole.
func (c *PeopleChange) Help() string {
	return "Role and agents become what is given here, whole: agents that are not named are not seen any more. It counts from the person's next request on."
}

// Run changes.
func (c *PeopleChange) Run(s *cli.Session) error {
	role, err := c.check()
	if err != nil {
		return err
	}
	in, err := c.Heard(s)
	if err != nil {
		return err
	}
	defer in.Close()
	agents, err := c.agents(s, in)
	if err != nil {
		return err
	}
	p, err := names.Person(s, in, c.Name)
	if err != nil {
		return err
	}
	if p, err = in.People.SetRole(s.Ctx, p.ID, role, agents, place.ByCLI); err != nil {
		return err
	}
	called, err := names.Of(s, in)
	if err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(operatorapi.PersonOf(p, called))
	}
	s.Out.Printf("%s is %s now and sees these agents: %s\n", p.Name, p.Role, seen(p, called))
	c.warn(s, p)
	return nil
}

// personIn opens an install as a command does (Look or Heard) and finds a person who must be there. The install is the
// caller's to close, unless there is an error.
func personIn(s *cli.Session, open func(*cli.Session) (*install.Install, error), name string) (*install.Install, people.Person, error) {
	in, err := open(s)
	if err != nil {
		return nil, people.Person{}, err
	}
	p, err := names.Person(s, in, name)
	if err != nil {
		in.Close()
	}
	return in, p, err
}

// onePerson is a command about somebody who must be there.
type onePerson struct {
	place.DataFlags
	Name string `arg:"" name:"person" help:"The person."`
	JSON bool   `setting:"-" help:"As JSON: the person, as the API has them."`
}

// do does something to the person, and says what.
func (c onePerson) do(s *cli.Session, change func(in *install.Install, p people.Person) (after people.Person, said string, err error)) error {
	in, p, err := personIn(s, c.Heard, c.Name)
	if err != nil {
		return err
	}
	defer in.Close()
	p, said, err := change(in, p)
	if err != nil {
		return err
	}
	if !c.JSON {
		s.Out.Printf("%s\n", said)
		return nil
	}
	called, err := names.Of(s, in)
	if err != nil {
		return err
	}
	return s.Out.JSON(operatorapi.PersonOf(p, called))
}

// PeopleDisable is the command.
type PeopleDisable struct{ onePerson }

// Run disables.
func (c *PeopleDisable) Run(s *cli.Session) error {
	return c.do(s, func(in *install.Install, p people.Person) (people.Person, string, error) {
		after, err := in.People.Disable(s.Ctx, p.ID, place.ByCLI)
		if p.Disabled {
			return after, p.Name + " was disabled already; nothing was changed", err
		}
		return after, p.Name + " is disabled: their sessions, links and tokens open nothing any more, and do not come back", err
	})
}

// PeopleEnable is the command.
type PeopleEnable struct{ onePerson }

// Run enables.
func (c *PeopleEnable) Run(s *cli.Session) error {
	return c.do(s, func(in *install.Install, p people.Person) (people.Person, string, error) {
		after, err := in.People.Enable(s.Ctx, p.ID, place.ByCLI)
		if !p.Disabled {
			return after, p.Name + " was not disabled; nothing was changed", err
		}
		return after, fmt.Sprintf("%s may sign in again; `%s sign-in %s%s` prints a link", p.Name, place.CalledAs(), p.Name, c.Again()), err
	})
}

// PeopleSignOut is the command.
type PeopleSignOut struct{ onePerson }

// Run signs out.
func (c *PeopleSignOut) Run(s *cli.Session) error {
	return c.do(s, func(in *install.Install, p people.Person) (people.Person, string, error) {
		n, err := in.People.SignOutEverywhere(s.Ctx, p.ID, place.ByCLI)
		return p, fmt.Sprintf("%s is signed out: %s ended; their tokens go on working", p.Name, cli.Many(n, "session or link", "sessions and links")), err
	})
}

// linkJSON is a sign-in link, as JSON.
func linkJSON(p people.Person, link string, served bool) any {
	return struct {
		URL     string `json:"url"`
		Person  string `json:"person"`
		Expires int    `json:"expires_in_seconds"`
		Served  bool   `json:"served"`
	}{link, p.Name, int(people.LinkTime / time.Second), served}
}
