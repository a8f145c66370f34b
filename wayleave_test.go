package wayleave

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

func TestAgentReadsAPageInBothErasAndReadsOn(t *testing.T) {
	text := strings.Repeat("A line of some words.\n", 2000)
	url, permit, count := site(t, text)
	in := launch(t, Options{Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}})
	token := in.token(t, "alice")
	for i, revision := range []string{"2026-07-28", "2025-11-25", "2025-03-26"} {
		session := in.client(t, token, revision)
		tools, err := session.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != 1 || tools.Tools[0].Name != "web_fetch" {
			t.Fatalf("%s: W-001: %+v, %v", revision, tools, err)
		}
		before := count.Load()
		var whole strings.Builder
		for offset := 0; ; {
			got, failed := read(t, session, map[string]any{"url": url, "offset": offset})
			if failed || len(got) > webfetch.MaxTextBytes {
				t.Fatalf("%s: %d bytes: %.300s", revision, len(got), got)
			}
			head, body, _ := strings.Cut(got, "\n<untrusted_web_content>\n")
			whole.WriteString(strings.TrimSuffix(body, "\n</untrusted_web_content>"))
			_, next, more := strings.Cut(head, "continue with offset=")
			if !more {
				break
			}
			if _, err := fmt.Sscan(next, &offset); err != nil {
				t.Fatalf("%s: W-047: %q", revision, head)
			}
		}
		if whole.String() != text {
			t.Errorf("%s: %d of %d characters", revision, whole.Len(), len(text))
		}
		// The newest era has no sessions: one token and client name are one connection, so its second client would
		// begin anew; here each era has its own.
		if sent := count.Load() - before; sent != 1 {
			t.Errorf("%s (%d): W-089: %d requests", revision, i, sent)
		}
	}
}

