package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/wayleave/wayleave/internal/tool"
)

// pipe is a client at the other end of a stdio server.
type pipe struct {
	tools *fakeTools
	in    *io.PipeWriter
	out   *bufio.Reader
	done  chan error
}

func startStdio(t testing.TB, limits Limits) *pipe {
	t.Helper()
	return startStdioWith(t, Options{Limits: limits})
}

func startStdioWith(t testing.TB, o Options) *pipe {
	t.Helper()
	tools := newFakeTools()
	o.Version = "1.2.3"
	server, err := New(tools, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &pipe{tools: tools, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		err := server.ServeStdio(ctx, tool.Caller{Agent: "agent_local", Slug: "local"}, inR, outW)
		outW.Close()
		p.done <- err
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		outR.Close()
	})
	return p
}

func (p *pipe) send(t testing.TB, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *pipe) read(t testing.TB) answer {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	a := answer{raw: line}
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return a
}

func TestStdioServesBothEras(t *testing.T) {
	p := startStdio(t, Limits{})
	p.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`)
	if a := p.read(t); a.Result["tools"] == nil {
		t.Fatal(a.raw)
	}
	q := startStdio(t, Limits{})
	q.send(t, initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`)
	if a := q.read(t); a.Result["serverInfo"] == nil {
		t.Fatal(a.raw)
	}
	if a := q.read(t); !strings.Contains(a.raw, "hi") {
		t.Fatal(a.raw)
	}
	if c := q.tools.last(); c.Slug != "local" || c.Token != "" || c.Session != "" || c.Client != "old" {
		t.Fatalf("the caller is %+v", c)
	}
}

// A client that asks first which eras there are gives up after a second, which is soon for a program that starts on a
// busy machine, and goes on as the older era does.
func TestStdioServesAClientThatDidNotWaitForTheEras(t *testing.T) {
	for name, before := range map[string][]string{
		"asked once":  {`{"jsonrpc":"2.0","id":"a","method":"server/discover","params":{` + modernMeta + `}}`},
		"asked twice": {`{"jsonrpc":"2.0","id":"a","method":"server/discover","params":{` + modernMeta + `}}`, `{"jsonrpc":"2.0","id":"b","method":"server/discover","params":{` + modernMeta + `}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := startStdio(t, Limits{})
			p.send(t, append(before, initialize)...)
			answers := map[any]answer{}
			for range len(before) + 1 {
				a := p.read(t)
				answers[a.ID] = a
			}
			if a := answers["a"]; a.Result["supportedVersions"] == nil || a.Result["ttlMs"] == nil || a.Result["resultType"] != "complete" ||
				!strings.Contains(a.raw, `"tools":{"listChanged":true}`) || !strings.Contains(a.raw, `"wayleave"`) {
				t.Errorf("the eras: %s", a.raw)
			}
			if a := answers[float64(1)]; a.Result["protocolVersion"] != "2025-11-25" || a.Result["serverInfo"] == nil {
				t.Fatalf("the handshake: %s", a.raw)
			}
			p.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`)
			if a := p.read(t); !strings.Contains(a.raw, "hi") {
				t.Errorf("the call: %s", a.raw)
			}
			if c := p.tools.last(); c.Client != "old" {
				t.Errorf("the caller is %+v", c)
			}
		})
	}
}

// A newer client is answered the same over a pipe as over HTTP.
func TestStdioTellsTheErasAsHTTPDoes(t *testing.T) {
	w := newWorld(t, Limits{})
	p := startStdio(t, Limits{})
	p.send(t, `{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{`+modernMeta+`}}`)
	over, piped := w.modern(t, "server/discover", "", ""), p.read(t)
	if !reflect.DeepEqual(over.Result, piped.Result) {
		t.Errorf("HTTP: %v\npipe: %v", over.Result, piped.Result)
	}
}

