package operatorapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
)

// bodies are requests that are right, by operation. An operation that takes a body and is not here fails the walk.
var bodies = map[string]string{
	"sign-in":                   `{"name":"owner","password":"` + password + `"}`,
	"redeem-link":               `{"secret":"wl_link_none"}`,
	"sign-out":                  `{}`,
	"change-password":           `{"old_password":"` + password + `","new_password":"another horse battery"}`,
	"create-my-token":           `{"label":"script"}`,
	"create-person":             `{"name":"new-one","role":"viewer","agents":["alice"]}`,
	"change-person":             `{"role":"viewer","agents":["alice"],"state":"active"}`,
	"create-agent":              `{"slug":"carol"}`,
	"set-elicitation":           `{"asks_a_person":true}`,
	"create-agent-token":        `{"scope":"tools"}`,
	"open-run":                  `{"title":"Tickets","conversation_id":"desk-1"}`,
	"call-tool":                 `{"tool":"web_fetch","arguments":{"url":"https://site.example/"}}`,
	"reconcile-tool-call":       `{"verdict":"happened","note":"seen in the mailbox"}`,
	"answer-approval":           `{"answer":"once"}`,
	"change-web-settings":       `{"version":0,"mode":"auto","limits":{"requests_per_minute":60}}`,
	"change-agent-web-settings": `{"version":0,"mode":"inherit","limits":{"requests_per_run":20}}`,
	"allow-host":                `{"host":"10.1.2.3"}`,
	"allow-agent-host":          `{"host":"10.1.2.3:8080"}`,
}

// path fills a row's path with what is alice's, and adds the query that the operation needs.
func (w *world) path(row route.Row) string {
	call := "call_unsure_alice"
	if row.ID == "cancel-tool-call" {
		call = "call_waits_alice"
	}
	token := w.ids["tools of alice"]
	if strings.HasPrefix(row.Path, "/api/me/") {
		token = "cred_none"
	}
	p := strings.NewReplacer("{slug}", "alice", "{run}", "run_alice", "{call}", call, "{page}", "page_1", "{approval}", "apr_alice", "{token}", token,
		"{person}", w.ids["viewer of bob"], "{capability}", "read").Replace(row.Path)
	if strings.HasPrefix(row.ID, "forbid-") {
		p += "?host=10.9.9.9"
	}
	return p
}

// rolesOf are the kinds of the credentials of a world, by the beginning of their names.
func kindOf(who string) route.May {
	for prefix, kind := range map[string]route.May{"nobody": route.Anyone, "tools": route.Tools, "harness": route.Harness, "viewer": route.Viewer,
		"operator": route.Operator, "owner": route.Owner} {
		if strings.HasPrefix(who, prefix) {
			return kind
		}
	}
	return 0
}

// expect is what a cell of the table must answer: a status, or 0 for being let in.
func expect(row route.Row, who string) (status int, code string) {
	kind := kindOf(who)
	people := kind&route.People != 0
	switch {
	case row.May.Has(route.Anyone):
		return 0, ""
	case kind == route.Anyone:
		return http.StatusUnauthorized, gate.CodeInvalidToken
	case !row.May.Has(kind):
		return http.StatusForbidden, gate.CodeForbidden
	case people && row.SignedIn && strings.HasSuffix(who, "by token"):
		return http.StatusForbidden, gate.CodeForbidden
	case people && row.Whole && !strings.Contains(who, "of all") && kind != route.Owner:
		return http.StatusForbidden, gate.CodeForbidden
	case row.Unsafe() && strings.HasSuffix(who, "by cookie alone"):
		return http.StatusForbidden, gate.CodeConfirmMissing
	case row.Of != route.Nothing && strings.Contains(who, "of bob"):
		return http.StatusNotFound, gate.CodeNotFound
	}
	return 0, ""
}

