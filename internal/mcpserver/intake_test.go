package mcpserver

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestInspectTakesSoundMessages(t *testing.T) {
	for body, want := range map[string]message{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                                                           {id: json.RawMessage("1"), method: "ping"},
		` {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}} `: {id: json.RawMessage(`"a"`), method: "tools/call", tool: "x"},
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:                                             {method: "notifications/initialized"},
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                                                               {id: json.RawMessage("1")},
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`:                                          {id: json.RawMessage("1")},
		`{"jsonrpc":"2.0","id":-9007199254740991,"method":"tools/list","params":{"_meta":{},"cursor":"c"}}`:  {id: json.RawMessage("-9007199254740991"), method: "tools/list"},
	} {
		got, batch, refused := inspect([]byte(body))
		if refused != nil || batch || len(got) != 1 {
			t.Errorf("%s: %v %v %v", body, got, batch, refused)
			continue
		}
		if string(got[0].id) != string(want.id) || got[0].method != want.method || got[0].tool != want.tool {
			t.Errorf("%s: %+v, want %+v", body, got[0], want)
		}
	}
}

func TestInspectNamesWhatIsWrong(t *testing.T) {
	nested := func(n int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}`
	}
	for _, c := range []struct {
		name, body string
		code       int64
		id         string // of the answer; "" for null
		says       string
	}{
		{"no JSON", `{`, jsonrpc.CodeParseError, "", "not one JSON value"},
		{"two values", `{} {}`, jsonrpc.CodeParseError, "", "not one JSON value"},
		{"not UTF-8", "{\"a\":\"\xff\"}", jsonrpc.CodeParseError, "", "UTF-8"},
		{"a number", `5`, jsonrpc.CodeInvalidRequest, "", "object"},
		{"null", `null`, jsonrpc.CodeInvalidRequest, "", "object"},
		{"no version", `{"id":1,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "1", `jsonrpc must be "2.0"`},
		{"old version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "1", `jsonrpc must be "2.0"`},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "", `"id" twice`},
		{"method twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"subscriptions/listen"}`, jsonrpc.CodeInvalidRequest, "", `"method" twice`},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "", "id is"},
		{"id object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, jsonrpc.CodeInvalidRequest, "", "id is"},
		{"id fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "", "id is"},
		{"id long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 300) + `","method":"ping"}`, jsonrpc.CodeInvalidRequest, "", "256 bytes"},
		{"id that a counter in floating point would change", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "", "53 bits"},
		{"id of 63 bits", `{"jsonrpc":"2.0","id":9223372036854775807,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "", "53 bits"},
		{"id that is no zero to everyone", `{"jsonrpc":"2.0","id":-0,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "", "id is"},
		{"id with half a character", `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, jsonrpc.CodeInvalidRequest, "", "id is"},
		{"method number", `{"jsonrpc":"2.0","id":1,"method":5}`, jsonrpc.CodeInvalidRequest, "1", "method is"},
		{"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, jsonrpc.CodeInvalidRequest, "1", "method is"},
		{"neither method nor result", `{"jsonrpc":"2.0","id":1}`, jsonrpc.CodeInvalidRequest, "1", "one of result and error"},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, jsonrpc.CodeInvalidRequest, "1", "one of result and error"},
		{"params list", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, jsonrpc.CodeInvalidParams, "1", "params is an object"},
		{"params member twice", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}`, jsonrpc.CodeInvalidParams, "1", `"name" twice`},
		{"name number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, jsonrpc.CodeInvalidParams, "1", "params.name is a string"},
		{"no name", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, jsonrpc.CodeInvalidParams, "1", "params.name is missing"},
		{"_meta text", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":"x"}}`, jsonrpc.CodeInvalidParams, "1", "params._meta is an object"},
		{"_meta member twice", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","_meta":{"k":1,"k":2}}}`, jsonrpc.CodeInvalidParams, "1", `params._meta has the member "k" twice`},
		{"state number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","requestState":5}}`, jsonrpc.CodeInvalidParams, "1", "params.requestState is a string"},
		{"answers list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","inputResponses":[1]}}`, jsonrpc.CodeInvalidParams, "1", "params.inputResponses is an object"},
		{"cursor number", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}`, jsonrpc.CodeInvalidParams, "1", "params.cursor is a string"},
		{"clientInfo name", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":5}}}`, jsonrpc.CodeInvalidParams, "1", "params.clientInfo is"},
		{"too deep", nested(maxDepth), jsonrpc.CodeInvalidRequest, "", "deeper than"},
		{"far too deep", nested(1 << 19), jsonrpc.CodeInvalidRequest, "", "deeper than"},
		{"too many values", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":[1` + strings.Repeat(",1", maxValues) + `]}}`, jsonrpc.CodeInvalidRequest, "", "more than"},
		{"empty batch", `[]`, jsonrpc.CodeInvalidRequest, "", "1 to"},
		{"long batch", `[` + strings.Repeat("{},", maxBatch) + `{}]`, jsonrpc.CodeInvalidRequest, "", "1 to"},
		{"initialize in a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}]`, jsonrpc.CodeInvalidRequest, "", "stands alone"},
		{"one id for two requests of a batch", `[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"\u0061","method":"ping"}]`, jsonrpc.CodeInvalidRequest, "", "only one of them"},
		{"bad message in a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"},7]`, jsonrpc.CodeInvalidRequest, "", "object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, refused := inspect([]byte(c.body))
			if refused == nil {
				t.Fatal("it passed")
			}
			if refused.code != c.code || string(refused.id) != c.id || refused.status != http.StatusBadRequest || !strings.Contains(refused.text, c.says) {
				t.Fatalf("%+v, want code %d, id %q, words %q", refused, c.code, c.id, c.says)
			}
			if len(refused.text) > 200 {
				t.Fatalf("the answer repeats what was sent: %d bytes", len(refused.text))
			}
		})
	}
}

func TestDepthWithinTheBoundPasses(t *testing.T) {
	deep := maxDepth - 2 // the message and its params are two
	body := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + `}}`
	if _, _, refused := inspect([]byte(body)); refused != nil {
		t.Fatal(refused)
	}
	quoted := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat(`[{\",`, maxValues) + `"}}`
	if _, _, refused := inspect([]byte(quoted)); refused != nil {
		t.Fatalf("brackets inside a string count: %v", refused)
	}
}

func TestIDIsFoundNearTheFront(t *testing.T) {
	for front, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"aaa`: "7",
		`{"id":"q","params":{"x":`:            `"q"`,
		`{"jsonrpc":"2.0","params":{"id":9},`: "",
		`{"params":{"x":"aaa`:                 "",
		`[{"id":1}`:                           "",
		`{"id":{}`:                            "",
		`garbage`:                             "",
		``:                                    "",
	} {
		if got := string(idNearFront([]byte(front))); got != want {
			t.Errorf("%s: %q, want %q", front, got, want)
		}
	}
}

