// This file is how a request fails: one kind of document, whose code is from a closed list and whose sentences are ours.
package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
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
	CodeInvalidToken   = "invalid_token"     // 401: no credential, or it opens nothing
	CodeWrongSignIn    = "wrong_sign_in"     // 401: name and password do not match
	CodeForbidden      = "forbidden"         // 403: this credential may not
	CodeConfirmMissing = "confirm_missing"   // 403: a cookie alone changes nothing
	CodeInvalidHost    = "invalid_host"      // 403
	CodeInvalidOrigin  = "invalid_origin"    // 403
	CodeNotFound       = "not_found"         // 404: not there, or another agent's
	CodeConflict       = "conflict"          // 409: it is not as you think; what stands now is said
	CodeLinkGone       = "link_gone"         // 410
	CodeInvalidRequest = "invalid_request"   // 400, 405, 408, 415, 422
	CodeTooLarge       = "too_large"         // 413
	CodeEvidenceError  = "evidence_is_error" // 422
	CodeRateLimit      = "rate_limit"        // 429
	CodeInternal       = "internal_error"    // 500
	CodeUnavailable    = "store_unavailable" // 503
)

// Failure is a problem on its way out.
type Failure struct {
	wire.Problem
	header http.Header
	cause  error // for the log; never sent
}

// Error is for the log.
func (f *Failure) Error() string { return f.Code + ": " + f.Detail }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.cause }

// GetStatus makes it an answer of the HTTP library.
func (f *Failure) GetStatus() int { return f.Status }

// GetHeaders gives what stands beside the document.
func (f *Failure) GetHeaders() http.Header { return f.header }

// ContentType names the document.
func (f *Failure) ContentType(string) string { return ProblemType }

// NoJSON refuses a body of another kind, by which a form of another site would come in.
const NoJSON = "send the body as JSON, with the header Content-Type: application/json"

const ProblemType = "application/problem+json"

// Fail makes a failure. The detail is a sentence of ours that holds no word of the request but names that were checked.
func Fail(status int, code, detail string) *Failure {
	return &Failure{Problem: wire.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Code: code}}
}

// At names the member that is wrong.
func (f *Failure) At(field string) *Failure {
	f.Field = field
	f.Pointer = "/" + strings.ReplaceAll(field, ".", "/")
	return f
}

// Because keeps what the log should know.
func (f *Failure) Because(err error) *Failure {
	f.cause = err
	return f
}

// After says when to try again.
func (f *Failure) After(d time.Duration) *Failure {
	seconds := max(1, int((d+time.Second-1)/time.Second))
	f.RetryAfter = seconds
	return f.With("Retry-After", strconv.Itoa(seconds))
}

func (f *Failure) With(name, value string) *Failure {
	if f.header == nil {
		f.header = make(http.Header)
	}
	f.header.Set(name, value)
	return f
}

// NotFound is the one answer for what is not there and for what is another agent's: the same bytes.
func NotFound() *Failure {
	return Fail(http.StatusNotFound, CodeNotFound, "there is nothing of that name here that this credential may see")
}

func Conflict(detail string) *Failure { return Fail(http.StatusConflict, CodeConflict, detail) }

