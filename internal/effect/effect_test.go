package effect

import (
	"slices"
	"testing"
)

var (
	classes = []Class{Query, Observation, Effect}
	states  = []State{"", Refused, Admitted, Dispatched, Succeeded, Failed, Uncertain}
	events  = []Event{Admit, Refuse, Dispatch, Done, TurnedAway, Break, LoseTrack, Abandon}
)

// step is one arrow of the machine; everything that is not listed must not be possible.
type step struct {
	c    Class
	from State
	e    Event
}

// arrows are T1 to T9. A query or an observation is dispatched by its admission, so its arrows begin there.
func arrows() map[step]State {
	return map[step]State{
		{Query, "", Refuse}:       Refused, // T1
		{Observation, "", Refuse}: Refused,
		{Effect, "", Refuse}:      Refused,

		{Effect, "", Admit}:      Admitted,   // T2
		{Query, "", Admit}:       Dispatched, // T3
		{Observation, "", Admit}: Dispatched,

		{Effect, Admitted, Dispatch}:   Dispatched, // T4
		{Effect, Admitted, TurnedAway}: Succeeded,  // T5
		{Effect, Admitted, Break}:      Failed,     // T6, its owner
		{Effect, Admitted, Abandon}:    Failed,     // T6, a sweep

		{Query, Dispatched, Done}:             Succeeded, // T7
		{Observation, Dispatched, Done}:       Succeeded,
		{Effect, Dispatched, Done}:            Succeeded,
		{Query, Dispatched, TurnedAway}:       Succeeded, // the right to send was there and was not used
		{Observation, Dispatched, TurnedAway}: Succeeded,

		{Query, Dispatched, Break}:           Failed, // T8, its owner
		{Observation, Dispatched, Break}:     Failed,
		{Observation, Dispatched, LoseTrack}: Failed,
		{Observation, Dispatched, Abandon}:   Failed, // T8, a sweep: it may be looked at again

		{Effect, Dispatched, LoseTrack}: Uncertain, // T9, its owner
		{Query, Dispatched, LoseTrack}:  Uncertain,
		{Effect, Dispatched, Break}:     Uncertain,
		{Effect, Dispatched, Abandon}:   Uncertain, // T9, a sweep
		{Query, Dispatched, Abandon}:    Uncertain,
	}
}

func TestTheTableHasTheArrowsOfTheMachineAndNoOthers(t *testing.T) {
	want := arrows()
	for _, c := range classes {
		for _, s := range states {
			for _, e := range events {
				to, ok := Next(c, s, e)
				expected, allowed := want[step{c, s, e}]
				switch {
				case ok != allowed:
					t.Errorf("%s in %q: %s gives %q, possible %t; want possible %t", c, s, e, to, ok, allowed)
				case ok && to != expected:
					t.Errorf("%s in %q: %s gives %q, want %q", c, s, e, to, expected)
				case !ok && to != s:
					t.Errorf("%s in %q: %s cannot happen and yet gives %q", c, s, e, to)
				}
			}
		}
	}
}

func TestAFinalStateNeverChanges(t *testing.T) {
	for _, c := range classes {
		for _, s := range states {
			if s == "" || !s.Final() {
				continue
			}
			for _, e := range events {
				if to, ok := Next(c, s, e); ok {
					t.Errorf("%s: %s takes %s to %s", c, e, s, to)
				}
			}
		}
	}
	for s, final := range map[State]bool{Refused: true, Admitted: false, Dispatched: false, Succeeded: true, Failed: true, Uncertain: true} {
		if s.Final() != final {
			t.Errorf("%s is said to be final: %t", s, s.Final())
		}
	}
}

// walk calls each with every way through the machine.
func walk(c Class, s State, way []State, each func([]State)) {
	each(way)
	for _, e := range events {
		if to, ok := Next(c, s, e); ok {
			walk(c, to, append(slices.Clip(way), to), each)
		}
	}
}

// I11: what may have happened is never called failed.
func TestADispatchedEffectNeverFails(t *testing.T) {
	walk(Effect, "", nil, func(way []State) {
		if slices.Contains(way, Dispatched) && slices.Contains(way, Failed) {
			t.Errorf("an effect goes %v", way)
		}
	})
}

// Every way out of a process's death is known: from each state in which a call can be, a sweep concludes it.
func TestASweepConcludesEveryCallInFlight(t *testing.T) {
	for _, c := range classes {
		walk(c, "", nil, func(way []State) {
			if len(way) == 0 || way[len(way)-1].Final() {
				return
			}
			if to, ok := Next(c, way[len(way)-1], Abandon); !ok || !to.Final() {
				t.Errorf("%s after %v: a sweep gives %q, possible %t", c, way, to, ok)
			}
		})
	}
}

func TestStrangersAreNotPossible(t *testing.T) {
	for _, x := range []step{{"query", "unheard", Done}, {"effect", Dispatched, "unheard"}, {Query, Admitted, Dispatch}} {
		if to, ok := Next(x.c, x.from, x.e); ok {
			t.Errorf("%+v gives %q", x, to)
		}
	}
}
