// This file is `wayleave approvals`: a person answers what agents ask, where no page can press the button.
package keeping

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/names"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// Approvals is the command.
type Approvals struct {
	Review ApprovalsReview `cmd:"" default:"withargs" help:"Show what waits for an answer, or one question, and on a terminal ask it one by one (what approvals alone does)."`
	Answer ApprovalsAnswer `cmd:"" help:"Answer one question."`
}

// terminalReply is an answer that is given here.
func terminalReply(a approval.Answer) approval.Reply {
	return approval.Reply{Answer: a, Channel: approval.Terminal, By: place.ByCLI}
}

// ApprovalsReview is the command.
type ApprovalsReview struct {
	place.DataFlags
	Agent   string `setting:"-" help:"Only this agent's." placeholder:"SLUG"`
	All     bool   `setting:"-" help:"The last 100, answered ones too; nothing is asked."`
	List    bool   `setting:"-" help:"Ask nothing, on a terminal either."`
	DenyAll bool   `setting:"-" help:"Deny all that waits."`
	JSON    bool   `setting:"-" help:"As JSON: an array of approvals, as the API has them; with --deny-all the ids that were denied. Nothing is asked."`
	ID      string `arg:"" optional:"" name:"approval" help:"Only this question, in full."`
}

// mostShown is how many approvals are shown at once.
const mostShown = 100

// Run shows what waits, and asks it where somebody can answer.
func (c *ApprovalsReview) Run(s *cli.Session) error {
	if c.DenyAll && c.All {
		return cli.Misused("--deny-all and --all do not go together")
	}
	if c.ID != "" && (c.Agent != "" || c.All || c.DenyAll) {
		return cli.Misused("--agent, --all and --deny-all are of the list, not of the question %s", c.ID)
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
	if c.DenyAll {
		return c.denyAll(s, in, only)
	}
	found, err := c.found(s, in, only)
	if err != nil {
		return err
	}
	called, err := names.Of(s, in)
	if err != nil {
		return err
	}
	if c.JSON {
		shown := []wire.Approval{}
		for _, a := range found {
			shown = append(shown, operatorapi.ApprovalOf(a, called))
		}
		return s.Out.JSON(shown)
	}
	if len(found) == 0 {
		s.Out.Printf("nothing waits for an answer\n")
		return nil
	}
	if c.ID != "" && (found[0].State != approval.Open || !s.Interactive() || c.List) {
		question(s, found[0])
		s.Out.Printf("\n  it is %s%s\n", found[0].State, c.way(found[0], called))
		return nil
	}
	if s.Interactive() && !c.All && !c.List {
		// What runs out first is asked first.
		slices.SortFunc(found, func(a, b approval.Approval) int { return a.Expires.Compare(b.Expires) })
		return c.ask(s, in, found)
	}
	return cli.Table(s, "APPROVAL\tAGENT\tTOOL\tSTATE\tUNTIL\tQUESTION", func(row func(...any)) {
		for _, a := range found {
			state := string(a.State)
			if a.AnsweredBy != "" {
				state += " by " + names.Actor(called, a.AnsweredBy)
			}
			row(a.ID, a.Slug, a.Tool, state, cli.When(a.Expires), cli.OneLine(cmp.Or(a.Message, "-")))
		}
	})
}

// found are the questions that are meant.
func (c *ApprovalsReview) found(s *cli.Session, in *install.Install, only []string) ([]approval.Approval, error) {
	if c.ID == "" {
		return in.Approvals.List(s.Ctx, approval.Filter{Agents: only, Open: !c.All, Limit: mostShown})
	}
	a, err := in.Approvals.Show(s.Ctx, c.ID)
	if errors.Is(err, approval.ErrNotFound) {
		return nil, noQuestion(c.ID, c.DataFlags)
	}
	return []approval.Approval{a}, err
}

// way says how a question is answered, or by whom it was.
func (c *ApprovalsReview) way(a approval.Approval, called operatorapi.Names) string {
	switch {
	case a.State == approval.Open:
		return fmt.Sprintf(" until %s UTC: `%s approvals answer %s once|deny%s`", cli.When(a.Expires), place.CalledAs(), a.ID, c.Again())
	case a.AnsweredBy != "":
		return fmt.Sprintf(", answered by %s at %s UTC", names.Actor(called, a.AnsweredBy), cli.When(a.Answered))
	}
	return ""
}

func noQuestion(id string, d place.DataFlags) error {
	return fmt.Errorf("there is no question %q here; `%s approvals%s` shows what waits", id, place.CalledAs(), d.Again())
}

func (c *ApprovalsReview) denyAll(s *cli.Session, in *install.Install, only []string) error {
	denied, err := in.Approvals.DenyAll(s.Ctx, only, terminalReply(approval.Deny))
	if err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(append([]string{}, denied...))
	}
	s.Out.Printf("denied %d\n", len(denied))
	for _, id := range denied {
		s.Out.Printf("  %s\n", id)
	}
	return nil
}

