// This file is what a call may report of its end, and what the row says of it then.
package ledger

import (
	"slices"

	"github.com/wayleave/wayleave/internal/effect"
)

// Report is how a call ended, as whoever carried it out saw it. What the row says of it is decided by the table of
// package effect, by how far the row came and by whether the permit was opened: a report that claims more than can have
// happened is brought down to what can.
type Report struct {
	events   []effect.Event // what it is called, best first; the first that may happen is what happened
	outcome  effect.Outcome
	code     string
	isError  bool
	result   []byte
	evidence []Evidence
	why      string
}

// Done says that the handler ran to its end and knows that all is well. result is what a repeat is answered with.
// Evidence is what was seen; the source stands already.
func Done(result []byte, seen ...Evidence) Report {
	return Report{events: []effect.Event{effect.Done, effect.TurnedAway}, outcome: effect.OK, result: result, evidence: seen}
}

// ProviderError says that the call was sent and its answer is an error that a model may read.
func ProviderError(code string, result []byte, seen ...Evidence) Report {
	r := Done(result, seen...)
	r.outcome, r.code, r.isError = effect.ProviderError, code, true
	return r
}

// InputDispatched says that all input was sent, and that what followed is not known to be well.
func InputDispatched(code string, result []byte, seen ...Evidence) Report {
	r := ProviderError(code, result, seen...)
	r.outcome = effect.InputDispatched
	return r
}

// NotDispatched says that nothing was sent, for a reason that a model may read. An empty code is that of a success:
// nothing had to be sent.
func NotDispatched(code string, result []byte, seen ...Evidence) Report {
	return Report{events: []effect.Event{effect.TurnedAway, effect.LoseTrack}, outcome: effect.NotDispatched,
		code: code, isError: code != "", result: result, evidence: seen}
}

// Fault says that something of ours broke: an execution failure. An effect that may have been sent is uncertain then.
func Fault(code string) Report {
	return Report{events: []effect.Event{effect.Break}, code: code, isError: true}
}

// Cancelled says that the caller went away before it was done.
func Cancelled() Report { return Fault("cancelled") }

// Uncertain says that something was sent and nobody knows what became of it.
func Uncertain(code string, result []byte, seen ...Evidence) Report {
	return Report{events: []effect.Event{effect.LoseTrack}, outcome: effect.OutcomeUncertain,
		code: code, isError: true, result: result, evidence: seen}
}

// Because adds to the call's why chain, in words of ours.
func (r Report) Because(fact string) Report {
	r.why = fact
	return r
}

// settlement is what a report means for a row in state from. unsent says that nothing can have been sent: no boundary
// was committed, or the right to send was never used.
func (r Report) settlement(c effect.Class, from effect.State, unsent bool) Settlement {
	if len(r.events) == 0 { // whoever reports nothing has a fault
		r = Fault("internal_error")
	}
	events := slices.Concat(r.events, []effect.Event{effect.Break}) // which may happen to whatever is in flight
	if unsent {
		switch r.events[0] {
		case effect.Done: // I16: what was not sent is not "ok"
			events = slices.Insert(events, 0, effect.TurnedAway)
		case effect.LoseTrack: // there is nothing to lose track of
			events = slices.Insert(events, 0, effect.Break)
		}
	}
	s := Settlement{From: from, State: effect.Uncertain, Outcome: effect.OutcomeUncertain, Code: r.code, IsError: r.isError, Why: r.why}
	var happened effect.Event
	for _, e := range events {
		if to, ok := effect.Next(c, from, e); ok && to.Final() {
			s.State, happened = to, e
			break
		}
	}
	switch {
	case s.State == effect.Succeeded && happened == effect.TurnedAway:
		s.Outcome = effect.NotDispatched
	case s.State == effect.Succeeded:
		s.Outcome = r.outcome
	case s.State == effect.Failed && unsent:
		s.Outcome = effect.NotDispatched
	case s.State == effect.Failed:
		s.Outcome = effect.Lost
	}
	// A text that claims something else than the row says is kept nowhere.
	if claims := r.events[0] == effect.LoseTrack; claims == (s.State == effect.Uncertain) && s.State != effect.Failed {
		s.Result = r.result
	}
	if s.State == effect.Succeeded { // I14: what was seen counts only where the call succeeded
		s.Evidence = r.evidence
	} else {
		s.IsError = true
	}
	return s
}
