package webfetch

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/bodytype"
	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/internal/untrusted"
	"github.com/wayleave/wayleave/weburl"
)

// What a model is told of a failure: one line with the code and what happened, one with what to do next. Both are made
// from the fields of the error, in our words. The error's message is for the host and never shown here, for it may
// quote a server.

// ErrorResult is the result that tells a model of a failed call: code, what happened, what to do next. An error that
// is no *Error counts as CodeUnavailable. Failure unwraps to the *Error. A caller's own cancellation is no result:
// return that error instead.
func ErrorResult(err error, o AnswerOptions) agenttool.Result {
	e := asError(err)
	what := untrusted.Line(whatHappened(e))
	kind, sentence := whatNext(e, o)
	first := string(e.Code) + ": "
	if e.Field != "" {
		first += untrusted.Plain(e.Field) + separator
	}
	text := untrusted.Line(first+refusalPrefix(e)+what) + "\n" + untrusted.Line("next: "+kind+separator+sentence)
	return agenttool.Result{
		Content:    []agenttool.Part{{Text: text}},
		Structured: structuredError(e, what, kind),
		Failure:    &toldError{text: text, err: e},
	}
}

// toldError is a failure with the model's text, for frameworks that hand an error's text to their model.
type toldError struct {
	text string
	err  *Error
}

func (t *toldError) Error() string { return t.text }
func (t *toldError) Unwrap() error { return t.err }

// refusalPrefix says of a refused URL that nobody was asked, or nobody for the page.
func refusalPrefix(e *Error) string {
	if e.Code != CodeDisallowedURL {
		return ""
	}
	if r, ok := errors.AsType[*RobotsRefusal](e.Cause); ok && r.Asked {
		return "nothing but robots.txt was asked for; "
	}
	return "nothing was sent; "
}

// whatHappened is the rest of the first line.
func whatHappened(e *Error) string {
	at := "the URL"
	if e.URL != "" {
		at = untrusted.URL(e.URL, shownURLChars)
	}
	switch e.Code {
	case CodeInvalidInput:
		return cmp.Or(reason(e), "the arguments were rejected")
	case CodeDisallowedURL:
		return "this URL cannot be fetched here: " + cmp.Or(reason(e), "the URL policy refuses it")
	case CodeDisallowedRedirect:
		to := "a URL"
		if e.Target != "" {
			to = untrusted.Quote(e.Target)
		}
		return at + " redirected to " + to + ", which cannot be fetched here: " + cmp.Or(reason(e), "the URL policy refuses it")
	case CodeTooManyRedirects:
		return tooMany(e, at)
	case CodeTimeout:
		return at + " timed out after " + duration(e.Timeout)
	case CodeTooLarge:
		return at + " is larger than " + size(e.LimitBytes)
	case CodeUnsupportedContentType:
		return at + " is " + contentType(e) + ", which cannot be read as text"
	case CodeHTTPError:
		return at + " answered " + statusText(e.Status) + " with no readable body"
	case CodeBlocked:
		return at + " is behind a bot challenge that a plain fetch cannot pass"
	case CodeConversionFailed:
		what := at + " (" + contentType(e) + ") could not be converted to text"
		if why := unreadable(e.Code, e.Cause); why != "" {
			what += ": " + why
		}
		return what
	default:
		return at + " could not be read: " + reason(e)
	}
}

func tooMany(e *Error, at string) string {
	why := reason(e)
	if why == "" {
		return at + " redirected too often or in a loop"
	}
	if e.Target != "" {
		why += ", the next to " + untrusted.Quote(e.Target)
	}
	return at + ": " + why
}

// contentType is the media type of an error as it may be shown.
func contentType(e *Error) string {
	if t := showMediaType(e.ContentType); t != "" {
		return t
	}
	return "of an unknown type"
}

// reason says why, in our words: what the fetcher gave, or what its cause is known to mean. What another Source says
// in Message is a name like any other.
func reason(e *Error) string {
	var refused *weburl.Error
	var byRobots *RobotsRefusal
	switch {
	case e.Reason != "":
		return e.Reason
	case errors.As(e.Cause, &refused):
		return strings.TrimSuffix(refused.Reason, ".")
	case errors.As(e.Cause, &byRobots):
		return robotsReason(byRobots)
	case e.Code == CodeUnavailable:
		return hop.Reason(e.Cause)
	case e.Cause == nil && e.Message != "":
		return untrusted.Quote(e.Message)
	}
	return ""
}

// whatNext is the kind of the second line and its sentence.
func whatNext(e *Error, o AnswerOptions) (kind, sentence string) {
	const (
		stop  = "Do not retry; use another source or tool if there is one."
		again = "You may retry once after a short wait."
	)
	switch e.Code {
	case CodeInvalidInput:
		return "fix_input", "Correct the argument and call again."
	case CodeTimeout:
		return "retry", "You may retry once."
	case CodeDisallowedURL:
		return "stop", stop + permitSentence(e, o) + robotsSentence(e, e.Host, o)
	case CodeDisallowedRedirect:
		return "stop", stop + robotsSentence(e, e.Target, o)
	case CodeUnsupportedContentType:
		if errors.Is(e.Cause, errRawDocument) {
			return "stop", "Do not retry with format raw; without it the document is read as Markdown."
		}
		return "stop", stop
	case CodeBlocked:
		if o.Abilities.Browser {
			return "stop", "Do not retry; use browser_navigate, or another source."
		}
		return "stop", "Do not retry; use a browser tool if there is one, or another source."
	case CodeConversionFailed:
		if bodytype.KindOf(e.ContentType) == bodytype.HTML {
			return "retry_raw", "Retry once with format raw."
		}
		return "stop", stop
	case CodeHTTPError:
		if seconds := retrySeconds(e); seconds > 0 {
			return "retry", "You may retry once after " + strconv.Itoa(seconds) + " s."
		}
		if e.Retryable {
			return "retry", again
		}
		return "stop", stop
	case CodeUnavailable:
		if e.Retryable {
			return "retry", again
		}
		return "fix_settings", "Do not retry; a person has to change the settings."
	}
	return "stop", stop
}

