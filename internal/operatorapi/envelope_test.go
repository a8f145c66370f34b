package operatorapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
	"github.com/wayleave/wayleave/internal/tool"
)

// slow is a body that never arrives.
type slow struct{}

func (slow) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// make brings an operation to answer with a status; ok is false where the test does not know how.
func (w *world) provoke(row route.Row, status int) (answered, bool) {
	right := "owner"
	switch {
	case row.May.Has(route.Anyone):
		right = "nobody"
	case row.May.Has(route.Tools):
		right = "tools of alice"
	case row.May&route.People == 0:
		right = "harness of alice"
	}
	path, body := w.path(row), bodies[row.ID]
	send := func(who, path, body string) answered {
		r := w.request(w.creds[who], row.Method, path, body)
		if strings.HasSuffix(row.Path, "/events") {
			return w.glance(r)
		}
		return w.send(r)
	}
	more := "?"
	if strings.Contains(path, "?") {
		more = "&"
	}
	switch status {
	case 200, 204:
		if row.ID == "redeem-link" {
			_, text, err := w.people.NewLink(w.ctx, "owner", "system")
			must(w.t, err)
			body = `{"secret":"` + text.Reveal() + `"}`
		}
		if row.ID == "revoke-my-token" {
			return send("owner", strings.Replace(path, "cred_none", w.ownToken("owner"), 1), body), true
		}
		if row.ID == "forbid-host" {
			w.do("owner", "POST", "/api/settings/allowed-hosts", `{"host":"10.9.9.9"}`)
		}
		if row.ID == "forbid-agent-host" {
			w.do("owner", "POST", "/api/agents/alice/allowed-hosts", `{"host":"10.9.9.9"}`)
		}
		return send(right, path, body), true
	case 401:
		switch row.ID {
		case "sign-in":
			return send("nobody", path, `{"name":"owner","password":"wrong"}`), true
		case "change-password":
			return send("owner", path, `{"old_password":"wrong","new_password":"another horse battery"}`), true
		}
		return send("nobody", path, body), true
	case 403:
		r := w.request(w.creds[right], row.Method, path, body)
		r.Host = "evil.test"
		return w.send(r), true
	case 404:
		if strings.HasPrefix(row.ID, "forbid-") {
			return send(right, path, body), true
		}
		path = strings.NewReplacer("alice", "nobody", w.ids["tools of alice"], "tok_none", w.ids["viewer of bob"], "person_none", "/web/read", "/web/nothing").Replace(path)
		return send(right, path, body), true
	case 400:
		return send(right, path, "{"), true
	case 408:
		r := w.request(w.creds[right], row.Method, path, body)
		r.Body, r.ContentLength = io.NopCloser(slow{}), -1
		return w.send(r), true
	case 413:
		return send(right, path, `{"x":"`+strings.Repeat("x", callBytes)+`"}`), true
	case 415:
		r := w.request(w.creds[right], row.Method, path, body)
		r.Header.Set("Content-Type", "text/plain")
		return w.send(r), true
	case 422:
		return send(right, path+more+"unknown=1", body), true
	case 409:
		switch row.ID {
		case "create-person":
			return send(right, path, `{"name":"owner","role":"viewer","agents":[]}`), true
		case "change-person":
			path = "/api/people/" + w.ids["owner"]
			return send(right, path, `{"role":"viewer","agents":[],"state":"active"}`), true
		case "create-sign-in-link":
			_, err := w.people.Disable(w.ctx, w.ids["viewer of all"], "system")
			must(w.t, err)
			return send(right, strings.Replace(path, w.ids["viewer of bob"], w.ids["viewer of all"], 1), body), true
		case "create-agent":
			return send(right, path, `{"slug":"alice"}`), true
		case "delete-run":
			w.fake.deletes = ledger.ErrRunOpen
			defer func() { w.fake.deletes = nil }()
			return send(right, path, body), true
		case "call-tool":
			w.fake.answer = refusing("stale_offer")
			return send(right, path, body), true
		case "cancel-tool-call":
			return send(right, strings.Replace(path, "call_waits", "call_read", 1), body), true
		case "reconcile-tool-call":
			return send(right, strings.Replace(path, "call_unsure", "call_read", 1), body), true
		case "answer-approval":
			send(right, path, body)
			return send(right, path, body), true
		case "change-web-settings", "change-agent-web-settings":
			return send(right, path, strings.Replace(body, `"version":0`, `"version":5`, 1)), true
		}
	case 410:
		return send(right, path, bodies[row.ID]), true
	case 429:
		for range 100 {
			switch row.ID {
			case "call-tool":
				w.fake.answer = refusing("rate_limit")
			case "sign-in":
				body = `{"name":"owner","password":"wrong"}`
			case "change-password":
				body = `{"old_password":"wrong","new_password":"another horse battery"}`
			case "events", "run-events":
				for range streamsEach {
					p, err := w.people.Session(w.ctx, w.creds[right].cookie)
					must(w.t, err)
					w.s.streams.Enter(p.Credential.ID)
				}
			}
			if got := send(right, path, body); got.status == 429 {
				return got, true
			}
		}
	case 500, 503, 504:
		if row.ID == "call-tool" {
			fault := map[int]string{500: "internal_error", 503: "store_unavailable", 504: "run_deadline"}[status]
			w.fake.answer = func(tool.Caller, string, json.RawMessage) (tool.Result, error) {
				return tool.Result{}, &tool.Fault{Code: fault, Text: "it did not work", Err: errors.New("canary of the database")}
			}
			return send(right, path, body), true
		}
		w.doors.trip = func() error {
			if status == 500 {
				panic("canary of a panic")
			}
			return ledger.ErrStore
		}
		defer func() { w.doors.trip = func() error { return nil } }()
		who := right
		if right == "nobody" {
			who = "owner"
		}
		return send(who, path, body), true
	}
	return answered{}, false
}

