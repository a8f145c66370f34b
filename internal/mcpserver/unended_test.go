package mcpserver

// Requests whose body never comes whole, from peers that have not proved who they are.

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"
)

// unended sends a request that announces a body and stays silent, and gives the status of the answer.
func (w *world) unended(t *testing.T, head string) int {
	t.Helper()
	conn, err := net.Dial("tcp", w.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s\r\nContent-Length: 100\r\n\r\n{", head)
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%q: %v", head, err)
	}
	res.Body.Close()
	return res.StatusCode
}

func TestTM048RefusedRequestIsNotWaitedForWithoutEnd(t *testing.T) {
	w := newWorld(t, Limits{BodyTime: 50 * time.Millisecond})
	host := w.http.Listener.Addr().String()
	session := w.open(t, "tok-a")
	for name, c := range map[string]struct {
		head   string
		status int
	}{
		"no token":         {"POST / HTTP/1.1\r\nHost: " + host, http.StatusUnauthorized},
		"another host":     {"POST / HTTP/1.1\r\nHost: evil.test", http.StatusForbidden},
		"a page's":         {"POST / HTTP/1.1\r\nHost: " + host + "\r\nOrigin: http://evil.test", http.StatusForbidden},
		"unknown token":    {"POST / HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer nobody", http.StatusUnauthorized},
		"another method":   {"PUT / HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer tok-a", http.StatusMethodNotAllowed},
		"unknown session":  {"DELETE / HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer tok-a\r\nMcp-Session-Id: none", http.StatusNotFound},
		"stream with body": {"GET / HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer tok-a\r\nAccept: text/event-stream\r\nMcp-Session-Id: " + session, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			if got := w.unended(t, c.head); got != c.status {
				t.Errorf("status %d, want %d", got, c.status)
			}
		})
	}
	w.until(t, "every request is over", func() bool { calls, _, _ := w.server.roster.counts(); return calls == 0 })
}

func TestStandingStreamOutlivesTheTimeForBodies(t *testing.T) {
	w := newWorld(t, Limits{BodyTime: 20 * time.Millisecond})
	end := w.stream(t, "tok-a", w.open(t, "tok-a"))
	timer := time.NewTimer(200 * time.Millisecond)
	defer timer.Stop()
	<-timer.C
	if _, streams, _ := w.server.roster.counts(); streams != 1 {
		t.Errorf("%d streams are open: a deadline for reading looked like a client that left", streams)
	}
	end()
}

// TestTM048BatchesOpenNoSessions: sessions are counted where an initialize stands alone.
func TestTM048BatchesOpenNoSessions(t *testing.T) {
	w := newWorld(t, Limits{SessionsPerToken: 2})
	for range 10 {
		if a := w.do(t, ask{body: `[{"jsonrpc":"2.0","id":7,"method":"ping"},` + initialize + `]`}); a.status != http.StatusBadRequest {
			t.Fatalf("%d %s", a.status, a.raw)
		}
	}
	if n := w.sessions(); n != 0 {
		t.Errorf("%d sessions are open", n)
	}
	for range w.server.mcp.Sessions() {
		t.Error("the library holds a session")
	}
}

// TestTM048CallsThatTheirClientLeftAreCounted: in a legacy session a call goes on without the request that made it.
func TestTM048CallsThatTheirClientLeftAreCounted(t *testing.T) {
	const limit = 3
	w := newWorld(t, Limits{CallsPerToken: limit})
	session := w.open(t, "tok-a")
	for i := range limit {
		conn, err := net.Dial("tcp", w.http.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"wait"}}`, i)
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer tok-a\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s",
			w.http.Listener.Addr(), session, len(body), body)
		<-w.tools.began
		conn.Close()
	}
	w.until(t, "the requests are over", func() bool { requests, _, _ := w.server.roster.counts(); return requests == 0 })
	over := w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":"over","method":"tools/call","params":{"name":"wait"}}`)
	if over.Error == nil || over.Error.Data["code"] != "rate_limit" {
		t.Fatalf("one more: %d %s", over.status, over.raw)
	}
	if other := w.modern(t, "tools/list", "", ""); other.status != http.StatusOK {
		t.Errorf("what is no call: %d %s", other.status, other.raw)
	}
	w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c1"}}`)
	<-w.tools.ended
	w.until(t, "there is room", func() bool {
		a := w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":"again","method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`)
		return a.Error == nil && a.Result != nil
	})
}