func TestTM006OwnListenerIsNeverRead(t *testing.T) {
	loopback, err := weburl.ParsePermit("127.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	in := launch(t, Options{Fetch: webfetch.Options{Policy: &weburl.Policy{AllowPrivateHosts: true, Permitted: []weburl.Permit{loopback}}}})
	session := in.client(t, in.token(t, "alice"), "")
	for _, host := range []string{"127.0.0.1", "localhost", "127.0.0.2", "[::ffff:127.0.0.1]"} {
		got, failed := read(t, session, map[string]any{"url": fmt.Sprintf("http://%s:%d/healthz", host, in.own.Port())})
		if !failed || strings.Contains(got, "ok") && strings.Contains(got, "<untrusted_web_content>") {
			t.Errorf("%s: %s", host, got)
		}
		if host == "127.0.0.1" && !strings.HasPrefix(got, "web_fetch_disallowed_url: ") {
			t.Errorf("%s: %s", host, got)
		}
	}
}

func TestPersonAllowsAPrivateHostWhileItRuns(t *testing.T) {
	url, permit, _ := site(t, "internal wiki")
	in := launch(t, Options{})
	alice, bob := in.client(t, in.token(t, "alice"), ""), in.client(t, in.token(t, "bob"), "")
	got, failed := read(t, alice, map[string]any{"url": url})
	if !failed || !strings.Contains(got, "wayleave allow 127.0.0.1") {
		t.Fatalf("the refusal does not name the command: %s", got)
	}
	who, err := in.beside.Agents.BySlug(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.beside.Allowed.Allow(t.Context(), permit.String(), who.ID, "test"); err != nil {
		t.Fatal(err)
	}
	if got, failed := read(t, alice, map[string]any{"url": url}); failed || !strings.Contains(got, "internal wiki") {
		t.Fatalf("after it was allowed: %s", got)
	}
	if got, failed := read(t, bob, map[string]any{"url": url}); !failed {
		t.Fatalf("it was allowed to alice alone: %s", got)
	}
	if _, err := in.beside.Allowed.Remove(t.Context(), permit.String(), who.ID, "test"); err != nil {
		t.Fatal(err)
	}
	if got, failed := read(t, alice, map[string]any{"url": url}); !failed {
		t.Fatalf("after it was taken back: %s", got)
	}
}

func TestW026DescriptionIsWhatTheModelSees(t *testing.T) {
	description := "Read our docs."
	in := launch(t, Options{Fetch: webfetch.Options{Description: &description}})
	tools, err := in.client(t, in.token(t, "alice"), "").ListTools(t.Context(), nil)
	if err != nil || tools.Tools[0].Description != description {
		t.Fatalf("%+v, %v", tools, err)
	}
}

func TestInvalidOptionFailsBeforeAnythingIsServed(t *testing.T) {
	zero, many, blank := 0, 21, " "
	for name, o := range map[string]webfetch.Options{
		"page_chars":    {PageChars: &zero},
		"max_redirects": {MaxRedirects: &many},
		"description":   {Description: &blank},
		"user_agent":    {UserAgent: &blank},
	} {
		_, err := New(t.Context(), Options{Data: filepath.Join(t.TempDir(), "data"), Fetch: o})
		var bad *webfetch.OptionError
		if !errors.As(err, &bad) || bad.Option != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHealthAndReadiness(t *testing.T) {
	in := launch(t, Options{})
	status := func(path string) int {
		res, err := http.Get(in.url + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	in.token(t, "alice")
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/api/openapi.json": 200, "/api/nowhere": 404} {
		if got := status(path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	// Who was given the address without its path is told the path.
	for _, path := range []string{"/", "/mcp/", "/sse"} {
		res, err := http.Post(in.url+path, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusNotFound || !strings.Contains(string(said), "MCP is at /mcp") {
			t.Errorf("POST %s: %d %s, %v", path, res.StatusCode, said, err)
		}
	}
}

func TestGracefulStopLetsACallFinish(t *testing.T) {
	began, finish := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-finish
		_, _ = io.WriteString(w, "slow but sure")
	}))
	defer slow.Close()
	in := launch(t, Options{Fetch: webfetch.Options{Policy: &weburl.Policy{AllowPrivateHosts: true}}})
	session := in.client(t, in.token(t, "alice"), "")
	got := make(chan string, 1)
	go func() {
		res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "web_fetch", Arguments: map[string]any{"url": slow.URL}})
		if err != nil {
			got <- err.Error()
			return
		}
		got <- res.Content[0].(*mcp.TextContent).Text
	}()
	<-began
	stopped := make(chan error, 1)
	go func() { stopped <- in.stop() }()
	time.AfterFunc(50*time.Millisecond, func() { close(finish) })
	if text := <-got; !strings.Contains(text, "slow but sure") {
		t.Fatalf("the call ended with %s", text)
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	_, tokens, err := in.beside.Agents.List(t.Context(), nil)
	if err != nil || tokens[0].LastUse.At.IsZero() || tokens[0].LastUse.From != "127.0.0.1" {
		t.Fatalf("the last use was not written at the end: %+v, %v", tokens, err)
	}
}

func TestLogsHoldNoAddressOrContent(t *testing.T) {
	url, permit, _ := site(t, "canary-content")
	in := launch(t, Options{Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}})
	token := in.token(t, "alice")
	session := in.client(t, token, "")
	read(t, session, map[string]any{"url": url + "?canary-query", "find": "canary-find"})
	if err := in.stop(); err != nil {
		t.Fatal(err)
	}
	log := in.log.String()
	if strings.Contains(log, "canary") || strings.Contains(log, token) || strings.Contains(log, "127.0.0.1") || !strings.Contains(log, `"outcome":"ok"`) {
		t.Fatal(log)
	}
}

func TestStdioBesideHTTP(t *testing.T) {
	url, permit, _ := site(t, "over pipes")
	in := launch(t, Options{Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}})
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	lines := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{%s}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"web_fetch","arguments":{"url":%q},%s}}
`, meta, url, meta)
	var out bytes.Buffer
	if err := in.ServeStdio(t.Context(), "local", strings.NewReader(lines), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "over pipes") || !strings.Contains(out.String(), `"wayleave/call":"call_`) {
		t.Fatal(out.String())
	}
	if err := in.ServeStdio(t.Context(), "No Slug", strings.NewReader(""), io.Discard); err == nil {
		t.Fatal("an agent without a proper slug was served")
	}
	if _, err := New(t.Context(), Options{}); err == nil {
		t.Fatal("a service without a data folder was made")
	}
}

func TestServesBothHTTPVersionsOverTLS(t *testing.T) {
	url, permit, _ := site(t, "over TLS")
	o := Options{Data: filepath.Join(t.TempDir(), "data"), Secure: true, Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}}
	service, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	text := newToken(t, openBeside(t, o), "alice", agent.ScopeTools)
	borrowed := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate and the client that trusts it
	defer borrowed.Close()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := tls.NewListener(plain, &tls.Config{Certificates: borrowed.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- service.Run(ctx, listener) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()

	roots := borrowed.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for _, version := range []int{1, 2} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: version == 2}
		defer transport.CloseIdleConnections()
		seen := 0
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set("Authorization", "Bearer "+text)
			res, err := transport.RoundTrip(r)
			if err == nil {
				seen = res.ProtoMajor
			}
			return res, err
		})}
		for _, revision := range []string{"2026-07-28", "2025-11-25"} {
			c := mcp.NewClient(&mcp.Implementation{Name: fmt.Sprint("http", version), Version: "1"}, nil)
			session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: "https://" + plain.Addr().String() + "/mcp", HTTPClient: client, MaxRetries: -1},
				&mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatalf("HTTP/%d, %s: %v", version, revision, err)
			}
			if _, err := session.ListTools(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if got, failed := read(t, session, map[string]any{"url": url}); failed || !strings.Contains(got, "over TLS") {
				t.Errorf("HTTP/%d, %s: %s", version, revision, got)
			}
			if err := session.Close(); err != nil {
				t.Errorf("HTTP/%d, %s: %v", version, revision, err)
			}
		}
		if seen != version {
			t.Errorf("HTTP/%d was spoken, want %d", seen, version)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
