// This file is `wayleave people token`: what programs act with for a person.
package signing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/people"
)

// PeopleToken is the command.
type PeopleToken struct {
	List   PeopleTokenList   `cmd:"" help:"List a person's tokens that work. The tokens themselves are not kept and cannot be shown."`
	New    PeopleTokenNew    `cmd:"" help:"Make a token with which a program uses the API as a person, and print it."`
	Revoke PeopleTokenRevoke `cmd:"" help:"End one token of a person; their other ones go on working."`
}

// PeopleTokenList is the command.
type PeopleTokenList struct {
	place.DataFlags
	Name string `arg:"" name:"person" help:"The person."`
	JSON bool   `setting:"-" help:"As JSON."`
}

// Run lists them.
func (c *PeopleTokenList) Run(s *cli.Session) error {
	in, p, err := personIn(s, c.Look, c.Name)
	if err != nil {
		return err
	}
	defer in.Close()
	tokens, err := tokensOf(s, in, p)
	if err != nil {
		return err
	}
	if !c.JSON {
		return cli.Table(s, "TOKEN\tLABEL\tCREATED\tLAST USED\tEXPIRES", func(row func(...any)) {
			for _, t := range tokens {
				row(t.ID, t.Label, cli.When(t.Created), cli.When(t.Used), cli.When(t.Expires))
			}
		})
	}
	type line struct {
		ID      string    `json:"id"`
		Label   string    `json:"label,omitempty"`
		Created time.Time `json:"created"`
		Used    time.Time `json:"last_used,omitzero"`
		Expires time.Time `json:"expires,omitzero"`
	}
	lines := []line{}
	for _, t := range tokens {
		lines = append(lines, line{t.ID, t.Label, t.Created, t.Used, t.Expires})
	}
	return s.Out.JSON(lines)
}

// tokensOf are a person's tokens that work.
func tokensOf(s *cli.Session, in *install.Install, p people.Person) ([]people.Credential, error) {
	all, err := in.People.Credentials(s.Ctx, p.ID)
	return slices.DeleteFunc(all, func(c people.Credential) bool { return c.Kind != people.Token }), err
}

// PeopleTokenNew is the command.
type PeopleTokenNew struct {
	place.DataFlags
	Name  string `arg:"" name:"person" help:"The person that the program acts as: it may do what they may."`
	Label string `setting:"-" required:"" help:"What the token is for." placeholder:"TEXT"`
	Days  int    `setting:"-" help:"Days until it ends by itself, at most 3650; 0 means that it works until it is revoked." default:"90"`
	JSON  bool   `setting:"-" help:"As JSON: person, label, token, id, expires."`
}

// Run makes one and prints it.
func (c *PeopleTokenNew) Run(s *cli.Session) error {
	if c.Days < 0 || c.Days > 3650 {
		return cli.Misused("--days: %d is not from 0 to 3650", c.Days)
	}
	if strings.TrimSpace(c.Label) == "" {
		return cli.Misused("--label: say what the token is for")
	}
	in, p, err := personIn(s, c.Heard, c.Name)
	if err != nil {
		return err
	}
	defer in.Close()
	if p.Disabled {
		return fmt.Errorf("%s is disabled, so a token of theirs would open nothing; `%s people enable %s%s` lets them in again", p.Name, place.CalledAs(), p.Name, c.Again())
	}
	t, text, err := in.People.NewToken(s.Ctx, p.ID, c.Label, time.Duration(c.Days)*24*time.Hour, place.ByCLI)
	if err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(struct {
			Person  string    `json:"person"`
			Label   string    `json:"label"`
			Token   string    `json:"token"`
			ID      string    `json:"id"`
			Expires time.Time `json:"expires,omitzero"`
		}{p.Name, t.Label, text.Reveal(), t.ID, t.Expires})
	}
	s.Err.Printf("token %s of %s (%s); it is not kept and not shown again:\n", t.ID, p.Name, p.Role)
	s.Out.Printf("%s\n", text.Reveal())
	return nil
}

// PeopleTokenRevoke is the command.
type PeopleTokenRevoke struct {
	place.DataFlags
	Name  string `arg:"" name:"person" help:"The person."`
	Token string `arg:"" name:"id" help:"The token's id, as people token list shows it."`
	JSON  bool   `setting:"-" help:"As JSON."`
}

// Run revokes one.
func (c *PeopleTokenRevoke) Run(s *cli.Session) error {
	in, p, err := personIn(s, c.Heard, c.Name)
	if err != nil {
		return err
	}
	defer in.Close()
	tokens, err := tokensOf(s, in, p)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(tokens, func(t people.Credential) bool { return t.ID == c.Token }) { // a session's id is none
		return fmt.Errorf("%s has no token of that id; `%s people token list %s%s` shows them", p.Name, place.CalledAs(), p.Name, c.Again())
	}
	if err := in.People.End(s.Ctx, p.ID, c.Token, place.ByCLI); err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(map[string]any{"id": c.Token, "person": p.Name})
	}
	s.Out.Printf("token %s of %s is revoked\n", c.Token, p.Name)
	return nil
}
