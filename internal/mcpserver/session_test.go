package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func (w *world) sessions() int {
	_, _, n := w.server.roster.counts()
	return n
}

func TestSessionBelongsToItsToken(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	const list = `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`
	unknown := w.legacy(t, "tok-b", "no-such-session", list)
	for name, a := range map[string]answer{
		"used by another":   w.legacy(t, "tok-b", session, list),
		"opened by another": w.do(t, ask{method: http.MethodGet, token: "tok-b", header: map[string]string{"Mcp-Session-Id": session}}),
		"ended by another":  w.do(t, ask{method: http.MethodDelete, token: "tok-b", header: map[string]string{"Mcp-Session-Id": session}}),
	} {
		// TM-049: another's session and none look the same, but for the request's own id.
		got := strings.Replace(a.raw, a.header.Get("X-Request-Id"), "", 1)
		want := strings.Replace(unknown.raw, unknown.header.Get("X-Request-Id"), "", 1)
		if a.status != http.StatusNotFound || got != want {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	if a := w.legacy(t, "tok-a", session, list); a.Result["tools"] == nil {
		t.Fatalf("the owner's session is gone: %d %s", a.status, a.raw)
	}
	if a := w.do(t, ask{method: http.MethodDelete, token: "tok-a", header: map[string]string{"Mcp-Session-Id": session}}); a.status != http.StatusNoContent {
		t.Fatalf("the owner ends it: %d %s", a.status, a.raw)
	}
	if a := w.legacy(t, "tok-a", session, list); a.status != http.StatusNotFound || a.Error != nil {
		t.Fatalf("an ended session must be a 404 that is no JSON-RPC error: %d %s", a.status, a.raw)
	}
	if w.sessions() != 0 {
		t.Fatalf("%d sessions are left", w.sessions())
	}
}

func TestTooLargeAMessageDoesNotEndASession(t *testing.T) {
	for _, size := range []int{2 << 20, 20 << 20} {
		for _, revision := range []string{"2026-07-28", "2025-11-25"} {
			t.Run(fmt.Sprintf("%d bytes, %s", size, revision), func(t *testing.T) {
				w := newWorld(t, Limits{})
				c := mcp.NewClient(&mcp.Implementation{Name: "go-client", Version: "1"}, nil)
				session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: w.http.URL, HTTPClient: &http.Client{Transport: withToken("tok-a")}},
					&mcp.ClientSessionOptions{ProtocolVersion: revision})
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				big := &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": strings.Repeat("x", size)}}
				if _, err := session.CallTool(t.Context(), big); err == nil || !strings.Contains(err.Error(), "larger than") {
					t.Fatalf("the call: %v", err)
				}
				small := &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hi"}}
				if _, err := session.CallTool(t.Context(), small); err != nil {
					t.Fatalf("the session ended over it: %v", err)
				}
			})
		}
	}
}

