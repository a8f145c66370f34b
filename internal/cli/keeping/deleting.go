// This file is `wayleave runs delete`: one run gone at once, with everything that is kept of it.
package keeping

import (
	"bufio"
	"strings"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/names"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// RunsDelete is the command.
type RunsDelete struct {
	place.DataFlags
	ID    string `arg:"" name:"run" help:"The run's id: one that has ended."`
	Check bool   `setting:"-" help:"Delete nothing: say what would go, and what would refuse it now."`
	Yes   bool   `setting:"-" help:"On a terminal too, do not ask first."`
	JSON  bool   `setting:"-" help:"As JSON: run_id and calls, as the API has them; with --check run_id, deletes and refused."`
}

// weighed is what --check tells, as JSON.
type weighed struct {
	Run     string       `json:"run_id"`
	Deletes wire.Deletes `json:"deletes"`
	Refused string       `json:"refused,omitempty"`
}

// Run deletes a run. What goes is told before; what refuses it says what to do first.
func (c *RunsDelete) Run(s *cli.Session) error {
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	run, err := in.Rows.Run(s.Ctx, "", c.ID)
	if err != nil {
		return missing(err, "run", c.ID)
	}
	d, err := in.Rows.WeighDeletion(s.Ctx, run.ID)
	if err != nil {
		return missing(err, "run", c.ID)
	}
	if c.Check && c.JSON {
		w := weighed{Run: run.ID}
		w.Deletes, w.Refused = operatorapi.DeletesOf(d)
		return s.Out.JSON(w)
	}
	if d.Refused != nil && !c.Check {
		return d.Refused
	}
	slugs, err := names.Slugs(s, in)
	if err != nil {
		return err
	}
	ask := s.Interactive() && !c.Yes && !c.Check && !c.JSON
	out := s.Err
	if c.Check || ask {
		out = s.Out
	}
	out.Printf("run %s of agent %s goes for good: %s\n", run.ID, slugs[run.Agent], goes(d))
	switch {
	case c.Check && d.Refused != nil:
		out.Printf("not now: %v\n", d.Refused)
		return nil
	case c.Check:
		return nil
	case ask:
		out.Printf("type delete to delete it, or nothing to leave it: ")
		if lines := bufio.NewScanner(s.In); !lines.Scan() || strings.TrimSpace(lines.Text()) != "delete" {
			out.Printf("left as it is\n")
			return lines.Err()
		}
	}
	calls, err := in.Rows.DeleteRun(s.Ctx, run.ID, place.ByCLI)
	if err != nil {
		return missing(err, "run", c.ID)
	}
	if c.JSON {
		return s.Out.JSON(wire.Deleted{Run: run.ID, Calls: calls})
	}
	s.Out.Printf("run %s is deleted with its calls (%d): arguments, results, evidence and kept pages; the audit keeps that it was\n", run.ID, calls)
	return nil
}

// goes says what a deletion takes with it.
func goes(d ledger.Deletion) string {
	all := []string{cli.Many(int(d.Calls), "call with its arguments and result", "calls with their arguments and results"),
		cli.Many(int(d.Evidence), "record of where a reading came from", "records of where readings came from"),
		cli.Many(int(d.Pages), "kept page", "kept pages"),
		cli.Many(int(d.Approvals), "question with its answer", "questions with their answers")}
	said := strings.Join(all, ", ")
	if d.Uncertain > 0 {
		said += "; " + cli.Many(int(d.Uncertain), "of the calls is an effect whose outcome nobody saw", "of the calls are effects whose outcome nobody saw")
	}
	return said
}