// ownToken makes an API token of a person, and gives its id.
func (w *world) ownToken(who string) string {
	c, _, err := w.people.NewToken(w.ctx, w.ids[who], "another", 0, "system")
	must(w.t, err)
	return c.ID
}

// TestF245NothingMayBeCached walks every operation of the document and every status that it documents.
func TestF245NothingMayBeCached(t *testing.T) {
	walked := 0
	for _, row := range route.Table() {
		t.Run(row.ID, func(t *testing.T) {
			w := newWorld(t)
			var codes []int
			for status := range operation(t, w, row).Responses {
				code, err := strconv.Atoi(status)
				must(t, err)
				codes = append(codes, code)
			}
			slices.Sort(codes)
			for _, code := range slices.Backward(codes) { // success last: it may end the session
				w.fake.reset()
				w.s.streams, w.s.opens = gate.NewAtOnce(streamsEach), gate.NewMinute(defaultOpens, w.clock.Now)
				got, known := w.provoke(row, code)
				status := strconv.Itoa(code)
				if !known {
					t.Errorf("%s is documented, and nothing here brings it about", status)
					continue
				}
				walked++
				if code == http.StatusTooManyRequests {
					w.clock.Advance(time.Hour)
				}
				if got.status != code {
					t.Errorf("%s was asked for, %d came: %.300s", status, got.status, got.body)
					continue
				}
				if got.header.Get("Cache-Control") != "no-store" || got.header.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("%s: headers %v", status, got.header)
				}
				if code >= 400 {
					p := got.problem(t)
					if p.Code == "" || p.Detail == "" || p.Title == "" || p.Status != code {
						t.Errorf("%s: an unfinished problem: %s", status, got.body)
					}
					if (code >= 500) != (p.RequestID != "") {
						t.Errorf("%s: request id %q", status, p.RequestID)
					}
					if strings.Contains(got.body, "canary") {
						t.Errorf("%s tells what was thrown: %s", status, got.body)
					}
				}
			}
		})
	}
	if walked < 400 {
		t.Errorf("only %d answers were looked at", walked)
	}
	for _, path := range []string{"/api", "/api/", "/api/nothing", "/api//runs", "/api/runs/", "/api/../api/me", "/api/openapi.yaml", "/api/docs"} {
		w := newWorld(t)
		got := w.do("owner", "GET", path, "")
		if got.header.Get("Cache-Control") != "no-store" || got.status < 300 {
			t.Errorf("%s: %d %v", path, got.status, got.header)
		}
	}
}

