package operatorapi

import (
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/clientblock"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/secret"
)

// TestTwoPeopleAnswerOneQuestion: one wins, the other reads who did.
func TestTwoPeopleAnswerOneQuestion(t *testing.T) {
	w := newWorld(t)
	got := want[wire.Approval](w, w.do("operator of alice", "POST", "/api/approvals/apr_alice/answer", `{"answer":"deny"}`), 200)
	if got.State != "denied" || got.Channel != "page" || got.AnsweredBy != "person:"+w.ids["operator of alice"] || len(got.Answers) != 0 {
		t.Errorf("%+v", got)
	}
	p := refused(t, w.do("owner", "POST", "/api/approvals/apr_alice/answer", `{"answer":"once"}`), 409, gate.CodeConflict)
	if p.ChangedBy != "person:"+w.ids["operator of alice"] || p.ChangedAt == nil || !strings.Contains(p.Detail, "denied") {
		t.Errorf("%+v", p)
	}
	if by := want[wire.Approval](w, w.do("owner, by token", "POST", "/api/approvals/apr_bob/answer", `{"answer":"once"}`), 200); by.Channel != "api" {
		t.Errorf("%+v", by)
	}
	for _, no := range []string{`{"answer":"always"}`, `{"answer":"session"}`, `{"answer":""}`, `{}`} {
		refused(t, w.do("owner", "POST", "/api/approvals/apr_alice/answer", no), 422, gate.CodeInvalidRequest)
	}
}

func TestDenyAll(t *testing.T) {
	w := newWorld(t)
	w.fake.asked = append(w.fake.asked, approval.Approval{ID: "apr_more", Agent: w.alice.ID, Slug: "alice", State: approval.Open})
	got := want[wire.Denied](w, w.do("operator of alice", "POST", "/api/agents/alice/approvals/deny-all", ""), 200)
	slices.Sort(got.Approvals)
	if !slices.Equal(got.Approvals, []string{"apr_alice", "apr_more"}) || w.fake.asked[1].State != approval.Open {
		t.Errorf("%v", got)
	}
	if again := want[wire.Denied](w, w.do("operator of alice", "POST", "/api/agents/alice/approvals/deny-all", ""), 200); len(again.Approvals) != 0 {
		t.Errorf("%v", again)
	}
}

// TestNeedsYou: what runs out first comes first, uncertain calls after it, with counts and one cursor.
func TestNeedsYou(t *testing.T) {
	w := newWorld(t)
	w.fake.asked[0].Expires = w.fake.asked[1].Expires.Add(minutes(1))
	var ids []string
	cursor := ""
	for range 4 {
		page := get[wire.NeedsYou](w, "owner", "/api/needs-you?limit=1&cursor="+cursor)
		if page.Approvals != 2 || page.Uncertain != 2 || len(page.Items) != 1 {
			t.Fatalf("%+v", page)
		}
		ids = append(ids, page.Items[0].ID)
		cursor = page.Next
	}
	if !slices.Equal(ids, []string{"apr_bob", "apr_alice", "call_unsure_alice", "call_unsure_bob"}) || cursor != "" {
		t.Errorf("%v, then %q", ids, cursor)
	}
	refused(t, w.do("owner", "GET", "/api/needs-you?cursor=nothing", ""), 422, gate.CodeInvalidRequest)
	refused(t, w.do("owner", "GET", "/api/needs-you?limit=0", ""), 422, gate.CodeInvalidRequest)
	refused(t, w.do("owner", "GET", "/api/needs-you?limit=101", ""), 422, gate.CodeInvalidRequest)
	w.do("owner", "POST", "/api/approvals/apr_bob/answer", `{"answer":"once"}`)
	w.do("owner", "POST", "/api/runs/run_bob/tool-calls/call_unsure_bob/reconcile", `{"verdict":"unknown"}`)
	if left := get[wire.NeedsYou](w, "owner", "/api/needs-you"); left.Approvals != 1 || left.Uncertain != 1 || left.LastAnswer == nil || left.LastAnswer.ID != "apr_bob" {
		t.Errorf("%+v", left)
	}
}

