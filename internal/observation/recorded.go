// This file words answers from the record: what was answered before, and what became of calls that have no answer.
package observation

import (
	"errors"
	"fmt"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/untrusted"
)

// RecordedNote is the note that an answer from the record carries.
func RecordedNote(r ledger.Record) string {
	note := fmt.Sprintf("note: recorded · result of %s of %s; nothing was sent now", r.ID, clock(r.Created))
	if r.Verdict != nil {
		note += "; " + stated(*r.Verdict)
	}
	return note
}

// stated says what somebody stated of an uncertain call.
func stated(v ledger.Reconciliation) string {
	who := "a person"
	if v.By.Kind == "harness" {
		who = "the harness"
	}
	switch v.Verdict {
	case ledger.Happened:
		return who + " stated since that it happened"
	case ledger.NotHappened:
		return who + " stated since that it did not happen"
	}
	return who + " stated since that it stays unknown"
}

// Ended words a call that has no answer of its own: its process died, its caller left, its result is not kept any more.
func (s Speaker) Ended(r ledger.Record) *Error {
	e := s.ended(r)
	e.Call, e.Run, e.Outcome = r.ID, r.Run, r.Outcome
	if e.Code = r.Code; e.Code == "" {
		e.Code = "abandoned"
	}
	return e
}

// again is what to do where only a new call helps: the same id gives the same record.
const again = "Make a new call to try again."

func (s Speaker) ended(r ledger.Record) *Error {
	name := fmt.Sprintf("%s %s", untrusted.Plain(r.Tool), r.ID)
	switch {
	case r.State == effect.Succeeded:
		return &Error{What: fmt.Sprintf("%s of %s has ended well; its result is not kept any more", name, clock(r.Created)), Next: CallAgain, Say: again}
	case r.State == effect.Uncertain && r.Class == effect.Effect:
		e := s.unknown(r)
		e.What = fmt.Sprintf("%s was sent at %s and %s; its outcome is unknown", name, clock(r.Dispatched), cause(r.Code))
		return e
	case r.State == effect.Uncertain:
		return &Error{What: fmt.Sprintf("%s was sent at %s and %s; its outcome is unknown and its unit is spent", name, clock(r.Dispatched), cause(r.Code)),
			Next: CallAgain, Say: again}
	case r.Outcome == effect.NotDispatched:
		return &Error{What: fmt.Sprintf("nothing was sent; %s of %s ended early: %s", name, clock(r.Created), cause(r.Code)), Next: CallAgain, Say: again}
	}
	return &Error{What: fmt.Sprintf("%s of %s was given up: %s", name, clock(r.Created), cause(r.Code)), Next: CallAgain, Say: again}
}

// cause says in words why a call ended without an answer.
func cause(code string) string {
	switch code {
	case "abandoned":
		return "the process that ran it died or went silent"
	case "cancelled":
		return "its caller went away"
	case "run_deadline":
		return "its run ended"
	}
	return "something failed here"
}

// Lost words an effect of which nobody knows what became of it, as it is told when that is found out. what says what
// happened, in words of ours.
func (s Speaker) Lost(r ledger.Record, code, what string) *Error {
	e := s.unknown(r)
	e.Code, e.Outcome, e.What, e.Call, e.Run = code, effect.OutcomeUncertain, what, r.ID, r.Run
	return e
}

// unknown says how an effect of unknown outcome is dealt with.
func (s Speaker) unknown(r ledger.Record) *Error {
	if r.Verdict != nil {
		return &Error{Next: Inspect, Say: "Look before going on: " + stated(*r.Verdict) + ". This call is never sent again."}
	}
	say := fmt.Sprintf("Further actions of this run wait until someone states what happened to %s", r.ID)
	if s.look() != "" {
		say = "Reading still works. " + say
	}
	if url := s.page("uncertain", r.ID); url != "" {
		say += ": " + url
	} else {
		say += "."
	}
	return &Error{Next: Reconcile, Say: say}
}