// TestTM045TM076EveryCellOfTheTable asks every operation with every credential kind.
func TestTM045TM076EveryCellOfTheTable(t *testing.T) {
	cells := 0
	for _, row := range route.Table() {
		t.Run(row.ID, func(t *testing.T) {
			w := newWorld(t)
			var order []string // those that are refused come first: who is let in may change the world
			for who := range w.creds {
				order = append(order, who)
			}
			slices.SortFunc(order, func(a, b string) int {
				sa, _ := expect(row, a)
				sb, _ := expect(row, b)
				if (sa == 0) != (sb == 0) {
					return map[bool]int{true: 1, false: -1}[sa == 0]
				}
				return strings.Compare(a, b)
			})
			for _, who := range order {
				cells++
				w.fake.reset()
				body := bodies[row.ID]
				if row.ID == "sign-in" || row.ID == "redeem-link" {
					continue // what they take is their own test's
				}
				r, send := w.request(w.creds[who], row.Method, w.path(row), body), w.send
				if strings.HasSuffix(row.Path, "/events") {
					send = w.glance
				}
				got := send(r)
				if status, code := expect(row, who); status != 0 {
					if p := got.problem(t); got.status != status || p.Code != code {
						t.Errorf("%s: %d %s, want %d %s", who, got.status, p.Code, status, code)
					}
					continue
				}
				let := got.status < 300 || got.status == http.StatusNotFound && row.ID == "revoke-my-token" ||
					got.status == http.StatusConflict && row.ID == "change-web-settings" || got.status == http.StatusConflict && row.ID == "change-agent-web-settings" ||
					got.status == http.StatusConflict && (row.ID == "create-agent" || row.ID == "create-person") || got.status == http.StatusNotFound && strings.HasPrefix(row.ID, "forbid-")
				if !let {
					t.Errorf("%s: %d, want to be let in: %.300s", who, got.status, got.body)
				}
			}
		})
	}
	if want := len(route.Table()) * 26; cells != want {
		t.Errorf("%d cells were asked, not %d", cells, want)
	}
}

