package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// memorySessions is what two processes share.
type memorySessions struct {
	mu     sync.Mutex
	byName map[string]Session
	used   int
	broken bool
}

func (m *memorySessions) Opened(_ context.Context, s Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byName == nil {
		m.byName = make(map[string]Session)
	}
	m.byName[s.Name] = s
	return nil
}

func (m *memorySessions) Find(_ context.Context, name, token string, _ time.Duration) (Session, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return Session{}, false, errors.New("canary-store: no answer")
	}
	s, ok := m.byName[name]
	return s, ok && s.Token == token, nil
}

func (m *memorySessions) Used(context.Context, string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used++
	return nil
}

func (m *memorySessions) Ended(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byName, name)
	return nil
}

const echoCall = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`

func TestSessionGoesOnAtAnotherProcess(t *testing.T) {
	shared := new(memorySessions)
	a, b := newWorldWith(t, Options{Sessions: shared}), newWorldWith(t, Options{Sessions: shared})

	// The handshake is spread over both, as a round robin does.
	opened := a.do(t, ask{body: initialize})
	session := opened.header.Get("Mcp-Session-Id")
	if got := b.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); got.status != http.StatusAccepted {
		t.Fatalf("initialized at the other: %d %s", got.status, got.raw)
	}
	for i, w := range []*world{a, b, a, b} {
		if got := w.legacy(t, "tok-a", session, echoCall); !strings.Contains(got.raw, "hi") {
			t.Fatalf("call %d: %d %s", i, got.status, got.raw)
		}
	}
	first, second := a.tools.last(), b.tools.last()
	if first.Session == "" || first.Session != second.Session || second.Client != "old" {
		t.Fatalf("one session has two names: %q, %q of %q", first.Session, second.Session, second.Client)
	}
	for name := range shared.byName {
		if strings.Contains(name, session) {
			t.Fatal("the session's id can be read from its name")
		}
	}
	// A third process knows it too, a foreign token never.
	c := newWorldWith(t, Options{Sessions: shared})
	if got := c.legacy(t, "tok-b", session, echoCall); got.status != http.StatusNotFound {
		t.Fatalf("another token's session: %d %s", got.status, got.raw)
	}
	if got := c.legacy(t, "tok-a", session, echoCall); got.status != http.StatusOK {
		t.Fatalf("after a restart: %d %s", got.status, got.raw)
	}
	if got := c.legacy(t, "tok-a", "nosuchsession", echoCall); got.status != http.StatusNotFound {
		t.Fatalf("an unknown session: %d %s", got.status, got.raw)
	}
	// Ended at one, it is not adopted again.
	if got := a.do(t, ask{method: http.MethodDelete, header: map[string]string{"Mcp-Session-Id": session}}); got.status >= 300 {
		t.Fatalf("delete: %d %s", got.status, got.raw)
	}
	d := newWorldWith(t, Options{Sessions: shared})
	if got := d.legacy(t, "tok-a", session, echoCall); got.status != http.StatusNotFound {
		t.Fatalf("after its end: %d %s", got.status, got.raw)
	}
	shared.broken = true
	if got := d.legacy(t, "tok-a", session, echoCall); got.status != http.StatusServiceUnavailable || strings.Contains(got.raw, "canary") {
		t.Fatalf("a store that does not answer: %d %s", got.status, got.raw)
	}
}

func TestManyAdoptAtOnce(t *testing.T) {
	shared := new(memorySessions)
	a, b := newWorldWith(t, Options{Sessions: shared}), newWorldWith(t, Options{Sessions: shared})
	session := a.open(t, "tok-a")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			call := strings.Replace(echoCall, `"id":2`, fmt.Sprintf(`"id":%d`, i+2), 1)
			if got := b.legacy(t, "tok-a", session, call); !strings.Contains(got.raw, "hi") {
				t.Errorf("%d %s", got.status, got.raw)
			}
		})
	}
	all.Wait()
	if _, _, sessions := b.server.roster.counts(); sessions != 1 {
		t.Fatalf("%d sessions were made of one", sessions)
	}
}

func TestTM055AnswerIsToldToBeDeliveredOrNot(t *testing.T) {
	w := newWorld(t, Limits{})
	w.modern(t, "tools/call", "echo", `"arguments":{},`)
	session := w.open(t, "tok-a")
	w.legacy(t, "tok-a", session, echoCall)
	for _, era := range []string{"modern", "legacy"} {
		if !<-w.tools.delivered {
			t.Errorf("%s: the answer was read and is told to be lost", era)
		}
	}
	// A client that leaves before the answer: in the older era the call goes on.
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.http.URL, strings.NewReader(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"slow"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer tok-a", "Mcp-Session-Id": session} {
		r.Header.Set(k, v)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if res, err := http.DefaultClient.Do(r); err == nil {
			_ = res.Body.Close()
		}
	}()
	<-w.tools.began
	leave()
	<-gone
	w.until(t, "the request is over", func() bool { requests, _, _ := w.server.roster.counts(); return requests == 0 })
	w.tools.goOn <- struct{}{}
	if <-w.tools.delivered {
		t.Error("nobody read the answer, and it is told to be delivered")
	}
	// A session that is ended in mid-call: its streams end, and the answer is written to none of them.
	ended := make(chan answer, 1)
	go func() {
		ended <- w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"slow"}}`)
	}()
	<-w.tools.began
	deleted := make(chan answer, 1)
	go func() {
		deleted <- w.do(t, ask{method: http.MethodDelete, header: map[string]string{"Mcp-Session-Id": session}})
	}()
	w.until(t, "its end is asked for", func() bool { requests, _, _ := w.server.roster.counts(); return requests == 2 })
	w.tools.goOn <- struct{}{}
	got, lost := <-ended, !<-w.tools.delivered
	if read := strings.Contains(got.raw, "at last"); read == lost {
		t.Errorf("the client read %q, and the answer is told to be delivered: %v", got.raw, !lost)
	}
	if got := <-deleted; got.status >= 300 {
		t.Errorf("delete: %d %s", got.status, got.raw)
	}
}

