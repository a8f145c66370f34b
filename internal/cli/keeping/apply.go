// This file is `wayleave apply`: what an operator keeps in a file, made so in the install.
package keeping

import (
	"fmt"
	"io"
	"slices"

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
	JSON  bool   `setting:"-" help:"As JSON: applied, changes with kind (made, added, changed, removed), what, from, to, and already_so."`
}

// Help is the file's form.
func (c *Apply) Help() string {
	return `What the file names becomes as it says; what it does not name stays as it is; nothing is deleted but hosts of a list that it has whole. Applying it again changes nothing. It may hold:

  {
    "paused": false,
    "allowed_hosts": ["10.0.0.5:8080"],                       // private hosts, for every agent; they shut no other out
    "connections": {"read": {"mode": "auto", "limits": {"requests_per_minute": 300}}},
    "agents": {
      "reviewer": {
        "enabled": true, "paused": false, "elicitation": false,
        "allowed_hosts": ["wiki.internal"],
        "connections": {"read": {"mode": "inherit", "limits": {"requests_per_run": 50}}}
      },
      "scraper": {                                            // with a minute of its own
        "connections": {"read": {"mode": "own", "provider": "direct", "limits": {"requests_per_minute": 30}}}
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
	noteHosts(s, f)
	in, err := c.open(s)
	if err != nil {
		return err
	}
	defer in.Close()
	rows := apply.Install{Agents: in.Agents, Hosts: in.Allowed, Settings: in.Settings, Rules: in.Rules}
	plan, err := apply.Plan(s.Ctx, f, rows)
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", c.File, err)
	}
	for n, change := range plan.Changes {
		if !c.Check {
			if err := change.Do(s.Ctx, place.ByCLI); err != nil {
				return fmt.Errorf("%w; %d of %d changes were made, and applying again makes the rest", err, n, len(plan.Changes))
			}
		}
		if !c.JSON {
			s.Out.Printf("%-16s %s\n", map[bool]string{true: "would be "}[c.Check]+string(change.Kind), change)
		}
	}
	if !c.Check && len(plan.Changes) > 0 {
		if err := apply.Held(s.Ctx, f, rows); err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}
	}
	if c.JSON {
		return s.Out.JSON(c.report(plan))
	}
	c.sum(s, plan)
	return nil
}

// sum says what became of all that the file names, and of the rest.
func (c *Apply) sum(s *cli.Session, p apply.Planned) {
	same := ""
	if p.Same > 0 {
		same = fmt.Sprintf("; %s so already", cli.Many(p.Same, "of its settings is", "of its settings are"))
	}
	switch {
	case len(p.Changes) == 0:
		s.Out.Printf("nothing to change: the install is as %s says%s\n", c.File, same)
	case c.Check:
		s.Out.Printf("%s would be made%s. Nothing was changed: apply it without --check\n", cli.Many(len(p.Changes), "change", "changes"), same)
	default:
		s.Out.Printf("%s made%s\n", cli.Many(len(p.Changes), "change", "changes"), same)
	}
	s.Out.Printf("what %s does not name is kept as it is\n", c.File)
}

// noteHosts says of public names that they change nothing: the server's own allowed_hosts are a list of another kind.
func noteHosts(s *cli.Session, f apply.File) {
	var hosts []string
	if f.Hosts != nil {
		hosts = append(hosts, *f.Hosts...)
	}
	for _, a := range f.Agents {
		if a.Hosts != nil {
			hosts = append(hosts, *a.Hosts...)
		}
	}
	slices.Sort(hosts)
	for _, host := range slices.Compact(hosts) {
		if public := publicName(host); public != "" {
			s.Err.Printf("note: allowed_hosts: where %s is public, no permit is needed; this list is of private hosts, and shuts no other out: `serve --allowed-hosts` does\n", public)
		}
	}
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
	return cli.ReadFile(s.Ctx, c.File)
}

func (c *Apply) report(p apply.Planned) any {
	type line struct {
		Kind apply.Kind `json:"kind"`
		What string     `json:"what"`
		From string     `json:"from"`
		To   string     `json:"to"`
	}
	lines := []line{}
	for _, change := range p.Changes {
		lines = append(lines, line{change.Kind, change.What, change.From, change.To})
	}
	return map[string]any{"applied": !c.Check, "changes": lines, "already_so": p.Same}
}
