package ledger

import (
	"testing"

	"github.com/wayleave/wayleave/internal/effect"
)

// situation is where a call is when it is reported on.
type situation struct {
	class  effect.Class
	from   effect.State
	unsent bool
}

var (
	queryUsed      = situation{effect.Query, effect.Dispatched, false}
	queryUnused    = situation{effect.Query, effect.Dispatched, true}
	lookUsed       = situation{effect.Observation, effect.Dispatched, false}
	lookUnused     = situation{effect.Observation, effect.Dispatched, true}
	effectAdmitted = situation{effect.Effect, effect.Admitted, true}
	effectSent     = situation{effect.Effect, effect.Dispatched, false}
)

// ended is what the row says then.
type ended struct {
	state   effect.State
	outcome effect.Outcome
	kept    bool // the result is
}

func TestAReportBecomesWhatCanHaveHappened(t *testing.T) {
	turned := ended{effect.Succeeded, effect.NotDispatched, true}
	unsent := ended{effect.Failed, effect.NotDispatched, false}
	lost := ended{effect.Failed, effect.Lost, false}
	unknown := ended{effect.Uncertain, effect.OutcomeUncertain, false}
	said := ended{effect.Uncertain, effect.OutcomeUncertain, true}
	ok := ended{effect.Succeeded, effect.OK, true}
	provider := ended{effect.Succeeded, effect.ProviderError, true}
	input := ended{effect.Succeeded, effect.InputDispatched, true}
	text := []byte("text")
	for _, r := range []struct {
		name   string
		report Report
		want   map[situation]ended
	}{
		{"done", Done(text), map[situation]ended{queryUsed: ok, lookUsed: ok, effectSent: ok, queryUnused: turned, lookUnused: turned, effectAdmitted: turned}},
		{"provider's error", ProviderError("some_code", text), map[situation]ended{queryUsed: provider, lookUsed: provider, effectSent: provider,
			queryUnused: turned, lookUnused: turned, effectAdmitted: turned}},
		{"input dispatched", InputDispatched("some_code", text), map[situation]ended{queryUsed: input, lookUsed: input, effectSent: input,
			queryUnused: turned, lookUnused: turned, effectAdmitted: turned}},
		{"not dispatched", NotDispatched("some_code", text), map[situation]ended{queryUsed: turned, lookUsed: turned, queryUnused: turned, lookUnused: turned,
			effectAdmitted: turned, effectSent: unknown}},
		{"fault", Fault("internal_error"), map[situation]ended{queryUsed: lost, lookUsed: lost, queryUnused: unsent, lookUnused: unsent, effectAdmitted: unsent, effectSent: unknown}},
		{"cancelled", Cancelled(), map[situation]ended{queryUsed: lost, lookUsed: lost, queryUnused: unsent, lookUnused: unsent, effectAdmitted: unsent, effectSent: unknown}},
		{"uncertain", Uncertain("connection_lost", text), map[situation]ended{queryUsed: said, lookUsed: lost, queryUnused: unsent, lookUnused: unsent,
			effectAdmitted: unsent, effectSent: said}},
	} {
		if len(r.want) != 6 {
			t.Fatalf("%s: %d situations", r.name, len(r.want))
		}
		for at, want := range r.want {
			s := r.report.settlement(at.class, at.from, at.unsent)
			if got := (ended{s.State, s.Outcome, s.Result != nil}); got != want {
				t.Errorf("%s of a %+v: %+v, want %+v", r.name, at, got, want)
			}
			if s.From != at.from {
				t.Errorf("%s of a %+v leaves %s", r.name, at, s.From)
			}
		}
	}
}

// What the invariants ask of rows must hold of every settlement, whatever the report claims.
func TestNoReportBreaksAnInvariant(t *testing.T) {
	seen := Evidence{Kind: "content", SHA256: "aa"}
	reports := []Report{Done(nil, seen), ProviderError("c", nil, seen), InputDispatched("c", nil, seen), NotDispatched("c", nil, seen), NotDispatched("", nil, seen),
		Fault("c"), Cancelled(), Uncertain("c", nil, seen), {}, {events: []effect.Event{effect.Admit}}, {events: []effect.Event{effect.Dispatch}}}
	for _, at := range []situation{queryUsed, queryUnused, lookUsed, lookUnused, effectAdmitted, effectSent} {
		for i, r := range reports {
			s := r.settlement(at.class, at.from, at.unsent)
			switch {
			case !s.State.Final():
				t.Errorf("report %d of a %+v ends in %s", i, at, s.State)
			case at == effectSent && s.State == effect.Failed:
				t.Errorf("I11: report %d calls a dispatched effect failed", i)
			case at == effectSent && s.Outcome == effect.NotDispatched:
				t.Errorf("I15: report %d calls a dispatched effect not dispatched", i)
			case at.unsent && s.Outcome != effect.NotDispatched:
				t.Errorf("I16: report %d of a %+v, of which nothing was sent, has the outcome %s", i, at, s.Outcome)
			case s.State != effect.Succeeded && s.Evidence != nil:
				t.Errorf("I14: report %d of a %+v keeps evidence of a call that is %s", i, at, s.State)
			case s.State != effect.Succeeded && !s.IsError:
				t.Errorf("report %d of a %+v is %s and no error", i, at, s.State)
			}
		}
	}
}

func TestASuccessWithoutSendingIsNoError(t *testing.T) {
	if s := NotDispatched("", []byte("it was so before")).settlement(effect.Effect, effect.Admitted, true); s.IsError || s.Code != "" || s.Outcome != effect.NotDispatched {
		t.Errorf("settled as %+v", s)
	}
	if s := Done([]byte("a kept page")).settlement(effect.Observation, effect.Dispatched, true); s.IsError {
		t.Errorf("settled as %+v", s)
	}
	if s := NotDispatched("target_obscured", nil).Because("covered").settlement(effect.Effect, effect.Admitted, true); !s.IsError || s.Code != "target_obscured" || s.Why != "covered" {
		t.Errorf("settled as %+v", s)
	}
}
