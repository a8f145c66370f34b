package operatorapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// TestPeopleReadNames: beside each id of a person who paused, answered or stated something stands what they are called. A
// harness is told no person's name.
func TestPeopleReadNames(t *testing.T) {
	w := newWorld(t)
	id := w.ids["operator of alice"]
	p, err := w.people.ByID(w.ctx, id)
	must(t, err)
	name := p.Name
	if a := want[wire.Agent](w, w.do("operator of alice", "POST", "/api/agents/alice/pause", ""), 200); a.Paused == nil || a.Paused.ByName != name {
		t.Errorf("the pause that was just made: %+v", a.Paused)
	}
	if a := get[wire.AgentShown](w, "viewer of all", "/api/agents/alice"); a.Paused == nil || a.Paused.ByName != name || a.Paused.By != "person:"+id {
		t.Errorf("a paused agent: %+v", a.Paused)
	}
	for _, a := range get[wire.Agents](w, "viewer of all", "/api/agents").Agents {
		if a.Slug == "alice" && (a.Paused == nil || a.Paused.ByName != name) {
			t.Errorf("a paused agent in a list: %+v", a.Paused)
		}
	}
	if got := w.do("operator of all", "POST", "/api/install/pause", ""); got.status != 204 {
		t.Fatal(got)
	}
	whole, err := w.people.ByID(w.ctx, w.ids["operator of all"])
	must(t, err)
	if in := get[wire.Install](w, "viewer of all", "/api/install"); in.Paused == nil || in.Paused.ByName != whole.Name {
		t.Errorf("a paused install: %+v", in.Paused)
	}
	if a := want[wire.Approval](w, w.do("operator of alice", "POST", "/api/approvals/apr_alice/answer", `{"answer":"deny"}`), 200); a.ByName != name {
		t.Errorf("an answer: %+v", a)
	}
	if a := get[wire.Approval](w, "owner", "/api/approvals/apr_alice"); a.ByName != name {
		t.Errorf("an answer, read: %+v", a)
	}
	if p := refused(t, w.do("owner", "POST", "/api/approvals/apr_alice/answer", `{"answer":"once"}`), 409, "conflict"); p.ByName != name {
		t.Errorf("who was faster: %+v", p)
	}
	at := "/api/runs/run_alice/tool-calls/call_unsure_alice"
	if r := want[wire.Record](w, w.do("operator of alice", "POST", at+"/reconcile", `{"verdict":"happened"}`), 200); r.Verdict.ByName != name {
		t.Errorf("a verdict: %+v", r.Verdict)
	}
	if r := get[wire.Record](w, "owner", at); r.Verdict.ByName != name {
		t.Errorf("a verdict, read: %+v", r.Verdict)
	}
	for _, path := range []string{at, "/api/runs/run_alice/tool-calls", "/api/runs/run_alice/export"} {
		if got := w.do("harness of alice", "GET", path, ""); got.status != 200 || strings.Contains(got.body, name) || !strings.Contains(got.body, id) {
			t.Errorf("a harness reads at %s: %d %s", path, got.status, got.body)
		}
	}

	// The audit keeps its rows as they are, and says what their ids stand for.
	w.fake.audit = []audit.Row{{ID: "audit_1", Actor: "person:" + id, Verb: "host.allowed", Subject: "10.0.0.1", Detail: []byte(`{"agent":"` + w.alice.ID + `"}`)},
		{ID: "audit_2", Actor: "agent:" + w.bob.ID, Verb: "approval.asked", Subject: "apr_1", Detail: []byte(`{}`)},
		{ID: "audit_3", Actor: "cli", Verb: "agent.paused", Subject: w.alice.ID, Detail: []byte(`{}`)},
		{ID: "audit_4", Actor: "system", Verb: "install.restored", Subject: "install", Detail: []byte(`{}`)}}
	rows := get[wire.AuditPage](w, "owner", "/api/audit").Rows
	for i, want := range []map[string]string{{id: name, w.alice.ID: "alice"}, {w.bob.ID: "bob"}, {w.alice.ID: "alice"}, nil} {
		if fmt.Sprint(rows[i].Names) != fmt.Sprint(want) || rows[i].Actor != w.fake.audit[i].Actor || rows[i].Subject != w.fake.audit[i].Subject {
			t.Errorf("row %d: %+v, want the names %v", i+1, rows[i], want)
		}
	}

	for i, want := range []string{"let alice read 10.0.0.1", "asked whether it may use a tool", "paused the agent alice", "restored a backup: runs ended, calls uncertain"} {
		if rows[i].Says != want {
			t.Errorf("row %d says %q, want %q", i+1, rows[i].Says, want)
		}
	}

	// On pages the names stand in the place of the ids; these are in the tooltips and in what is copied.
	for path, says := range map[string][]string{
		"/":                                      {"All agents are paused</b> by " + whole.Name + " since"},
		"/agents/alice":                          {"Paused by " + name + " since"},
		"/needs-you/history":                     {">" + name + " · "},
		"/runs/run_alice?call=call_unsure_alice": {"Reconciled: Happened</b> by " + name + " at"},
		"/audit": {">" + name + "</td>", ">agent bob</td>", `"agent": "alice"`, `title="host.allowed">let alice read 10.0.0.1<`, `title="agent.paused">paused the agent alice<`,
			`>the command line</td>`, `>the server</td>`, `<a href="/audit?verb=agent.paused"><code>agent.paused</code></a>`},
	} {
		got := w.page("owner", path)
		for _, text := range says {
			if !strings.Contains(strings.ReplaceAll(got.body, "&#34;", `"`), text) {
				t.Errorf("%s does not say %q", path, text)
			}
		}
	}
}

