// This file is `wayleave sign-in`: a fresh link with which a person signs in. Who may read the data folder's key may
// have one.
package keeping

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/people"
)

// SignIn is the command.
type SignIn struct {
	place.DataFlags
	place.ListenFlags
	Person string `arg:"" optional:"" help:"Whom the link is for. Default: the first owner, who is made where there is none."`
	JSON   bool   `setting:"-" help:"As JSON: url, person, expires_in_seconds."`
}

// Run makes a link. The newest one counts; older ones open nothing.
func (c *SignIn) Run(s *cli.Session) error {
	in, at, err := c.Beside(s)
	if err != nil {
		return err
	}
	defer in.Close()
	base, err := c.pages(at.Listen, in.Label)
	if err != nil {
		return err
	}
	person, link, err := in.People.NewLink(s.Ctx, c.Person, place.ByCLI)
	switch {
	case errors.Is(err, people.ErrNotFound):
		return fmt.Errorf("nobody here is called %q; an owner adds people on the page of people", c.Person)
	case err != nil:
		return err
	}
	url := base + "/sign-in#" + link.Reveal()
	if c.JSON {
		return s.Out.JSON(struct {
			URL     string `json:"url"`
			Person  string `json:"person"`
			Expires int    `json:"expires_in_seconds"`
		}{url, person.Name, int(people.LinkTime.Seconds())})
	}
	s.Err.Printf("for %s (%s): open it within %d minutes, it opens once and older links open nothing any more:\n", person.Name, person.Role, int(people.LinkTime.Minutes()))
	s.Out.Printf("%s\n", url)
	return nil
}

// pages is where people reach a server: its public URL, else the install's own name at the listener's port.
func (c *SignIn) pages(listen, label string) (string, error) {
	if listen != "" && len(c.PublicURL) == 0 {
		c.Listen = listen
	}
	endpoint, err := c.Endpoint()
	if err != nil {
		return "", err
	}
	base := strings.TrimSuffix(endpoint, "/mcp")
	if len(c.PublicURL) > 0 {
		return base, nil
	}
	scheme, host, _ := strings.Cut(base, "://")
	name, port, found := strings.Cut(host, ":")
	if !found || !place.Loopback(strings.Trim(name, "[]")) {
		return base, nil
	}
	return scheme + "://" + label + ".wayleave.localhost:" + port, nil
}