// permitSentence tells a person how to let a private host pass that the caller itself named, at the port that it asked
// for. A redirect's target gets none: a page that leads to a private host should not lead to its permission.
func permitSentence(e *Error, o AnswerOptions) string {
	host := e.Host
	var refused *weburl.Error
	if errors.As(e.Cause, &refused) {
		host = refused.Permit
	}
	if !e.PrivateHost || o.PermitCommand == "" || host == "" {
		return ""
	}
	if u, err := weburl.Parse(e.URL); err == nil && u.Port() != defaultPort(u.Scheme()) {
		host += ":" + strconv.Itoa(int(u.Port()))
	}
	// A port of another protocol is refused whatever is permitted.
	if _, err := weburl.ParsePermit(host); err != nil || !isCommandWord(host) {
		return ""
	}
	// A line is cut at its end, and a command without its end is another one.
	sentence := " A person can permit this host: " + o.PermitCommand + " " + host
	if len(sentence) > maxPermitBytes {
		return ""
	}
	return sentence
}

// robotsReason says what a site's robots.txt has against it. The rule is the site's words, a name like any other.
func robotsReason(r *RobotsRefusal) string {
	if r.Line > 0 {
		return "robots.txt of the site is obeyed here and disallows it, line " + strconv.Itoa(r.Line) + ": " + untrusted.Quote(r.Rule)
	}
	return "robots.txt of the site is obeyed here and the site did not give it, status " + strconv.Itoa(r.Status)
}

// robotsSentence tells a person how a site is exempted from its robots.txt.
func robotsSentence(e *Error, host string, o AnswerOptions) string {
	if _, ok := errors.AsType[*RobotsRefusal](e.Cause); !ok || o.RobotsSetting == "" || !isCommandWord(host) {
		return ""
	}
	return " An operator can exempt this site: " + o.RobotsSetting + " " + host
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// maxPermitBytes leaves the rest of the line its room.
const maxPermitBytes = untrusted.MaxLineBytes - 100

// isCommandWord tells whether a host is safe to stand in a command that a person pastes into a shell.
func isCommandWord(host string) bool {
	return host != "" && len(host) <= untrusted.QuotedChars && host[0] != '-' &&
		strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.:[]_-") == ""
}

// duration is told in milliseconds below a second.
func duration(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
}

// size is told in MB from a million bytes.
func size(bytes int64) string {
	if bytes < 1_000_000 {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/1e6), ".0") + " MB"
}

// errorKeys are the keys of a failure, in their order.
type errorKeys struct {
	OK          bool   `json:"ok"`
	Code        Code   `json:"code"`
	Message     string `json:"message"`
	Next        string `json:"next"`
	Retryable   bool   `json:"retryable"`
	Field       string `json:"field,omitempty"`
	Status      int    `json:"status"`
	URL         string `json:"url,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	TimeoutMS   int64  `json:"timeout_ms,omitempty"`
	LimitBytes  int64  `json:"limit_bytes,omitempty"`
	RetryAfter  int    `json:"retry_after_seconds,omitempty"`
}

func structuredError(e *Error, what, next string) []byte {
	return marshal(errorKeys{
		Code: e.Code, Message: what, Next: next, Retryable: e.Retryable, Field: untrusted.Plain(e.Field), Status: statusOf(e),
		URL: untrusted.URL(e.URL, hostURLChars), ContentType: showMediaType(e.ContentType),
		TimeoutMS: e.Timeout.Milliseconds(), LimitBytes: e.LimitBytes, RetryAfter: retrySeconds(e),
	})
}

// retrySeconds is when the site said to come back; 0 where it did not, or out of bounds. Another Source may set any
// time.
func retrySeconds(e *Error) int {
	if !e.Retryable || e.RetryAfter < time.Second || e.RetryAfter > maxRetryAfter {
		return 0
	}
	return int((e.RetryAfter + time.Second - 1) / time.Second)
}

// statusOf is the status of a failure; one that never had a response has a status by its code.
func statusOf(e *Error) int {
	switch {
	case e.Status != 0:
		return e.Status
	case e.Code == CodeInvalidInput:
		return 400
	case e.Code == CodeDisallowedURL:
		return 403
	case e.Code == CodeTimeout:
		return 504
	}
	return 502
}

// asError is err as a *Error with one of our codes. Every other error is a failure of the source.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) && isCode(e.Code) {
		return e
	}
	return &Error{Code: CodeUnavailable, Status: 502, Retryable: true, Message: "webfetch: the source failed: " + err.Error(), Cause: err}
}

func isCode(c Code) bool {
	switch c {
	case CodeInvalidInput, CodeDisallowedURL, CodeDisallowedRedirect, CodeTooManyRedirects, CodeTimeout, CodeTooLarge,
		CodeUnsupportedContentType, CodeHTTPError, CodeBlocked, CodeConversionFailed, CodeUnavailable:
		return true
	}
	return false
}