// TestACallThatAKeptPageAnsweredIsNoTrouble: it succeeded, and was sent nowhere.
func TestACallThatAKeptPageAnsweredIsNoTrouble(t *testing.T) {
	w := newWorld(t)
	for i := range w.fake.calls {
		if c := &w.fake.calls[i]; c.ID == "call_read_alice" {
			c.Outcome = "not_dispatched"
		}
	}
	for _, path := range []string{"/runs/run_alice", "/runs/run_alice?call=call_read_alice"} {
		got := w.page("owner", path)
		if !strings.Contains(got.body, `<span class="out ok"><svg class="i" aria-hidden="true"><use href="#i-okc"/></svg>From a kept page</span>`) || strings.Contains(got.body, "not_dispatched") ||
			strings.Contains(got.body, "Nothing sent") {
			t.Errorf("%s does not say that the answer was kept", path)
		}
	}
	if got := w.page("owner", "/runs/run_alice?call=call_read_alice"); strings.Contains(got.body, "<dt>Dispatched</dt>") {
		t.Error("it says when it was sent")
	}
	if got := w.page("owner", "/runs/run_alice?show=trouble"); strings.Contains(got.body, "From a kept page") {
		t.Error("it is shown as trouble")
	}
}

// TestBothSignInFormsHaveANameForWhatKeepsPasswords, and say to a screen reader what they are.
func TestBothSignInFormsHaveANameForWhatKeepsPasswords(t *testing.T) {
	w := newWorld(t)
	tags, _ := elements(t, w.page("nobody", "/sign-in").body)
	forms, names, labelled := 0, 0, make(map[string]bool)
	for _, e := range tags {
		switch {
		case e.tag == "form":
			forms++
			labelled[e.attr["aria-labelledby"]] = false
		case e.tag == "h1":
			labelled[e.attr["id"]] = true
		case e.tag == "input" && e.attr["autocomplete"] == "username":
			names++
		}
	}
	if forms != 2 || names != 2 || len(labelled) != 2 {
		t.Errorf("%d forms, %d names, labelled by %v", forms, names, labelled)
	}
	for id, found := range labelled {
		if !found {
			t.Errorf("there is no heading %q", id)
		}
	}
}

func TestNamesAreFound(t *testing.T) {
	n := Names{"agent_1": "writer", "agent_2": "anna", "person_1": "anna", "person_2": "berta", "tok_1": "token of writer"}
	for text, want := range map[string]string{"writer": "agent_1", "berta": "person_2", "agent_1": "agent_1", "run_1": "run_1", "install": "install", "": "", "token of writer": "token of writer", "carl": "carl"} {
		if got, err := n.Row(text); err != nil || got != want {
			t.Errorf("row %q: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"writer": "agent:agent_1", "berta": "person:person_2", "person:anna": "person:person_1", "agent:anna": "agent:agent_2", "person:person_1": "person:person_1",
		"cli": "cli", "system": "system", "": "", "carl": "carl", "person:carl": "person:carl", "person_2": "person_2"} {
		if got, err := n.ActorNamed(text); err != nil || got != want {
			t.Errorf("actor %q: %q, %v; want %q", text, got, err, want)
		}
	}
	for name, find := range map[string]func(string) (string, error){"row": n.Row, "actor": n.ActorNamed} {
		if got, err := find("anna"); err == nil || !strings.Contains(err.Error(), "agent_2 or person_1") {
			t.Errorf("a %s of two: %q, %v", name, got, err)
		}
	}
	if got := n.Said(`{"agent":"agent_1","by":"person_2"}`); got != `{"agent":"writer","by":"berta"}` {
		t.Errorf("said as %s", got)
	}
}
