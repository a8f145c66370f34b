// This file is `wayleave audit`: what people decided, and whether the record of it still is what it was.
package keeping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/names"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// Audit is the command.
type Audit struct {
	List       AuditList       `cmd:"" default:"withargs" help:"List what people decided, newest first (what audit alone does)."`
	Verify     AuditVerify     `cmd:"" help:"Check the whole chain of entries: exit 1 where it does not hold."`
	Checkpoint AuditCheckpoint `cmd:"" help:"Check the chain and print where it stands, as a line to keep elsewhere."`
}

// AuditList is the command.
type AuditList struct {
	place.DataFlags
	To      string `arg:"" optional:"" name:"subject" help:"Only what was done to this one: an agent, a person, or the id of another row, such as a token or a run."`
	Actor   string `setting:"-" help:"Only what this one did: a person's or an agent's name, cli, system, local." placeholder:"WHO"`
	Verb    string `setting:"-" help:"Only this, such as approval.answered." placeholder:"VERB"`
	Subject string `setting:"-" help:"The same as the argument." placeholder:"WHAT"`
	Before  string `setting:"-" help:"Only entries older than this one: the last of the list before." placeholder:"ID"`
	Limit   int    `setting:"-" default:"50" help:"At most so many (1–500; default 50)." placeholder:"N"`
	JSON    bool   `setting:"-" help:"As JSON: an array of entries, as the API has them."`
}

// Run lists entries.
func (c *AuditList) Run(s *cli.Session) error {
	if c.Limit < 1 || c.Limit > audit.MostLimit {
		return cli.Misused("--limit is %d, must be 1 to %d", c.Limit, audit.MostLimit)
	}
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	called, err := names.Of(s, in)
	if err != nil {
		return err
	}
	actor, err := called.ActorNamed(c.Actor)
	if err != nil {
		return cli.Misused("--actor: %v", err)
	}
	subject, err := called.Row(cmp.Or(c.To, c.Subject))
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	found, err := in.Trail.List(s.Ctx, audit.Filter{Actor: actor, Verb: c.Verb, Subject: subject, Before: c.Before, Limit: c.Limit})
	if err != nil {
		return err
	}
	rows := []wire.AuditRow{}
	for _, r := range found {
		rows = append(rows, operatorapi.AuditOf(r, called))
	}
	if c.JSON {
		return s.Out.JSON(rows)
	}
	err = cli.Table(s, "AT\tACTOR\tVERB\tSUBJECT\tDETAIL\tDID", func(row func(...any)) {
		for _, r := range rows {
			row(cli.When(r.At), names.Actor(called, r.Actor), r.Verb, names.Row(called, r.Subject), cli.OneLine(called.Said(string(r.Detail))), cli.OneLine(r.Says))
		}
	})
	if len(found) == c.Limit {
		s.Err.Printf("there may be older ones: --before %s\n", found[len(found)-1].ID)
	}
	return err
}

// AuditVerify is the command.
type AuditVerify struct {
	place.DataFlags
	Against []string `setting:"-" help:"Checkpoints that were kept elsewhere: a file with their lines, such as a log, or such a line itself; - for standard input. May be given again." placeholder:"FILE|TEXT" sep:"none"`
	JSON    bool     `setting:"-" help:"As JSON: holds, rows, head, faults and what was compared."`
}

// verdict is what was found, as JSON.
type verdict struct {
	Holds   bool   `json:"holds"`
	Rows    int64  `json:"rows"`
	Link    int64  `json:"link"` // of the last row
	Hash    string `json:"hash,omitempty"`
	Purged  int64  `json:"purged"` // up to this link rows were removed in order
	Waiting int64  `json:"waiting"`
	Marks   int    `json:"checkpoints_compared"`
	Outside int    `json:"checkpoints_from_elsewhere_compared"`
	Past    int    `json:"checkpoints_from_elsewhere_past"`
	Faults  []flaw `json:"faults"`
	Count   int64  `json:"fault_count"`
}

type flaw struct {
	Kind audit.FaultKind `json:"kind"`
	Link int64           `json:"link"`
	To   int64           `json:"to"`
	ID   string          `json:"id,omitempty"`
	Text string          `json:"text"`
}