// Failed turns an error of the domain into what a client is told.
func (g *Gate) Failed(err error) *Failure {
	var (
		f       *Failure
		fault   *tool.Fault
		stale   *connection.Conflict
		invalid *connection.Invalid
		tooMany *people.TooMany
	)
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &fault):
		if fault.Err != nil { // a fault's own words are those for the client
			err = fmt.Errorf("%w: %w", err, fault.Err)
		}
		return Fail(fault.Status(), fault.Code, fault.Text).Because(err)
	case errors.Is(err, ledger.ErrNotFound), errors.Is(err, agent.ErrNotFound), errors.Is(err, approval.ErrNotFound),
		errors.Is(err, people.ErrNotFound), errors.Is(err, connection.ErrNotFound), errors.Is(err, allowed.ErrNotFound), errors.Is(err, allowed.ErrNotAllowed):
		return NotFound()
	case errors.As(err, &stale):
		f := Conflict("the settings were changed since they were read; read them again and decide anew")
		f.Version, f.ChangedBy = &stale.Now.Version, stale.Now.ChangedBy
		if !stale.Now.Changed.IsZero() {
			at := stale.Now.Changed.UTC()
			f.ChangedAt = &at
		}
		return f
	case errors.As(err, &invalid):
		return Fail(http.StatusUnprocessableEntity, CodeInvalidRequest, invalid.Field+": "+invalid.Reason).At(invalid.Field)
	case errors.As(err, &tooMany):
		return Fail(http.StatusTooManyRequests, CodeRateLimit, "too many sign-ins; wait, or sign in by a link from `wayleave sign-in`").After(tooMany.Wait)
	case errors.Is(err, people.ErrWrong):
		return Fail(http.StatusUnauthorized, CodeWrongSignIn, "the name or the password is wrong")
	case errors.Is(err, people.ErrLinkGone):
		return Fail(http.StatusGone, CodeLinkGone, people.ErrLinkGone.Error())
	case errors.Is(err, people.ErrNameTaken), errors.Is(err, people.ErrLastOwner):
		return Conflict(err.Error())
	case errors.Is(err, people.ErrUnknownAgent):
		return Fail(http.StatusUnprocessableEntity, CodeInvalidRequest, "agents: "+err.Error()).At("agents")
	case errors.Is(err, approval.ErrNotOpen):
		return Conflict("the question was answered already, or its time is over; read it again to see by whom")
	case errors.Is(err, ledger.ErrInFlight):
		return Conflict("the call is still in flight; wait until it has ended")
	case errors.Is(err, ledger.ErrNotUncertain):
		return Conflict("the outcome of the call is known, so there is nothing to reconcile")
	case errors.Is(err, ledger.ErrReconciled):
		return Conflict("another verdict was given before, and a verdict stands; read the call to see which and by whom")
	case errors.Is(err, ledger.ErrRunOpen), errors.Is(err, ledger.ErrRunHeld), errors.Is(err, ledger.ErrRunFresh):
		return Conflict(err.Error())
	case errors.Is(err, ledger.ErrProof):
		return Fail(http.StatusUnprocessableEntity, CodeEvidenceError, "evidence: what it names is no observation of this run that succeeded").At("evidence")
	case errors.Is(err, ledger.ErrStore), errors.Is(err, context.DeadlineExceeded), g.o.Unavailable(err):
		return Fail(http.StatusServiceUnavailable, CodeUnavailable, "the database did not answer; nothing is known to have changed").Because(err)
	}
	return Fail(http.StatusInternalServerError, CodeInternal, "something went wrong here; the log has the request's id").Because(err)
}

// framework turns what the HTTP library says of a request into our words. It never repeats what was sent: a body may
// hold a secret.
func framework(m *huma.ErrorModel) *Failure {
	code, detail := CodeInvalidRequest, ""
	switch m.Status {
	case http.StatusRequestEntityTooLarge:
		code, detail = CodeTooLarge, "the body is larger than this operation takes"
		if limit := bounded.FindStringSubmatch(m.Detail); limit != nil {
			if n, err := strconv.Atoi(limit[1]); err == nil { // one more than is taken, so that a body of just that size is
				detail += fmt.Sprintf(": at most %d bytes", n-1)
			}
		}
	case http.StatusUnsupportedMediaType:
		detail = NoJSON
	case http.StatusRequestTimeout:
		detail = "the body did not arrive in time"
	case http.StatusBadRequest:
		detail = "the body is not one JSON value in UTF-8 with each member once"
		if len(m.Errors) == 0 {
			detail = "this operation takes a JSON body"
		}
	case http.StatusUnprocessableEntity:
		detail = "the request does not have the shape that this operation takes"
	default:
		if m.Detail != unreadable {
			return Fail(http.StatusInternalServerError, CodeInternal, "something went wrong here; the log has the request's id").Because(m)
		}
		// The client's fault, such as a bad chunk.
		return Fail(http.StatusBadRequest, code, "the body did not arrive whole, or not as its headers said")
	}
	f := Fail(m.Status, code, detail)
	if m.Status != http.StatusUnprocessableEntity || len(m.Errors) == 0 {
		return f
	}
	where, field, _ := strings.Cut(m.Errors[0].Location, ".")
	reason := m.Errors[0].Message
	if name, ok := strings.CutPrefix(reason, missingBegins); ok { // the library names it in the words alone
		name, _, _ = strings.Cut(name, " ")
		field, reason = strings.TrimPrefix(field+"."+name, "."), "it is missing"
	} else if found := unread.FindStringSubmatch(reason); found != nil {
		field, reason = found[1], "it is no number that is taken here; write it without an exponent, and smaller"
	}
	if field == "" {
		f.Detail = "the " + where + ": " + reason
		return f
	}
	f.Detail = field + ": " + reason
	f.Field = field
	if where == "body" {
		f.At(field)
	}
	return f
}

// unreadable is how the HTTP library says that reading the body failed; it takes it for a fault of ours.
const unreadable = "cannot read request body"

// bounded is how the HTTP library says how large a body may be.
var bounded = regexp.MustCompile(`limit=(\d+) bytes$`)

// missingBegins is how the HTTP library begins to say that a member is missing.
const missingBegins = "expected required property "

// unread is how encoding/json says that a member of the right type has a value that our own type does not: a number.
var unread = regexp.MustCompile(`^json: .* into Go struct field \w+\.([\w.]+) of type `)

// Unprocessable says that a member's value cannot be.
func Unprocessable(field string, err error) *Failure {
	return Fail(http.StatusUnprocessableEntity, CodeInvalidRequest, field+": "+err.Error()).At(field)
}
