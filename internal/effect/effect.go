// Package effect has the words for what a tool call does to the world and for how far it came, and the one table that
// says which step may follow which.
//
// The one rule: an effect that was dispatched is never called failed. What may have happened is said to be uncertain.
package effect

// Class says what a call may do to the world. It is fixed by tool and provider.
type Class string

const (
	Query       Class = "query"       // metered at a provider; never sent twice
	Observation Class = "observation" // looks only; may be repeated
	Effect      Class = "effect"      // may change the world; never replayed by us
)

// State is how far a call came. A final state never changes.
type State string

const (
	Refused    State = "refused"    // not admitted: nothing counted, nothing sent
	Admitted   State = "admitted"   // counted, nothing sent yet: effects only
	Dispatched State = "dispatched" // may have been sent
	Succeeded  State = "succeeded"  // its handler ran to the end
	Failed     State = "failed"     // a fault, a cancellation or a death; nothing was changed
	Uncertain  State = "uncertain"  // outcome unknown
)

// Final says whether a call in this state has ended.
func (s State) Final() bool { return s != Admitted && s != Dispatched }

// Outcome says what is known of what was sent.
type Outcome string

const (
	OK               Outcome = "ok"
	ProviderError    Outcome = "provider_error"   // sent; the observation is an error
	NotDispatched    Outcome = "not_dispatched"   // nothing was sent
	InputDispatched  Outcome = "input_dispatched" // all input was sent; what followed is not known to be well
	OutcomeUncertain Outcome = "uncertain"
	Lost             Outcome = "lost" // a query or observation that was given up after it was sent
)

// Event is what happens to a call.
type Event string

const (
	Admit      Event = "admit"       // the gate lets it in (T2, T3)
	Refuse     Event = "refuse"      // the gate does not (T1)
	Dispatch   Event = "dispatch"    // the boundary before the first byte is committed (T4)
	Done       Event = "done"        // the handler ended and knows the outcome (T7)
	TurnedAway Event = "turned away" // a known refusal before input (T5)
	Break      Event = "break"       // cancelled, a fault, a deadline, while its owner lives (T6, T8, T9)
	LoseTrack  Event = "lose track"  // the owner failed during delivery, or its permit went stale (T8, T9)
	Abandon    Event = "abandon"     // a sweep concludes the call of a dead owner or past its time (T6, T8, T9)
)

// Next gives the state after an event, and whether the event may happen there at all. The empty State is that of a
// call that does not exist yet.
func Next(c Class, s State, e Event) (State, bool) {
	switch s {
	case "":
		switch {
		case e == Refuse:
			return Refused, true
		case e == Admit && c == Effect:
			return Admitted, true
		case e == Admit:
			return Dispatched, true // a fresh admission is the right to send
		}
	case Admitted:
		if c != Effect { // others are dispatched by their admission
			return s, false
		}
		switch e {
		case Dispatch:
			return Dispatched, true
		case TurnedAway:
			return Succeeded, true
		case Break, Abandon:
			return Failed, true
		}
	case Dispatched:
		switch e {
		case Done:
			return Succeeded, true
		case Break:
			if c == Effect {
				return Uncertain, true
			}
			return Failed, true
		case LoseTrack, Abandon:
			if c == Observation {
				return Failed, true
			}
			return Uncertain, true
		case TurnedAway:
			if c != Effect { // nothing was sent although it might have been
				return Succeeded, true
			}
		}
	}
	return s, false
}
