// This file words the one refusal that is not the library's: a minute that is used up.
package reading

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/agenttool"
)

// Refusal is a call that was refused before anything was sent.
type Refusal struct {
	Code string
	Text string // what the model reads
}

func (r *Refusal) Error() string { return r.Text }

func rateLimited(perMinute int, wait time.Duration) agenttool.Result {
	// Rounded up: who comes back at the second told must not find the same minute.
	seconds := int((wait + time.Second - 1) / time.Second)
	what := fmt.Sprintf("%d of %d read calls of this minute are used", perMinute, perMinute)
	text := fmt.Sprintf("rate_limit: nothing was sent; %s\nnext: wait · The next minute begins in %d s.", what, seconds)
	structured, err := json.Marshal(struct {
		OK         bool   `json:"ok"`
		Code       string `json:"code"`
		Message    string `json:"message"`
		Next       string `json:"next"`
		Retryable  bool   `json:"retryable"`
		RetryAfter int    `json:"retry_after_seconds"`
	}{false, "rate_limit", what, "wait", true, seconds})
	if err != nil { // strings and numbers only: cannot be
		structured = nil
	}
	return agenttool.Result{Content: []agenttool.Part{{Text: text}}, Structured: structured, Failure: &Refusal{Code: "rate_limit", Text: text}}
}
