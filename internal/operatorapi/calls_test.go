package operatorapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/tool"
)

// TestW070ACallOverHTTP: the answer has the text for the model and the record for the host, and the ledger hears that it
// arrived.
func TestW070ACallOverHTTP(t *testing.T) {
	w := newWorld(t)
	var asked tool.Caller
	var arguments string
	w.fake.answer = func(c tool.Caller, name string, raw json.RawMessage) (tool.Result, error) {
		asked, arguments = c, string(raw)
		return tool.Result{Result: agenttool.Result{Content: []agenttool.Part{{Text: "web_fetch: hello\nnote: recorded · result of call_read_alice"}}},
			Call: "call_read_alice", Run: c.Run, Output: json.RawMessage(`{"content":"hello <b>"}`), Delivered: func(ok bool) { w.fake.mark("call_read_alice", ok) }}, nil
	}
	got := want[wire.Record](w, w.do("tools of alice", "POST", "/api/runs/run_alice/tool-calls",
		`{"tool":"web_fetch", "arguments": {"url":"https://site.example/", "url":"twice"},"call_id":"my-call-1","approval":"apr_1"}`), 200)
	if asked.Agent != w.alice.ID || asked.Slug != "alice" || asked.Run != "run_alice" || asked.Key != "my-call-1" || asked.Approval != "apr_1" || asked.Token != w.ids["tools of alice"] || asked.Ask != nil {
		t.Errorf("the pipeline was asked by %+v", asked)
	}
	if arguments != `{"url":"https://site.example/", "url":"twice"}` { // the tool judges them as they were sent
		t.Errorf("arguments %s", arguments)
	}
	if got.Text != "web_fetch: hello\nnote: recorded · result of call_read_alice" || string(got.Output) != `{"content":"hello <b>"}` || got.Error != nil || got.State != "succeeded" {
		t.Errorf("%+v", got)
	}
	if got.Run != "run_alice" || got.ID != "call_read_alice" || got.Conversation != "desk-alice" || got.Evidence[0].ID != "call_read_alice.0" || got.Evidence[0].Conversation != "desk-alice" { // F-091, F-092
		t.Errorf("provenance of %+v", got)
	}
	if !w.fake.arrived["call_read_alice"] {
		t.Error("the ledger was not told that the answer arrived")
	}
}

// gone is a connection that breaks at the first write.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// TestAnAnswerThatDidNotArriveIsSaidToBeLost: the same call again then gets it from the record.
func TestAnAnswerThatDidNotArriveIsSaidToBeLost(t *testing.T) {
	w := newWorld(t)
	w.fake.arrived["call_read_alice"] = true
	w.sendTo(gone{httptest.NewRecorder()}, t.Context(), w.request(w.creds["tools of alice"], "POST", "/api/runs/run_alice/tool-calls", bodies["call-tool"]))
	if w.fake.arrived["call_read_alice"] {
		t.Error("a broken pipe counts as delivered")
	}
	w.fake.reset()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	w.fake.arrived["x"] = true
	w.fake.answer = func(c tool.Caller, _ string, _ json.RawMessage) (tool.Result, error) {
		leave()
		return tool.Result{Result: agenttool.Result{Content: []agenttool.Part{{Text: "late"}}}, Run: c.Run, Delivered: func(ok bool) { w.fake.mark("x", ok) }}, nil
	}
	w.sendTo(httptest.NewRecorder(), ctx, w.request(w.creds["tools of alice"], "POST", "/api/runs/run_alice/tool-calls", bodies["call-tool"]))
	if w.fake.arrived["x"] {
		t.Error("an answer to who had left counts as delivered")
	}
}

// TestRefusalsHaveTheirStatus: a code that has one answers as a problem with the record's members beside; another is an
// answer of 200.
func TestRefusalsHaveTheirStatus(t *testing.T) {
	w := newWorld(t)
	for code, status := range map[string]int{"stale_offer": 409, "rate_limit": 429, "approval_required": 403, "invalid_web_fetch_input": 400, "run_over": 409,
		"web_fetch_timeout": 200, "binding_changed": 200, "unknown_input": 422} {
		w.fake.answer = refusing(code)
		got := w.do("tools of alice", "POST", "/api/runs/run_alice/tool-calls", bodies["call-tool"])
		if got.status != status {
			t.Errorf("%s: %d, want %d", code, got.status, status)
		}
		if status == 200 {
			r := want[wire.Record](w, got, 200)
			if r.Code != code || string(r.Error) == "" || r.Text == "" {
				t.Errorf("%s: %s", code, got.body)
			}
			continue
		}
		f := want[wire.Failed](w, got, status)
		if f.Code != code || f.Status != status || f.Title == "" || f.Type != "about:blank" || !strings.HasPrefix(f.Detail, code) || f.Record.Text != f.Detail || f.Run != "run_alice" ||
			got.header.Get("Content-Type") != gate.ProblemType {
			t.Errorf("%s: %s", code, got.body)
		}
	}
	w.fake.answer = func(tool.Caller, string, json.RawMessage) (tool.Result, error) {
		return tool.Result{}, tool.ErrUnknownTool
	}
	refused(t, w.do("tools of alice", "POST", "/api/runs/run_alice/tool-calls", bodies["call-tool"]), 404, gate.CodeNotFound)
}