// operation finds a row's operation in the document.
func operation(t *testing.T, w *world, row route.Row) *huma.Operation {
	t.Helper()
	item := w.s.gate.Document().Paths[row.Path]
	if item == nil {
		t.Fatalf("%s is not in the document", row.Path)
	}
	op := map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "DELETE": item.Delete}[row.Method]
	if op == nil || op.OperationID != row.ID {
		t.Fatalf("%s %s is not in the document", row.Method, row.Path)
	}
	return op
}

// TestEveryOperationHasARow: nothing is in the document or on the multiplexer that is not in the table.
func TestEveryOperationHasARow(t *testing.T) {
	w := newWorld(t)
	rows := make(map[string]bool)
	for _, row := range route.Table() {
		rows[row.Method+" "+row.Path] = true
		operation(t, w, row)
	}
	for path, item := range w.s.gate.Document().Paths {
		for method, op := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "DELETE": item.Delete, "PATCH": item.Patch, "HEAD": item.Head, "OPTIONS": item.Options, "TRACE": item.Trace} {
			if op != nil && !rows[method+" "+path] {
				t.Errorf("%s %s has no row", method, path)
			}
		}
	}
}

func TestMethodsThatAreNotThere(t *testing.T) {
	w := newWorld(t)
	for path, allow := range map[string]string{"/api/runs": "GET, POST", "/api/me": "GET", "/api/settings/web/read": "PUT", "/api/agents/alice/tokens/x": "DELETE"} {
		got := w.do("owner", "PATCH", path, "")
		refused(t, got, 405, gate.CodeInvalidRequest)
		if got.header.Get("Allow") != allow {
			t.Errorf("%s allows %q, want %q", path, got.header.Get("Allow"), allow)
		}
	}
	refused(t, w.do("owner", "PATCH", "/api/nothing", ""), 404, gate.CodeNotFound)
}

// TestTM050TM072OtherSitesAreRefused: a page of another site, or under another name, gets nothing from any operation.
func TestTM050TM072OtherSitesAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, row := range route.Table() {
		for name, spoil := range map[string]func(*http.Request){
			"rebound name":             func(r *http.Request) { r.Host = "evil.test:7477" },
			"another label":            func(r *http.Request) { r.Host = "zzzzzz.wayleave.localhost:7477" },
			"cross-site":               func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			"another port of our name": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
			"foreign origin":           func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "http://evil.test") },
			"our name, another port": func(r *http.Request) {
				r.Header.Del("Sec-Fetch-Site")
				r.Header.Set("Origin", "http://"+label+".wayleave.localhost:9999")
			},
			"opaque origin": func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "null") },
			"two origins": func(r *http.Request) {
				r.Header.Del("Sec-Fetch-Site")
				r.Header.Add("Origin", "http://"+home)
				r.Header.Add("Origin", "http://evil.test")
			},
			"host and a user before it":  func(r *http.Request) { r.Host = home + "@evil.test" },
			"site that nobody has heard": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "near") },
		} {
			r := w.request(w.creds["owner"], row.Method, w.path(row), bodies[row.ID])
			spoil(r)
			got := w.send(r)
			if got.status != 403 {
				t.Errorf("%s, %s: %d %.300s", row.ID, name, got.status, got.body)
				continue
			}
			code := gate.CodeInvalidOrigin
			if name == "rebound name" || name == "another label" || name == "host and a user before it" {
				code = gate.CodeInvalidHost
			}
			if p := got.problem(t); p.Code != code {
				t.Errorf("%s, %s: %d %.300s", row.ID, name, got.status, got.body)
			}
			if got.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s answers other sites", row.ID)
			}
		}
	}
}