// TestTM045WhatAgentsTokensOpen is written out by hand, so that a wrong table is seen.
func TestTM045WhatAgentsTokensOpen(t *testing.T) {
	may := map[route.May][]string{
		route.Anyone: {"openapi", "redeem-link", "sign-in"},
		route.Tools:  {"call-tool", "list-tools"},
		route.Harness: {"cancel-tool-call", "end-run", "end-run-impact", "export-run", "list-evidence", "list-kept-pages", "list-runs", "list-tool-calls", "open-run",
			"reconcile-tool-call", "run-events", "show-kept-page", "show-run", "show-tool-call", "who-am-i"},
	}
	for kind, ids := range may {
		var got []string
		for _, row := range route.Table() {
			if row.May.Has(kind) {
				got = append(got, row.ID)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, ids) {
			t.Errorf("kind %s opens %v, want %v", kind.Words(), got, ids)
		}
	}
	for _, row := range route.Table() {
		switch {
		case row.May.Has(route.Viewer) && row.Unsafe() && !strings.HasPrefix(row.Path, "/api/me") && row.ID != "sign-out":
			t.Errorf("a viewer may change something by %s", row.ID)
		case row.May&(route.Tools|route.Harness) != 0 && row.May&route.People == 0 && row.Of == route.Nothing && row.ID != "open-run":
			t.Errorf("%s is for agents' tokens and names no row of theirs", row.ID)
		case row.May&route.People != 0 && !row.May.Has(route.Owner) && !row.May.Has(route.Anyone):
			t.Errorf("an owner may not %s", row.ID)
		}
	}
}

// TestTM047APersonDecides: a token that the model may hold neither answers a question nor clears what is uncertain.
func TestTM047APersonDecides(t *testing.T) {
	w := newWorld(t)
	for _, who := range []string{"tools of alice", "tools of bob"} {
		refused(t, w.do(who, "POST", "/api/runs/run_alice/tool-calls/call_unsure_alice/reconcile", `{"verdict":"happened"}`), 403, gate.CodeForbidden)
		refused(t, w.do(who, "POST", "/api/approvals/apr_alice/answer", `{"answer":"once"}`), 403, gate.CodeForbidden)
	}
	wrong := refused(t, w.do("harness of alice", "POST", "/api/approvals/apr_alice/answer", `{"answer":"once"}`), 403, gate.CodeForbidden)
	if said := wrong.Detail; said != "not with this credential (harness token): this takes operator, owner" {
		t.Errorf("a credential of the wrong kind is told %q", said)
	}
	if w.fake.asked[0].State != "open" || w.fake.calls[1].Verdict != nil {
		t.Error("a refused request decided something")
	}
}

// TestTM049AnothersIdsAreNotThere: on every operation that names something of an agent's, what is another's and what
// nobody has get the same answer, byte for byte.
func TestTM049AnothersIdsAreNotThere(t *testing.T) {
	w := newWorld(t)
	asked := 0
	for _, row := range route.Table() {
		if row.Of == route.Nothing {
			continue
		}
		for _, who := range []string{"tools of bob", "harness of bob", "viewer of bob", "operator of bob"} {
			if !row.May.Has(kindOf(who)) {
				continue
			}
			asked++
			theirs := w.do(who, row.Method, w.path(row), bodies[row.ID])
			unknown := strings.NewReplacer("alice", "nobody", w.ids["tools of alice"], "tok_none").Replace(w.path(row))
			none := w.do(who, row.Method, unknown, bodies[row.ID])
			refused(t, theirs, 404, gate.CodeNotFound)
			if theirs.body != none.body {
				t.Errorf("%s by %s: %s and %s differ", row.ID, who, theirs.body, none.body)
			}
		}
	}
	if asked < 60 {
		t.Errorf("only %d were asked", asked)
	}
	// What is named below a row of one's own is looked up with it.
	for who, path := range map[string]string{
		"harness of bob":  "/api/runs/run_bob/tool-calls/call_read_alice",
		"operator of bob": "/api/runs/run_bob/tool-calls/call_unsure_alice",
		"viewer of bob":   "/api/runs/run_bob/pages/page_1",
	} {
		refused(t, w.do(who, "GET", path, ""), 404, gate.CodeNotFound)
	}
	refused(t, w.do("operator of bob", "DELETE", "/api/agents/bob/tokens/"+w.ids["tools of alice"], ""), 404, gate.CodeNotFound)
	refused(t, w.do("operator of bob", "GET", "/api/agents/bob/tokens/"+w.ids["tools of alice"]+"/impact", ""), 404, gate.CodeNotFound)
	if got := w.do("tools of alice", "GET", "/api/runs/run_alice/tools", ""); got.status != 200 {
		t.Errorf("alice's token was touched: %d", got.status)
	}
}

// TestListsHoldWhatOneMaySee: no list, stream or queue names an agent that is not on the person's list.
func TestListsHoldWhatOneMaySee(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/api/agents", "/api/runs", "/api/approvals", "/api/needs-you", "/api/overview", "/api/reads/hosts"} {
		for who, not := range map[string]string{"viewer of alice": "bob", "operator of bob": "alice", "viewer of all": "", "owner": ""} {
			got := w.do(who, "GET", path, "")
			if got.status != 200 {
				t.Fatalf("%s by %s: %d %s", path, who, got.status, got.body)
			}
			var all any
			must(t, json.Unmarshal([]byte(got.body), &all))
			if not != "" && strings.Contains(strings.ReplaceAll(got.body, `"fullest_run":"run_alice"`, ""), not) {
				t.Errorf("%s names %s to a %s: %s", path, not, who, got.body)
			}
			if not == "" && !(strings.Contains(got.body, "alice") && strings.Contains(got.body, "bob")) {
				t.Errorf("%s leaves something out for the %s: %s", path, who, got.body)
			}
		}
	}
	for _, who := range []string{"harness of bob"} {
		if got := w.do(who, "GET", "/api/runs", ""); strings.Contains(got.body, "alice") || !strings.Contains(got.body, "run_bob") {
			t.Errorf("runs of %s: %s", who, got.body)
		}
	}
	refused(t, w.do("viewer of alice", "GET", "/api/runs?agent=bob", ""), 404, gate.CodeNotFound)
	refused(t, w.do("viewer of alice", "GET", "/api/approvals?agent=bob", ""), 404, gate.CodeNotFound)
	refused(t, w.do("viewer of alice", "GET", "/api/reads/hosts?agent=bob", ""), 404, gate.CodeNotFound)
}
