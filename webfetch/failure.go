package webfetch

// The eleven failures, made in one place: what each has as status and whether it is worth another try. Reason is what
// a model is told and never quotes a server; Message is for the host and may.

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/weburl"
)

// maxQuotedCause bounds, in characters, what a message repeats of somebody else's error.
const maxQuotedCause = 200

// failure is the error of a code whose status is the response's. status is 0 where there was no response.
func failure(code Code, status int, url, contentType, reason string, cause error) *Error {
	e := &Error{Code: code, Status: status, URL: url, ContentType: contentType, Reason: reason, Cause: cause}
	e.Message = reason
	if cause != nil {
		e.Message += ": " + quotable(cause)
	}
	switch code {
	case CodeConversionFailed:
		e.Retryable = true
	case CodeHTTPError:
		e.Retryable = status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
	}
	return e
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

// unavailable is whatever went wrong on the way to the answer or while reading it.
func unavailable(url string, cause error) *Error {
	reason := unavailableReason(cause)
	e := &Error{Code: CodeUnavailable, Status: http.StatusBadGateway, Retryable: true, URL: url, Reason: reason, Cause: cause, Message: reason}
	if said := quotable(cause); said != reason {
		e.Message += ": " + said
	}
	return e
}

// unavailableReason says in our words what kind of fault it was.
func unavailableReason(err error) string {
	if e, ok := errors.AsType[hop.Fault](err); ok {
		return string(e)
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return "there is no such host name"
		}
		return "the host name could not be looked up"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is for another name"
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired {
			return "its certificate is not valid at this time"
		}
		return "its certificate is not valid"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is from an authority that is not trusted here"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "it does not answer with TLS, as https takes"
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was reset"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host cannot be reached"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return string(hop.Cut)
	}
	return "the connection failed"
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
