package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/tool"
)

// fakeTools is a shelf of tools of every temper.
type fakeTools struct {
	mu        sync.Mutex
	callers   []tool.Caller
	began     chan struct{} // one for each call of "wait" that began
	ended     chan error    // why each call of "wait" ended
	goOn      chan struct{} // lets one call of "slow" end
	delivered chan bool     // what each call was told of its answer
	answers   chan string   // what was said to questions of other processes: agent, question, answer
}

func newFakeTools() *fakeTools {
	return &fakeTools{began: make(chan struct{}, 64), ended: make(chan error, 64), goOn: make(chan struct{}), delivered: make(chan bool, 20_000), answers: make(chan string, 64)}
}

func (f *fakeTools) List(_ context.Context, c tool.Caller) ([]agenttool.Tool, error) {
	f.note(c)
	if c.Run == "run_unknown" {
		return nil, tool.ErrUnknownRun
	}
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`)
	hints := agenttool.Hints{ReadOnly: true, Idempotent: true, OpenWorld: true}
	return []agenttool.Tool{{Name: "echo", Description: "Says it back.", InputSchema: schema, Hints: hints}, {Name: "wait", InputSchema: schema}}, nil
}

func (f *fakeTools) note(c tool.Caller) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.callers = append(f.callers, c)
}

func (f *fakeTools) last() tool.Caller {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.callers[len(f.callers)-1]
}

func (f *fakeTools) Call(ctx context.Context, c tool.Caller, name string, arguments json.RawMessage) (tool.Result, error) {
	f.note(c)
	if c.Run == "run_unknown" {
		return tool.Result{}, tool.ErrUnknownRun
	}
	if name == "permit" {
		return f.permit(ctx, c)
	}
	r, err := f.answer(ctx, name, arguments)
	return tool.Result{Result: r, Call: "call_1", Run: "run_1", Delivered: func(handedOver bool) { f.delivered <- handedOver }}, err
}

// Answered notes what was said to a question that another process asked.
func (f *fakeTools) Answered(_ context.Context, c tool.Caller, question, answer string) error {
	f.answers <- c.Agent + " " + question + " " + answer
	return nil
}

// permit asks a person, who must say once.
func (f *fakeTools) permit(ctx context.Context, c tool.Caller) (tool.Result, error) {
	said := "nobody could be asked"
	if c.Ask != nil {
		answer, asked, err := c.Ask(ctx, tool.Question{ID: "apr_1", Message: "May it?", Answers: []string{"once", "deny"}})
		if err != nil {
			return tool.Result{}, err
		}
		said = "no answer"
		if asked {
			said = "answer " + answer
		}
	}
	if c.Progress != nil {
		c.Progress("waiting for a person")
		c.Progress("still waiting")
	}
	return tool.Result{Result: agenttool.Result{Content: []agenttool.Part{{Text: said}}}}, nil
}

func (f *fakeTools) answer(ctx context.Context, name string, arguments json.RawMessage) (agenttool.Result, error) {
	switch name {
	case "echo":
		return agenttool.Result{Content: []agenttool.Part{{Text: string(arguments)}}, Structured: json.RawMessage(`{"ok":true}`)}, nil
	case "picture":
		return agenttool.Result{Content: []agenttool.Part{{Text: "a picture"}, {MIME: "image/jpeg", Data: []byte("jpeg")}}, Meta: map[string]any{"wayleave/run": "run_1"}}, nil
	case "refuse":
		return agenttool.Result{Content: []agenttool.Part{{Text: "bad_input: text\nnext: fix_input"}}, Structured: json.RawMessage(`{"ok":false,"code":"bad_input"}`), Failure: errors.New("bad")}, nil
	case "break":
		return agenttool.Result{}, errors.New("canary-fault: the database is at postgres://user:password@db")
	case "panic":
		panic("canary-panic " + string(arguments))
	case "slow":
		f.began <- struct{}{}
		<-f.goOn
		return agenttool.Result{Content: []agenttool.Part{{Text: "at last"}}}, nil
	case "wait":
		f.began <- struct{}{}
		<-ctx.Done()
		f.ended <- ctx.Err()
		return agenttool.Result{}, ctx.Err()
	}
	return agenttool.Result{}, tool.ErrUnknownTool
}

// fakeTokens knows tokens by name: the token "tok-a" speaks for agent "a" and has the id "id-tok-a".
type fakeTokens struct {
	mu      sync.Mutex
	revoked map[string]bool
	broken  bool
}

func (f *fakeTokens) Verify(bearer, _ string) (agent.Identity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken {
		return agent.Identity{}, errors.New("canary-store: disk on fire")
	}
	name, ok := strings.CutPrefix(bearer, "tok-")
	if !ok || f.revoked["id-"+bearer] {
		return agent.Identity{}, agent.ErrUnknownToken
	}
	who := agent.Identity{Agent: name, AgentID: "agent_" + name, TokenID: "id-" + bearer, Scope: agent.ScopeTools}
	if name == "harness" {
		who.Scope = agent.ScopeHarness
	}
	return who, nil
}

func (f *fakeTokens) Live(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.revoked[id]
}

func (f *fakeTokens) revoke(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.revoked == nil {
		f.revoked = make(map[string]bool)
	}
	f.revoked[id] = true
}

// world is a door with everything behind and in front of it.
type world struct {
	tools  *fakeTools
	tokens *fakeTokens
	server *Server
	http   *httptest.Server
	log    *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newWorld(t testing.TB, limits Limits) *world { return newWorldWith(t, Options{Limits: limits}) }

func newWorldWith(t testing.TB, o Options) *world {
	t.Helper()
	w := &world{tools: newFakeTools(), tokens: &fakeTokens{}, log: &lockedBuffer{}}
	var err error
	o.Version, o.Log = "1.2.3", slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.server, err = New(w.tools, w.tokens, o)
	if err != nil {
		t.Fatal(err)
	}
	w.http = httptest.NewServer(w.server.Handler())
	t.Cleanup(func() {
		w.server.Drain()
		w.http.CloseClientConnections()
		w.server.Close()
		w.http.Close()
	})
	return w
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"probe","version":"1"}}`

// ask is one HTTP request to the door.
type ask struct {
	method string // default POST
	token  string // default tok-a; "-" sends none
	body   string
	header map[string]string
}

// answer is what came back: the JSON of the body, or of the one event of a stream.
type answer struct {
	status int
	header http.Header
	raw    string
	Result map[string]any `json:"result"`
	Error  *struct {
		Code    int64          `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	} `json:"error"`
	ID   any    `json:"id"`
	Code string `json:"code"`
}

func (w *world) do(t testing.TB, a ask) answer {
	t.Helper()
	if a.method == "" {
		a.method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), a.method, w.http.URL, strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if a.token == "" {
		a.token = "tok-a"
	}
	if a.token != "-" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	for k, v := range a.header {
		if k == "Host" {
			r.Host = v
			continue
		}
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := answer{status: res.StatusCode, header: res.Header, raw: string(raw)}
	text := out.raw
	if _, data, ok := strings.Cut(text, "data: "); ok {
		text, _, _ = strings.Cut(data, "\n")
	}
	if strings.HasPrefix(text, "{") {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	return out
}

// modern is one request in the newest era.
func (w *world) modern(t testing.TB, method, name, params string) answer {
	t.Helper()
	header := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
	if name != "" {
		header["Mcp-Name"] = name
		params = `"name":"` + name + `",` + params
	}
	return w.do(t, ask{header: header, body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + modernMeta + `}}`})
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`

// open starts a legacy session.
func (w *world) open(t testing.TB, token string) (session string) {
	t.Helper()
	a := w.do(t, ask{token: token, body: initialize})
	session = a.header.Get("Mcp-Session-Id")
	if a.status != http.StatusOK || session == "" {
		t.Fatalf("initialize: %d %s", a.status, a.raw)
	}
	if a := w.do(t, ask{token: token, header: map[string]string{"Mcp-Session-Id": session}, body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`}); a.status != http.StatusAccepted {
		t.Fatalf("initialized: %d %s", a.status, a.raw)
	}
	return session
}

// legacy is one request in a session.
func (w *world) legacy(t testing.TB, token, session, body string) answer {
	t.Helper()
	return w.do(t, ask{token: token, header: map[string]string{"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}, body: body})
}

// client connects the library's own client, in the newest era that the server offers.
func (w *world) client(t testing.TB, token string) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "go-client", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: w.http.URL, HTTPClient: &http.Client{Transport: withToken(token)}, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}
