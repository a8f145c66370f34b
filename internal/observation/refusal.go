// This file words what the ledger refuses: nothing was counted and nothing was sent.
package observation

import (
	"fmt"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/untrusted"
)

// unsent begins the sentence of every refusal.
const unsent = "nothing was sent; "

// Refusal words a refusal of the ledger for a call of a tool.
func (s Speaker) Refusal(tool string, r *ledger.Refusal) *Error {
	e := s.refusal(tool, r)
	e.Code, e.Call, e.Run, e.What = r.Code, r.Call, r.Run, unsent+e.What
	return e
}

func (s Speaker) refusal(tool string, r *ledger.Refusal) *Error {
	switch r.Code {
	case "capability_disabled":
		why := "an operator changed what it may use"
		if r.Reason != "" {
			why = untrusted.Plain(r.Reason)
		}
		return &Error{What: tool + " is no longer offered: " + why, Next: FixSettings, Say: "That is an operator's to change; go on without " + tool + " and say so."}
	case "stale_offer":
		return &Error{What: changed(tool, r.Was, r.Now), Next: CallAgain, Say: "The same call works now."}
	case "paused":
		what := "this agent"
		if r.Reason == "install" {
			what = "every agent"
		}
		return &Error{What: "an operator paused " + what + since(r), Next: Wait, Say: "Try later; a person lets it go on."}
	case "run_over":
		return &Error{What: fmt.Sprintf("run %s ended at %s (%s); %s", r.Run, clock(r.At), untrusted.Plain(r.Reason), s.takenAway()), Next: NewRun,
			Say: "Call again without the run's id, or in a new run."}
	case "run_call_limit":
		return &Error{What: fmt.Sprintf("%d of %d calls of this run are used", r.Used, r.Limit), Next: NewRun, Say: "Only a new run has new calls; tell the person."}
	case "run_limit":
		whose := ""
		if r.LimitOf == "agent" {
			whose = ", the agent's own limit"
		}
		return &Error{What: fmt.Sprintf("%d of %d %s calls of this run are used%s", r.Used, r.Limit, r.Capability, whose), Next: NewRun,
			Say: "Only a new run has new calls; go on without " + tool + " or tell the person."}
	case "rate_limit":
		return &Error{What: fmt.Sprintf("%d of %d %s calls of this minute are used", r.Used, r.Limit, r.Capability), Next: Wait,
			Say: fmt.Sprintf("The next minute begins in %d s.", seconds(r.Wait)), RetryAfter: r.Wait}
	case "effect_uncertain":
		return s.held(r)
	case "earlier_call_unfinished":
		what := "the same call"
		if r.Reason == "hold" {
			what = "an action of this run"
		}
		return &Error{What: fmt.Sprintf("%s of %s, %s, is still under way", other(r), clock(r.OtherAt), what), Next: Wait,
			Say: "Try again in a minute.", Other: r.Other}
	case "call_conflict":
		return &Error{What: fmt.Sprintf("this call id belongs to %s (%s, %s)", r.Other, untrusted.Plain(r.OtherTool), differs(r.Differs)), Next: FixInput,
			Say: "Use a fresh call id for each intended call.", Other: r.Other}
	}
	// A code without a text of its own still ends as an answer: it says that nothing was sent.
	return &Error{What: "the call was refused", Next: Stop, Say: "Do not retry; tell the person."}
}

// held words the refusal of an effect while the outcome of another one is unknown.
func (s Speaker) held(r *ledger.Refusal) *Error {
	say := "A person or the harness states what happened"
	if look := s.look(); look != "" {
		say = look + "; a person or the harness states what happened"
	}
	url := s.page("uncertain", r.Other)
	if url != "" {
		say += ": " + url
	} else {
		say += " to " + r.Other + "."
	}
	return &Error{What: fmt.Sprintf("%s of %s has an unknown outcome", other(r), clock(r.OtherAt)), Next: Reconcile, Say: say, Other: r.Other}
}

// other names the call that is in the way.
func other(r *ledger.Refusal) string {
	if r.OtherTool == "" {
		return r.Other
	}
	return untrusted.Plain(r.OtherTool) + " " + r.Other
}

func since(r *ledger.Refusal) string {
	if r.At.IsZero() {
		return ""
	}
	return " at " + clock(r.At)
}

func differs(what string) string {
	switch what {
	case "tool":
		return "another tool"
	case "run":
		return "another run"
	}
	return "other arguments"
}

// takenAway says what an ended run took with it.
func (s Speaker) takenAway() string {
	if s.offered("browser_navigate", "browser_act", "browser_read") != "" {
		return "its browser, refs and kept pages are gone"
	}
	return "its kept pages are gone"
}

// changed says how a tool's binding differs from the one that was listed.
func changed(tool string, was, now *binding.Binding) string {
	switch {
	case was == nil || now == nil:
		return tool + " is offered anew since the tools were listed"
	case was.Provider != now.Provider:
		return fmt.Sprintf("%s now uses %s, it was %s", tool, now.Provider, was.Provider)
	case was.ConnectionOwner != now.ConnectionOwner && now.ConnectionOwner == binding.Install:
		return tool + " now uses the install's connection, it was the agent's own"
	case was.ConnectionOwner != now.ConnectionOwner:
		return tool + " now uses the agent's own connection, it was the install's"
	case was.AccountOwner != now.AccountOwner || was.AccountVersion != now.AccountVersion:
		return "the account that " + tool + " uses was changed"
	case was.ConnectionVersion != now.ConnectionVersion:
		return "the connection that " + tool + " uses was changed"
	case was.Profile != now.Profile:
		return "the profile of " + tool + " was changed"
	case was.GrantsVersion != now.GrantsVersion:
		return "what this agent may do was changed"
	}
	return "the settings of " + tool + " were changed"
}
