// This file is `wayleave sign-in`: a fresh link with which a person signs in. Who may read the data folder's key may
// have one.
package keeping

import (
	"errors"
	"fmt"
	"net/url"
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
	JSON   bool   `setting:"-" help:"As JSON: url, person, expires_in_seconds, served (whether a server of this data folder runs)."`
}

// Run makes a link. The newest one counts; older ones open nothing.
func (c *SignIn) Run(s *cli.Session) error {
	in, at, err := c.Beside(s)
	if err != nil {
		return err
	}
	defer in.Close()
	base, err := c.pages(at.URL, in.Label)
	if err != nil {
		return err
	}
	person, secret, err := in.People.NewLink(s.Ctx, c.Person, place.ByCLI)
	switch {
	case errors.Is(err, people.ErrNotFound):
		return fmt.Errorf("nobody here is called %q; an owner adds people on the page of people", c.Person)
	case err != nil:
		return err
	}
	link := base + "/sign-in#" + secret.Reveal()
	if c.JSON {
		return s.Out.JSON(struct {
			URL     string `json:"url"`
			Person  string `json:"person"`
			Expires int    `json:"expires_in_seconds"`
			Served  bool   `json:"served"`
		}{link, person.Name, int(people.LinkTime.Seconds()), at.URL != ""})
	}
	s.Err.Printf("for %s (%s): open it within %d minutes, it opens once and older links open nothing any more:\n", person.Name, person.Role, int(people.LinkTime.Minutes()))
	s.Out.Printf("%s\n", link)
	return nil
}

// pages is where people reach a server: its public URL, else the install's own name at the listener's port. endpoint is
// where the running one says that it is, empty where none runs: then it is where one of these flags would be.
func (c *SignIn) pages(endpoint, label string) (string, error) {
	if endpoint == "" || len(c.PublicURL) > 0 {
		var err error
		if endpoint, err = c.Endpoint(); err != nil {
			return "", err
		}
	}
	base := strings.TrimSuffix(endpoint, "/mcp")
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("the server says that it is at %q", endpoint)
	}
	if len(c.PublicURL) > 0 || !place.Loopback(u.Hostname()) {
		return base, nil
	}
	return u.Scheme + "://" + label + ".wayleave.localhost:" + u.Port(), nil
}