// TestCallsAreReadStrictly: one object, known members, each once, of the right shape.
func TestCallsAreReadStrictly(t *testing.T) {
	w := newWorld(t)
	for _, body := range []string{"", "[]", `"x"`, "null", "{", `{}`, `{"tool":""}`, `{"tool":1}`, `{"tool":null}`, `{"tool":"web_fetch","tool":"web_fetch"}`, `{"tool":"web_fetch","more":1}`,
		`{"Tool":"web_fetch"}`, `{"tool":"web_fetch"}{}`, `{"tool":"web_fetch"} x`, `{"tool":"web_fetch","call_id":"short"}`, `{"tool":"web_fetch","call_id":"with\nbreak"}`, `{"tool":"web_fetch","call_id":"größe-größe"}`,
		`{"tool":"web_fetch","call_id":null}`, `{"tool":"` + strings.Repeat("x", 65) + `"}`, `{"tool":"web_fetch","call_id":"` + strings.Repeat("x", 129) + `"}`, `{"tool":"web_fetch","approval":7}`} {
		got := w.do("tools of alice", "POST", "/api/runs/run_alice/tool-calls", body)
		if got.status != 400 && !(body == "" && got.status == 415) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	r := w.request(w.creds["tools of alice"], "POST", "/api/runs/run_alice/tool-calls", bodies["call-tool"])
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	if got := w.send(r); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestBodiesAreReadStrictly: JSON in one way or not at all, on every operation that reads one; and no fault repeats what
// was sent, since it may hold a secret.
func TestBodiesAreReadStrictly(t *testing.T) {
	w := newWorld(t)
	for _, row := range w.s.Routes() {
		right := bodies[row.ID]
		if right == "" || row.ID == "call-tool" {
			continue
		}
		who := "owner"
		if row.ID == "open-run" {
			who = "harness of alice"
		}
		for name, c := range map[string]struct {
			body   string
			status int
		}{
			"cut":            {right[:len(right)-1], 400},
			"two values":     {right + right, 400},
			"a list":         {"[" + right + "]", 422},
			"null":           {"null", 422},
			"unknown member": {`{"canary_member":"canary",` + strings.TrimPrefix(right, "{"), 422},
			"wrong type":     {strings.Replace(right, ":", `:{"canary":1},"x":`, 1), 422},
		} {
			if right == "{}" && name != "cut" && name != "two values" {
				continue
			}
			got := w.do(who, row.Method, w.path(row), c.body)
			if got.status != c.status {
				t.Errorf("%s, %s: %d, want %d: %s", row.ID, name, got.status, c.status, got.body)
				continue
			}
			if p := got.problem(t); p.Code != gate.CodeInvalidRequest || strings.Contains(strings.ReplaceAll(got.body, "canary_member", ""), "canary") {
				t.Errorf("%s, %s: %s", row.ID, name, got.body)
			}
		}
		member, rest, _ := strings.Cut(strings.TrimPrefix(right, "{"), ":")
		if rest != "" && right != "{}" {
			got := w.do(who, row.Method, w.path(row), "{"+member+":null,"+strings.TrimPrefix(right, "{"))
			refused(t, got, 400, gate.CodeInvalidRequest)
		}
	}
}

// TestW076AHarnessReadsTheRecord: with the ids of a result the host reads the whole of it.
func TestW076AHarnessReadsTheRecord(t *testing.T) {
	w := newWorld(t)
	got := get[wire.Record](w, "harness of alice", "/api/runs/run_alice/tool-calls/call_read_alice")
	if got.Text != "web_fetch: hello" || string(got.Output) != `{"content":"hello"}` || string(got.Arguments) != `{"url":"https://site.example/"}` || len(got.Why) != 1 || got.CredentialOwner != "none" || got.AccountSource != "none" {
		t.Errorf("%+v", got)
	}
	list := get[wire.Calls](w, "harness of alice", "/api/runs/run_alice/tool-calls?limit=2")
	if len(list.Calls) != 2 || list.Next != "2" || list.Calls[0].ID != "call_read_alice" {
		t.Errorf("%+v", list)
	}
	if rest := get[wire.Calls](w, "harness of alice", "/api/runs/run_alice/tool-calls?after="+list.Next); len(rest.Calls) != 1 || rest.Next != "" {
		t.Errorf("%+v", rest)
	}
	whole := get[wire.Export](w, "harness of alice", "/api/runs/run_alice/export")
	seen := get[wire.EvidenceList](w, "harness of alice", "/api/runs/run_alice/evidence")
	if len(whole.Calls) != 3 || whole.Run.ID != "run_alice" || seen.Conversation != "desk-alice" || !slices.Equal(seen.Evidence, whole.Calls[0].Evidence) { // F-091
		t.Errorf("%+v and %+v", whole, seen)
	}
}

// TestF346Reconcile: once, by a person or the harness, and only what is uncertain.
func TestF346Reconcile(t *testing.T) {
	w := newWorld(t)
	at := "/api/runs/run_alice/tool-calls/call_unsure_alice/reconcile"
	got := want[wire.Record](w, w.do("harness of alice", "POST", at, `{"verdict":"not_happened","note":"no mail\u202e came","evidence":"call_read_alice.0"}`), 200)
	if v := got.Verdict; v == nil || v.Verdict != "not_happened" || v.ByKind != "harness" || v.By != w.ids["harness of alice"] || v.Note != "no mail came" || v.Evidence != "call_read_alice.0" {
		t.Errorf("%+v", got.Verdict)
	}
	again := want[wire.Record](w, w.do("operator of alice", "POST", at, `{"verdict":"not_happened"}`), 200)
	if again.Verdict.ByKind != "harness" {
		t.Error("the same verdict again changed something")
	}
	if p := refused(t, w.do("operator of alice", "POST", at, `{"verdict":"happened"}`), 409, gate.CodeConflict); !strings.Contains(p.Detail, "the verdict not_happened was given before") ||
		p.ChangedBy != w.ids["harness of alice"] || p.ChangedAt == nil || !p.ChangedAt.Equal(got.Verdict.At) {
		t.Errorf("a conflict of verdicts: %+v", p)
	}
	refused(t, w.do("operator of alice", "POST", strings.Replace(at, "unsure", "read", 1), `{"verdict":"happened"}`), 409, gate.CodeConflict)
	if p := refused(t, w.do("operator of alice", "POST", strings.Replace(at, "unsure", "waits", 1), `{"verdict":"happened"}`), 409, gate.CodeConflict); !strings.Contains(p.Detail, "still in flight") {
		t.Errorf("%+v", p)
	}
	refused(t, w.do("operator of alice", "POST", strings.Replace(at, "call_unsure", "call_none", 1), `{"verdict":"happened"}`), 404, gate.CodeNotFound)
	w.fake.reset()
	refused(t, w.do("operator of alice", "POST", at, `{"verdict":"happened","evidence":"bad"}`), 422, gate.CodeEvidenceError)
	refused(t, w.do("operator of alice", "POST", at, `{"verdict":"maybe"}`), 422, gate.CodeInvalidRequest)
	person := want[wire.Record](w, w.do("operator of alice", "POST", at, `{"verdict":"unknown"}`), 200)
	if person.Verdict.ByKind != "operator" || person.Verdict.By != w.ids["operator of alice"] {
		t.Errorf("%+v", person.Verdict)
	}
}

func TestCancelBeforeDispatch(t *testing.T) {
	w := newWorld(t)
	got := want[wire.Call](w, w.do("operator of alice", "POST", "/api/runs/run_alice/tool-calls/call_waits_alice/cancel", ""), 200)
	if got.State != string(effect.Failed) || got.Outcome != string(effect.NotDispatched) {
		t.Errorf("%+v", got)
	}
	if p := refused(t, w.do("harness of alice", "POST", "/api/runs/run_alice/tool-calls/call_read_alice/cancel", ""), 409, gate.CodeConflict); !strings.Contains(p.Detail, "succeeded") {
		t.Errorf("%+v", p)
	}
}

// TestLongCallsOutliveTheServersDeadlines: a call that takes longer than the server's own times is answered.
func TestLongCallsOutliveTheServersDeadlines(t *testing.T) {
	newWorld(t) // filled outside: there time goes on
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		client := w.serve(t, time.Second)
		free := make(chan struct{})
		w.fake.answer = func(c tool.Caller, _ string, _ json.RawMessage) (tool.Result, error) {
			<-free
			return tool.Result{Result: agenttool.Result{Content: []agenttool.Part{{Text: "done"}}}, Run: c.Run, Delivered: func(bool) {}}, nil
		}
		r := w.request(w.creds["tools of alice"], "POST", "/api/runs/run_alice/tool-calls", bodies["call-tool"])
		r.RequestURI = ""
		answer := make(chan string, 1)
		go func() {
			got, err := client.Do(r.WithContext(t.Context()))
			if err != nil {
				answer <- err.Error()
				return
			}
			defer func() { _ = got.Body.Close() }()
			var record wire.Record
			err = json.NewDecoder(got.Body).Decode(&record)
			answer <- fmt.Sprint(record.Text, err)
		}()
		time.Sleep(time.Minute)
		select {
		case got := <-answer:
			t.Fatalf("answered before the call was done: %s", got)
		default:
		}
		close(free)
		if got := <-answer; got != "done<nil>" {
			t.Error(got)
		}
	})
}
