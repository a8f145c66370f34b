package webfetch

import (
	"time"

	"github.com/wayleave/wayleave/weburl"
)

// Options say which URLs may be fetched, how much is read and how long it may take. A nil field means its default;
// the zero Options work. The valid ranges are checked when a fetcher or tool is made.
type Options struct {
	PageChars    *int           // 1–200,000 characters a window; default 20,000
	MaxBodyBytes *int64         // 1–100,000,000 decoded bytes of a body; default 5,000,000
	Timeout      *time.Duration // 1 ms–10 min for all of a fetch; default 30 s
	MaxRedirects *int           // 0–20; default 5
	UserAgent    *string        // not blank, no control characters
	Description  *string        // not blank; replaces what the model sees of the tool

	Policy *weburl.Policy // default: the zero Policy, the public web
}
