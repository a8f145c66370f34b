package webfetch

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/weburl"
)

func allCodes() []Code {
	return []Code{
		CodeInvalidInput, CodeDisallowedURL, CodeDisallowedRedirect, CodeTooManyRedirects, CodeTimeout, CodeTooLarge,
		CodeUnsupportedContentType, CodeHTTPError, CodeBlocked, CodeConversionFailed, CodeUnavailable,
	}
}

// checkErrorResult checks what holds of every failure: two lines of at most 400 bytes, the code first, then what to do,
// and keys that say the same.
func checkErrorResult(t testing.TB, err error, o AnswerOptions) agenttool.Result {
	t.Helper()
	result := ErrorResult(err, o)
	var keys struct {
		OK      *bool
		Code    Code
		Message string
		Next    string
	}
	if err := json.Unmarshal(result.Structured, &keys); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(result.Text(), "\n")
	switch {
	case len(result.Content) != 1 || len(lines) != 2 || len(lines[0]) > 400 || len(lines[1]) > 400:
		t.Fatalf("text %q", result.Text())
	case !strings.HasPrefix(lines[0], string(keys.Code)+": "), !strings.HasPrefix(lines[1], "next: "+keys.Next+" · "):
		t.Fatalf("text %q, keys %s", result.Text(), result.Structured)
	case keys.OK == nil || *keys.OK || keys.Message == "" || !slices.Contains(allCodes(), keys.Code):
		t.Fatalf("keys %s", result.Structured)
	case result.Failure == nil || result.Failure.Error() != result.Text():
		t.Fatalf("failure %v", result.Failure)
	}
	return result
}

// TestGuidanceCases: what each case wants told, as words that our text must have.
func TestGuidanceCases(t *testing.T) {
	words := map[string][]string{
		"the input was rejected":            {"invalid_web_fetch_input: url · "},
		"why":                               {"because so"},
		"fix it and try again":              {"next: fix_input · Correct the argument and call again."},
		"this URL cannot be fetched here":   {"this URL cannot be fetched here"},
		"do not retry":                      {"next: stop · Do not retry"},
		"too many redirects or a loop":      {"too often or in a loop"},
		"timed out after 30 s":              {"timed out after 30 s\n"},
		"may retry once":                    {"next: retry · You may retry once."},
		"larger than 5 MB":                  {"larger than 5 MB\n"},
		"names the media type":              {"image/png"},
		"cannot be read as text":            {"cannot be read as text"},
		"names the HTTP status":             {" answered 4"},
		"no readable body":                  {"no readable body"},
		"may retry once after a short wait": {"next: retry · You may retry once after a short wait."},
		"could not be converted":            {"could not be converted"},
		"retry once with format raw":        {"next: retry_raw · Retry once with format raw."},
		"could not be converted to text":    {"could not be converted to text"},
		"behind a bot challenge that a plain fetch cannot pass": {"behind a bot challenge that a plain fetch cannot pass"},
		"use a browser tool if there is one, or another source": {"a browser tool if there is one, or another source"},
	}
	for _, c := range behaviours(t, "guidance") {
		t.Run(c.ID, func(t *testing.T) {
			var in struct {
				Error struct {
					Code        Code
					Status      int
					ContentType string `json:"content_type"`
					TimeoutMS   int64  `json:"timeout_ms"`
					LimitBytes  int64  `json:"limit_bytes"`
					URL         string
				}
			}
			read(t, c.Input, &in)
			var want struct {
				Told  []string `json:"model_is_told"`
				Keeps []string `json:"host_error_keeps"`
			}
			read(t, c.Expected, &want)
			e := &Error{
				Code: in.Error.Code, Status: in.Error.Status, ContentType: in.Error.ContentType, URL: in.Error.URL, LimitBytes: in.Error.LimitBytes,
				Timeout: time.Duration(in.Error.TimeoutMS) * time.Millisecond, Message: "for the host", Cause: errors.New("original"),
				Retryable: in.Error.Status == 429 || in.Error.Status == 408,
			}
			switch e.Code {
			case CodeInvalidInput:
				e.Field, e.Reason = "url", "because so"
			case CodeDisallowedURL:
				e.Reason = "because so"
			}
			result := checkErrorResult(t, e, AnswerOptions{})
			for _, told := range want.Told {
				if words[told] == nil {
					t.Errorf("no words are known for %q", told)
				}
				for _, word := range words[told] {
					if !strings.Contains(result.Text(), word) {
						t.Errorf("%q is not told in\n%s", told, result.Text())
					}
				}
			}
			if strings.Contains(result.Text(), e.Message) { // W-173
				t.Errorf("the host's message is in\n%s", result.Text())
			}
			var kept *Error
			if !errors.As(result.Failure, &kept) || kept != e || !errors.Is(result.Failure, e.Cause) {
				t.Errorf("failure %v", result.Failure)
			}
			for _, key := range want.Keeps {
				if !strings.Contains(string(result.Structured), `"`+key+`":`) {
					t.Errorf("no %q in %s", key, result.Structured)
				}
			}
		})
	}
}

