// This file is `wayleave apply`: what an operator keeps in a file, made so in the install.
package keeping

import (
	"fmt"
	"io"

	"github.com/wayleave/wayleave/internal/apply"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/install"
)

// Apply is the command.
type Apply struct {
	place.DataFlags
	File  string `arg:"" help:"The file (JSON with comments), or - for standard input."`
	Check bool   `setting:"-" help:"Change nothing: say what would change."`
	JSON  bool   `setting:"-" help:"As JSON: applied, and changes with what, from, to."`
}

// Help is the file's form.
func (c *Apply) Help() string {
	return `What the file names becomes as it says; what it does not name stays as it is; nothing is deleted but hosts of a list that it has whole. Applying it again changes nothing. It may hold:

  {
    "paused": false,
    "allowed_hosts": ["10.0.0.5:8080"],                       // for every agent
    "connections": {"read": {"mode": "auto", "limits": {"requests_per_minute": 300}}},
    "agents": {
      "reviewer": {
        "enabled": true, "paused": false, "elicitation": false,
        "allowed_hosts": ["wiki.internal"],
        "connections": {"read": {"mode": "inherit", "limits": {"requests_per_run": 50}}}
      }
    }
  }

Example: wayleave apply --check install.jsonc`
}

// Run applies.
func (c *Apply) Run(s *cli.Session) error {
	data, err := c.read(s)
	if err != nil {
		return cli.Misused("%v", err)
	}
	f, err := apply.Parse(data)
	if err != nil {
		return cli.Misused("%s: %v", c.File, err)
	}
	in, err := c.open(s)
	if err != nil {
		return err
	}
	defer in.Close()
	changes, err := apply.Plan(s.Ctx, f, apply.Install{Agents: in.Agents, Hosts: in.Allowed, Settings: in.Settings, Rules: in.Rules})
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", c.File, err)
	}
	for n, change := range changes {
		if !c.JSON {
			s.Out.Printf("%s\n", change)
		}
		if c.Check {
			continue
		}
		if err := change.Do(s.Ctx, place.ByCLI); err != nil {
			return fmt.Errorf("%w; %d of %d changes were made, and applying again makes the rest", err, n, len(changes))
		}
	}
	if c.JSON {
		return s.Out.JSON(c.report(changes))
	}
	switch {
	case len(changes) == 0:
		s.Out.Printf("nothing to change: the install is as %s says\n", c.File)
	case c.Check:
		s.Out.Printf("%d changes; without --check they are made\n", len(changes))
	default:
		s.Out.Printf("%d changes made\n", len(changes))
	}
	return nil
}

// open makes no install where nothing is to be changed.
func (c *Apply) open(s *cli.Session) (*install.Install, error) {
	if c.Check {
		return c.Look(s)
	}
	in, _, err := c.Beside(s)
	return in, err
}

func (c *Apply) read(s *cli.Session) ([]byte, error) {
	if c.File == "-" {
		return io.ReadAll(s.In)
	}
	return cli.ReadFile(c.File)
}

func (c *Apply) report(changes []apply.Change) any {
	type line struct {
		What string `json:"what"`
		From string `json:"from"`
		To   string `json:"to"`
	}
	lines := []line{}
	for _, change := range changes {
		lines = append(lines, line{change.What, change.From, change.To})
	}
	return map[string]any{"applied": !c.Check, "changes": lines}
}
