package webfetch

import "time"

// Code is what a program reads of a failure. There are these eleven and no others.
type Code string

// The codes of a failed fetch.
const (
	CodeInvalidInput           Code = "invalid_web_fetch_input"
	CodeDisallowedURL          Code = "web_fetch_disallowed_url"
	CodeDisallowedRedirect     Code = "web_fetch_disallowed_redirect"
	CodeTooManyRedirects       Code = "web_fetch_too_many_redirects"
	CodeTimeout                Code = "web_fetch_timeout"
	CodeTooLarge               Code = "web_fetch_too_large"
	CodeUnsupportedContentType Code = "web_fetch_unsupported_content_type"
	CodeHTTPError              Code = "web_fetch_http_error"
	CodeBlocked                Code = "web_fetch_blocked"
	CodeConversionFailed       Code = "web_fetch_conversion_failed"
	CodeUnavailable            Code = "web_fetch_unavailable"
)

// Error is a failed fetch. Message is for the host; what a model is told is made from the other fields.
type Error struct {
	Code      Code
	Status    int  // 400, 403, 504, 502 by the code, or the response's
	Retryable bool // a host may send the same request again
	// URL is the requested URL for policy errors and timeouts, else the URL of the hop that failed.
	URL string
	// ContentType is set for too large, unsupported, HTTP error, blocked and conversion failed.
	ContentType string
	// Timeout is the deadline that passed; zero but for CodeTimeout.
	Timeout time.Duration
	// RetryAfter is when the site said to come back, in whole seconds from 1 s to an hour; zero where it did not say so,
	// and but for CodeHTTPError that is Retryable.
	RetryAfter time.Duration
	// LimitBytes is the body limit; zero but for CodeTooLarge.
	LimitBytes int64
	// Field names the argument for CodeInvalidInput.
	Field string
	// Host and Target describe a refusal: the canonical host, and for a redirect the refused target's host.
	Host   string
	Target string
	// PrivateHost is true where an operator could permit the refused host by name.
	PrivateHost bool
	// Reason says why in our words, as a part of a sentence without capital or full stop; a model is told it. It never
	// holds words of a page or server. Empty means that it is made from Cause.
	Reason string
	// Message is for the host and may quote a server.
	Message string
	Cause   error
}

func (e *Error) Error() string { return e.Message }

// Unwrap gives the original error.
func (e *Error) Unwrap() error { return e.Cause }