// ask shows one question after the other. Only a whole word answers: a key that was hit too early does not.
func (c *ApprovalsReview) ask(s *cli.Session, in *install.Install, open []approval.Approval) error {
	lines := bufio.NewScanner(s.In)
	for n, a := range open {
		s.Out.Printf("question %d of %d, until %s\n", n+1, len(open), a.Expires.Local().Format(time.TimeOnly))
		question(s, a)
		s.Out.Printf("\nonce, deny, or nothing to leave it: ")
		if !lines.Scan() {
			s.Out.Printf("\n")
			return lines.Err()
		}
		answer := approval.Answer(strings.TrimSpace(lines.Text()))
		switch answer {
		case approval.Once, approval.Deny:
			switch done, err := in.Approvals.Answer(s.Ctx, a.ID, terminalReply(answer)); {
			case errors.Is(err, approval.ErrNotOpen):
				s.Out.Printf("too late: it is %s\n\n", done.State)
			case err != nil:
				return err
			default:
				s.Out.Printf("%s\n\n", answered(done))
			}
		default:
			s.Out.Printf("left open\n\n")
		}
	}
	return nil
}

// question prints all that is in a question: a yes is a yes to all of it.
func question(s *cli.Session, a approval.Approval) {
	f := a.Facts
	s.Out.Printf("\n  %s\n\n  %s in run %s, tier %s\n", cmp.Or(a.Message, "(its text is not kept any more)"), a.ID, a.Run, f.Tier)
	if f.Origin != "" {
		s.Out.Printf("  where      %s\n", f.Origin)
	}
	if f.Credential != "" {
		s.Out.Printf("  signs in   %s\n", f.Credential)
	}
	if f.Description != "" {
		s.Out.Printf("  its author says:\n%s", quoted(f.Description))
	}
	for _, in := range f.Inputs {
		if in.Masked {
			s.Out.Printf("  input      %s (not shown, not kept)\n", in.Name)
			continue
		}
		s.Out.Printf("  the model gave %s:\n%s", in.Name, quoted(in.Value))
	}
}

// quoted marks each line as somebody else's words.
func quoted(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    | " + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

// answered says what an answer does.
func answered(a approval.Approval) string {
	if a.State == approval.Denied {
		return "denied"
	}
	return fmt.Sprintf("approved once: %s makes the same call again within %d minutes, and it runs once", a.Slug, int(approval.GoodFor.Minutes()))
}

// ApprovalsAnswer is the command.
type ApprovalsAnswer struct {
	place.DataFlags
	ID     string `arg:"" name:"approval" help:"The question's id."`
	Answer string `arg:"" help:"once or deny."`
	JSON   bool   `setting:"-" help:"As JSON: the approval, as the API has it."`
}

// Run answers one question.
func (c *ApprovalsAnswer) Run(s *cli.Session) error {
	r := terminalReply(approval.Answer(c.Answer))
	if err := r.Check(); err != nil {
		return &cli.UsageError{Err: err}
	}
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	a, err := in.Approvals.Answer(s.Ctx, c.ID, r)
	switch {
	case errors.Is(err, approval.ErrNotFound):
		return noQuestion(c.ID, c.DataFlags)
	case errors.Is(err, approval.ErrNotOpen):
		return fmt.Errorf("question %s is %s and cannot be answered any more; the agent asks again with the same call", a.ID, a.State)
	case err != nil:
		return err
	}
	if c.JSON {
		called, err := names.Of(s, in)
		if err != nil {
			return err
		}
		return s.Out.JSON(operatorapi.ApprovalOf(a, called))
	}
	s.Out.Printf("%s\n", answered(a))
	return nil
}