// TestTM071ASessionIsOfOneName: at a name of ours that people are not sent to a session is neither begun nor taken.
func TestTM071ASessionIsOfOneName(t *testing.T) {
	w := newWorld(t)
	for _, host := range []string{"localhost:7477", "wayleave.localhost:7477", "127.0.0.1:7477", "[::1]:7477"} {
		r := w.request(w.creds["owner"], "GET", "/api/me", "")
		r.Host = host
		refused(t, w.send(r), 401, gate.CodeInvalidToken)
		r = w.request(cred{}, "POST", "/api/sign-in", bodies["sign-in"])
		r.Host = host
		got := w.send(r)
		refused(t, got, 403, gate.CodeInvalidHost)
		if len(got.header.Values("Set-Cookie")) > 0 {
			t.Errorf("a cookie is set at %s", host)
		}
		if strings.Contains(got.body, label) { // the name is what another program would need
			t.Errorf("at %s the install tells its own name: %s", host, got.body)
		}
		r = w.request(cred{}, "GET", "/api/me", "")
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+w.creds["owner, by token"].bearer)
		if got := w.send(r); got.status != 200 { // a token is no browser's
			t.Errorf("a token at %s: %d", host, got.status)
		}
	}
	// A cookie that was stolen reads, and changes nothing.
	for _, row := range route.Table() {
		if !row.Unsafe() || !row.May.Has(route.Owner) {
			continue
		}
		refused(t, w.do("owner, by cookie alone", row.Method, w.path(row), bodies[row.ID]), 403, gate.CodeConfirmMissing)
		r := w.request(w.creds["owner"], row.Method, w.path(row), bodies[row.ID])
		r.Header.Set(gate.ConfirmHeader, w.creds["viewer of all"].confirm)
		refused(t, w.send(r), 403, gate.CodeConfirmMissing)
	}
}

func TestTwoCredentialsAreNotTakenForOne(t *testing.T) {
	w := newWorld(t)
	r := w.request(w.creds["owner"], "GET", "/api/me", "")
	r.Header.Set("Authorization", "Bearer wl_tools_unknown")
	refused(t, w.send(r), 401, gate.CodeInvalidToken) // a wrong token is not passed over for the cookie
	r = w.request(cred{}, "GET", "/api/me", "")
	r.Header.Add("Authorization", "Bearer "+w.creds["owner, by token"].bearer)
	r.Header.Add("Authorization", "Bearer "+w.creds["owner, by token"].bearer)
	refused(t, w.send(r), 401, gate.CodeInvalidToken)
	r = w.request(w.creds["owner"], "GET", "/api/me", "")
	r.AddCookie(&http.Cookie{Name: gate.CookieName, Value: w.creds["viewer of all"].cookie})
	refused(t, w.send(r), 401, gate.CodeInvalidToken)
	for _, header := range []string{"", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "Bearer a,b", "bearer"} {
		r := w.request(cred{}, "GET", "/api/me", "")
		r.Header["Authorization"] = []string{header}
		refused(t, w.send(r), 401, gate.CodeInvalidToken)
	}
}

// TestF265TheEarlierFaultAnswers: who asks, then what is named, then the form of the body, its values, its version.
func TestF265TheEarlierFaultAnswers(t *testing.T) {
	w := newWorld(t)
	const path = "/api/agents/alice/web/read"
	if got := w.do("owner", "PUT", path, `{"version":0,"mode":"inherit"}`); got.status != 200 {
		t.Fatal(got)
	}
	for _, c := range []struct {
		who, path, body string
		status          int
	}{
		{"nobody", "/api/agents/none/web/read", "{", 401},
		{"viewer of alice", "/api/agents/none/web/read", "{", 403},
		{"operator of bob", path, "{", 404},
		{"owner", "/api/agents/none/web/read", `{"x":1}`, 404},
		{"owner", path, `{"x":1`, 400},
		{"owner", path, `{"version":0,"mode":"inherit","x":1}`, 422},
		{"owner", path, `{"version":0,"mode":"inherit","limits":{"requests_per_run":-1}}`, 422},
		{"owner", path, `{"version":0,"mode":"inherit"}`, 409},
	} {
		if got := w.do(c.who, "PUT", c.path, c.body); got.status != c.status {
			t.Errorf("%s at %s with %s: %d, want %d", c.who, c.path, c.body, got.status, c.status)
		}
	}
}

