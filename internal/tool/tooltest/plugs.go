package tooltest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/catalogdata"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/observation"
	"github.com/wayleave/wayleave/internal/tool"
	"github.com/wayleave/wayleave/internal/toolargs"
	"github.com/wayleave/wayleave/internal/untrusted"
)

// Names of the tools.
const (
	AskTool     = "ask"     // a metered query
	PeekTool    = "peek"    // an observation that counts against nothing
	PressTool   = "press"   // an effect of several inputs
	PublishTool = "publish" // a declared action that needs a person's yes
)

// Catalog is what this build can do and these tools besides: ask with 100 calls a run and 60 a minute.
func Catalog() catalogdata.Catalog {
	c := catalogdata.Built()
	c.Providers = append(c.Providers,
		catalogdata.Provider{Name: "oracle", Capability: catalogdata.Search, RunLimit: 100, MinuteLimit: 60},
		catalogdata.Provider{Name: "second", Capability: catalogdata.Search, RunLimit: 100, MinuteLimit: 60},
		catalogdata.Provider{Name: "puppet", Capability: catalogdata.Browser},
		catalogdata.Provider{Name: "recipes", Capability: catalogdata.Action})
	c.Classes = append(c.Classes,
		catalogdata.Class{Tool: AskTool, Provider: "oracle", Class: effect.Query, Metered: true},
		catalogdata.Class{Tool: AskTool, Provider: "second", Class: effect.Query, Metered: true},
		catalogdata.Class{Tool: PeekTool, Provider: "puppet", Class: effect.Observation},
		catalogdata.Class{Tool: PressTool, Provider: "puppet", Class: effect.Effect},
		catalogdata.Class{Tool: PublishTool, Provider: "recipes", Class: effect.Effect})
	return c
}

// Set is the tools over one world.
type Set struct {
	World  *World
	Script Script
	// Send asks the other side of ask; an Oracle's is one.
	Send func(ctx context.Context, question string) (string, error)
	// Bound is how long a call may take; 0 means a minute.
	Bound time.Duration

	mu      sync.Mutex // guards what follows
	profile string
	looks   int
}

// NewSet makes the tools.
func NewSet(w *World, send func(ctx context.Context, question string) (string, error)) *Set {
	return &Set{World: w, Send: send, profile: "sha256:one"}
}

// SetProfile is what an author does who edits the action.
func (s *Set) SetProfile(hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.profile = hash
}

// Looks is how often a call of these tools looked ahead.
func (s *Set) Looks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}

// Plugs are the four tools.
func (s *Set) Plugs() []tool.Plug {
	s.mu.Lock()
	profile := s.profile
	s.mu.Unlock()
	return []tool.Plug{
		plug{s, AskTool, catalogdata.Search, "", agenttool.Hints{ReadOnly: true, Idempotent: true, OpenWorld: true}},
		plug{s, PeekTool, catalogdata.Browser, "", agenttool.Hints{ReadOnly: true, Idempotent: true, OpenWorld: true}},
		plug{s, PressTool, catalogdata.Browser, "", agenttool.Hints{Destructive: true, OpenWorld: true}},
		plug{s, PublishTool, catalogdata.Action, profile, agenttool.Hints{Destructive: true, OpenWorld: true}},
	}
}

// plug is one of the tools.
type plug struct {
	set                       *Set
	name, capability, profile string
	hints                     agenttool.Hints
}

func (p plug) Name() string       { return p.name }
func (p plug) Capability() string { return p.capability }
func (p plug) Profile() string    { return p.profile }

func (p plug) Define(offered map[string]bool) agenttool.Tool {
	description := "A tool of tests."
	if p.name == AskTool && offered[PeekTool] {
		description += " Look with peek."
	}
	return agenttool.Tool{Name: p.name, Description: description, Hints: p.hints, InputSchema: json.RawMessage(`{"type":"object","properties":{` +
		`"text":{"type":"string"},"inputs":{"type":"integer","minimum":1,"maximum":9,"default":2},"kept":{"type":"boolean"}},"required":["text"],"additionalProperties":false}`)}
}

