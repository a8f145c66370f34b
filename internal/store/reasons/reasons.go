// Package reasons words why a call went as it did: a line of JSON for each decision, written in the transaction that decides.
package reasons

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger"
)

// Stages of a call's way.
const (
	Offer     = "offer"
	Policy    = "policy"
	Admission = "admission"
	Dispatch  = "dispatch"
	Outcome   = "outcome"
	Reconcile = "reconcile"
)

// Lines writes reasons as the column has them. A reason without a time is of now.
func Lines(now time.Time, reasons ...ledger.Reason) string {
	var b strings.Builder
	for _, r := range reasons {
		if r.At.IsZero() {
			r.At = now
		}
		line, err := json.Marshal(r)
		if err != nil { // only a year beyond 9999 does this
			continue
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// Read is the other way. A line that cannot be read is left out: the chain explains and decides nothing.
func Read(text string) []ledger.Reason {
	var all []ledger.Reason
	for line := range strings.Lines(text) {
		var r ledger.Reason
		if json.Unmarshal([]byte(line), &r) == nil {
			all = append(all, r)
		}
	}
	return all
}

// Bound says what a tool is bound to.
func Bound(tool string, b binding.Binding) string {
	account := "no account"
	switch b.AccountOwner {
	case binding.Install:
		account = "the install's account"
	case "", "none":
	default:
		account = "the agent's account"
	}
	return fmt.Sprintf("%s is %s by %s: %s connection version %d, %s", tool, b.Capability, b.Provider, whose(b.ConnectionOwner), b.ConnectionVersion, account)
}

// Withheld says why the content of a call is not kept: what the tool is bound to since; nil where it is no longer offered.
func Withheld(tool string, now *binding.Binding) string {
	is := tool + " is no longer offered"
	if now != nil {
		is = Bound(tool, *now) + " now"
	}
	return "the binding changed while the call ran: " + is + "; its content is withheld"
}

func whose(owner string) string {
	if owner == binding.Install {
		return "the install's"
	}
	return "the agent's"
}

// Counted says what an admission counted.
func Counted(calls, most int64, meter string, b binding.Binding) string {
	limit := func(n int64) string {
		if n == 0 || n == ledger.MostToolCalls {
			return "no limit"
		}
		return fmt.Sprintf("at most %d", n)
	}
	text := strings.TrimSuffix(fmt.Sprintf("call %d of the run, %s", calls, limit(most)), ", no limit")
	if meter == binding.Uncounted {
		return text + "; counted against no limit"
	}
	return text + fmt.Sprintf("; one %s unit of %s: %s a run, %s a minute", b.Capability, meter, limit(b.RunLimit), limit(b.MinuteLimit))
}

// Refused says why a call was not let in; empty where the code says it.
func Refused(r *ledger.Refusal) string {
	f := r.Facts
	switch r.Code {
	case "call_conflict":
		return "the call id belongs to another call: other " + f.Differs
	case "capability_disabled":
		return "not offered any more: " + f.Reason
	case "stale_offer":
		if f.Was == nil {
			return "it was not offered to this caller"
		}
		return "the offer is stale: " + changed(*f.Was, *f.Now)
	case "paused":
		return fmt.Sprintf("the %s is paused since %s", f.Reason, f.At.Format(time.RFC3339))
	case "run_over":
		return fmt.Sprintf("the run ended at %s: %s", f.At.Format(time.RFC3339), f.Reason)
	case "run_call_limit":
		return fmt.Sprintf("%d of %d calls of the run are used", f.Used, f.Limit)
	case "effect_uncertain":
		return "an effect of unknown outcome holds the run"
	case "approval_required":
		return "the approval is used, unknown, expired or bound to something else"
	case "run_limit":
		return fmt.Sprintf("%d of %d %s calls of the run are used; the limit is the %s's", f.Used, f.Limit, f.Capability, f.LimitOf)
	case "rate_limit":
		return fmt.Sprintf("%d of %d %s calls of this minute are used", f.Used, f.Limit, f.Capability)
	}
	return ""
}

// changed names the first thing in which two bindings differ.
func changed(was, now binding.Binding) string {
	switch {
	case was.Provider != now.Provider:
		return fmt.Sprintf("the provider is %s, it was %s", now.Provider, was.Provider)
	case was.ConnectionOwner != now.ConnectionOwner:
		return "the connection is " + whose(now.ConnectionOwner) + " now"
	case was.AccountOwner != now.AccountOwner || was.AccountVersion != now.AccountVersion:
		return "the account or its key changed"
	case was.Profile != now.Profile:
		return "the action's profile changed"
	case was.ConnectionVersion != now.ConnectionVersion:
		return "the connection's settings changed"
	}
	return "the agent's rights changed"
}
