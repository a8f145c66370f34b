// This file is how a request fails: one kind of document, whose code is from a closed list and whose sentences are ours.
package operatorapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/people"
	"github.com/wayleave/wayleave/internal/tool"
)

// Codes of the API's own doors, beside those of tool calls.
const (
	codeInvalidToken   = "invalid_token"     // 401: no credential, or it opens nothing
	codeWrongSignIn    = "wrong_sign_in"     // 401: name and password do not match
	codeForbidden      = "forbidden"         // 403: this credential may not
	codeConfirmMissing = "confirm_missing"   // 403: a cookie alone changes nothing
	codeInvalidHost    = "invalid_host"      // 403
	codeInvalidOrigin  = "invalid_origin"    // 403
	codeNotFound       = "not_found"         // 404: not there, or another agent's
	codeConflict       = "conflict"          // 409: it is not as you think; what stands now is said
	codeLinkGone       = "link_gone"         // 410
	codeInvalidRequest = "invalid_request"   // 400, 405, 408, 415, 422
	codeTooLarge       = "too_large"         // 413
	codeEvidenceError  = "evidence_is_error" // 422
	codeRateLimit      = "rate_limit"        // 429
	codeInternal       = "internal_error"    // 500
	codeUnavailable    = "store_unavailable" // 503
)

// failure is a problem on its way out.
type failure struct {
	wire.Problem
	header http.Header
	cause  error // for the log; never sent
}

// Error is for the log.
func (f *failure) Error() string { return f.Code + ": " + f.Detail }

// Unwrap gives the cause.
func (f *failure) Unwrap() error { return f.cause }

// GetStatus makes it an answer of the HTTP library.
func (f *failure) GetStatus() int { return f.Status }

// GetHeaders gives what stands beside the document.
func (f *failure) GetHeaders() http.Header { return f.header }

// ContentType names the document.
func (f *failure) ContentType(string) string { return problemType }

// noJSON refuses a body of another kind, by which a form of another site would come in.
const noJSON = "the Content-Type of a body is application/json"

const problemType = "application/problem+json"

// fail makes a failure. The detail is a sentence of ours that holds no word of the request but names that were checked.
func fail(status int, code, detail string) *failure {
	return &failure{Problem: wire.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Code: code}}
}

// at names the member that is wrong.
func (f *failure) at(field string) *failure {
	f.Field = field
	f.Pointer = "/" + strings.ReplaceAll(field, ".", "/")
	return f
}

// because keeps what the log should know.
func (f *failure) because(err error) *failure {
	f.cause = err
	return f
}

// after says when to try again.
func (f *failure) after(d time.Duration) *failure {
	seconds := max(1, int((d+time.Second-1)/time.Second))
	f.RetryAfter = seconds
	return f.with("Retry-After", strconv.Itoa(seconds))
}

func (f *failure) with(name, value string) *failure {
	if f.header == nil {
		f.header = make(http.Header)
	}
	f.header.Set(name, value)
	return f
}

// notFound is the one answer for what is not there and for what is another agent's: the same bytes.
func notFound() *failure {
	return fail(http.StatusNotFound, codeNotFound, "there is nothing of that name here that this credential may see")
}

func conflict(detail string) *failure { return fail(http.StatusConflict, codeConflict, detail) }

