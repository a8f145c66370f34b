package operatorapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
)

// TestTheDocumentHoldsTogether: OpenAPI 3.1, each reference leads somewhere, each operation says who may and how it
// fails, and nothing of the library's own is left in it.
func TestTheDocumentHoldsTogether(t *testing.T) {
	w := newWorld(t)
	spec, err := w.s.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	got := w.do("nobody", "GET", "/api/openapi.json", "")
	if got.status != 200 || got.header.Get("Content-Type") != "application/json" || got.body != string(spec) {
		t.Fatalf("%d %v", got.status, got.header)
	}
	if other, err := newWorld(t).s.OpenAPI(); err != nil || !bytes.Equal(other, spec) {
		t.Error("two servers have two documents")
	}
	var doc struct {
		OpenAPI    string
		Info       struct{ Title, Version string }
		Components struct{ Schemas map[string]json.RawMessage }
		Paths      map[string]map[string]struct {
			OperationID string
			Summary     string
			Security    *[]map[string][]string
			Responses   map[string]json.RawMessage
		}
	}
	must(t, json.Unmarshal([]byte(got.body), &doc))
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || doc.Info.Title != "Wayleave" || doc.Info.Version != "v0" {
		t.Errorf("%s %+v", doc.OpenAPI, doc.Info)
	}
	for _, ref := range strings.Split(got.body, `"$ref": "`)[1:] {
		name, _, _ := strings.Cut(ref, `"`)
		if _, ok := doc.Components.Schemas[strings.TrimPrefix(name, "#/components/schemas/")]; !ok {
			t.Errorf("%s leads nowhere", name)
		}
	}
	for _, alien := range []string{"ErrorModel", "ErrorDetail", `"$schema"`, "unpkg", "application/problem+cbor"} {
		if strings.Contains(got.body, alien) {
			t.Errorf("the document has %s", alien)
		}
	}
	used := make(map[string]bool)
	for _, row := range route.Table() {
		op := doc.Paths[row.Path][strings.ToLower(row.Method)]
		if op.OperationID != row.ID || op.Summary != row.Summary || op.Security == nil || len(op.Responses) < 4 {
			t.Errorf("%s: %+v", row.ID, op)
		}
		used[row.Tag] = true
	}
	for _, tag := range route.Tags() {
		if !used[tag] {
			t.Errorf("nothing has the tag %s", tag)
		}
	}
	for name, schema := range doc.Components.Schemas {
		if strings.Contains(string(schema), `"properties"`) && !strings.Contains(string(schema), `"additionalProperties": false`) && !strings.Contains(string(schema), `"additionalProperties":false`) {
			t.Errorf("%s takes any member", name)
		}
	}
}

// FuzzRequests: whatever a stranger sends to whatever operation, the answer is bounded, is not cached, and is no fault of
// ours.
func FuzzRequests(f *testing.F) {
	rows := route.Table()
	for i, row := range rows {
		f.Add(uint8(i), bodies[row.ID], "cursor=x&limit=3", "", "1764400000123456.call.x.ended")
	}
	f.Add(uint8(1), "{\"name\":\"\xff\",\"password\":\"\\ud800\"}", "a=%zz", "wayleave_session=x; wayleave_session=y", "\x00")
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, which uint8, body, query, cookie, last string) {
		w.t = t
		row := rows[int(which)%len(rows)]
		if row.ID == "sign-out" || row.ID == "change-password" || row.ID == "change-person" || row.ID == "sign-person-out" {
			return // the world of the next ones would be another
		}
		for _, who := range []string{"nobody", "owner", "harness of alice", "tools of alice"} {
			r := w.request(w.creds[who], row.Method, w.path(row), body)
			r.URL.RawQuery = query
			r.Header.Set("Last-Event-ID", last)
			if cookie != "" {
				r.Header.Set("Cookie", cookie)
			}
			send := w.send
			if strings.HasSuffix(row.Path, "/events") {
				send = w.glance
			}
			got := send(r)
			if got.status >= 500 || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s by %s: %d %.300s", row.ID, who, got.status, got.body)
			}
			if got.status >= 400 {
				p := got.problem(t)
				if p.Code == "" || len(got.body) > 4096 {
					t.Errorf("%s: %.300s", row.ID, got.body)
				}
			} else if got.header.Get("Content-Type") == "application/json" && !json.Valid([]byte(got.body)) {
				t.Errorf("%s: no JSON: %.300s", row.ID, got.body)
			}
		}
	})
}

// FuzzMembers: the envelope of a call is read as encoding/json would read it, or refused.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, `{"tool":"x","arguments":{"a":[1,{"b":null}]}}`, `{"tool":"x"}{}`, `[`, `{"tool":1,"tool":2}`, "{\"t\\u006fol\":\"x\"}", `{"tool":"x"} `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := gate.Members(body, "tool", "arguments", "call_id", "approval")
		if err != nil {
			return
		}
		var plain map[string]json.RawMessage
		if err := json.Unmarshal(body, &plain); err != nil {
			t.Fatalf("%q is read, and is no JSON: %v", body, err)
		}
		if len(plain) != len(got) {
			t.Fatalf("%q has %d members, not %d", body, len(plain), len(got))
		}
		for name, value := range got {
			if !bytes.Equal(plain[name], value) {
				t.Errorf("%q: %s is %q and %q", body, name, value, plain[name])
			}
		}
	})
}

// FuzzCredentials: no header that somebody makes up opens anything.
func FuzzCredentials(f *testing.F) {
	for _, seed := range []string{"Bearer x", "bearer wl_tools_", "Bearer wl_person_", "Basic eA==", "Bearer \x00", strings.Repeat("Bearer ", 1000)} {
		f.Add(seed, "wayleave_session=wl_session_x", "wl_confirm_x")
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, authorization, cookie, confirm string) {
		w.t = t
		for _, c := range w.creds {
			if c.cookie != "" && strings.Contains(cookie, c.cookie) || c.bearer != "" && strings.Contains(authorization, c.bearer) {
				return
			}
		}
		r := w.request(cred{}, "GET", "/api/me", "")
		r.Header = http.Header{"Authorization": {authorization}, "Cookie": {cookie}, gate.ConfirmHeader: {confirm}}
		if authorization == "" {
			r.Header.Del("Authorization")
		}
		refused(t, w.send(r), 401, gate.CodeInvalidToken)
	})
}
