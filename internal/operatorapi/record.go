// This file is what happened: the overview, the audit, the event streams, and the API's own document.
package operatorapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/operatorapi/events"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// Period is a stretch of time, at most 31 days. It is exported because it stands in requests, whose parameters are read of
// exported fields alone.
type Period struct {
	From time.Time `query:"from" doc:"Default: 24 hours before to."`
	To   time.Time `query:"to" doc:"Default: now."`
}

type listingAudit struct {
	Paging
	Actor   string `query:"actor" maxLength:"200" doc:"As in the rows, or the name of an agent or a person."`
	Verb    string `query:"verb" maxLength:"100" doc:"As in the rows, such as approval.answered."`
	Subject string `query:"subject" maxLength:"200" doc:"As in the rows, or the name of an agent or a person."`
}

// Streaming is where in a stream one was.
type Streaming struct {
	Last string `header:"Last-Event-ID" maxLength:"200" doc:"The id of the last event that was had."`
}

type streamingRun struct {
	OfRun
	Streaming
}

// longest is the longest period of an overview.
const longest = 31 * 24 * time.Hour

func (s *Server) registerRecord() {
	gate.Handle(s.gate, "overview", s.overview)
	gate.Handle(s.gate, "list-audit", func(ctx context.Context, _ *gate.Visit, in *listingAudit) (wire.AuditPage, error) {
		if err := cursorIn("audit", in.Cursor); err != nil {
			return wire.AuditPage{}, err
		}
		names, err := s.names(ctx)
		if err != nil {
			return wire.AuditPage{}, err
		}
		actor, err := names.ActorNamed(in.Actor)
		if err != nil {
			return wire.AuditPage{}, gate.Unprocessable("actor", err)
		}
		subject, err := names.Row(in.Subject)
		if err != nil {
			return wire.AuditPage{}, gate.Unprocessable("subject", err)
		}
		found, linked, waiting, err := s.d.Audit.List(ctx, audit.Filter{Actor: actor, Verb: in.Verb, Subject: subject, Before: in.Cursor, Limit: in.Limit})
		out := wire.AuditPage{Rows: []wire.AuditRow{}, Linked: linked, Waiting: waiting}
		for _, r := range found {
			out.Rows = append(out.Rows, AuditOf(r, names))
		}
		if len(found) == in.Limit {
			out.Next = found[len(found)-1].ID
		}
		return out, err
	})
	gate.HandleWith(s.gate, "events", documentStream, func(ctx context.Context, v *gate.Visit, in *Streaming) (*stream, error) {
		return s.stream(ctx, v, in.Last, func(e events.Event) bool { return true })
	})
	gate.HandleWith(s.gate, "run-events", documentStream, func(ctx context.Context, v *gate.Visit, in *streamingRun) (*stream, error) {
		return s.stream(ctx, v, in.Last, func(e events.Event) bool { return e.Run == v.Run.ID })
	})
	gate.HandleWith(s.gate, "openapi", s.documentSpec, func(ctx context.Context, _ *gate.Visit, _ *nobody) (*stream, error) {
		spec, err := s.gate.Spec()
		if err != nil {
			return nil, err
		}
		return &stream{func(h huma.Context) {
			out := gate.ReplyOf(ctx)
			out.Header().Set("Content-Type", "application/json")
			h.SetStatus(http.StatusOK)
			_, _ = out.Write(spec)
		}}, nil
	})
}

func (s *Server) documentSpec(op *huma.Operation) {
	op.Responses["200"] = &huma.Response{Description: "OpenAPI 3.1", Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: "object"}}}}
}

// within fills a period in, and refuses one that is none or too long.
func (s *Server) within(ctx context.Context, in *Period) error {
	now, err := s.d.Rows.Now(ctx)
	if err != nil {
		return err
	}
	if in.To.IsZero() {
		in.To = now
	}
	if in.From.IsZero() {
		in.From = in.To.Add(-24 * time.Hour)
	}
	if length := in.To.Sub(in.From); length <= 0 || length > longest {
		return gate.Unprocessable("from", errors.New("it lies at most 31 days before to"))
	}
	return nil
}

