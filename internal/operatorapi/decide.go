// This file is what waits for a person: questions, calls of unknown outcome, and the queue that joins them.
package operatorapi

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

type listingApprovals struct {
	Paging
	Agent string `query:"agent" maxLength:"40" doc:"Slug of one agent."`
	Run   string `query:"run" maxLength:"80"`
	Open  bool   `query:"open" doc:"Only those that can be answered."`
}

// OfApproval names a question.
type OfApproval struct {
	Approval string `path:"approval" maxLength:"80"`
}

type answering struct {
	OfApproval
	Body wire.Answer
}

const (
	// held is how long a call waits for a person before it moves on.
	held = 55 * time.Second
	// mostWaiting bounds what of a kind is looked at for the queue.
	mostWaiting = 500
)

func (s *Server) registerDecisions() {
	gate.Handle(s.gate, "list-approvals", func(ctx context.Context, v *gate.Visit, in *listingApprovals) (wire.Approvals, error) {
		out := wire.Approvals{Approvals: []wire.Approval{}}
		if err := cursorIn("apr", in.Cursor); err != nil {
			return out, err
		}
		agents := v.Scope()
		if in.Agent != "" {
			a, err := s.d.Agents.BySlug(ctx, in.Agent)
			if err != nil {
				return out, err
			}
			if !v.Sees(a.ID) {
				return out, gate.NotFound()
			}
			agents = []string{a.ID}
		}
		found, err := s.d.Approvals.List(ctx, approval.Filter{Agents: agents, Run: in.Run, Open: in.Open, Before: in.Cursor, Limit: in.Limit})
		if err != nil {
			return out, err
		}
		names, err := s.names(ctx)
		for _, a := range found {
			out.Approvals = append(out.Approvals, ApprovalOf(a, names))
		}
		if len(found) == in.Limit {
			out.Next = found[len(found)-1].ID
		}
		return out, err
	})
	gate.Handle(s.gate, "show-approval", func(ctx context.Context, v *gate.Visit, _ *OfApproval) (wire.Approval, error) {
		names, err := s.names(ctx)
		return ApprovalOf(v.Approval, names), err
	})
	gate.Handle(s.gate, "answer-approval", func(ctx context.Context, v *gate.Visit, in *answering) (wire.Approval, error) {
		a, err := s.d.Approvals.Answer(ctx, v.Approval.ID, s.reply(v, approval.Answer(in.Body.Answer)))
		if err == nil {
			names, err := s.names(ctx)
			return ApprovalOf(a, names), err
		}
		f := s.gate.Failed(err)
		if f.Status == http.StatusConflict && a.AnsweredBy != "" { // one of two people wins; the other reads who did
			f.Detail = fmt.Sprintf("the question is %s", a.State)
			f.ChangedBy, f.ChangedAt = a.AnsweredBy, moment(a.Answered)
			if names, err := s.names(ctx); err == nil {
				f.ByName = names.Actor(a.AnsweredBy)
			}
		}
		return wire.Approval{}, f
	})
	gate.Handle(s.gate, "deny-all-approvals", func(ctx context.Context, v *gate.Visit, _ *OfAgent) (wire.Denied, error) {
		ids, err := s.d.Approvals.DenyAll(ctx, []string{v.Agent.ID}, s.reply(v, approval.Deny))
		if ids == nil {
			ids = []string{}
		}
		return wire.Denied{Approvals: ids}, err
	})
	gate.Handle(s.gate, "needs-you", s.needsYou)
}

// reply is a person's answer, by the channel that it came through.
func (s *Server) reply(v *gate.Visit, a approval.Answer) approval.Reply {
	r := approval.Reply{Answer: a, Channel: approval.API, By: v.By()}
	if v.Session() {
		r.Channel = approval.Page
	}
	return r
}

func (s *Server) openApprovals(ctx context.Context, agents []string, run string) ([]approval.Approval, error) {
	return s.d.Approvals.List(ctx, approval.Filter{Agents: agents, Run: run, Open: true, Limit: mostWaiting})
}

// needsYou joins what waits for a person. What runs out first comes first; what does not run out is told oldest first.
func (s *Server) needsYou(ctx context.Context, v *gate.Visit, in *Paging) (wire.NeedsYou, error) {
	out := wire.NeedsYou{Items: []wire.Waiting{}}
	open, err := s.openApprovals(ctx, v.Scope(), "")
	if err != nil {
		return out, err
	}
	unknown, err := s.d.Watch.Uncertain(ctx, v.Scope(), mostWaiting)
	if err != nil {
		return out, err
	}
	slugs, err := s.slugs(ctx)
	if err != nil {
		return out, err
	}
	out.Approvals, out.Uncertain = len(open), len(unknown)
	slices.SortFunc(open, func(a, b approval.Approval) int { return a.Expires.Compare(b.Expires) })
	var all []wire.Waiting
	for _, a := range open {
		all = append(all, wire.Waiting{Kind: "approval", ID: a.ID, Agent: a.Slug, Run: a.Run, Tool: a.Tool, Tier: string(a.Facts.Tier), Host: a.Facts.Origin,
			Says: a.Message, Since: a.Created.UTC(), Expires: moment(a.Expires)})
	}
	for _, r := range unknown {
		c := callOf(r, slugs)
		all = append(all, wire.Waiting{Kind: "uncertain", ID: r.ID, Agent: c.Agent, Run: r.Run, Tool: r.Tool, Host: c.Host,
			Says: r.Tool + " was sent and nobody saw the answer; effects of this run are held", Since: r.Created.UTC()})
	}
	from := 0
	if in.Cursor != "" {
		if from = slices.IndexFunc(all, func(w wire.Waiting) bool { return w.ID == in.Cursor }) + 1; from == 0 {
			return out, gate.Unprocessable("cursor", errCursor)
		}
	}
	to := min(from+in.Limit, len(all))
	out.Items = append(out.Items, all[from:to]...)
	if to < len(all) {
		out.Next = all[to-1].ID
	}
	recent, err := s.d.Approvals.List(ctx, approval.Filter{Agents: v.Scope(), Limit: 20})
	for _, a := range recent {
		if a.AnsweredBy != "" {
			last := ApprovalOf(a, nil) // when it was, not by whom
			out.LastAnswer = &last
			break
		}
	}
	return out, err
}

// ApprovalOf is a question as the API shows it.
func ApprovalOf(a approval.Approval, names Names) wire.Approval {
	out := wire.Approval{ID: a.ID, Agent: a.Slug, Run: a.Run, Tool: a.Tool, Tier: string(a.Facts.Tier.Known()), State: string(a.State), Question: a.Message,
		Origin: a.Facts.Origin, Does: a.Facts.Does, Credential: a.Facts.Credential, Description: a.Facts.Description, Profile: a.Profile,
		Digest: hex.EncodeToString(a.Digest), Answers: []string{}, Channel: string(a.Channel), AnsweredBy: a.AnsweredBy, ByName: names.Actor(a.AnsweredBy),
		Created: a.Created.UTC(), Expires: a.Expires.UTC(), Answered: moment(a.Answered), GoodUntil: moment(a.GoodUntil), UsedBy: a.UsedBy}
	for _, in := range a.Facts.Inputs {
		out.Inputs = append(out.Inputs, wire.Input{Name: in.Name, Value: in.Value, Masked: in.Masked})
	}
	if a.State == approval.Open {
		out.Answers = []string{string(approval.Once), string(approval.Deny)}
		out.WaitsUntil = moment(a.Created.Add(held))
	}
	return out
}
