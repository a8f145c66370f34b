// This file is the contract of an admission: what a fresh call is, what it counts, and which of several obstacles
// answers.
package storetest

import (
	"errors"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

func admitting() []promise {
	return []promise{
		{"a query or an observation is dispatched by its admission, an effect is admitted", func(b *bench) {
			for _, tool := range Tools() {
				c := b.fresh(b.A, tool, args(`{"of":"`+tool.Name+`"}`))
				want, at := effect.Dispatched, b.Clock.Now()
				if c.class == effect.Effect {
					want, at = effect.Admitted, time.Time{}
				}
				if r := b.state(c.id, want, ""); !r.Dispatched.Equal(at) || !r.Created.Equal(b.Clock.Now()) || !r.Ended.IsZero() {
					b.t.Errorf("%s was made at %v, dispatched at %v and ended at %v; the clock shows %v", tool.Name, r.Created, r.Dispatched, r.Ended, b.Clock.Now())
				}
			}
		}},
		{"a call stands as it was asked", func(b *bench) {
			c := b.fresh(b.A, Ask, withKey("key-one-1"), named(b.run), args(`{"q":"rain"}`))
			r := b.record(c.id)
			if r.Run != b.run || r.Agent != agentOne || r.Conversation != "conv_one" || r.Tool != "ask" || r.Capability != "search" || r.Class != effect.Query ||
				r.Key != "key-one-1" || !r.Named || r.Owner != procA || r.Delivery != ledger.Waiting || r.Seq != 1 {
				b.t.Errorf("the call stands as %+v", r)
			}
			if string(r.Args) != `{"q":"rain"}` || r.Result != nil || r.Late != nil {
				b.t.Errorf("arguments %q, result %q, late %q", r.Args, r.Result, r.Late)
			}
			if r.Binding.Provider != "auto" || c.admitted.Binding.Fingerprint() != r.Binding.Fingerprint() {
				b.t.Errorf("the binding is %+v, admitted under %+v", r.Binding, c.admitted.Binding)
			}
			if len(r.Why) == 0 {
				b.t.Error("nothing says why the call was admitted")
			}
		}},
		{"evidence of where a call goes stands before anything is sent", func(b *bench) {
			r := b.record(b.fresh(b.A, Look).id)
			if len(r.Evidence) != 1 {
				b.t.Fatalf("%d rows of evidence, want 1", len(r.Evidence))
			}
			e := r.Evidence[0]
			if e.N != 0 || e.Kind != "source" || e.Provider != "auto" || e.CredentialOwner != "none" || e.Conversation != "conv_one" ||
				e.Host != "example.com" || e.URL != "https://example.com/page" || !e.At.Equal(b.Clock.Now()) {
				b.t.Errorf("the evidence is %+v", e)
			}
		}},
		{"calls of a run are numbered from 1 on", func(b *bench) {
			for want := int64(1); want <= 3; want++ {
				if got := b.record(b.fresh(b.A, Look).id).Seq; got != want {
					b.t.Errorf("a call has the place %d, want %d", got, want)
				}
			}
			if got := b.runOf(b.run).Calls; got != 3 {
				b.t.Errorf("the run counts %d calls, want 3", got)
			}
		}},
		{"a call's time is its bound and thirty seconds", func(b *bench) {
			if got := b.fresh(b.A, Look).admitted.Left; got != bound+grace {
				b.t.Errorf("%v is left, want %v", got, bound+grace)
			}
		}},
		{"a call's time ends thirty seconds after its run's deadline at the latest", func(b *bench) {
			short := b.openRun(ledger.NewRun{Deadline: 8 * time.Second})
			if got := b.fresh(b.A, Look, inRun(short.ID)).admitted.Left; got != 8*time.Second+grace {
				b.t.Errorf("%v is left, want %v", got, 8*time.Second+grace)
			}
		}},
		{"each admission is a unit of its run, unless the tool or the call is counted against nothing", func(b *bench) {
			b.fresh(b.A, Look)
			b.fresh(b.B, Look)
			b.used("read", 2)
			b.fresh(b.A, Look, func(a *ledger.Admission) { a.Unit = false })
			b.used("read", 2)
			b.fresh(b.A, Press)
			b.used("browser", 0)
		}},
		{"a run of another agent is not found, and neither is one that is not there", func(b *bench) {
			other := b.openRun(ledger.NewRun{Agent: agentTwo})
			for _, run := range []string{other.ID, "run_none"} {
				if got, err := b.A.Admit(b.ctx, b.ask(Look, inRun(run))); !errors.Is(err, ledger.ErrNotFound) {
					b.t.Errorf("admission in the run %s: %+v, %v; want not found", run, got, err)
				}
			}
		}},
		{"a refusal spends nothing and is kept with its code", func(b *bench) {
			b.Settings.Connection(b.t, ConnectionRow{Owner: "install", Capability: "read", Mode: "disabled", Version: 2})
			r := b.refused(b.A, "capability_disabled", Look, withKey("key-refused"))
			if r.Call == "" {
				b.t.Fatal("the refusal was not kept")
			}
			row := b.state(r.Call, effect.Refused, "")
			if why := row.Why[len(row.Why)-1].Fact; !strings.HasPrefix(why, "refused as capability_disabled (host "+b.ask(Look).Source.Host+")") {
				b.t.Errorf("the refusal names no rule or no host: %q", why)
			}
			if row.Code != "capability_disabled" || row.Ended.IsZero() || !row.Dispatched.IsZero() || len(row.Evidence) != 0 {
				b.t.Errorf("the refusal stands as %+v", row)
			}
			run := b.runOf(b.run)
			if run.Calls != 0 || run.Refused != 1 || run.RunMeters["read"] != 0 {
				b.t.Errorf("the run counts %d calls, %d refusals, %d units", run.Calls, run.Refused, run.RunMeters["read"])
			}
		}},
		{"a refused call leaves its key free", func(b *bench) {
			b.Settings.PauseInstall(b.t, "person_one")
			b.refused(b.A, "paused", Look, withKey("key-again-1"))
			b.Settings.PauseInstall(b.t, "")
			b.fresh(b.A, Look, withKey("key-again-1"))
		}},
		{"a refusal that was decided elsewhere is kept the same way", func(b *bench) {
			a := b.ask(Look)
			id, err := b.A.Refuse(b.ctx, a.Ask, "invalid_web_fetch_input", []ledger.Reason{{Stage: "policy", At: b.Clock.Now(), Fact: "url is missing"}}, []byte("url: is missing"))
			b.must(err)
			r := b.state(id, effect.Refused, "")
			if r.Code != "invalid_web_fetch_input" || string(r.Result) != "url: is missing" || len(r.Why) == 0 || !strings.Contains(r.Why[len(r.Why)-1].Fact, "url is missing") {
				b.t.Errorf("the refusal stands as %+v", r)
			}
			b.used("read", 0)
		}},
		{"a bad argument is kept in a run that ended", func(b *bench) {
			b.end("ended")
			if id, err := b.A.Refuse(b.ctx, b.ask(Look).Ask, "invalid_web_fetch_input", nil, nil); err != nil || id == "" {
				b.t.Errorf("kept as %q, %v", id, err)
			}
		}},
		{"the outcome of an admission whose commit was in doubt is told by its nonce", func(b *bench) {
			a := b.ask(Post, withID("call_given_1"))
			for range 2 {
				got, err := b.A.Admit(b.ctx, a)
				if err != nil || got.Kind != ledger.Fresh || got.Record.ID != "call_given_1" {
					b.t.Fatalf("admit: %+v, %v; want the same fresh call", got, err)
				}
			}
			b.used("mail", 1)
		}},
	}
}

// end ends the bench's run.
func (b *bench) end(reason string) {
	b.t.Helper()
	_, err := b.B.EndRun(b.ctx, agentOne, b.run, reason)
	b.must(err)
}
