package main

// What no tool of this build can leave yet, put into an install as the ledger and the pipeline would: an effect of unknown
// outcome that holds its run, and open questions.

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/catalogdata"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/secret"
)

// staged is what a stage left.
type staged struct {
	run, call string   // an explicit run of agent writer, and its effect of unknown outcome
	flying    string   // an effect of another run that is in flight, and that run
	flyingRun string   //
	questions []string // open ones of the run, in the order in which they were asked
}

// evil stands in everything that a stranger may have written, and commands a terminal.
const evil = "begin\x1b]52;c;ZXZpbA==\x07\x1b]0;canary-title\x1b\\\x1b[2J\u009b31m\u202eend"

// prepare puts it into the install of a data folder.
func prepare(ctx context.Context, data, database string) (st staged, err error) {
	folder, err := datafolder.Open(data)
	if err != nil {
		return st, err
	}
	in, err := install.Open(ctx, install.Options{Folder: folder, Database: secret.New(database), Catalog: catalogdata.Catalog{
		Providers: []catalogdata.Provider{{Name: "desk", Capability: "browser"}}, Classes: []catalogdata.Class{{Tool: "press", Provider: "desk", Class: effect.Effect}}}})
	if err != nil {
		return st, err
	}
	defer in.Close()
	a, _, err := in.Agents.EnsureAgent(ctx, "writer", "test")
	if err != nil {
		return st, err
	}
	process := rowid.New("process")
	if err := in.Rows.Register(ctx, process, "test", "1", time.Minute); err != nil {
		return st, err
	}
	press := ledger.Tool{Name: "press", Capability: "browser"}
	sent := func(title string) (ledger.Run, ledger.Admission, error) {
		run, err := in.Rows.OpenRun(ctx, ledger.NewRun{Agent: a.ID, Kind: "explicit", Title: title, Deadline: time.Hour, MaxCalls: 100})
		if err != nil {
			return run, ledger.Admission{}, err
		}
		if _, err := in.Rows.Offer(ctx, a.ID, run.Audience, []ledger.Tool{press}); err != nil {
			return run, ledger.Admission{}, err
		}
		ask := ledger.Admission{Nonce: rowid.New("nonce"), Process: process, Ask: ledger.Ask{ID: rowid.New("call"), Run: run.ID, Named: true, Agent: a.ID,
			Audience: run.Audience, Tool: press.Name, Capability: press.Capability, Class: effect.Effect, Digest: []byte("digest"), Args: []byte(`{"ref":"e7"}`),
			Bound: time.Minute, Source: ledger.Source{Host: "shop.example", URL: "https://shop.example/cart"}}}
		if _, err := in.Rows.Admit(ctx, ask); err != nil {
			return run, ask, err
		}
		_, err = in.Rows.Dispatch(ctx, ask.ID, ask.Nonce)
		return run, ask, err
	}
	run, ask, err := sent("buy things " + evil)
	if err != nil {
		return st, err
	}
	st.run, st.call = run.ID, ask.ID
	if _, err := in.Rows.Settle(ctx, ledger.Settlement{Call: ask.ID, Nonce: ask.Nonce, From: effect.Dispatched, State: effect.Uncertain, Outcome: effect.OutcomeUncertain,
		Code: "outcome_unknown", IsError: true, Why: "the connection ended before an answer " + evil, Gone: true}); err != nil {
		return st, err
	}
	other, flying, err := sent("")
	if err != nil {
		return st, err
	}
	st.flyingRun, st.flying = other.ID, flying.ID
	for n, facts := range []approval.Facts{
		{Tier: approval.Sensitive, Origin: "https://shop.example", Does: []string{"types", "sends a form"}, Credential: "shop " + evil,
			Description: "Places the order. " + evil, Inputs: []approval.Input{{Name: "address", Value: "1 Road\n" + evil}, {Name: "card", Masked: true}}},
		{Tier: approval.Interact, Origin: "https://other.example"},
		{Tier: approval.Navigate, Origin: "https://third.example"},
	} {
		got, err := in.Approvals.Stand(ctx, approval.Request{Agent: a.ID, Run: run.ID, Tool: "do_order", Digest: fmt.Append(nil, "digest ", n), Facts: facts})
		if err != nil {
			return st, err
		}
		st.questions = append(st.questions, got.Approval.ID)
	}
	return st, nil
}

// stage is the script command: stage DATA sets RUN, CALL, FLYING_RUN, FLYING, and ASKED0 to ASKED2.
func stage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: stage DATA")
	}
	st, err := prepare(context.Background(), ts.MkAbs(args[0]), ts.Getenv("WAYLEAVE_DATABASE"))
	ts.Check(err)
	for name, value := range map[string]string{"RUN": st.run, "CALL": st.call, "FLYING_RUN": st.flyingRun, "FLYING": st.flying,
		"ASKED0": st.questions[0], "ASKED1": st.questions[1], "ASKED2": st.questions[2]} {
		ts.Setenv(name, value)
	}
}

func staging(t *testing.T) (data string, st staged) {
	t.Helper()
	data = t.TempDir()
	st, err := prepare(t.Context(), data, "")
	if err != nil {
		t.Fatal(err)
	}
	return data, st
}