func TestTM053WhatAClientChoseFitsOneLine(t *testing.T) {
	evil := "a\nb\r\x1b]52;c;x\x07\u202ec\u200b\u2028\U000E0041d" + strings.Repeat("é", 300)
	got := clean(evil, maxClientName)
	if n := len([]rune(got)); n != maxClientName || !strings.HasPrefix(got, "ab]52;c;xcdé") {
		t.Errorf("%d characters: %q", n, got)
	}
	if p := printable("x\"\n\x1b[2J", 80); p != `"x\"[2J"` {
		t.Errorf("%s", p)
	}
}

// FuzzInspect holds that no bytes make the door panic, and that what it lets through is what the library will read.
func FuzzInspect(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_fetch","arguments":{"url":"https://a.example/"}}}`,
		`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, `{"jsonrpc":"2.0","id":"a","result":null}`,
		`{"id":1,"id":1}`, `[[[[`, "{\"\xff\":1}", `null`, ``, ` `, `{"jsonrpc":"2.0","id":1e3,"method":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(strings.TrimSpace(string(body))) == 0 {
			return // readBody answers it
		}
		messages, batch, refused := inspect(body)
		if refused != nil {
			if refused.text == "" || refused.status < 400 || strings.ContainsAny(refused.text, "\n\r\x1b") || len(refused.text) > 300 {
				t.Fatalf("%+v", refused)
			}
			if out, err := json.Marshal(refused.wire("req_x")); err != nil || !json.Valid(out) {
				t.Fatalf("the refusal is no JSON: %v", err)
			}
			return
		}
		if batch {
			return
		}
		read, err := jsonrpc.DecodeMessage(body)
		if err != nil {
			t.Fatalf("%q passed and the library refuses it: %v", body, err)
		}
		if r, ok := read.(*jsonrpc.Request); ok != (messages[0].method != "") || ok && (r.Method != messages[0].method || r.IsCall() != messages[0].isCall()) {
			t.Fatalf("%q: read here as %+v and there as %+v", body, messages[0], read)
		}
	})
}