// args are the arguments of a call.
type args struct {
	p      plug
	Inputs int    `json:"inputs"`
	Kept   bool   `json:"kept"`
	Text   string `json:"text"`
}

func (p plug) Parse(raw json.RawMessage) (tool.Arguments, *tool.Bad) {
	a := &args{p: p, Inputs: 2}
	bad := func(field, reason string) *tool.Bad {
		return refuse(&observation.Error{Code: "invalid_" + p.name + "_input", Field: field, What: reason, Next: observation.FixInput,
			Say: "Correct the argument and call again."})
	}
	ms, err := toolargs.Parse(raw)
	if err == nil {
		err = ms.Only([]string{"inputs", "kept", "text"})
	}
	if err == nil {
		err = ms.Integer("inputs", 1, 9, &a.Inputs)
	}
	if err == nil {
		err = ms.Bool("kept", &a.Kept)
	}
	given := false
	if err == nil {
		a.Text, given, err = ms.String("text")
	}
	var wrong *toolargs.Error
	switch {
	case errors.As(err, &wrong):
		return nil, bad(wrong.Field, err.Error())
	case !given:
		return nil, bad("text", "argument text is missing")
	}
	return a, nil
}

func refuse(e *observation.Error) *tool.Bad { return &tool.Bad{Code: e.Code, Result: e.Result()} }

func (a *args) Canonical() json.RawMessage {
	b, err := json.Marshal(a)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return b
}

func (a *args) Source() ledger.Source {
	return ledger.Source{Host: "world.test", URL: "https://world.test/" + a.p.name}
}

// Look refuses a text of "blocked" as a blocked site, and one of more than 1,000 bytes as beyond the provider's bound.
func (a *args) Look(ctx context.Context, where tool.Where) (tool.Plan, *tool.Bad, error) {
	s := a.p.set
	s.mu.Lock()
	s.looks++
	s.mu.Unlock()
	if err := s.Script.reach(ctx, Look); err != nil {
		return tool.Plan{}, nil, err
	}
	switch {
	case len(a.Text) > 1000:
		return tool.Plan{}, refuse(&observation.Error{Code: "invalid_" + a.p.name + "_input", Field: "text", Next: observation.FixInput,
			What: fmt.Sprintf("%s takes at most 1000 bytes", where.Binding.Provider), Say: "Correct the argument and call again."}), nil
	case a.Text == "blocked":
		return tool.Plan{}, refuse(&observation.Error{Code: "site_blocked", What: "nothing was sent; world.test is blocked", Next: observation.Stop,
			Say: "Do not retry; another source or tool if there is one."}), nil
	}
	p := tool.Plan{Unit: a.p.name == AskTool && !a.Kept, Bound: s.Bound}
	if p.Bound == 0 {
		p.Bound = time.Minute
	}
	if a.p.name == PublishTool {
		p.Approval = &approval.Facts{Tier: approval.Sensitive, Origin: "https://example.com", Does: []string{"types", "uploads", "sends a form"},
			Credential: "site_account", Description: "Publish the piece.", Declared: true, Inputs: []approval.Input{{Name: "text", Value: a.Text}}}
	}
	return p, nil, nil
}

func (a *args) Run(ctx context.Context, where tool.Where, gate tool.Gate) (tool.Done, error) {
	switch {
	case a.p.name == PressTool || a.p.name == PublishTool:
		return a.press(ctx, where, gate)
	case a.Kept: // nothing is sent, and so no right asked for
		return a.done("kept", "what is kept of "+a.Text), nil
	}
	return a.ask(ctx, where, gate)
}