func TestTooLargeAMessageIsA413WithItsID(t *testing.T) {
	w := newWorld(t, Limits{BodyBytes: 1000})
	a := w.do(t, ask{body: `{"jsonrpc":"2.0","id":"q7","method":"ping","params":{"x":"` + strings.Repeat("x", 2000) + `"}}`})
	if a.status != http.StatusRequestEntityTooLarge || a.ID != "q7" || a.Error == nil || a.Error.Data["code"] != "too_large" {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	exact := `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{"x":"`
	exact += strings.Repeat("x", 1000-len(exact)-3) + `"}}`
	if a := w.do(t, ask{body: exact}); len(exact) != 1000 || a.status != http.StatusOK {
		t.Fatalf("%d bytes: %d %s", len(exact), a.status, a.raw)
	}
}

func TestOldestIdleSessionMakesRoom(t *testing.T) {
	w := newWorld(t, Limits{SessionsPerToken: 3})
	var ids []string
	for range 3 {
		ids = append(ids, w.open(t, "tok-a"))
	}
	other := w.open(t, "tok-b")
	w.legacy(t, "tok-a", ids[0], `{"jsonrpc":"2.0","id":1,"method":"ping"}`) // the first is not the idlest any more
	w.open(t, "tok-a")
	for i, want := range []int{http.StatusOK, http.StatusNotFound, http.StatusOK} {
		if a := w.legacy(t, "tok-a", ids[i], `{"jsonrpc":"2.0","id":1,"method":"ping"}`); a.status != want {
			t.Errorf("session %d: %d, want %d", i, a.status, want)
		}
	}
	if a := w.legacy(t, "tok-b", other, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); a.status != http.StatusOK {
		t.Errorf("another token's session: %d", a.status)
	}
	if w.sessions() != 4 {
		t.Errorf("%d sessions", w.sessions())
	}
}

func TestSessionsAllAtWorkMakeNoRoom(t *testing.T) {
	w := newWorld(t, Limits{SessionsPerToken: 1})
	session := w.open(t, "tok-a")
	end := w.stream(t, "tok-a", session)
	if a := w.do(t, ask{body: initialize}); a.status != http.StatusTooManyRequests || a.Code != "rate_limit" {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	end()
}

// stream opens the standing stream of a session and waits until it stands. end closes it and waits until the server
// noticed.
func (w *world) stream(t testing.TB, token, session string) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	res := w.get(ctx, t, token, session)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET: %d", res.StatusCode)
	}
	_, before, _ := w.server.roster.counts()
	return func() {
		cancel()
		res.Body.Close()
		w.until(t, "the stream is gone", func() bool {
			_, now, _ := w.server.roster.counts()
			return now < before
		})
	}
}

func (w *world) get(ctx context.Context, t testing.TB, token, session string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.http.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", session)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// until waits for something that another goroutine brings about over a real socket.
func (w *world) until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.Done():
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func TestTM044RevokedTokenEndsItsStreamsAndSessions(t *testing.T) {
	w := newWorld(t, Limits{})
	a, b := w.open(t, "tok-a"), w.open(t, "tok-b")
	res := w.get(t.Context(), t, "tok-a", a)
	defer res.Body.Close()
	w.tokens.revoke("id-tok-a")
	if x := w.legacy(t, "tok-a", a, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); x.status != http.StatusUnauthorized {
		t.Errorf("the next request: %d %s", x.status, x.raw)
	}
	w.server.sweep(time.Now())
	if _, err := io.Copy(io.Discard, res.Body); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the stream ended with %v", err)
	}
	w.until(t, "the session is gone", func() bool { return w.server.session(a) == nil })
	if x := w.legacy(t, "tok-b", b, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); x.status != http.StatusOK {
		t.Errorf("another token: %d %s", x.status, x.raw)
	}
}

func TestIdleSessionEnds(t *testing.T) {
	w := newWorld(t, Limits{SessionIdle: time.Minute})
	idle, streaming := w.open(t, "tok-a"), w.open(t, "tok-a")
	end := w.stream(t, "tok-a", streaming)
	w.server.sweep(time.Now().Add(59 * time.Second))
	if w.sessions() != 2 {
		t.Fatalf("%d sessions before the time", w.sessions())
	}
	w.server.sweep(time.Now().Add(61 * time.Second))
	w.until(t, "the idle session is gone", func() bool { return w.server.session(idle) == nil })
	if w.server.session(streaming) == nil {
		t.Fatal("a session with a standing stream is not idle")
	}
	end()
	w.until(t, "the other is gone", func() bool {
		w.server.sweep(time.Now().Add(2 * time.Minute)) // once the server has heard that the stream is over
		return w.server.session(streaming) == nil
	})
}

// begin sends a call whose answer nobody waits for; without a session it speaks the newest era.
func (w *world) begin(t testing.TB, session, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.http.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer tok-a", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		r.Header.Set(name, value)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	} else {
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", "wait")
	}
	go func() {
		res, err := http.DefaultClient.Do(r)
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
}

