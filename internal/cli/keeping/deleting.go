// This file is `wayleave runs delete`: one run gone at once, with everything that is kept of it.
package keeping

import (
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// RunsDelete is the command.
type RunsDelete struct {
	place.DataFlags
	ID   string `arg:"" name:"run" help:"The run's id: one that has ended."`
	JSON bool   `setting:"-" help:"As JSON: run_id and calls, as the API has them."`
}

// Run deletes a run; what refuses it says what to do first.
func (c *RunsDelete) Run(s *cli.Session) error {
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	calls, err := in.Rows.DeleteRun(s.Ctx, c.ID, place.ByCLI)
	if err != nil {
		return missing(err, "run", c.ID)
	}
	if c.JSON {
		return s.Out.JSON(wire.Deleted{Run: c.ID, Calls: calls})
	}
	s.Out.Printf("run %s is deleted with its calls (%d): arguments, results, evidence and kept pages; the audit keeps that it was\n", c.ID, calls)
	return nil
}