func (s *Server) overview(ctx context.Context, v *gate.Visit, in *Period) (wire.Overview, error) {
	if err := s.within(ctx, in); err != nil {
		return wire.Overview{}, err
	}
	out := wire.Overview{From: in.From.UTC(), To: in.To.UTC(), Calls: []wire.Bucket{}, Limits: []wire.Limit{}, Running: []wire.Running{}}
	counts, err := s.d.Watch.Counts(ctx, v.Scope(), in.From, in.To)
	if err != nil {
		return out, err
	}
	for _, c := range counts {
		out.Calls = append(out.Calls, wire.Bucket{Hour: c.Hour.UTC(), Capability: c.Capability, Class: c.Class, State: c.State, Outcome: c.Outcome, IsError: c.IsError, Calls: c.Calls})
	}
	if out.Limits, err = s.limits(ctx, v, in.From, in.To); err != nil {
		return out, err
	}
	slugs, err := s.slugs(ctx)
	if err != nil {
		return out, err
	}
	out.Running, err = s.running(ctx, v.Scope(), slugs)
	return out, err
}

// limits says how near meters came to what is set now.
func (s *Server) limits(ctx context.Context, v *gate.Visit, from, to time.Time) ([]wire.Limit, error) {
	meters, err := s.d.Watch.Meters(ctx, v.Scope(), from, to)
	if err != nil {
		return nil, err
	}
	shared, err := s.d.Settings.Of(ctx, binding.Install)
	if err != nil {
		return nil, err
	}
	slugs, err := s.slugs(ctx)
	out := []wire.Limit{}
	for _, m := range meters {
		var own []connection.Setting
		id, OfAgent := strings.CutPrefix(m.Meter, "agent:")
		if !OfAgent {
			id = ""
		} else if own, err = s.d.Settings.Of(ctx, id); err != nil {
			return nil, err
		}
		found := s.inForce(id, setting(own, m.Capability), setting(shared, m.Capability), m.Capability)
		l := wire.Limit{Meter: cmp.Or(slugs[id], m.Meter), Capability: m.Capability, Units: m.Units, BusiestMinute: moment(m.BusiestMinute), InMinute: m.InMinute,
			FullestRun: m.FullestRun, InRun: m.InRun}
		if found.Off == "" {
			l.MinuteLimit, l.RunLimit = found.Binding.MinuteLimit, found.Binding.RunLimit
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b wire.Limit) int {
		return cmp.Or(cmp.Compare(a.Capability, b.Capability), cmp.Compare(a.Meter, b.Meter))
	})
	return out, err
}