// Run checks the chain.
func (c *AuditVerify) Run(s *cli.Session) error {
	against, err := c.checkpoints(s)
	if err != nil {
		return err
	}
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := verified(s, in, against)
	if err != nil {
		return err
	}
	if c.JSON {
		v := verdict{r.OK(), r.Rows, r.Head.Link, r.Head.Hash, r.Purged, r.Waiting, r.Marks, r.Outside, r.Past, []flaw{}, r.Count}
		for _, f := range r.Faults {
			v.Faults = append(v.Faults, flaw{f.Kind, f.Link, f.To, f.ID, f.Text})
		}
		if err := s.Out.JSON(v); err != nil {
			return err
		}
	} else {
		c.print(s, r, len(against) > 0)
	}
	if !r.OK() {
		return cli.ErrTold
	}
	return nil
}

func (c *AuditVerify) print(s *cli.Session, r audit.Report, outside bool) {
	for _, f := range r.Faults {
		s.Out.Printf("%s: %s\n", f.Kind, f.Text)
	}
	if more := r.Count - int64(len(r.Faults)); more > 0 {
		s.Out.Printf("and %d more\n", more)
	}
	if r.OK() {
		s.Out.Printf("the chain holds: %d entries, up to link %d; %d checkpoints of the database compared\n", r.Rows, r.Head.Link, r.Marks)
	} else {
		s.Out.Printf("the chain does not hold: %d entries looked at, %d faults. Keep a copy of the database as it is; `wayleave backup` makes one\n", r.Rows, r.Count)
	}
	if r.Purged > 0 {
		s.Out.Printf("entries up to link %d were removed in order, their time of keeping being over\n", r.Purged)
	}
	if r.Waiting > 0 {
		s.Out.Printf("%d entries wait to be linked since %s; a running server does that each second\n", r.Waiting, cli.When(r.Oldest))
	}
	switch {
	case !outside:
		s.Out.Printf("who may write to the database could have cut off its end, or made all of it anew with the install's key: only checkpoints that were kept elsewhere show that (--against)\n")
	case r.Past > 0:
		s.Out.Printf("%d checkpoints from elsewhere compared, %d are of entries that were removed in order\n", r.Outside, r.Past)
	default:
		s.Out.Printf("%d checkpoints from elsewhere compared\n", r.Outside)
	}
}

// checkpoints reads what was kept elsewhere.
func (c *AuditVerify) checkpoints(s *cli.Session) (all []audit.Checkpoint, err error) {
	for _, what := range c.Against {
		found, err := kept(s, what)
		if err != nil {
			return nil, cli.Misused("--against: %v", err)
		}
		all = append(all, found...)
	}
	return all, nil
}

func kept(s *cli.Session, what string) ([]audit.Checkpoint, error) {
	var from io.Reader
	switch {
	case what == "-":
		from = s.In
	case strings.Contains(what, "wayleave-audit-checkpoint "):
		from = strings.NewReader(what)
	default:
		f, err := cli.Open(s.Ctx, what)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	return audit.ReadCheckpoints(from)
}

func verified(s *cli.Session, in *install.Install, against []audit.Checkpoint) (audit.Report, error) {
	done := s.Err.Progress("checking")
	defer done()
	return audit.Verify(s.Ctx, in.Trail, in.Keys.AuditKey(), in.Label, against)
}

// AuditCheckpoint is the command.
type AuditCheckpoint struct {
	place.DataFlags
	JSON bool `setting:"-" help:"As JSON: install, link, at, hash, line."`
}

// Run prints where the chain stands. A chain that does not hold has no checkpoint: it would make what is wrong look
// right.
func (c *AuditCheckpoint) Run(s *cli.Session) error {
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := verified(s, in, nil)
	switch {
	case err != nil:
		return err
	case !r.OK():
		return fmt.Errorf("the chain does not hold, so there is nothing to keep; `%s audit verify%s` says where", place.CalledAs(), c.Again())
	case r.Rows == 0:
		return errors.New("no entry is linked yet; a running server does that each second")
	}
	mark, err := in.Trail.Mark(context.WithoutCancel(s.Ctx), r.Head)
	if err != nil {
		return err
	}
	mark.Install = in.Label
	if c.JSON {
		return s.Out.JSON(map[string]any{"install": mark.Install, "link": mark.Link, "at": mark.At, "hash": mark.Hash, "line": mark.String()})
	}
	s.Err.Printf("keep this line where who may write to the database cannot change it; `wayleave audit verify --against` takes it\n")
	s.Out.Printf("%s\n", mark.String())
	return nil
}