// failed turns an error of the domain into what a client is told.
func (s *Server) failed(err error) *failure {
	var (
		f       *failure
		fault   *tool.Fault
		stale   *connection.Conflict
		invalid *connection.Invalid
		tooMany *people.TooMany
	)
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &fault):
		return fail(fault.Status(), fault.Code, fault.Text).because(err)
	case errors.Is(err, ledger.ErrNotFound), errors.Is(err, agent.ErrNotFound), errors.Is(err, approval.ErrNotFound),
		errors.Is(err, people.ErrNotFound), errors.Is(err, connection.ErrNotFound), errors.Is(err, allowed.ErrNotFound), errors.Is(err, allowed.ErrNotAllowed):
		return notFound()
	case errors.As(err, &stale):
		f := conflict("the settings were changed since they were read; read them again and decide anew")
		f.Version, f.ChangedBy = &stale.Now.Version, stale.Now.ChangedBy
		if !stale.Now.Changed.IsZero() {
			at := stale.Now.Changed.UTC()
			f.ChangedAt = &at
		}
		return f
	case errors.As(err, &invalid):
		return fail(http.StatusUnprocessableEntity, codeInvalidRequest, invalid.Field+": "+invalid.Reason).at(invalid.Field)
	case errors.As(err, &tooMany):
		return fail(http.StatusTooManyRequests, codeRateLimit, "too many sign-ins; wait, or sign in by a link from `wayleave sign-in`").after(tooMany.Wait)
	case errors.Is(err, people.ErrWrong):
		return fail(http.StatusUnauthorized, codeWrongSignIn, "the name or the password is wrong")
	case errors.Is(err, people.ErrLinkGone):
		return fail(http.StatusGone, codeLinkGone, people.ErrLinkGone.Error())
	case errors.Is(err, people.ErrNameTaken), errors.Is(err, people.ErrLastOwner):
		return conflict(err.Error())
	case errors.Is(err, people.ErrUnknownAgent):
		return fail(http.StatusUnprocessableEntity, codeInvalidRequest, "agents: "+err.Error()).at("agents")
	case errors.Is(err, approval.ErrNotOpen):
		return conflict("the question was answered already, or its time is over; read it again to see by whom")
	case errors.Is(err, ledger.ErrInFlight):
		return conflict("the call is still in flight; wait until it has ended")
	case errors.Is(err, ledger.ErrNotUncertain):
		return conflict("the outcome of the call is known, so there is nothing to reconcile")
	case errors.Is(err, ledger.ErrReconciled):
		return conflict("another verdict was given before, and a verdict stands; read the call to see which and by whom")
	case errors.Is(err, ledger.ErrProof):
		return fail(http.StatusUnprocessableEntity, codeEvidenceError, "evidence: what it names is no observation of this run that succeeded").at("evidence")
	case errors.Is(err, ledger.ErrStore), errors.Is(err, context.DeadlineExceeded), s.o.Unavailable(err):
		return fail(http.StatusServiceUnavailable, codeUnavailable, "the database did not answer; nothing is known to have changed").because(err)
	}
	return fail(http.StatusInternalServerError, codeInternal, "something went wrong here; the log has the request's id").because(err)
}

// framework turns what the HTTP library says of a request into our words. It never repeats what was sent: a body may
// hold a secret.
func framework(m *huma.ErrorModel) *failure {
	code, detail := codeInvalidRequest, m.Detail
	switch m.Status {
	case http.StatusRequestEntityTooLarge:
		code, detail = codeTooLarge, "the body is larger than this operation takes"
	case http.StatusUnsupportedMediaType:
		detail = noJSON
	case http.StatusRequestTimeout:
		detail = "the body did not arrive in time"
	case http.StatusBadRequest:
		detail = "the body is not one JSON value with each member once"
		if len(m.Errors) == 0 {
			detail = "this operation takes a JSON body"
		}
	case http.StatusUnprocessableEntity:
		detail = "the request does not have the shape that this operation takes"
	default:
		return fail(http.StatusInternalServerError, codeInternal, "something went wrong here; the log has the request's id").because(m)
	}
	f := fail(m.Status, code, detail)
	if m.Status != http.StatusUnprocessableEntity || len(m.Errors) == 0 {
		return f
	}
	where, rest, _ := strings.Cut(m.Errors[0].Location, ".")
	f.Detail = rest + ": " + m.Errors[0].Message
	f.Field = rest
	if where == "body" {
		f.at(rest)
	}
	return f
}
