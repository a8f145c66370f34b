// Package observation words what a model reads of a call that has no answer of its own: refusals, questions that wait,
// outcomes that nobody knows, and answers that were given before.
//
// The one rule: the text says all that the keys say, and every word is ours. Names that a page, a client or a profile chose
// pass through package untrusted, and a tool is named only where the agent is offered it.
package observation

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/untrusted"
)

// Next is the kind of what to do next.
type Next string

const (
	FixInput     Next = "fix_input"
	Stop         Next = "stop"
	Retry        Next = "retry"
	Wait         Next = "wait"
	CallAgain    Next = "call_again"
	Approve      Next = "approve"
	ObserveAgain Next = "observe_again"
	Inspect      Next = "inspect"
	Reconcile    Next = "reconcile"
	FixSettings  Next = "fix_settings"
	NewRun       Next = "new_run"
)

// Retryable says whether the same call may be made again.
func (n Next) Retryable() bool {
	switch n {
	case Retry, Wait, CallAgain, Approve:
		return true
	}
	return false
}

// Error is an error that a model reads: line 1 says the code, how far it came or which argument is meant, and what
// happened; line 2 what to do.
type Error struct {
	Code    string
	Outcome effect.Outcome // how far it came, where something could have been sent; else empty
	Field   string         // of an argument; empty where none is meant
	What    string         // what happened, without a full stop
	Next    Next
	Say     string // what to do, a sentence

	Call, Run  string // ids of what stands in the ledger; empty where nothing does
	RetryAfter time.Duration
	Approval   string
	AnswerURL  string
	Expires    time.Time
	Tier       string
	Other      string // the call that is in the way
}

// Error is the text that the model reads.
func (e *Error) Error() string {
	place := string(e.Outcome)
	if place == "" {
		place = e.Field
	}
	if place != "" {
		place += " · "
	}
	return untrusted.Line(e.Code+": "+place+e.What) + "\n" + untrusted.Line("next: "+string(e.Next)+" · "+e.Say)
}

// Result is the error as the result of a call.
func (e *Error) Result() agenttool.Result {
	keys := struct {
		OK         bool           `json:"ok"`
		Call       string         `json:"tool_call_id,omitempty"`
		Run        string         `json:"run_id,omitempty"`
		Code       string         `json:"code"`
		Message    string         `json:"message"`
		Next       Next           `json:"next"`
		Retryable  bool           `json:"retryable"`
		Field      string         `json:"field,omitempty"`
		Outcome    effect.Outcome `json:"outcome,omitempty"`
		RetryAfter int            `json:"retry_after_seconds,omitempty"`
		Approval   string         `json:"approval_id,omitempty"`
		AnswerURL  string         `json:"answer_url,omitempty"`
		Expires    string         `json:"expires_at,omitempty"`
		Tier       string         `json:"tier,omitempty"`
		Other      string         `json:"other_call_id,omitempty"`
	}{false, e.Call, e.Run, e.Code, untrusted.Line(e.What), e.Next, e.Next.Retryable(), e.Field, e.Outcome, seconds(e.RetryAfter), e.Approval, e.AnswerURL,
		rfc3339(e.Expires), e.Tier, e.Other}
	structured, err := json.Marshal(keys)
	if err != nil { // strings and numbers only: cannot be
		structured = nil
	}
	return agenttool.Result{Content: []agenttool.Part{{Text: e.Error()}}, Structured: structured, Failure: e}
}

// seconds rounds up: who comes back at the second told must not find the same wait.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

func rfc3339(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// clock is a time of day, as texts have it.
func clock(t time.Time) string { return t.UTC().Format("15:04:05") + " UTC" }

// Speaker knows what a text may name.
type Speaker struct {
	// Base is the address of the pages where people answer, without a slash at its end; empty where there are none.
	Base string
	// Offered says whether the agent is offered a tool now; nil means none.
	Offered func(tool string) bool
}

// Offers says whether the agent is offered a tool now.
func (s Speaker) Offers(tool string) bool { return s.Offered != nil && s.Offered(tool) }

// offered joins those of the tools that are offered: "a or b"; empty where none is.
func (s Speaker) offered(tools ...string) string {
	var names []string
	for _, t := range tools {
		if s.Offers(t) {
			names = append(names, t)
		}
	}
	return strings.Join(names, " or ")
}

// look says how to look at what the run's browser shows, as the beginning of a sentence; empty where no tool looks.
func (s Speaker) look() string {
	if names := s.offered("browser_read", "browser_screenshot"); names != "" {
		return "Look with " + names
	}
	return ""
}

// page is the address at which people deal with a row.
func (s Speaker) page(kind, id string) string {
	if s.Base == "" {
		return ""
	}
	return s.Base + "/needs-you/" + kind + "?id=" + id
}

// HTTPStatus is the status of an answer over HTTP: 200 also for most errors, since the call itself was carried out.
func HTTPStatus(code string) int {
	switch code {
	case "invalid_web_fetch_input", "invalid_web_search_input", "invalid_browser_input":
		return http.StatusBadRequest
	case "capability_disabled", "policy_closed", "site_blocked", "host_not_allowed", "private_host", "approval_required", "denied", "unanswered":
		return http.StatusForbidden
	case "stale_offer", "paused", "run_over", "effect_uncertain", "earlier_call_unfinished", "call_conflict":
		return http.StatusConflict
	case "run_call_limit", "run_limit", "rate_limit", "approval_busy":
		return http.StatusTooManyRequests
	case "missing_input", "unknown_input", "invalid_input", "unsupported_image":
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}