func TestW088CancellingStopsTheCall(t *testing.T) {
	t.Run("modern: the client closes the stream", func(t *testing.T) {
		w := newWorld(t, Limits{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		session := w.client(t, "tok-a")
		go func() {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{}})
			done <- err
		}()
		<-w.tools.began
		cancel()
		if err := <-w.tools.ended; !errors.Is(err, context.Canceled) {
			t.Fatalf("the handler ended with %v", err)
		}
		if err := <-done; err == nil {
			t.Fatal("the client got a result")
		}
	})
	t.Run("legacy: a notice", func(t *testing.T) {
		w := newWorld(t, Limits{})
		session := w.open(t, "tok-a")
		w.begin(t, session, `{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"wait"}}`)
		<-w.tools.began
		w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c1"}}`)
		if err := <-w.tools.ended; !errors.Is(err, context.Canceled) {
			t.Fatalf("the handler ended with %v", err)
		}
	})
	t.Run("TM-049: nobody cancels another session's call", func(t *testing.T) {
		w := newWorld(t, Limits{})
		mine, theirs := w.open(t, "tok-a"), w.open(t, "tok-b")
		w.begin(t, mine, `{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"wait"}}`)
		<-w.tools.began
		w.legacy(t, "tok-b", theirs, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c1"}}`)
		w.legacy(t, "tok-b", theirs, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		select {
		case err := <-w.tools.ended:
			t.Fatalf("it ended with %v", err)
		default:
		}
	})
}

func TestClosingCancelsCallsOfBothEras(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	w.begin(t, session, `{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"wait"}}`)
	w.begin(t, "", `{"jsonrpc":"2.0","id":"c2","method":"tools/call","params":{"name":"wait",`+modernMeta+`}}`)
	<-w.tools.began
	<-w.tools.began
	w.server.Close()
	for range 2 {
		if err := <-w.tools.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a call ended with %v", err)
		}
	}
}

func TestDrainingEndsStreamsAndTakesNoSession(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	res := w.get(t.Context(), t, "tok-a", session)
	defer res.Body.Close()
	w.server.Drain()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Errorf("the stream: %v", err)
	}
	if a := w.do(t, ask{body: initialize}); a.status != http.StatusServiceUnavailable {
		t.Errorf("a new session: %d %s", a.status, a.raw)
	}
	if a := w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); a.status != http.StatusOK {
		t.Errorf("a call while draining: %d %s", a.status, a.raw)
	}
}

func TestSilentStreamIsKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &fakeWriter{header: http.Header{}, wrote: make(chan string, 16)}
		r := newReply(out, time.Second)
		r.standing = true
		r.Header().Set("Content-Type", "text/event-stream")
		began := time.Now()
		if _, err := r.Write([]byte("data: x\n\n")); err != nil {
			t.Fatal(err)
		}
		<-out.wrote
		for n := 1; n <= 3; n++ {
			if got := <-out.wrote; !strings.HasPrefix(got, ":") || !strings.HasSuffix(got, "\n\n") {
				t.Fatalf("%q", got)
			}
			if took := time.Since(began); took != time.Duration(n)*heartbeat {
				t.Fatalf("beat %d after %s", n, took)
			}
		}
		r.end()
		time.AfterFunc(3*heartbeat, func() { out.wrote <- "over" })
		if got := <-out.wrote; got != "over" {
			t.Fatalf("after its end: %q", got)
		}
	})
}

type fakeWriter struct {
	header http.Header
	wrote  chan string
}

func (f *fakeWriter) Header() http.Header { return f.header }
func (f *fakeWriter) WriteHeader(int)     {}
func (f *fakeWriter) Write(p []byte) (int, error) {
	f.wrote <- string(p)
	return len(p), nil
}

func TestStreamBeginsAtOnce(t *testing.T) {
	w := newWorld(t, Limits{})
	res := w.get(t.Context(), t, "tok-a", w.open(t, "tok-a"))
	defer res.Body.Close()
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, ":") || res.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("%q, %v, %v", line, err, res.Header)
	}
}

// An id that is in use within a session is refused by the library; the answer has the code that ours have.
func TestAnIDInUseWithinASessionIsRefusedWithACode(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	w.begin(t, session, `{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"wait"}}`)
	<-w.tools.began
	a := w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":"c1","method":"tools/list","params":{}}`)
	if a.status != http.StatusBadRequest || a.ID != "c1" || a.Error == nil || a.Error.Code != jsonrpc.CodeInvalidRequest ||
		a.Error.Data["code"] != "invalid_request" || a.Error.Data["request_id"] != a.header.Get("X-Request-Id") || a.Error.Message != "another request with this id is not answered yet" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	w.begin(t, session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c1"}}`)
	<-w.tools.ended
}
