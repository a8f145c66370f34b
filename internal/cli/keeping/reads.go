// This file is `wayleave reads`: how reading goes, host by host, and which hosts give pages that are hardly any.
package keeping

import (
	"fmt"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/names"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/store/watchstore"
)

// Reads is the command.
type Reads struct {
	place.DataFlags
	Agent string `setting:"-" help:"Only this agent's." placeholder:"SLUG"`
	Days  int    `setting:"-" default:"7" help:"Of the last so many days (1–365; default 7)." placeholder:"N"`
	Thin  bool   `setting:"-" help:"Only hosts that gave thin pages."`
	Limit int    `setting:"-" default:"50" help:"At most so many hosts (1–1000; default 50)." placeholder:"N"`
	JSON  bool   `setting:"-" help:"As JSON: hosts, as the API has them."`
}

// mostDays is for how long rows are kept.
const mostDays = 365

// Run counts.
func (c *Reads) Run(s *cli.Session) error {
	if err := bounded(c.Limit); err != nil {
		return err
	}
	if c.Days < 1 || c.Days > mostDays {
		return cli.Misused("--days is %d, must be 1 to %d", c.Days, mostDays)
	}
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	only, err := names.Only(s, in, c.Agent)
	if err != nil {
		return err
	}
	to, err := in.Rows.Now(s.Ctx)
	if err != nil {
		return err
	}
	to = to.Add(time.Microsecond) // what came just now too
	from := to.AddDate(0, 0, -c.Days)
	counted, err := watchstore.New(in.DB).Reads(s.Ctx, only, from, to)
	if err != nil {
		return err
	}
	shown := operatorapi.ReadsOf(counted, from, to, c.Thin, c.Limit)
	if c.JSON {
		return s.Out.JSON(shown)
	}
	if len(shown.Hosts) == 0 {
		s.Out.Printf("no host %s in %s\n", map[bool]string{true: "gave a thin page", false: "was read"}[c.Thin], cli.Many(c.Days, "day", "days"))
		return nil
	}
	err = cli.Table(s, "HOST\tREADS\tTHIN\tFAILED\tLAST\tOF WHICH", func(row func(...any)) {
		for _, h := range shown.Hosts {
			row(cli.OneLine(h.Host), h.Reads, h.Thin, h.Failed, cli.When(h.Last), parts(h.Kinds, h.Codes))
		}
	})
	if shown.More {
		s.Err.Printf("there are more: --limit %d shows more of them\n", mostListed)
	}
	return err
}

// parts are what numbers are made of, by name.
func parts(counts ...map[string]int64) string {
	var all []string
	for _, m := range counts {
		for _, name := range cli.Sorted(m) {
			all = append(all, fmt.Sprintf("%s %d", name, m[name]))
		}
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, ", ")
}