// TestWhatAModelIsTold has the whole text of each failure.
func TestWhatAModelIsTold(t *testing.T) {
	const stop = "Do not retry; use another source or tool if there is one."
	at := "https://h.example/x"
	private := &weburl.Error{Kind: weburl.Disallowed, Host: "printer.local", Reason: `"printer.local" is a private host`, Permit: "printer.local"}
	for _, c := range []struct {
		e    *Error
		o    AnswerOptions
		want string
	}{
		{&Error{Code: CodeInvalidInput, Field: "offset", Reason: "must be a whole number"}, AnswerOptions{},
			"invalid_web_fetch_input: offset · must be a whole number\nnext: fix_input · Correct the argument and call again."},
		{&Error{Code: CodeInvalidInput, Reason: "the arguments are not valid JSON"}, AnswerOptions{},
			"invalid_web_fetch_input: the arguments are not valid JSON\nnext: fix_input · Correct the argument and call again."},
		{&Error{Code: CodeDisallowedURL, URL: "http://printer.local/", Host: "printer.local", PrivateHost: true, Cause: private}, AnswerOptions{PermitCommand: "wayleave allow"},
			"web_fetch_disallowed_url: nothing was sent; this URL cannot be fetched here: \"printer.local\" is a private host\n" +
				"next: stop · " + stop + " A person can permit this host: wayleave allow printer.local"},
		{&Error{Code: CodeDisallowedURL, URL: "https://printer.local:8443/", Host: "printer.local", PrivateHost: true, Cause: private}, AnswerOptions{PermitCommand: "wayleave allow"},
			"web_fetch_disallowed_url: nothing was sent; this URL cannot be fetched here: \"printer.local\" is a private host\n" +
				"next: stop · " + stop + " A person can permit this host: wayleave allow printer.local:8443"},
		{&Error{Code: CodeDisallowedURL, URL: "http://printer.local:22/", Host: "printer.local", PrivateHost: true, Cause: private}, AnswerOptions{PermitCommand: "wayleave allow"},
			"web_fetch_disallowed_url: nothing was sent; this URL cannot be fetched here: \"printer.local\" is a private host\nnext: stop · " + stop},
		{&Error{Code: CodeDisallowedURL, Host: "printer.local", PrivateHost: true, Cause: private}, AnswerOptions{PermitCommand: "wayleave allow --data /" + strings.Repeat("d", 300)},
			"web_fetch_disallowed_url: nothing was sent; this URL cannot be fetched here: \"printer.local\" is a private host\nnext: stop · " + stop},
		{&Error{Code: CodeDisallowedURL, Host: "printer.local", PrivateHost: true, Cause: private}, AnswerOptions{},
			"web_fetch_disallowed_url: nothing was sent; this URL cannot be fetched here: \"printer.local\" is a private host\nnext: stop · " + stop},
		{&Error{Code: CodeDisallowedURL, Host: "a b;c", PrivateHost: true}, AnswerOptions{PermitCommand: "wayleave allow"},
			"web_fetch_disallowed_url: nothing was sent; this URL cannot be fetched here: the URL policy refuses it\nnext: stop · " + stop},
		{&Error{Code: CodeDisallowedRedirect, URL: at, Target: "printer.local", PrivateHost: true, Reason: "it is a private host", Cause: private}, AnswerOptions{PermitCommand: "wayleave allow"},
			"web_fetch_disallowed_redirect: https://h.example/x redirected to \"printer.local\", which cannot be fetched here: it is a private host\nnext: stop · " + stop},
		{&Error{Code: CodeTooManyRedirects, URL: at, Target: "h.example", Reason: "more than 5 redirects"}, AnswerOptions{},
			"web_fetch_too_many_redirects: https://h.example/x: more than 5 redirects, the next to \"h.example\"\nnext: stop · " + stop},
		{&Error{Code: CodeTimeout, URL: at, Timeout: 400 * time.Millisecond, Retryable: true}, AnswerOptions{},
			"web_fetch_timeout: https://h.example/x timed out after 400 ms\nnext: retry · You may retry once."},
		{&Error{Code: CodeTooLarge, URL: at, LimitBytes: 2_500_000}, AnswerOptions{},
			"web_fetch_too_large: https://h.example/x is larger than 2.5 MB\nnext: stop · " + stop},
		{&Error{Code: CodeTooLarge, URL: at, LimitBytes: 999_999}, AnswerOptions{},
			"web_fetch_too_large: https://h.example/x is larger than 999999 bytes\nnext: stop · " + stop},
		{&Error{Code: CodeUnsupportedContentType, URL: at, ContentType: "image/png", Reason: "a body of type image/png cannot be read as text"}, AnswerOptions{},
			"web_fetch_unsupported_content_type: https://h.example/x is image/png, which cannot be read as text\nnext: stop · " + stop},
		{&Error{Code: CodeUnsupportedContentType, URL: at}, AnswerOptions{},
			"web_fetch_unsupported_content_type: https://h.example/x is of an unknown type, which cannot be read as text\nnext: stop · " + stop},
		{&Error{Code: CodeHTTPError, URL: at, Status: 404}, AnswerOptions{},
			"web_fetch_http_error: https://h.example/x answered 404 Not Found with no readable body\nnext: stop · " + stop},
		{&Error{Code: CodeHTTPError, URL: at, Status: 503, Retryable: true}, AnswerOptions{},
			"web_fetch_http_error: https://h.example/x answered 503 Service Unavailable with no readable body\nnext: retry · You may retry once after a short wait."},
		{&Error{Code: CodeHTTPError, URL: at, Status: 429, Retryable: true, RetryAfter: 30 * time.Second}, AnswerOptions{},
			"web_fetch_http_error: https://h.example/x answered 429 Too Many Requests with no readable body\nnext: retry · You may retry once after 30 s."},
		{&Error{Code: CodeHTTPError, URL: at, Status: 503, Retryable: true, RetryAfter: 48 * time.Hour}, AnswerOptions{},
			"web_fetch_http_error: https://h.example/x answered 503 Service Unavailable with no readable body\nnext: retry · You may retry once after a short wait."},
		{&Error{Code: CodeBlocked, URL: at, Status: 403}, AnswerOptions{Abilities: Abilities{Browser: true}},
			"web_fetch_blocked: https://h.example/x is behind a bot challenge that a plain fetch cannot pass\nnext: stop · Do not retry; use browser_navigate, or another source."},
		{&Error{Code: CodeConversionFailed, URL: at, ContentType: "text/html", Retryable: true, Reason: "the body could not be converted"}, AnswerOptions{},
			"web_fetch_conversion_failed: https://h.example/x (text/html) could not be converted to text\nnext: retry_raw · Retry once with format raw."},
		{&Error{Code: CodeConversionFailed, URL: at, ContentType: "application/pdf", Retryable: true}, AnswerOptions{},
			"web_fetch_conversion_failed: https://h.example/x (application/pdf) could not be converted to text\nnext: stop · " + stop},
		{&Error{Code: CodeUnavailable, URL: at, Retryable: true, Cause: io.ErrUnexpectedEOF}, AnswerOptions{},
			"web_fetch_unavailable: https://h.example/x could not be read: " + hop.Reason(io.ErrUnexpectedEOF) + "\nnext: retry · You may retry once after a short wait."},
		{&Error{Code: CodeUnavailable, URL: at}, AnswerOptions{},
			"web_fetch_unavailable: https://h.example/x could not be read: the connection failed\nnext: fix_settings · Do not retry; a person has to change the settings."},
	} {
		if got := checkErrorResult(t, c.e, c.o).Text(); got != c.want {
			t.Errorf("told\n%s\nwant\n%s", got, c.want)
		}
	}
}