func TestStdioAnswersABadLineAndReadsOn(t *testing.T) {
	p := startStdio(t, Limits{BodyBytes: 4096})
	for _, c := range []struct {
		line string
		code int64
		id   any
	}{
		{`{bad`, jsonrpc.CodeParseError, nil},
		{`{"jsonrpc":"2.0","id":5}`, jsonrpc.CodeInvalidRequest, float64(5)},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, jsonrpc.CodeInvalidRequest, nil},
		{`{"jsonrpc":"2.0","id":6,"method":"prompts/list"}`, jsonrpc.CodeMethodNotFound, float64(6)},
		{`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", 100_000) + `"}}`, jsonrpc.CodeInvalidRequest, float64(7)},
		{strings.Repeat("[", 3000), jsonrpc.CodeInvalidRequest, nil},
		{"\xff\xfe", jsonrpc.CodeParseError, nil},
	} {
		p.send(t, c.line)
		if a := p.read(t); a.Error == nil || a.Error.Code != c.code || a.ID != c.id {
			t.Errorf("%.60q: %s", c.line, a.raw)
		}
	}
	p.send(t, "", "  \r", `{"jsonrpc":"2.0","method":"notifications/nobody_knows"}`, `{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{`+modernMeta+`}}`+"\r")
	if a := p.read(t); a.Result["tools"] == nil || a.ID != float64(8) {
		t.Fatalf("after all that: %s", a.raw)
	}
}

func TestStdioAnswersWhatWasPipedInBeforeTheEnd(t *testing.T) {
	p := startStdio(t, Limits{})
	const calls = 20
	for i := range calls {
		p.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"},%s}}`, i, modernMeta))
	}
	p.in.Close()
	seen := make(map[any]bool)
	for range calls {
		seen[p.read(t).ID] = true
	}
	if len(seen) != calls {
		t.Fatalf("%d answers", len(seen))
	}
	if err := <-p.done; err != nil {
		t.Fatalf("it ended with %v", err)
	}
}

func TestStdioEndsWithItsContextAndCancelsCalls(t *testing.T) {
	tools := newFakeTools()
	server, err := New(tools, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	defer inW.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- server.ServeStdio(ctx, tool.Caller{Agent: "agent_local", Slug: "local"}, inR, io.Discard)
	}()
	if _, err := io.WriteString(inW, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait",`+modernMeta+"}}\n"); err != nil {
		t.Fatal(err)
	}
	<-tools.began
	cancel()
	if err := <-tools.ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("the call ended with %v", err)
	}
	if err := <-done; err != nil {
		t.Fatalf("it ended with %v", err)
	}
}

func TestStdioCancelNotice(t *testing.T) {
	p := startStdio(t, Limits{})
	p.send(t, `{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"wait",`+modernMeta+`}}`)
	<-p.tools.began
	p.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c1"}}`)
	if err := <-p.tools.ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("the call ended with %v", err)
	}
}

func TestStdioEndsWhenNobodyReads(t *testing.T) {
	for _, line := range []string{"{bad\n", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"} {
		server, err := New(newFakeTools(), nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		inR, inW := io.Pipe()
		defer inW.Close()
		done := make(chan error, 1)
		go func() {
			done <- server.ServeStdio(t.Context(), tool.Caller{Agent: "agent_local", Slug: "local"}, inR, brokenPipe{})
		}()
		if _, err := io.WriteString(inW, line); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("after %q it ended with %v", line, err)
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestTM048TenThousandMalformedLinesLeaveNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	p := startStdio(t, Limits{})
	go func() { _, _ = io.Copy(io.Discard, p.out) }()
	r := rand.New(rand.NewPCG(7, 48))
	for range 10_000 {
		p.send(t, strings.ReplaceAll(malformedBody(r), "\n", " "))
	}
	p.in.Close()
	if err := <-p.done; err != nil {
		t.Fatalf("it ended with %v", err)
	}
	w := &world{}
	w.until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}
