// This file is `wayleave runs`: what agents did, call by call and why, and what a person may do about it.
package keeping

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/names"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// Runs is the command.
type Runs struct {
	List      RunsList      `cmd:"" default:"withargs" help:"List runs, newest first (what runs alone does); with a run, show it."`
	Show      RunsShow      `cmd:"" help:"Show a run's calls in their order, or all that is kept of one call."`
	End       RunsEnd       `cmd:"" help:"End a run: it admits no call any more."`
	Delete    RunsDelete    `cmd:"" help:"Delete an ended run with everything of it, before its time of keeping is over."`
	Reconcile RunsReconcile `cmd:"" help:"State what happened with a call of unknown outcome, so that the run's effects go on."`
}

// endedByPerson is the reason of a run's end, as the API has it.
const endedByPerson = "ended by a person"

// mostListed is the most rows of a list.
const mostListed = 1000

// RunsList is the command.
type RunsList struct {
	place.DataFlags
	Agent  string `setting:"-" help:"Only this agent's." placeholder:"SLUG"`
	Open   bool   `setting:"-" help:"Only open ones, of those that are listed."`
	Before string `setting:"-" help:"Only runs older than this one: the last of the list before." placeholder:"RUN"`
	Limit  *int   `setting:"-" help:"At most so many (1–1000; default 50, of a run's calls 200)." placeholder:"N"`
	Why    bool   `setting:"-" help:"Of a run that is shown: each step of why, for every call."`
	After  int64  `setting:"-" help:"Of a run that is shown: only calls behind this place in it." placeholder:"N"`
	JSON   bool   `setting:"-" help:"As JSON: an array of runs, as the API has them; of one run what runs show has."`

	ID   string `arg:"" optional:"" name:"run" help:"Show this run, as runs show does."`
	Call string `arg:"" optional:"" help:"And of it this call."`
}

const (
	usualRuns  = 50
	usualCalls = 200
)

// limited is the limit that was given, or the usual one.
func limited(given *int, usual int) int {
	if given == nil {
		return usual
	}
	return *given
}

// Run lists runs, or shows one.
func (c *RunsList) Run(s *cli.Session) error {
	if c.ID != "" {
		if c.Agent != "" || c.Open || c.Before != "" {
			return cli.Misused("--agent, --open and --before are of the list, not of the run %s", c.ID)
		}
		show := RunsShow{DataFlags: c.DataFlags, ID: c.ID, Call: c.Call, Why: c.Why, After: c.After, Limit: limited(c.Limit, usualCalls), JSON: c.JSON}
		return show.Run(s)
	}
	limit := limited(c.Limit, usualRuns)
	if err := bounded(limit); err != nil {
		return err
	}
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	slugs, err := names.Slugs(s, in)
	if err != nil {
		return err
	}
	only, err := names.Only(s, in, c.Agent)
	if err != nil {
		return err
	}
	found, err := in.Rows.RunsOf(s.Ctx, only, c.Before, limit)
	if err != nil {
		return missing(err, "run", c.Before)
	}
	runs := []wire.Run{}
	for _, r := range found {
		if !c.Open || r.Open {
			runs = append(runs, operatorapi.RunOf(r, slugs))
		}
	}
	if c.JSON {
		return s.Out.JSON(runs)
	}
	if len(runs) == 0 {
		s.Out.Printf("no run%s\n", map[bool]string{true: " is open", false: " is kept"}[c.Open])
		return nil
	}
	err = cli.Table(s, "RUN\tAGENT\tKIND\tCALLS\tREFUSED\tBEGAN\tSTATE\tCLIENT\tTITLE", func(row func(...any)) {
		for _, r := range runs {
			row(r.ID, r.Agent, r.Kind, r.Calls, r.Refused, cli.When(r.Created), stateOf(r), cli.OneLine(cmp.Or(r.ShownClient(), "-")), cli.OneLine(r.Title))
		}
	})
	if len(found) == limit {
		s.Err.Printf("there may be older ones: --before %s\n", found[len(found)-1].ID)
	}
	return err
}

// stateOf is a run's state in a few words.
func stateOf(r wire.Run) string {
	state := r.State
	if r.State != "open" {
		state = cmp.Or(r.EndReason, "ended")
	}
	if r.Hold != "" {
		state += ", held by " + r.Hold
	}
	return state
}

// RunsShow is the command.
type RunsShow struct {
	place.DataFlags
	ID    string `arg:"" name:"run" help:"The run's id."`
	Call  string `arg:"" optional:"" help:"One call of it: with its arguments, where it went, and why it went as it did."`
	Why   bool   `setting:"-" help:"With each step of why, for every call."`
	After int64  `setting:"-" help:"Only calls behind this place in the run." placeholder:"N"`
	Limit int    `setting:"-" default:"200" help:"At most so many calls (1–1000; default 200)." placeholder:"N"`
	JSON  bool   `setting:"-" help:"As JSON: run and calls, as the API has them; of each call also why, evidence and arguments."`
}

