// This file words what stands between a call and a person's yes.
package observation

import (
	"fmt"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/untrusted"
)

// Closed refuses what policy closes.
func (s Speaker) Closed() *Error {
	return &Error{Code: "policy_closed", What: unsent + "browser tools are closed to this agent outside actions", Next: Stop,
		Say: "Do not retry; another source or tool if there is one."}
}

// Asking words how a request for a yes stands, where it does not let the call run.
func (s Speaker) Asking(tool string, f approval.Facts, stood approval.Stood) *Error {
	what := untrusted.Plain(tool)
	if f.Origin != "" {
		what += " on " + untrusted.URL(f.Origin, 200)
	}
	a := stood.Approval
	var e *Error
	switch stood.Standing {
	case approval.Busy:
		say := "Try again when one of them is answered"
		if s.Base != "" {
			say += ": " + s.Base + "/needs-you/approvals"
		} else {
			say += "."
		}
		return &Error{Code: "approval_busy", What: fmt.Sprintf("%s%d questions of this agent wait for a person", unsent, approval.MaxOpen), Next: Wait, Say: say}
	case approval.TurnedDown:
		e = &Error{Code: "denied", What: fmt.Sprintf("a person did not allow %s (question %s)", what, a.ID), Next: Stop,
			Say: "Do not retry; go on without it, or ask the person what they want instead."}
	case approval.Silent:
		e = &Error{Code: "unanswered", What: fmt.Sprintf("nobody answered within 10 minutes whether to allow %s (question %s)", what, a.ID), Next: Approve,
			Say: "Ask the person, then make the same call again: that puts a new question."}
	case approval.Granted: // and another approval was presented
		e = &Error{Code: "approval_required", What: fmt.Sprintf("%s waits for its own approval %s", what, a.ID), Next: Approve,
			Say: "A person allowed this very call: make it again without an approval's id."}
	default:
		e = &Error{Code: "approval_required", What: fmt.Sprintf("a person must allow %s: %s (question %s)", what, f.Tier.Words(), a.ID), Next: Approve}
		at := "at " + s.page("approvals", a.ID)
		if s.Base == "" {
			at = "with `wayleave approvals`"
		}
		e.Say = fmt.Sprintf("Ask the person to answer %s until %s, then make the same call again: it runs once, within 5 minutes of the answer.", at, clock(a.Expires))
	}
	if stood.Wrong != "" {
		e.What = "the approval that came with the call " + stood.Wrong + "; " + e.What
	}
	e.What = unsent + e.What
	e.Approval, e.AnswerURL, e.Expires, e.Tier = a.ID, s.page("approvals", a.ID), a.Expires, string(f.Tier.Known())
	return e
}