// TestImpactIsCountedNow: before something destructive, what it would stop is said with names and numbers.
func TestImpactIsCountedNow(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string]wire.Impact{
		"/api/install/impact":               {Agents: []string{"alice", "bob"}, Runs: []string{"run_alice", "run_bob"}, RunCount: 2, InFlight: 2, Waiting: 2},
		"/api/agents/alice/impact":          {Agents: []string{"alice"}, Runs: []string{"run_alice"}, RunCount: 1, InFlight: 1, Waiting: 1},
		"/api/agents/bob/impact?for=pause":  {Agents: []string{"bob"}, Runs: []string{"run_bob"}, RunCount: 1, InFlight: 1, Waiting: 1},
		"/api/runs/run_alice/impact":        {Agents: []string{"alice"}, Runs: []string{"run_alice"}, RunCount: 1, InFlight: 1, Waiting: 1},
		"/api/agents/alice/tokens/T/impact": {Agents: []string{"alice"}, Runs: []string{"run_alice"}, RunCount: 1, InFlight: 1},
	} {
		got := get[wire.Impact](w, "owner", strings.Replace(path, "/T/", "/"+w.ids["tools of alice"]+"/", 1))
		if !slices.Equal(got.Agents, want.Agents) || !slices.Equal(got.Runs, want.Runs) || got.RunCount != want.RunCount || got.InFlight != want.InFlight || got.Waiting != want.Waiting || len(got.Leaves) == 0 {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	refused(t, w.do("owner", "GET", "/api/agents/alice/impact?for=fun", ""), 422, gate.CodeInvalidRequest)
	if w.fake.runs[0].Open != true || w.fake.asked[0].State != approval.Open {
		t.Error("asking changed something")
	}
}

// TestARunIsDeletedByWhoDecides, as a whole and not before its time; what it takes away is told before.
func TestARunIsDeletedByWhoDecides(t *testing.T) {
	w := newWorld(t)
	told := get[wire.Impact](w, "operator of alice", "/api/runs/run_alice/impact?for=delete")
	if told.Deletes == nil || *told.Deletes != (wire.Deletes{Calls: 3, Evidence: 2, Pages: 1, Approvals: 4, Uncertain: 1}) || told.Refused != "" {
		t.Errorf("what goes: %+v, %q", told.Deletes, told.Refused)
	}
	if ending := get[wire.Impact](w, "operator of alice", "/api/runs/run_alice/impact"); ending.Deletes != nil || ending.Refused != "" {
		t.Errorf("an end deletes nothing: %+v", ending)
	}
	if !slices.Equal(told.Runs, []string{"run_alice"}) || told.RunCount != 1 || told.Undo != "" || len(told.Leaves) != 1 || len(w.fake.deleted) != 0 {
		t.Errorf("%+v", told)
	}
	for _, err := range []error{ledger.ErrRunOpen, ledger.ErrRunHeld, ledger.ErrRunFresh} {
		w.fake.deletes = err
		if told := get[wire.Impact](w, "operator of alice", "/api/runs/run_alice/impact?for=delete"); told.Refused != err.Error() {
			t.Errorf("%v is not told before: %+v", err, told)
		}
		if p := refused(t, w.do("operator of alice", "DELETE", "/api/runs/run_alice", ""), 409, gate.CodeConflict); p.Detail != err.Error() {
			t.Errorf("%v: %+v", err, p)
		}
	}
	w.fake.deletes = nil
	got := want[wire.Deleted](w, w.do("operator of alice", "DELETE", "/api/runs/run_alice", ""), 200)
	if got.Run != "run_alice" || got.Calls != 3 || !slices.Equal(w.fake.deleted, []string{"run_alice by person:" + w.ids["operator of alice"]}) {
		t.Errorf("%+v, %q", got, w.fake.deleted)
	}
}

// TestAConflictSaysWhatStands: a setting that was changed since it was read is not overwritten, and the answer says by
// whom, when, and which version stands.
func TestAConflictSaysWhatStands(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/api/settings/web", "/api/agents/alice/web"} {
		mode := `"mode":"auto"`
		if strings.Contains(path, "agents") {
			mode = `"mode":"inherit"`
		}
		before := get[wire.WebSettings](w, "owner", path).Capabilities[0]
		if before.Version != 0 || before.Capability != "read" || before.Effective != "direct" || before.InForce.PerMinute == nil || *before.InForce.PerMinute != 600 {
			t.Fatalf("%s: %+v", path, before)
		}
		body := `{"version":0,` + mode + `,"limits":{"requests_per_run":20}}`
		after := want[wire.WebSettings](w, w.do("owner", "PUT", path+"/read", body), 200)
		now := after.Capabilities[0]
		if now.Version == 0 || now.ChangedBy != "person:"+w.ids["owner"] || now.ChangedAt == nil || *now.InForce.PerRun != 20 || *now.Limits.PerRun != 20 || now.Limits.PerMinute != nil {
			t.Errorf("%s: %+v", path, now)
		}
		p := refused(t, w.do("owner, by token", "PUT", path+"/read", body), 409, gate.CodeConflict)
		if p.Version == nil || *p.Version != now.Version || p.ChangedBy != now.ChangedBy || p.ChangedAt == nil || !p.ChangedAt.Equal(*now.ChangedAt) {
			t.Errorf("%s: %+v", path, p)
		}
		if p := refused(t, w.do("owner", "PUT", path+"/read", strings.Replace(body, `"requests_per_run":20`, `"requests_per_run":0`, 1)), 422, gate.CodeInvalidRequest); p.Field != "limits.requests_per_run" || p.Pointer != "/limits/requests_per_run" {
			t.Errorf("%s: %+v", path, p)
		}
		refused(t, w.do("owner", "PUT", path+"/read", strings.Replace(body, `"version":0,`, "", 1)), 422, gate.CodeInvalidRequest)
		refused(t, w.do("owner", "PUT", path+"/read", strings.Replace(body, mode, `"mode":"own","provider":"nothing"`, 1)), 422, gate.CodeInvalidRequest)
		refused(t, w.do("owner", "PUT", path+"/fly", body), 404, gate.CodeNotFound)
	}
}