// shownCall is a call with all that the command line shows of it.
type shownCall struct {
	wire.Call
	Arguments wire.Raw        `json:"arguments,omitempty"`
	Evidence  []wire.Evidence `json:"evidence"`
	Why       []wire.Reason   `json:"why"`
}

// Run shows a run, or one call of it.
func (c *RunsShow) Run(s *cli.Session) error {
	if err := bounded(c.Limit); err != nil {
		return err
	}
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	run, err := in.Rows.Run(s.Ctx, "", c.ID)
	if err != nil {
		return missing(err, "run", c.ID)
	}
	slugs, err := names.Slugs(s, in)
	if err != nil {
		return err
	}
	ids := []string{c.Call}
	if c.Call == "" {
		if ids, err = c.page(s, in); err != nil {
			return err
		}
	}
	calls := []shownCall{}
	for _, id := range ids {
		r, err := in.Rows.Call(s.Ctx, "", c.ID, id)
		if err != nil {
			return missing(err, "call", id)
		}
		calls = append(calls, shownCall{operatorapi.CallOf(r, slugs), r.Args, operatorapi.EvidenceOf(r), operatorapi.ReasonsOf(r)})
	}
	called, err := names.Of(s, in)
	if err != nil {
		return err
	}
	for _, call := range calls {
		if call.Verdict != nil {
			call.Verdict.ByName = called[call.Verdict.By]
		}
	}
	shown := operatorapi.RunOf(run, slugs)
	if c.JSON {
		return s.Out.JSON(struct {
			Run   wire.Run    `json:"run"`
			Calls []shownCall `json:"calls"`
		}{shown, calls})
	}
	if c.Call == "" {
		c.head(s, shown)
	}
	for _, call := range calls {
		c.call(s, call, called)
	}
	if c.Call == "" && len(ids) == c.Limit {
		s.Err.Printf("there may be more: --after %d\n", calls[len(calls)-1].Seq)
	}
	return nil
}

func (c *RunsShow) page(s *cli.Session, in *install.Install) (ids []string, err error) {
	found, err := in.Rows.CallsOf(s.Ctx, "", c.ID, c.After, c.Limit)
	for _, r := range found {
		ids = append(ids, r.ID)
	}
	return ids, err
}

func (c *RunsShow) head(s *cli.Session, r wire.Run) {
	s.Out.Printf("run %s of agent %s, %s", r.ID, r.Agent, r.Kind)
	if r.Title != "" {
		s.Out.Printf(": %s", cli.OneLine(r.Title))
	}
	s.Out.Printf("\n  began %s, %s", cli.When(r.Created), stateOf(r))
	if r.Client != "" {
		s.Out.Printf(", client %s", cli.OneLine(r.ShownClient()))
	}
	s.Out.Printf("\n  calls %d", r.Calls)
	if r.Kind == "explicit" { // the other kinds have no number of their own
		s.Out.Printf(" of %d", r.MaxCalls)
	}
	s.Out.Printf(", refused %d", r.Refused)
	for _, capability := range cli.Sorted(r.Units) {
		s.Out.Printf(", %s units %d", capability, r.Units[capability])
	}
	s.Out.Printf("\n")
	if r.State == "open" {
		s.Out.Printf("  ends by itself %s", cli.When(r.Deadline))
		if r.IdleUntil != nil {
			s.Out.Printf(", or unused %s", cli.When(*r.IdleUntil))
		}
		s.Out.Printf("\n")
	}
	if r.Hold != "" {
		s.Out.Printf("  effects wait until somebody states what happened with %s: `%s runs reconcile %s %s happened|not_happened|unknown%s`\n",
			r.Hold, place.CalledAs(), r.ID, r.Hold, c.Again())
	}
	s.Out.Printf("\n")
}

// call prints a call: one line, and below it what a person would ask of one that did not succeed, or that they named.
func (c *RunsShow) call(s *cli.Session, call shownCall, called operatorapi.Names) {
	end := "-"
	if call.Ended != nil {
		end = call.Ended.Sub(call.Created).Round(time.Millisecond).String()
	}
	s.Out.Printf("%4d  %s  %-14s %-11s %-15s %8s  %s  %s\n", call.Seq, call.Created.UTC().Format(time.TimeOnly), call.Tool, call.State,
		outcomeSaid(call.Call), end, call.ID, cli.OneLine(strings.TrimSpace(call.Code+" "+call.Host)))
	whole := c.Call != ""
	if whole {
		s.Out.Printf("      class %s, provider %s, delivery %s\n", call.Class, cmp.Or(call.Provider, "-"), call.Delivery)
		if call.CallerID != "" {
			s.Out.Printf("      call_id %s\n", cli.OneLine(call.CallerID))
		}
		if len(call.Arguments) > 0 {
			s.Out.Printf("      arguments %s\n", call.Arguments)
		}
		for _, e := range call.Evidence {
			s.Out.Printf("      %s %s %s\n", e.Kind, cmp.Or(cli.OneLine(e.URL), e.Host, e.SHA256), cli.OneLine(e.Title))
		}
	}
	if whole || c.Why || call.State != "succeeded" {
		for _, w := range call.Why {
			s.Out.Printf("      %-10s %s  %s\n", w.Stage, w.At.UTC().Format(time.TimeOnly), cli.OneLine(called.Said(w.Fact)))
		}
	}
	if v := call.Verdict; v != nil {
		s.Out.Printf("      stated by %s %s: %s. %s\n", v.ByKind, cmp.Or(v.ByName, v.By), v.Verdict, cli.OneLine(v.Note))
	}
}