func TestWhatACallerNames(t *testing.T) {
	w := newWorld(t, Limits{})
	call := func(meta string, header map[string]string) answer {
		h := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"}
		for k, v := range header {
			h[k] = v
		}
		m := strings.TrimSuffix(modernMeta, "}")
		if meta != "" {
			m += "," + meta
		}
		return w.do(t, ask{header: h, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},` + m + `}}}`})
	}
	got := call(`"wayleave/run":"run_1","wayleave/callId":"key-12345","wayleave/approval":"apr_1"`, nil)
	if c := w.tools.last(); got.Error != nil || c.Run != "run_1" || c.Key != "key-12345" || c.Approval != "apr_1" {
		t.Fatalf("%s: %+v", got.raw, c)
	}
	got = call("", map[string]string{"Wayleave-Run": "run_2"})
	if c := w.tools.last(); got.Error != nil || c.Run != "run_2" || c.Key != "" {
		t.Fatalf("%s: %+v", got.raw, c)
	}
	for name, c := range map[string]struct {
		meta   string
		header string
		field  string
	}{
		"short key":     {`"wayleave/callId":"short"`, "", "_meta.wayleave/callId"},
		"long key":      {`"wayleave/callId":"` + strings.Repeat("k", 129) + `"`, "", "_meta.wayleave/callId"},
		"odd key":       {`"wayleave/callId":"key\n12345"`, "", "_meta.wayleave/callId"},
		"number as key": {`"wayleave/callId":12345678`, "", "_meta.wayleave/callId"},
		"empty run":     {`"wayleave/run":""`, "", "_meta.wayleave/run"},
		"list as run":   {`"wayleave/run":["run_1"]`, "", "_meta.wayleave/run"},
		"two runs":      {`"wayleave/run":"run_1"`, "run_2", "Wayleave-Run"},
		"odd approval":  {`"wayleave/approval":"é"`, "", "_meta.wayleave/approval"},
		"key's name":    {`"wayleave/call_id":"key-12345"`, "", "_meta.wayleave/callId"},
		"run's name":    {`"Wayleave/Run":"run_1"`, "", "_meta.wayleave/run"},
	} {
		header := map[string]string{}
		if c.header != "" {
			header["Wayleave-Run"] = c.header
		}
		got := call(c.meta, header)
		if got.Error == nil || got.Error.Code != -32602 || got.Error.Data["field"] != c.field || !strings.HasPrefix(got.Error.Message, c.field+" ") {
			t.Errorf("%s: %s", name, got.raw)
		}
	}
}

// A run that is not there is the caller's mistake, and not a fault of ours, whichever message names it first.
func TestUnknownRunIsSaid(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	for _, message := range []string{`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`, echoCall} {
		got := w.do(t, ask{body: message, header: map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25", "Wayleave-Run": "run_unknown"}})
		if got.Error == nil || got.Error.Code != -32602 || got.Error.Data["code"] != "not_found" || !strings.Contains(got.Error.Message, "no such run") {
			t.Errorf("%s: %d %s", message, got.status, got.raw)
		}
	}
}

func TestHeaderThatStandsTwiceIsRefused(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	for _, name := range []string{"Wayleave-Run", "Mcp-Session-Id", "Mcp-Protocol-Version"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.http.URL, strings.NewReader(echoCall))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer tok-a",
			"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25", "Wayleave-Run": "run_1"} {
			r.Header.Set(k, v)
		}
		r.Header.Add(name, "run_2")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), name+" stands more than once") {
			t.Errorf("%s: %d %s", name, res.StatusCode, text)
		}
	}
}

// asking connects the library's client of an era, which answers every question.
func (w *world) asking(t *testing.T, modern bool, action, answer string) (*mcp.ClientSession, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var told []string
	o := &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			mu.Lock()
			told = append(told, "asked: "+r.Params.Message)
			mu.Unlock()
			return &mcp.ElicitResult{Action: action, Content: map[string]any{"answer": answer}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			told = append(told, r.Params.Message)
			mu.Unlock()
		},
	}
	var connect *mcp.ClientSessionOptions
	if !modern {
		connect = &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "go-client", Version: "1"}, o)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: w.http.URL, HTTPClient: &http.Client{Transport: withToken("tok-a")}, MaxRetries: -1}, connect)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if (session.ID() == "") != modern {
		t.Fatalf("the client speaks the other era")
	}
	return session, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), told...)
	}
}

func TestPersonAtTheClientIsAskedInBothEras(t *testing.T) {
	w := newWorld(t, Limits{})
	for _, modern := range []bool{true, false} {
		for _, c := range []struct{ action, answer, want string }{
			{"accept", "once", "answer once"}, {"accept", "deny", "answer deny"}, {"decline", "", "answer deny"}, {"cancel", "", "no answer"},
		} {
			if !modern && c.action != "accept" && c.action != "decline" && c.action != "cancel" {
				continue
			}
			session, told := w.asking(t, modern, c.action, c.answer)
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "permit", Meta: mcp.Meta{"progressToken": "p"}})
			if err != nil || len(res.Content) != 1 {
				t.Fatalf("modern %v, %s: %v, %v", modern, c.action, res, err)
			}
			if text := res.Content[0].(*mcp.TextContent).Text; text != c.want {
				t.Errorf("modern %v, %s: %q", modern, c.action, text)
			}
			if got := told(); len(got) == 0 || got[0] != "asked: May it?" {
				t.Errorf("modern %v, %s: the client was told %q", modern, c.action, got)
			}
		}
		if text := w.modern(t, "tools/call", "permit", "").raw; !strings.Contains(text, "nobody could be asked") {
			t.Errorf("a client that cannot ask: %s", text)
		}
	}
}

func TestTM047ForgedAnswerCountsForNothing(t *testing.T) {
	w := newWorld(t, Limits{})
	able := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
	call := func(params string) answer {
		return w.do(t, ask{header: map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "permit"},
			body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"permit",` + params + able + `}}`})
	}
	const yes = `"inputResponses":{"answer":{"action":"accept","content":{"answer":"once"}}},`
	if got := call(""); got.Result["resultType"] != "input_required" || got.Result["requestState"] != "apr_1" || got.Result["content"] != nil {
		t.Fatalf("the question: %s", got.raw)
	}
	for name, params := range map[string]string{
		"no state":      yes,
		"foreign state": yes + `"requestState":"apr_2",`,
		"own words":     `"inputResponses":{"answer":{"action":"accept","content":{"answer":"always"}}},"requestState":"apr_1",`,
	} {
		if got := call(params); strings.Contains(got.raw, "answer once") || strings.Contains(got.raw, "always") {
			t.Errorf("%s: %s", name, got.raw)
		}
	}
	if got := call(yes + `"requestState":"apr_1",`); !strings.Contains(got.raw, "answer once") {
		t.Fatalf("the answer: %s", got.raw)
	}
}

func TestClientsHearThatToolsMayHaveChanged(t *testing.T) {
	w := newWorld(t, Limits{})
	heard := make(chan struct{}, 10)
	c := mcp.NewClient(&mcp.Implementation{Name: "go-client", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { heard <- struct{}{} }})
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: w.http.URL, HTTPClient: &http.Client{Transport: withToken("tok-a")}, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	w.server.Changed()
	select {
	case <-heard:
	case <-t.Context().Done():
		t.Fatal("not heard")
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
}