// Withheld words a call whose binding changed while it ran: its content is not shown. now is the binding as it is; nil
// where the tool is no longer offered.
func (s Speaker) Withheld(r ledger.Record, now *binding.Binding) *Error {
	why := untrusted.Plain(r.Tool) + " is no longer offered"
	if now != nil {
		why = changed(untrusted.Plain(r.Tool), &r.Binding, now)
	}
	e := &Error{Code: "binding_changed", Call: r.ID, Run: r.Run, Next: CallAgain, Say: "The same call works now.",
		What: why + ", while the call ran; its result is withheld and its unit is spent"}
	switch {
	case r.State == effect.Uncertain && r.Class == effect.Effect:
		e = s.unknown(r)
		e.Code, e.Call, e.Run, e.Outcome, e.What = "binding_changed", r.ID, r.Run, r.Outcome, why+", while the call was being sent; its outcome is unknown"
	case r.Class == effect.Effect:
		e.Outcome, e.Next, e.What = r.Outcome, Inspect, why+", while the call ran; what it showed is withheld"
		e.Say = "What was sent is not undone. Look before going on."
	case now == nil:
		e.Next, e.Say = FixSettings, "That is an operator's to change; go on without "+untrusted.Plain(r.Tool)+" and say so."
	}
	return e
}

// Refused words a refusal that was kept without its text, from what was written down when it was decided.
func (s Speaker) Refused(r ledger.Record) *Error {
	e := &Error{Code: r.Code, Call: r.ID, Run: r.Run, What: "the call was refused", Next: Stop, Say: "Do not retry; tell the person."}
	if n := len(r.Why); n > 0 {
		if why := ledger.WhyRefused(r.Why[n-1].Fact); why != "" {
			e.What = untrusted.Plain(why)
		}
	}
	e.What = unsent + e.What
	switch r.Code {
	case "stale_offer":
		e.Next, e.Say = CallAgain, "The same call works now."
	case "run_over", "run_call_limit", "run_limit":
		e.Next, e.Say = NewRun, "Only a new run has new calls."
	case "rate_limit", "paused", "earlier_call_unfinished", "approval_busy":
		e.Next, e.Say = Wait, "Try again later."
	case "approval_required", "unanswered":
		e.Next, e.Say = Approve, "Ask the person, then make the same call again."
	case "effect_uncertain":
		e.Next, e.Say = Reconcile, "A person or the harness states what happened."
	case "call_conflict":
		e.Next, e.Say = FixInput, "Use a fresh call id for each intended call."
	case "capability_disabled":
		e.Next, e.Say = FixSettings, "That is an operator's to change."
	}
	return e
}

// Undispatched words an effect that was admitted and then not let through: nothing was sent. err is what the ledger said;
// nil is given for an error that is a fault and no answer.
func (s Speaker) Undispatched(r ledger.Record, err error) *Error {
	e := &Error{Call: r.ID, Run: r.Run, Outcome: effect.NotDispatched}
	switch {
	case errors.Is(err, ledger.ErrHeld):
		e.Code, e.What, e.Next = "effect_uncertain", "another action of this run has an unknown outcome", Reconcile
		e.Say = "Nothing was sent. A person or the harness states what happened to it, then make a new call."
	case errors.Is(err, ledger.ErrOver), errors.Is(err, ledger.ErrRunDeadline):
		e.Code, e.What, e.Next, e.Say = "run_over", fmt.Sprintf("run %s ended; %s", r.Run, s.takenAway()), NewRun, "Nothing was sent. Call again without the run's id, or in a new run."
	case errors.Is(err, ledger.ErrBindingChanged):
		e.Code, e.What, e.Next, e.Say = "binding_changed", "the settings of "+untrusted.Plain(r.Tool)+" were changed", CallAgain, "Nothing was sent. The same call works now."
	default:
		return nil
	}
	return e
}
