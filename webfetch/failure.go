package webfetch

// The eleven failures, made in one place: what each has as status and whether it is worth another try. Reason is what
// a model is told and never quotes a server; Message is for the host and may.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/weburl"
)

// maxQuotedCause bounds, in characters, what a message repeats of somebody else's error.
const maxQuotedCause = 200

// failure is the error of a code whose status is the response's. status is 0 where there was no response.
func failure(code Code, status int, url, contentType, reason string, cause error) *Error {
	if why := unreadable(code, cause); why != "" {
		reason = "the document cannot be read: " + why
	}
	e := &Error{Code: code, Status: status, URL: url, ContentType: contentType, Reason: reason, Cause: cause}
	e.Message = reason
	if cause != nil {
		// An Unreadable says the reason itself.
		if said := quotable(cause); strings.HasPrefix(said, reason) {
			e.Message = said
		} else {
			e.Message += ": " + said
		}
	}
	switch code {
	case CodeConversionFailed:
		e.Retryable = true
	case CodeHTTPError:
		e.Retryable = passing(status)
	}
	return e
}

// errRawDocument says that a document was asked for as it was sent, and would be read without that.
var errRawDocument = errors.New("a document has no raw text; the format auto gives it as Markdown")

// unreadable is why a document cannot be read; empty where nobody said so.
func unreadable(code Code, cause error) string {
	var u *Unreadable
	if code != CodeConversionFailed || !errors.As(cause, &u) {
		return ""
	}
	return u.Reason
}

// quotable is an error's text on one bounded line, fit to stand inside a message of ours.
func quotable(err error) string {
	line := strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(err.Error(), "\ufffd"))
	line = strings.Join(strings.Fields(line), " ")
	if chars := []rune(line); len(chars) > maxQuotedCause {
		line = string(chars[:maxQuotedCause-1]) + "…"
	}
	return line
}

func invalidInput(field, url, reason string) *Error {
	return &Error{Code: CodeInvalidInput, Status: http.StatusBadRequest, Field: field, URL: url, Reason: reason, Message: reason}
}

// timedOut is the deadline that passed.
func timedOut(url string, after time.Duration) *Error {
	return &Error{Code: CodeTimeout, Status: http.StatusGatewayTimeout, Retryable: true, URL: url, Timeout: after,
		Message: fmt.Sprintf("the fetch did not end within %v", after), Cause: context.DeadlineExceeded}
}

// unavailable is whatever went wrong on the way to the answer or while reading it. It is worth another try but where the
// egress proxy's fault is one that a person has to mend.
func unavailable(url string, cause error) *Error {
	reason := hop.Reason(cause)
	e := &Error{Code: CodeUnavailable, Status: http.StatusBadGateway, Retryable: !hop.Lasting(cause), URL: url, Reason: reason, Cause: cause, Message: reason}
	if said := quotable(cause); said != reason {
		e.Message += ": " + said
	}
	return e
}

// refused is a URL that may not be asked for, or could not be understood.
func refused(requested string, e *weburl.Error) *Error {
	if e.Kind == weburl.Invalid {
		bad := invalidInput("url", requested, e.Reason)
		bad.Cause = e
		return bad
	}
	return &Error{Code: CodeDisallowedURL, Status: http.StatusForbidden, URL: requested, Host: e.Host, PrivateHost: permittable(e), Reason: e.Reason, Message: e.Reason, Cause: e}
}

// permittable tells whether an operator could let the refused host pass by naming it. Metadata addresses are not
// advertised: a page that led to one should not lead to its permission.
func permittable(e *weburl.Error) bool { return e.Permit != "" }

// passing says that a status is of a failure that may pass by itself.
func passing(status int) bool {
	return status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
}
