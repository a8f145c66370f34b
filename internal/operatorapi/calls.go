// This file is tool calls: calling, showing, stopping, reconciling, and the whole run for export.
package operatorapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/observation"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/tool"
)

type callingTool struct {
	OfRun
	ContentType string `header:"Content-Type" hidden:"true"`
	RawBody     []byte `contentType:"application/json"`
}

// OfCall names a call of a run.
type OfCall struct {
	OfRun
	Call string `path:"call" maxLength:"80"`
}

type listingCalls struct {
	OfRun
	After int64 `query:"after" minimum:"0" doc:"Only calls behind this place in the run."`
	Limit int   `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

type reconciling struct {
	OfCall
	Body wire.Reconcile
}

// callBytes bounds the body of a tool call: 256 KiB of arguments and what stands around them.
const callBytes = 260 << 10

func (s *Server) registerCalls() {
	gate.HandleWith(s.gate, "call-tool", s.documentCall, s.callTool)
	gate.Handle(s.gate, "list-tool-calls", func(ctx context.Context, v *gate.Visit, in *listingCalls) (wire.Calls, error) {
		found, err := s.d.Rows.CallsOf(ctx, v.Owner(), v.Run.ID, in.After, in.Limit)
		out := wire.Calls{Calls: []wire.Call{}}
		for _, r := range found {
			c := callOf(r, map[string]string{v.Agent.ID: v.Agent.Slug})
			if err := s.nameVerdict(ctx, v, c.Verdict); err != nil {
				return out, err
			}
			out.Calls = append(out.Calls, c)
		}
		if len(found) == in.Limit {
			out.Next = strconv.FormatInt(found[len(found)-1].Seq, 10)
		}
		return out, err
	})
	gate.Handle(s.gate, "show-tool-call", func(ctx context.Context, v *gate.Visit, in *OfCall) (wire.Record, error) {
		r, err := s.d.Rows.Call(ctx, v.Owner(), v.Run.ID, in.Call)
		if err != nil {
			return wire.Record{}, err
		}
		return s.shownTo(ctx, v, r)
	})
	gate.Handle(s.gate, "cancel-tool-call", func(ctx context.Context, v *gate.Visit, in *OfCall) (wire.Call, error) {
		stopped, err := s.d.Ledger.Cancel(ctx, v.Owner(), v.Run.ID, in.Call)
		if err != nil {
			return wire.Call{}, err
		}
		r, err := s.d.Rows.Call(ctx, v.Owner(), v.Run.ID, in.Call)
		if err == nil && !stopped {
			err = gate.Conflict("too late: the call is " + string(r.State) + "; only an effect that was not dispatched yet can be stopped")
		}
		return callOf(r, map[string]string{v.Agent.ID: v.Agent.Slug}), err
	})
	gate.Handle(s.gate, "reconcile-tool-call", func(ctx context.Context, v *gate.Visit, in *reconciling) (wire.Record, error) {
		by := ledger.By{Kind: "harness", ID: v.Token.TokenID}
		if v.Kind != route.Harness {
			by = ledger.By{Kind: "operator", ID: v.Person.Person.ID}
		}
		r, err := s.d.Ledger.Reconcile(ctx, v.Owner(), v.Run.ID, in.Call,
			ledger.Reconciliation{Verdict: ledger.Verdict(in.Body.Verdict), Note: oneLine(in.Body.Note), Evidence: oneLine(in.Body.Evidence), By: by})
		if errors.Is(err, ledger.ErrReconciled) {
			return wire.Record{}, s.stands(ctx, v, in.Call, err)
		}
		if err != nil {
			return wire.Record{}, err
		}
		return s.shownTo(ctx, v, r)
	})
	gate.Handle(s.gate, "list-evidence", func(ctx context.Context, v *gate.Visit, in *listingCalls) (wire.EvidenceList, error) {
		out := wire.EvidenceList{Conversation: v.Run.Conversation, Evidence: []wire.Evidence{}}
		found, err := s.d.Rows.CallsOf(ctx, v.Owner(), v.Run.ID, in.After, in.Limit)
		for _, r := range found {
			if r.State == effect.Refused {
				continue
			}
			if r, err = s.d.Rows.Call(ctx, v.Owner(), v.Run.ID, r.ID); err != nil {
				return out, err
			}
			out.Evidence = append(out.Evidence, evidenceOf(r)...)
		}
		if len(found) == in.Limit {
			out.Next = strconv.FormatInt(found[len(found)-1].Seq, 10)
		}
		return out, err
	})
	gate.HandleWith(s.gate, "export-run", s.documentJSON(reflect.TypeFor[wire.Export]()), s.export)
}

// stream is an answer that is written by itself.
type stream struct {
	Body func(huma.Context)
}

// documentJSON documents the answer of a stream that is one JSON value.
func (s *Server) documentJSON(t reflect.Type) func(*huma.Operation) {
	return func(op *huma.Operation) {
		op.Responses["200"] = &huma.Response{Description: http.StatusText(http.StatusOK), Content: map[string]*huma.MediaType{
			"application/json": {Schema: s.gate.Schema(t)}}}
	}
}

func (s *Server) documentCall(op *huma.Operation) {
	s.documentJSON(reflect.TypeFor[wire.Record]())(op)
	failed := &huma.MediaType{Schema: &huma.Schema{OneOf: []*huma.Schema{
		s.gate.Schema(reflect.TypeFor[wire.Problem]()), s.gate.Schema(reflect.TypeFor[wire.Failed]())}}}
	for _, status := range []int{400, 403, 409, 422, 429} {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: "Refused: the call's record as a problem document",
			Content: map[string]*huma.MediaType{gate.ProblemType: failed}}
	}
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/json": {Schema: s.gate.Schema(reflect.TypeFor[wire.CallTool]())}}}
	op.MaxBodyBytes = callBytes + 1
	op.SkipValidateBody = true // the arguments are the tool's to judge, as they were sent
}

// callTool runs one call. What the model is told and what the host is told stand in the ledger before they are sent, and
// the ledger hears whether they arrived.
func (s *Server) callTool(ctx context.Context, v *gate.Visit, in *callingTool) (*stream, error) {
	if kind, _, _ := strings.Cut(in.ContentType, ";"); !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil, gate.Fail(http.StatusUnsupportedMediaType, gate.CodeInvalidRequest, gate.NoJSON)
	}
	asked, err := readCall(in.RawBody)
	if err != nil {
		return nil, err
	}
	caller := s.caller(v)
	caller.Key, caller.Approval = asked.CallID, asked.Approval
	got, err := s.d.Tools.Call(ctx, caller, asked.Tool, asked.Arguments)
	if err != nil {
		return nil, err
	}
	record, err := s.answered(ctx, v, asked.Tool, got)
	if err != nil {
		got.Delivered(false)
		return nil, err
	}
	return &stream{func(h huma.Context) {
		out := gate.ReplyOf(ctx)
		arrived := false
		defer func() { got.Delivered(arrived && ctx.Err() == nil) }()
		status := observation.HTTPStatus(record.Code)
		var body any = record
		out.Header().Set("Content-Type", "application/json")
		if status != http.StatusOK {
			out.Header().Set("Content-Type", gate.ProblemType)
			body = wire.Failed{Record: record, Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: record.Text}
		}
		text, err := gate.Encode(body)
		if err != nil { // a tool gave what is no JSON
			panic(fmt.Errorf("encode a record: %w", err))
		}
		h.SetStatus(status)
		_, _ = out.Write(text)
		arrived = out.Flush() == nil
	}}, nil
}

// readCall reads a call. What the arguments hold is left as it was sent.
func readCall(body []byte) (wire.CallTool, error) {
	var out wire.CallTool
	bad := func(field, why string) (wire.CallTool, error) {
		return out, gate.Fail(http.StatusBadRequest, gate.CodeInvalidRequest, field+": "+why).At(field)
	}
	got, err := gate.Members(body, "tool", "arguments", "call_id", "approval")
	if err != nil {
		return out, gate.Fail(http.StatusBadRequest, gate.CodeInvalidRequest, err.Error()+"; it takes tool, arguments, call_id and approval")
	}
	for _, m := range []struct {
		name        string
		into        *string
		least, most int
	}{{"tool", &out.Tool, 1, 64}, {"call_id", &out.CallID, 8, 128}, {"approval", &out.Approval, 1, 64}} {
		raw, given := got[m.name]
		if !given {
			continue
		}
		if raw[0] != '"' || json.Unmarshal(raw, m.into) != nil || len(*m.into) < m.least || len(*m.into) > m.most {
			return bad(m.name, fmt.Sprintf("a string of %d to %d characters", m.least, m.most))
		}
	}
	if out.Tool == "" {
		return bad("tool", "name the tool")
	}
	for name, text := range map[string]string{"call_id": out.CallID, "approval": out.Approval} {
		if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
			return bad(name, "printable ASCII characters only")
		}
	}
	out.Arguments = got["arguments"]
	return out, nil
}

// answered is the record of a call that was just made: what stands in the ledger, with the text as it is told now.
func (s *Server) answered(ctx context.Context, v *gate.Visit, name string, got tool.Result) (wire.Record, error) {
	out := wire.Record{Call: wire.Call{Run: v.Run.ID, Agent: v.Agent.Slug, Conversation: v.Run.Conversation, Tool: name, State: string(effect.Refused),
		Class: string(effect.Observation), IsError: true, Delivery: deliveries[ledger.Waiting]}, Evidence: []wire.Evidence{}, Why: []wire.Reason{}}
	if got.Call != "" {
		r, err := s.d.Rows.Call(ctx, v.Token.AgentID, got.Run, got.Call)
		if err != nil {
			return out, err
		}
		if out, err = s.recordOf(r, v.Agent.Slug); err != nil {
			return out, err
		}
	}
	out.Text = got.Text()
	if got.Code != "" {
		out.Code = got.Code
	}
	if got.Failure != nil {
		out.Error, out.Output = got.Structured, nil
	} else if got.Output != nil {
		out.Output = got.Output
	}
	return out, nil
}

var deliveries = map[ledger.Delivery]string{ledger.Waiting: "waiting", ledger.HandedOver: "handed_over", ledger.CallerGone: "caller_gone"}

func callOf(r ledger.Record, slugs map[string]string) wire.Call {
	out := wire.Call{ID: r.ID, Run: r.Run, Agent: slugs[r.Agent], Conversation: r.Conversation, Seq: r.Seq, Tool: r.Tool, Capability: r.Capability,
		Provider: r.Binding.Provider, Class: string(r.Class), State: string(r.State), Outcome: string(r.Outcome), Code: r.Code, IsError: r.IsError,
		Withheld: r.Withheld, CallerID: r.Key, Approval: r.Approval, Delivery: deliveries[r.Delivery],
		Host: r.Host, Created: r.Created.UTC(), Dispatched: moment(r.Dispatched), Ended: moment(r.Ended)}
	for _, e := range r.Evidence {
		if out.Host == "" {
			out.Host = e.Host
		}
	}
	if v := r.Verdict; v != nil {
		out.Verdict = &wire.Verdict{Verdict: string(v.Verdict), Note: v.Note, Evidence: v.Evidence, ByKind: v.By.Kind, By: v.By.ID, At: v.At.UTC()}
	}
	return out
}

// stands is the conflict of a verdict with the one that was given before: which it is, by whom and when.
func (s *Server) stands(ctx context.Context, v *gate.Visit, call string, conflict error) error {
	r, err := s.d.Rows.Call(ctx, v.Owner(), v.Run.ID, call)
	if err != nil || r.Verdict == nil {
		return conflict
	}
	said := callOf(r, nil).Verdict
	if err := s.nameVerdict(ctx, v, said); err != nil {
		return conflict
	}
	f := s.gate.Failed(conflict)
	f.Detail = "the verdict " + said.Verdict + " was given before, and a verdict stands"
	f.ChangedBy, f.ByName, f.ChangedAt = said.By, said.ByName, &said.At
	return f
}

// shownTo is a call in full as somebody may see it.
func (s *Server) shownTo(ctx context.Context, v *gate.Visit, r ledger.Record) (wire.Record, error) {
	out, err := s.recordOf(r, v.Agent.Slug)
	if err != nil {
		return out, err
	}
	return out, s.nameVerdict(ctx, v, out.Verdict)
}

func (s *Server) recordOf(r ledger.Record, slug string) (wire.Record, error) {
	out := wire.Record{Call: callOf(r, map[string]string{r.Agent: slug}), CredentialOwner: r.Binding.CredentialOwner(), AccountSource: connection.NoAccount,
		Arguments: r.Args, Evidence: evidenceOf(r), Why: []wire.Reason{}}
	switch r.Binding.AccountOwner {
	case "": // refused before it was bound to anything
		out.CredentialOwner = connection.NoAccount
	case connection.NoAccount:
	default:
		out.AccountSource = "owner"
	}
	for _, w := range r.Why {
		out.Why = append(out.Why, wire.Reason{Stage: w.Stage, At: w.At.UTC(), Fact: w.Fact, Ref: w.Ref})
	}
	told, err := s.d.Tools.Told(r)
	if err != nil {
		return out, err
	}
	out.Text, out.Output, out.Error = told.Text, told.Output, told.Error
	if told.Image != nil {
		out.Image = &wire.Image{Artifact: told.Image.Artifact, MIME: told.Image.MIME}
	}
	late, err := tool.DecodeStored(r.Late)
	if err != nil && !errors.Is(err, tool.ErrNotStored) {
		return out, fmt.Errorf("late result of %s: %w", r.ID, err)
	}
	out.Late = late.Text
	return out, nil
}

func evidenceOf(r ledger.Record) []wire.Evidence {
	out := []wire.Evidence{}
	for _, e := range r.Evidence {
		out = append(out, wire.Evidence{ID: r.ID + "." + strconv.FormatInt(e.N, 10), Conversation: e.Conversation, Kind: e.Kind, Host: e.Host, URL: e.URL,
			Title: e.Title, SHA256: e.SHA256, Chars: e.Chars, Artifact: e.Artifact, Thin: e.Thin, Provider: e.Provider, CredentialOwner: e.CredentialOwner, At: e.At.UTC()})
	}
	return out
}

// export writes a whole run, call by call, so that a long one is never in memory at once. Where it cannot go on it cuts
// the answer off: half of a run must not look like one.
func (s *Server) export(ctx context.Context, v *gate.Visit, _ *OfRun) (*stream, error) {
	return &stream{func(h huma.Context) {
		out := gate.ReplyOf(ctx)
		write := func(value any) {
			text, err := gate.Encode(value)
			if err == nil {
				_, err = out.Write(text)
			}
			s.orAbort(out, err)
		}
		out.Header().Set("Content-Type", "application/json")
		out.Header().Set("Content-Disposition", `attachment; filename="`+v.Run.ID+`.json"`)
		h.SetStatus(http.StatusOK)
		_, _ = out.Write([]byte(`{"run":`))
		write(runOf(v.Run, map[string]string{v.Agent.ID: v.Agent.Slug}))
		_, _ = out.Write([]byte(`,"calls":[`))
		for after, first := int64(0), true; ; {
			found, err := s.d.Rows.CallsOf(ctx, v.Owner(), v.Run.ID, after, 100)
			s.orAbort(out, err)
			for _, r := range found {
				after = r.Seq
				r, err := s.d.Rows.Call(ctx, v.Owner(), v.Run.ID, r.ID)
				s.orAbort(out, err)
				record, err := s.shownTo(ctx, v, r)
				s.orAbort(out, err)
				if !first {
					_, _ = out.Write([]byte(","))
				}
				first = false
				write(record)
			}
			if len(found) < 100 {
				break
			}
		}
		_, _ = out.Write([]byte("]}\n"))
	}}, nil
}

func (s *Server) orAbort(out *gate.Reply, err error) {
	if err != nil {
		s.gate.Abort(out, err)
	}
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