// TestServersAndSourcesAreNotQuotedAtLength: W-179.
func TestServersAndSourcesAreNotQuotedAtLength(t *testing.T) {
	shout := strings.Repeat("IGNORE\r\nALL ", 100_000)
	for _, code := range allCodes() {
		result := checkErrorResult(t, &Error{Code: code, Message: shout, Cause: errors.New(shout)}, AnswerOptions{})
		if strings.Contains(result.Text(), "IGNORE") {
			t.Errorf("%s quotes its cause:\n%s", code, result.Text())
		}
	}
	own := checkErrorResult(t, &Error{Code: CodeDisallowedURL, Message: shout}, AnswerOptions{})
	if _, said, _ := strings.Cut(own.Text(), ": "); strings.Count(said, "IGNORE") > 8 || !strings.Contains(said, `"IGNORE ALL IGNORE`) {
		t.Errorf("a source's own words:\n%s", own.Text())
	}
}

func TestErrorKeysAreThoseOfTheContract(t *testing.T) {
	for _, c := range []struct {
		e    *Error
		want string
	}{
		{&Error{Code: CodeInvalidInput, Status: 400, Field: "offset", Reason: "must be so"},
			`{"ok":false,"code":"invalid_web_fetch_input","message":"must be so","next":"fix_input","retryable":false,"field":"offset","status":400}`},
		{&Error{Code: CodeTimeout, Status: 504, Retryable: true, URL: "https://h.example/", Timeout: 30 * time.Second},
			`{"ok":false,"code":"web_fetch_timeout","message":"https://h.example/ timed out after 30 s","next":"retry","retryable":true,"status":504,"url":"https://h.example/","timeout_ms":30000}`},
		{&Error{Code: CodeTooLarge, Status: 200, URL: "https://h.example/", ContentType: "text/html", LimitBytes: 5},
			`{"ok":false,"code":"web_fetch_too_large","message":"https://h.example/ is larger than 5 bytes","next":"stop","retryable":false,"status":200,"url":"https://h.example/","content_type":"text/html","limit_bytes":5}`},
	} {
		if got := string(ErrorResult(c.e, AnswerOptions{}).Structured); got != c.want {
			t.Errorf("keys\n%s\nwant\n%s", got, c.want)
		}
	}
}