// TestARefusalNamesTheMember: one that is missing, and one whose number has another form, as every other; none of it in
// the words of a library.
func TestARefusalNamesTheMember(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		path, body    string
		status        int
		field, detail string
	}{
		{"/api/agents/alice/web/read", `{"mode":"inherit"}`, 422, "version", "version: it is missing"},
		{"/api/agents/alice/web/read", `{"version":99999999999999999999,"mode":"inherit"}`, 422, "version", "version: it is no number"},
		{"/api/agents/alice/web/read", `{"version":0,"mode":"inherit","limits":{"requests_per_run":1e2}}`, 422, "limits.requests_per_run", "limits.requests_per_run: it is no number"},
		{"/api/agents/alice/web/read", `null`, 422, "", "the body: expected object"},
		{"/api/agents/alice/web/read", "{\"version\":0,\"mode\":\"inherit\xff\"}", 400, "", "UTF-8"},
	} {
		p := w.do("owner", "PUT", c.path, c.body).problem(t)
		if p.Status != c.status || p.Field != c.field || !strings.Contains(p.Detail, c.detail) || strings.Contains(p.Detail, "json:") {
			t.Errorf("%s: %+v", c.body, p)
		}
		if pointer := "/" + strings.ReplaceAll(c.field, ".", "/"); c.field != "" && p.Pointer != pointer || c.field == "" && p.Pointer != "" {
			t.Errorf("%s: points at %q", c.body, p.Pointer)
		}
	}
	if p := w.do("owner", "GET", "/api/runs?cursor=%00", "").problem(t); p.Status != 422 || p.Field != "cursor" {
		t.Errorf("a cursor that is no text: %+v", p)
	}
	// A cursor of another list, of another agent's, or of nothing: no page that looks like the last one.
	for _, c := range [][2]string{{"owner", "/api/runs?cursor=apr_alice"}, {"owner", "/api/runs?cursor=run_none"}, {"owner", "/api/runs?agent=alice&cursor=run_bob"},
		{"owner", "/api/approvals?cursor=run_alice"}, {"owner", "/api/approvals?cursor=0"}, {"owner", "/api/audit?cursor=apr_alice"}} {
		if p := w.do(c[0], "GET", c[1], "").problem(t); p.Status != 422 || p.Field != "cursor" {
			t.Errorf("%s: %+v", c[1], p)
		}
	}
	for query, field := range map[string]string{"agent=alice&agent=bob": "agent", "limit=1&state=open&limit=2": "limit", "agent=%zz": "", "state=open;agent=alice": ""} {
		if p := w.do("owner", "GET", "/api/runs?"+query, "").problem(t); p.Status != 422 || p.Field != field {
			t.Errorf("the query %s: %+v", query, p)
		}
	}
	if p := w.do("tools of alice", "POST", "/api/runs/run_alice/tool-calls", `{"tool":"web_fetch","approval":"a\u0000"}`).problem(t); p.Status != 400 || p.Field != "approval" {
		t.Errorf("an approval that is no text: %+v", p)
	}
}

// TestALargeBodyIsToldTheBound: whoever sent too much must know how much is not.
func TestALargeBodyIsToldTheBound(t *testing.T) {
	w := newWorld(t)
	for _, x := range []struct{ who, path, bound string }{
		{"owner", "/api/agents", "at most 65536 bytes"},
		{"tools of alice", "/api/runs/run_alice/tool-calls", "at most 266240 bytes"},
	} {
		got := w.send(w.request(w.creds[x.who], "POST", x.path, `{"x":"`+strings.Repeat("x", callBytes)+`"}`))
		if p := got.problem(t); got.status != http.StatusRequestEntityTooLarge || !strings.Contains(p.Detail, x.bound) {
			t.Errorf("%s: %d, %q", x.path, got.status, p.Detail)
		}
	}
}