// ask is the work of a query or an observation: one sending.
func (a *args) ask(ctx context.Context, where tool.Where, gate tool.Gate) (tool.Done, error) {
	s := &a.p.set.Script
	if err := s.reach(ctx, Gate); err != nil {
		return tool.Done{}, err
	}
	permit, err := gate(ctx)
	if err != nil {
		return tool.Done{}, err
	}
	if err := s.reach(ctx, Open); err != nil {
		return tool.Done{}, err
	}
	sending, err := permit.Open(ctx)
	if err != nil {
		return tool.Done{}, err
	}
	answer := fmt.Sprintf("%d entries", len(a.p.set.World.Entries()))
	if a.p.name == AskTool {
		answer, err = a.p.set.Send(sending, a.Text)
	}
	if err == nil {
		err = s.reach(sending, Sent)
	}
	switch {
	case sending.Err() != nil:
		return tool.Done{}, context.Cause(sending)
	case err != nil:
		e := &observation.Error{Code: a.p.name + "_unavailable", What: where.Binding.Provider + " does not answer", Next: observation.Retry, Say: "You may retry once."}
		return tool.Done{Result: e.Result(), Code: e.Code}, nil
	}
	return a.done("1 answer", answer), s.reach(ctx, End)
}

// press is the work of an effect: a check that nothing lies above, the gate, then one input after the other.
func (a *args) press(ctx context.Context, where tool.Where, gate tool.Gate) (tool.Done, error) {
	s := &a.p.set.Script
	switch err := s.reach(ctx, Gate); {
	case errors.Is(err, ErrCovered):
		e := &observation.Error{Code: "target_obscured", Outcome: effect.NotDispatched, What: "press on " + untrusted.Quote(a.Text) + " is covered",
			Next: observation.ObserveAgain, Say: "Nothing was sent. Choose a fresh action."}
		return tool.Done{Result: e.Result(), Outcome: e.Outcome, Code: e.Code}, nil
	case err != nil:
		return tool.Done{}, err
	}
	permit, err := gate(ctx)
	if err != nil {
		return tool.Done{}, err
	}
	if err := s.reach(ctx, Open); err != nil {
		return tool.Done{}, err
	}
	sending, err := permit.Open(ctx)
	if err != nil {
		return tool.Done{}, err
	}
	for n := 1; n <= a.Inputs; n++ {
		if err := s.reach(sending, Input(n)); err != nil {
			return a.broke(where, err)
		}
		if err := permit.Check(); err != nil {
			return a.broke(where, ErrBroken)
		}
		if err := a.p.set.World.add(Entry{a.p.name, where.Call, n, a.Text}); err != nil {
			return tool.Done{}, err
		}
	}
	if err := s.reach(sending, Sent); err != nil {
		return a.broke(where, err)
	}
	return a.done(fmt.Sprintf("delivered · %d inputs", a.Inputs), a.Text), s.reach(sending, End)
}

// broke is how an effect ends whose sending did not go well.
func (a *args) broke(where tool.Where, err error) (tool.Done, error) {
	switch {
	case errors.Is(err, ErrBroken):
		e := where.Say.Lost(ledger.Record{ID: where.Call, Run: where.Run}, "connection_lost", "the connection broke while "+a.p.name+" was being delivered")
		return tool.Done{Result: e.Result(), Outcome: e.Outcome, Code: e.Code}, nil
	case errors.Is(err, ErrUnseen):
		e := &observation.Error{Code: "observation_failed", Outcome: effect.InputDispatched, What: "every input was delivered, then the page could not be read",
			Next: observation.Inspect, Say: "This proves delivery, not that the site saved anything. Look before going on."}
		return tool.Done{Result: e.Result(), Outcome: e.Outcome, Code: e.Code}, nil
	}
	return tool.Done{}, err
}

// done is a success with a body that the world chose.
func (a *args) done(head, body string) tool.Done {
	sum := sha256.Sum256([]byte(body))
	text := strings.Join([]string{a.p.name + ": " + head, untrusted.OpenTag, untrusted.Escape(body), untrusted.CloseTag}, "\n")
	output, err := json.Marshal(map[string]any{"content": body})
	if err != nil {
		panic(err) // a string
	}
	return tool.Done{Result: agenttool.Result{Content: []agenttool.Part{{Text: text}}, Structured: json.RawMessage(`{"notes":[]}`)}, Output: output,
		Evidence: []ledger.Evidence{{Kind: "content", Host: "world.test", URL: "https://world.test/" + a.p.name, SHA256: hex.EncodeToString(sum[:]), Chars: int64(len(body))}}}
}
