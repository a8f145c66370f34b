package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// leftovers are what a server must not keep of a client that is gone.
type leftovers struct{ goroutines, files, sessions, calls, streams int }

func (w *world) leftovers(t testing.TB) leftovers {
	t.Helper()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	calls, streams, sessions := w.server.roster.counts()
	for range w.server.mcp.Sessions() {
		sessions++ // counted by the library too, so each stands twice
	}
	files := 0
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil { // elsewhere goroutines alone must do
		files = len(entries)
	}
	return leftovers{runtime.NumGoroutine(), files, sessions, calls, streams}
}

// settled waits until no more is left than there was.
func (w *world) settled(t testing.TB, before leftovers) {
	t.Helper()
	var now leftovers
	w.until(t, "nothing is left over", func() bool {
		now = w.leftovers(t)
		return now.goroutines <= before.goroutines && now.files <= before.files && now.sessions <= before.sessions && now.calls == 0 && now.streams == 0
	})
}

// malformed makes the n-th of endlessly many bad messages: broken at every height, from bytes to the members of MCP.
func malformedBody(r *rand.Rand) string {
	sound := []string{initialize,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"},` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":7,"result":{}}`}
	body := []byte(sound[r.IntN(len(sound))])
	switch r.IntN(6) {
	case 0: // cut
		return string(body[:r.IntN(len(body))])
	case 1: // a flipped byte
		body[r.IntN(len(body))] ^= byte(1 + r.IntN(255))
	case 2: // a missing stretch
		i := r.IntN(len(body))
		j := i + r.IntN(len(body)-i)
		return string(body[:i]) + string(body[j:])
	case 3: // a doubled stretch
		i := r.IntN(len(body))
		j := i + r.IntN(len(body)-i)
		return string(body[:j]) + string(body[i:])
	case 4: // deep
		return strings.Repeat("[", 1+r.IntN(5000))
	default: // noise
		noise := make([]byte, r.IntN(400))
		for i := range noise {
			noise[i] = byte(r.IntN(256))
		}
		return string(noise)
	}
	return string(body)
}

func TestTM048TenThousandMalformedMessagesLeaveNothing(t *testing.T) {
	w := newWorld(t, Limits{})
	w.do(t, ask{body: initialize}) // starts what is started once
	session := w.open(t, "tok-b")
	before := w.leftovers(t)
	const senders, each = 8, 1250
	var group sync.WaitGroup
	for sender := range senders {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(sender), 48))
			for range each {
				a := ask{body: malformedBody(r), header: map[string]string{}}
				if r.IntN(2) == 0 {
					a.header["MCP-Protocol-Version"] = []string{"2026-07-28", "2025-11-25", "2024-11-05", "9999-99-99", "x"}[r.IntN(5)]
				}
				if r.IntN(4) == 0 {
					a.header["Mcp-Session-Id"] = []string{session, "none", ""}[r.IntN(3)]
				}
				if r.IntN(8) == 0 {
					a.method = []string{"GET", "DELETE", "PUT", "PATCH"}[r.IntN(4)]
				}
				if res := w.do(t, a); res.status == http.StatusInternalServerError || res.status == 0 {
					t.Errorf("%q: %d %s", a.body, res.status, res.raw)
				}
			}
		})
	}
	group.Wait()
	// Some of the messages were sound after all and opened a session; those go with their time.
	w.server.sweep(time.Now().Add(time.Hour))
	w.settled(t, leftovers{before.goroutines, before.files, 0, 0, 0})
	if a := w.modern(t, "tools/call", "echo", `"arguments":{},`); a.status != http.StatusOK {
		t.Fatalf("afterwards: %d %s", a.status, a.raw)
	}
}

func TestTM048IdleStreamsAreBoundedAndEnd(t *testing.T) {
	const limit, asked = 20, 500
	w := newWorld(t, Limits{StreamsPerToken: limit, SessionsPerToken: asked + 1, CallsPerToken: 2 * asked})
	w.do(t, ask{body: initialize})
	before := w.leftovers(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var bodies []io.Closer
	open := 0
	for range asked {
		res := w.get(ctx, t, "tok-a", w.open(t, "tok-a"))
		bodies = append(bodies, res.Body)
		switch res.StatusCode {
		case http.StatusOK:
			open++
		case http.StatusTooManyRequests:
		default:
			t.Fatalf("a stream: %d", res.StatusCode)
		}
	}
	if open != limit {
		t.Errorf("%d streams are open, the bound is %d", open, limit)
	}
	other := w.get(ctx, t, "tok-b", w.open(t, "tok-b"))
	if other.StatusCode != http.StatusOK {
		t.Errorf("another token's stream: %d", other.StatusCode)
	}
	cancel()
	for _, b := range append(bodies, other.Body) {
		b.Close()
	}
	w.until(t, "streams are over", func() bool { _, streams, _ := w.server.roster.counts(); return streams == 0 })
	w.server.sweep(time.Now().Add(time.Hour))
	w.settled(t, leftovers{before.goroutines, before.files, 0, 0, 0})
}

func TestTM048CallsOfATokenAreBounded(t *testing.T) {
	w := newWorld(t, Limits{CallsPerToken: 2})
	for i := range 2 {
		w.begin(t, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"wait",`+modernMeta+`}}`, i))
		<-w.tools.began
	}
	if a := w.modern(t, "tools/list", "", ""); a.status != http.StatusTooManyRequests || a.Code != "rate_limit" {
		t.Fatalf("the third: %d %s", a.status, a.raw)
	}
	if a := w.do(t, ask{token: "tok-b", body: initialize}); a.status != http.StatusOK {
		t.Fatalf("another token's: %d %s", a.status, a.raw)
	}
}

func TestTM048BodyThatNeverEndsIsCutOff(t *testing.T) {
	w := newWorld(t, Limits{BodyTime: 50 * time.Millisecond})
	conn, err := net.Dial("tcp", w.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer tok-a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", w.http.Listener.Addr())
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "did not arrive whole") {
		t.Fatalf("%d %s %v", res.StatusCode, text, err)
	}
	w.until(t, "the request is over", func() bool { calls, _, _ := w.server.roster.counts(); return calls == 0 })
}

func TestBodyDeadlineDoesNotEndALongCall(t *testing.T) {
	w := newWorld(t, Limits{BodyTime: 20 * time.Millisecond})
	w.begin(t, "", `{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"wait",`+modernMeta+`}}`)
	<-w.tools.began
	timer := time.NewTimer(200 * time.Millisecond)
	defer timer.Stop()
	select {
	case err := <-w.tools.ended:
		t.Fatalf("the call ended with %v: a deadline for reading looked like a client that left", err)
	case <-timer.C:
	}
}

func TestClientThatLeavesMidBodyCostsNothing(t *testing.T) {
	w := newWorld(t, Limits{})
	w.do(t, ask{body: initialize})
	before := w.leftovers(t)
	for range 50 {
		conn, err := net.Dial("tcp", w.http.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer tok-a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", w.http.Listener.Addr())
		conn.Close()
	}
	w.settled(t, before)
}