func TestAllowedHosts(t *testing.T) {
	w := newWorld(t)
	want[wire.AllowedHosts](w, w.do("owner", "POST", "/api/settings/allowed-hosts", `{"host":"10.0.0.0/8"}`), 200)
	list := want[wire.AllowedHosts](w, w.do("operator of alice", "POST", "/api/agents/alice/allowed-hosts", `{"host":"Box.internal:8080"}`), 200)
	if len(list.Hosts) != 2 || list.Hosts[1].Host != "box.internal:8080" || list.Hosts[1].Agent != "alice" || list.Hosts[0].Agent != "" || list.Hosts[1].By != "person:"+w.ids["operator of alice"] {
		t.Errorf("%+v", list)
	}
	if other := get[wire.AllowedHosts](w, "viewer of bob", "/api/agents/bob/allowed-hosts"); len(other.Hosts) != 1 {
		t.Errorf("%+v", other)
	}
	for _, bad := range []string{"", " ", "http://x", "*", "a b", "10.0.0.0/99"} {
		refused(t, w.do("owner", "POST", "/api/settings/allowed-hosts", `{"host":"`+bad+`"}`), 422, gate.CodeInvalidRequest)
	}
	if got := w.do("operator of alice", "DELETE", "/api/agents/alice/allowed-hosts?host=box.internal:8080", ""); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	refused(t, w.do("operator of alice", "DELETE", "/api/agents/alice/allowed-hosts?host=10.0.0.0/8", ""), 404, gate.CodeNotFound)
	refused(t, w.do("operator of alice", "DELETE", "/api/settings/allowed-hosts?host=10.0.0.0/8", ""), 403, gate.CodeForbidden)
	if got := w.do("owner", "DELETE", "/api/settings/allowed-hosts?host=10.0.0.0%2F8", ""); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestAgentsAndTheirTokens: a token is shown once, with blocks that hold it; what stops an agent counts at once.
func TestAgentsAndTheirTokens(t *testing.T) {
	w := newWorld(t)
	made := want[wire.NewToken](w, w.do("operator of alice", "POST", "/api/agents/alice/tokens", `{"scope":"tools"}`), 200)
	if len(made.Blocks) < 4 || !strings.Contains(made.Blocks[0].Text, made.Secret) || !strings.Contains(made.Blocks[0].Text, "http://"+home+"/mcp") {
		t.Errorf("%+v", made.Blocks)
	}
	// W-073: they are what attach prints, whose blocks are pasted into the clients; the page has each with the variable.
	page := html.UnescapeString(w.page("operator of alice", "/agents/alice").body)
	for i, c := range clientblock.Clients() {
		if b := made.Blocks[i]; b.Client != c.Name || b.Text != c.Block(clientblock.Place{URL: "http://" + home + "/mcp", Token: secret.New(made.Secret)}) {
			t.Errorf("%+v", b)
		}
		if b := c.Block(clientblock.Place{URL: "http://" + home + "/mcp", Variable: true}); !strings.Contains(page, b) {
			t.Errorf("the page of an agent has no block for %s:\n%s", c.Name, b)
		}
	}
	for _, path := range []string{"/api/agents/alice/tokens", "/api/agents/alice/blocks", "/api/agents/alice", "/api/agents"} {
		if got := w.do("owner", "GET", path, ""); got.status != 200 || strings.Contains(got.body, made.Secret[10:26]) {
			t.Errorf("%s: %d, or it shows the token", path, got.status)
		}
	}
	if harness := want[wire.NewToken](w, w.do("owner", "POST", "/api/agents/alice/tokens", `{"scope":"harness"}`), 200); len(harness.Blocks) != 0 {
		t.Errorf("a harness token is no client's to paste: %+v", harness.Blocks)
	}
	w.creds["fresh"] = cred{bearer: made.Secret}
	if got := w.do("fresh", "GET", "/api/runs/run_alice/tools", ""); got.status != 200 {
		t.Errorf("%d", got.status)
	}
	if got := w.do("operator of alice", "DELETE", "/api/agents/alice/tokens/"+made.Token.ID, ""); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	refused(t, w.do("fresh", "GET", "/api/runs/run_alice/tools", ""), 401, gate.CodeInvalidToken)
	if a := want[wire.Agent](w, w.do("operator of alice", "POST", "/api/agents/alice/pause", ""), 200); a.Paused == nil || a.Paused.By != "person:"+w.ids["operator of alice"] {
		t.Errorf("%+v", a)
	}
	if a := want[wire.Agent](w, w.do("owner", "POST", "/api/agents/alice/resume", ""), 200); a.Paused != nil {
		t.Errorf("%+v", a)
	}
	if a := want[wire.Agent](w, w.do("owner", "POST", "/api/agents/alice/disable", ""), 200); a.State != "disabled" {
		t.Errorf("%+v", a)
	}
	refused(t, w.do("tools of alice", "GET", "/api/runs/run_alice/tools", ""), 401, gate.CodeInvalidToken)
	if a := want[wire.Agent](w, w.do("owner", "POST", "/api/agents/alice/enable", ""), 200); a.State != "active" {
		t.Errorf("%+v", a)
	}
	if a := want[wire.Agent](w, w.do("owner", "PUT", "/api/agents/alice/elicitation", `{"asks_a_person":true}`), 200); !a.Elicitation {
		t.Errorf("%+v", a)
	}
	for _, bad := range []string{"Alice", "a b", "-a", "", strings.Repeat("a", 41)} {
		refused(t, w.do("owner", "POST", "/api/agents", `{"slug":"`+bad+`"}`), 422, gate.CodeInvalidRequest)
	}
	shown := get[wire.AgentShown](w, "owner", "/api/agents/alice")
	if len(shown.Tools) != 2 || shown.Tools[0].Offered || shown.Tools[0].Why == "" || !shown.Tools[1].Offered || shown.Tools[1].Class != "observation" || shown.OpenRuns != 1 || shown.Held != 1 {
		t.Errorf("%+v", shown)
	}
}

// TestTM046RunsAreOpenedWithinBounds: only a harness opens runs, a bounded number a minute; TM-053: its words come without what a
// screen or a log obeys.
func TestTM046TM053RunsAreOpenedWithinBounds(t *testing.T) {
	w := newWorld(t)
	run := want[wire.OpenedRun](w, w.do("harness of alice", "POST", "/api/runs", `{"title":"<img src=x onerror=y>\u001b[31m\nred\u202e","conversation_id":"c\u0000-1","deadline_seconds":60,"max_tool_calls":5}`), 200)
	if run.Title != "<img src=x onerror=y>[31mred" || run.Conversation != "c-1" || run.MaxCalls != 5 || len(run.Tools) != 1 || run.Tools[0].Name != "web_fetch" || run.Agent != "alice" {
		t.Errorf("%+v", run)
	}
	for _, bad := range []string{`{"deadline_seconds":0}`, `{"deadline_seconds":21601}`, `{"max_tool_calls":0}`, `{"max_tool_calls":1001}`, `{"title":"` + strings.Repeat("x", 201) + `"}`, `{"agent":"bob"}`} {
		refused(t, w.do("harness of alice", "POST", "/api/runs", bad), 422, gate.CodeInvalidRequest)
	}
	w.s.opens = gate.NewMinute(3, w.clock.Now)
	for i := range 5 {
		got := w.do("harness of alice", "POST", "/api/runs", `{}`)
		if i < 3 && got.status != 200 || i >= 3 && got.status != 429 {
			t.Errorf("run %d: %d", i, got.status)
		}
	}
	if got := w.do("harness of bob", "POST", "/api/runs", `{}`); got.status != 200 { // another agent's bound is its own
		t.Errorf("%d", got.status)
	}
	w.clock.Advance(minutes(1))
	if got := w.do("harness of alice", "POST", "/api/runs", `{}`); got.status != 200 {
		t.Errorf("a minute later: %d", got.status)
	}
	if strings.Count(w.logged.String(), "\n") != strings.Count(w.logged.String(), `"msg":`) || strings.Contains(w.logged.String(), "onerror") {
		t.Error("a client's words made lines of the log")
	}
}

func TestRunsArePaged(t *testing.T) {
	w := newWorld(t)
	var ids []string
	cursor := ""
	for range 3 {
		page := get[wire.Runs](w, "owner", "/api/runs?limit=1&cursor="+cursor)
		for _, r := range page.Runs {
			ids = append(ids, r.ID)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if !slices.Equal(ids, []string{"run_bob", "run_alice"}) {
		t.Errorf("%v", ids)
	}
	w.do("owner", "POST", "/api/runs/run_bob/end", "")
	if open := get[wire.Runs](w, "owner", "/api/runs?state=open"); len(open.Runs) != 1 || open.Runs[0].ID != "run_alice" {
		t.Errorf("%+v", open)
	}
	ended := get[wire.Runs](w, "owner", "/api/runs?state=ended&agent=bob")
	if len(ended.Runs) != 1 || ended.Runs[0].EndReason != endedByPerson {
		t.Errorf("%+v", ended)
	}
	if by := "run_bob by person:" + w.ids["owner"]; !slices.Equal(w.fake.ended, []string{by}) {
		t.Errorf("ended by people: %q, want %q", w.fake.ended, by)
	}
	if got := want[wire.Run](w, w.do("harness of alice", "POST", "/api/runs/run_alice/end", ""), 200); got.EndReason != endedByHarness || got.State != "ended" {
		t.Errorf("%+v", got)
	}
}

func TestOverviewAndAudit(t *testing.T) {
	w := newWorld(t)
	o := get[wire.Overview](w, "owner", "/api/overview")
	if len(o.Calls) != 1 || o.Calls[0].Calls != 6 || len(o.Running) != 2 || o.Running[0].Doing == nil || o.Running[0].Doing.ID != "call_waits_alice" || len(o.Limits) != 1 || o.Limits[0].MinuteLimit != 600 || o.Limits[0].InMinute != 2 {
		t.Errorf("%+v", o)
	}
	refused(t, w.do("owner", "GET", "/api/overview?from=2026-03-04T00:00:00Z&to=2026-03-03T00:00:00Z", ""), 422, gate.CodeInvalidRequest)
	refused(t, w.do("owner", "GET", "/api/overview?from=2025-03-04T00:00:00Z", ""), 422, gate.CodeInvalidRequest)
	refused(t, w.do("owner", "GET", "/api/overview?from=yesterday", ""), 422, gate.CodeInvalidRequest)
	a := get[wire.AuditPage](w, "operator of all", "/api/audit")
	if len(a.Rows) != 2 || a.Rows[0].Link != nil || a.Rows[1].Link == nil || a.Linked != 1 || a.Waiting != 1 {
		t.Errorf("%+v", a)
	}
}
