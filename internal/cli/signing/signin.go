// This file is `wayleave sign-in`: a fresh link with which a person signs in. Who may read the data folder's key may
// have one.
package signing

import (
	"errors"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/names"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/people"
)

// SignIn is the command.
type SignIn struct {
	place.DataFlags
	place.ListenFlags
	Person string `arg:"" optional:"" help:"Whom the link is for. Default: the first owner, who is made where there is none."`
	JSON   bool   `setting:"-" help:"As JSON: url, person, expires_in_seconds, served (whether a server of this data folder runs)."`
}

// Run makes a link. The newest one counts; older ones open nothing.
func (c *SignIn) Run(s *cli.Session) error {
	in, at, err := c.Beside(s)
	if err != nil {
		return err
	}
	defer in.Close()
	person, link, err := freshLink(s, in, c.ListenFlags, at.URL, c.Person)
	switch {
	case errors.Is(err, people.ErrNotFound):
		return names.NoPerson(c.Person)
	case err != nil:
		return err
	}
	if c.JSON {
		return s.Out.JSON(linkJSON(person, link, at.URL != ""))
	}
	sayLink(s, person, link)
	return nil
}

// freshLink makes a link of a person. endpoint is where the folder's server says that it is, empty where none runs.
func freshLink(s *cli.Session, in *install.Install, l place.ListenFlags, endpoint, name string) (people.Person, string, error) {
	base, err := l.Pages(s.Ctx, endpoint, in.Label)
	if err != nil {
		return people.Person{}, "", err
	}
	person, secret, err := in.People.NewLink(s.Ctx, name, place.ByCLI)
	return person, base + "/sign-in#" + secret.Reveal(), err
}

func sayLink(s *cli.Session, person people.Person, link string) {
	s.Err.Printf("for %s (%s): open it within %d minutes, it opens once and older links open nothing any more; a password can be set there\n",
		person.Name, person.Role, int(people.LinkTime.Minutes()))
	s.Out.Printf("%s\n", link)
}