// outcomeSaid is a call's outcome in a word or two.
func outcomeSaid(c wire.Call) string {
	switch {
	case c.FromKept():
		return "from kept page"
	case c.Outcome == "not_dispatched":
		return "nothing sent"
	}
	return cmp.Or(c.Outcome, "-")
}

// RunsEnd is the command.
type RunsEnd struct {
	place.DataFlags
	ID   string `arg:"" name:"run" help:"The run's id."`
	JSON bool   `setting:"-" help:"As JSON: the run, as the API has it."`
}

// Run ends a run.
func (c *RunsEnd) Run(s *cli.Session) error {
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	before, err := in.Rows.Run(s.Ctx, "", c.ID)
	if err != nil {
		return missing(err, "run", c.ID)
	}
	run, err := in.Rows.EndRunBy(s.Ctx, c.ID, endedByPerson, place.ByCLI)
	if err != nil {
		return err
	}
	slugs, err := names.Slugs(s, in)
	if err != nil {
		return err
	}
	shown := operatorapi.RunOf(run, slugs)
	if c.JSON {
		return s.Out.JSON(shown)
	}
	if !before.Open {
		s.Out.Printf("run %s had ended before: %s\n", run.ID, stateOf(shown))
		return nil
	}
	s.Out.Printf("run %s of agent %s is ended; what is being delivered is finished and recorded, its questions and kept pages are gone\n", run.ID, shown.Agent)
	return nil
}

// RunsReconcile is the command.
type RunsReconcile struct {
	place.DataFlags
	ID       string `arg:"" name:"run" help:"The run's id."`
	Call     string `arg:"" help:"The call of unknown outcome."`
	Verdict  string `arg:"" help:"What happened: happened, not_happened or unknown."`
	Note     string `setting:"-" help:"How you know (at most 2,000 bytes). Kept sealed." placeholder:"TEXT"`
	Evidence string `setting:"-" help:"The id of an observation of this agent that shows it." placeholder:"CALL"`
	JSON     bool   `setting:"-" help:"As JSON: the call, as the API has it."`
}

// Run states a verdict. Nothing is sent again, whatever it is.
func (c *RunsReconcile) Run(s *cli.Session) error {
	v := ledger.Reconciliation{Verdict: ledger.Verdict(c.Verdict), Note: c.Note, Evidence: c.Evidence, By: ledger.By{Kind: "operator", ID: place.ByCLI}}
	if err := v.Check(); err != nil {
		return &cli.UsageError{Err: err}
	}
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := in.Rows.Reconcile(s.Ctx, "", c.ID, c.Call, v)
	switch {
	case errors.Is(err, ledger.ErrInFlight):
		return fmt.Errorf("%w: its process carries it out or is not known to be dead yet; try again in a minute", err)
	case errors.Is(err, ledger.ErrNotUncertain), errors.Is(err, ledger.ErrReconciled):
		return fmt.Errorf("%w; `%s runs show %s %s%s` tells it", err, place.CalledAs(), c.ID, c.Call, c.Again())
	case err != nil:
		return missing(err, "run with such a call", c.ID+" "+c.Call)
	}
	slugs, err := names.Slugs(s, in)
	if err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(operatorapi.CallOf(r, slugs))
	}
	s.Out.Printf("call %s of agent %s: %s; it holds its run no more, and nothing is sent again for it\n", r.ID, slugs[r.Agent], r.Verdict.Verdict)
	return nil
}

// bounded checks the limit of a list.
func bounded(limit int) error {
	if limit < 1 || limit > mostListed {
		return cli.Misused("--limit is %d, must be 1 to %d", limit, mostListed)
	}
	return nil
}

// missing words that a row is not there; other errors stay.
func missing(err error, what, id string) error {
	if errors.Is(err, ledger.ErrNotFound) {
		return fmt.Errorf("there is no %s %q here; `%s runs` lists runs", what, id, place.CalledAs())
	}
	return err
}