func documentStream(op *huma.Operation) {
	op.Responses["200"] = &huma.Response{Description: "Events: ready, reset, run, call, approval, settings; a comment each 15 s. After reset, read everything anew. An event may come twice, with the same id.",
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string"}}}}
}

// stream serves events to one client, as long as its credential works.
func (s *Server) stream(ctx context.Context, v *gate.Visit, last string, concerns func(events.Event) bool) (*stream, error) {
	leave, ok := s.streams.Enter(v.Credential())
	if !ok {
		return nil, gate.Fail(http.StatusTooManyRequests, gate.CodeRateLimit, "this credential has as many streams open as it may; close one").After(events.Heartbeat)
	}
	slugs, err := s.slugs(ctx)
	if err != nil {
		leave()
		return nil, err
	}
	return &stream{func(h huma.Context) {
		defer leave()
		out := gate.ReplyOf(ctx)
		out.Header().Set("Content-Type", "text/event-stream")
		out.Header().Set("X-Accel-Buffering", "no") // proxies would keep a stream until it ends
		err := s.hub.Serve(ctx, events.Stream{Cursor: last,
			Encode: func(e events.Event) ([]byte, bool) {
				if !concerns(e) || e.Agent != "" && !v.Sees(e.Agent) {
					return nil, false
				}
				if e.Agent != "" && slugs[e.Agent] == "" { // an agent that was made since
					if fresh, err := s.slugs(ctx); err == nil {
						slugs = fresh
					}
				}
				data, err := json.Marshal(wire.Event{Kind: e.Kind, ID: e.Row, Agent: slugs[e.Agent], Run: e.Run, State: e.State, Version: e.Version, At: e.At.UTC(), Position: e.Seq})
				return data, err == nil
			},
			Alive: func(ctx context.Context) bool { return s.stillWorks(ctx, v) },
			Send: func(p []byte) error {
				if _, err := out.Write(p); err != nil {
					return err
				}
				return out.Flush()
			}})
		if err != nil && ctx.Err() == nil && !out.Broken() {
			s.log.Error("serve events", "request_id", out.ID(), "error", err)
			if !out.Begun() {
				s.gate.Send(out, s.gate.Failed(err))
			}
		}
	}}, nil
}

// stillWorks says whether what a stream was opened with still opens it, for the same agents.
func (s *Server) stillWorks(ctx context.Context, v *gate.Visit) bool {
	in := gate.ArrivalOf(ctx)
	if v.Kind&route.People == 0 {
		_, err := s.d.Agents.Verify(in.Bearer, v.From)
		return err == nil
	}
	p, err := s.d.SignIns.Session(ctx, in.Cookie)
	if !v.Session() {
		p, err = s.d.SignIns.Token(ctx, in.Bearer)
	}
	if err != nil || p.Person.Disabled || p.Person.Role != v.Person.Person.Role && !p.Person.Role.AtLeast(v.Person.Person.Role) {
		return false
	}
	v.Person = p // what they may see now
	return v.Run.ID == "" || v.Sees(v.Run.Agent)
}

// changes reads what a stream tells out of rows.
type changes struct {
	s *Server

	mu    sync.Mutex // guards what follows
	epoch int64      // of the settings, as last seen
	seen  time.Time  // when that one was seen first: it has no time of its own
}

// Now is the database's clock.
func (c *changes) Now(ctx context.Context) (time.Time, error) { return c.s.d.Rows.Now(ctx) }

// Since lists what changed.
func (c *changes) Since(ctx context.Context, t time.Time) ([]events.Event, time.Time, error) {
	runs, calls, now, err := c.s.d.Rows.Changes(ctx, t)
	if err != nil {
		return nil, now, err
	}
	var out []events.Event
	add := func(at time.Time, e events.Event) {
		if !at.IsZero() && !at.Before(t) {
			e.At = at
			out = append(out, e)
		}
	}
	for _, r := range runs {
		add(r.Created, events.Event{Kind: "run", Row: r.ID, Run: r.ID, Agent: r.Agent, Stage: "opened", State: "open"})
		add(r.Ended, events.Event{Kind: "run", Row: r.ID, Run: r.ID, Agent: r.Agent, Stage: "ended", State: "ended"})
	}
	for _, r := range calls {
		e := events.Event{Kind: "call", Row: r.ID, Run: r.Run, Agent: r.Agent, State: string(r.State), Seq: r.Seq}
		e.Stage = "began"
		add(r.Created, e)
		if !r.Dispatched.Equal(r.Created) {
			e.Stage = "dispatched"
			add(r.Dispatched, e)
		}
		e.Stage = "ended"
		add(r.Ended, e)
		if r.Verdict != nil {
			e.Stage = "reconciled"
			add(r.Verdict.At, e)
		}
	}
	asked, err := c.s.d.Approvals.List(ctx, approval.Filter{Limit: mostWaiting})
	if err != nil {
		return nil, now, err
	}
	for _, a := range asked {
		e := events.Event{Kind: "approval", Row: a.ID, Run: a.Run, Agent: a.Agent, State: string(a.State), Stage: "asked"}
		add(a.Created, e)
		e.Stage = "answered"
		add(a.Answered, e)
	}
	epoch, err := c.s.d.Rows.Epoch(ctx)
	if err != nil {
		return nil, now, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.epoch {
		c.epoch, c.seen = epoch, now
	}
	add(c.seen, events.Event{Kind: "settings", Stage: strconv.FormatInt(epoch, 10), Version: epoch})
	return out, now, nil
}
