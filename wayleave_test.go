package wayleave

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// install is a service that runs, with the folder beside it that a command line works on.
type install struct {
	folder *datafolder.Folder
	store  *agent.Store
	url    string
	own    netip.AddrPort
	log    *bytes.Buffer // read it after stop
	stop   func() error
}

func launch(t *testing.T, o Options) *install {
	t.Helper()
	folder, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	in := &install{folder: folder, store: agent.NewStore(folder, nil), own: netip.MustParseAddrPort(listener.Addr().String()), log: &bytes.Buffer{}}
	in.url = "http://" + listener.Addr().String()
	o.Data = folder.Path()
	o.Log = slog.New(slog.NewJSONHandler(in.log, nil))
	o.Listeners = func() []netip.AddrPort { return []netip.AddrPort{in.own} }
	service, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- service.Run(ctx, listener) }()
	var once atomic.Bool
	in.stop = func() error {
		if once.Swap(true) {
			return nil
		}
		cancel()
		return <-done
	}
	t.Cleanup(func() { _ = in.stop() })
	return in
}

func (in *install) token(t *testing.T, slug string) string {
	t.Helper()
	_, text, err := in.store.NewToken(slug, agent.ScopeTools)
	if err != nil {
		t.Fatal(err)
	}
	return text.Reveal()
}

type bearer string

func (token bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// client connects an agent's harness in an era.
func (in *install) client(t *testing.T, token, revision string) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "harness", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: in.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func read(t *testing.T, session *mcp.ClientSession, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "web_fetch", Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Content) != 1 {
		t.Fatalf("W-074: %d parts", len(res.Content))
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

// site serves one text and counts.
func site(t *testing.T, text string) (url string, permit weburl.Permit, count *atomic.Int64) {
	t.Helper()
	count = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		count.Add(1)
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	permit, err := weburl.ParsePermit(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return s.URL + "/", permit, count
}

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
	list := allowed.NewStore(in.folder, nil)
	if _, err := list.Allow(permit.String(), "alice"); err != nil {
		t.Fatal(err)
	}
	if got, failed := read(t, alice, map[string]any{"url": url}); failed || !strings.Contains(got, "internal wiki") {
		t.Fatalf("after it was allowed: %s", got)
	}
	if got, failed := read(t, bob, map[string]any{"url": url}); !failed {
		t.Fatalf("it was allowed to alice alone: %s", got)
	}
	if _, err := list.Remove(permit.String(), "alice"); err != nil {
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
		_, err := New(Options{Fetch: o})
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
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/": 404, "/api/openapi.json": 404, "/.well-known/oauth-protected-resource": 404} {
		if got := status(path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	res, err := http.Get(in.url + "/mcp/")
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != 404 || !strings.Contains(string(said), "MCP is at /mcp") {
		t.Errorf("a wrong path: %d %q, %v", res.StatusCode, said, err)
	}
	spoil := func([]byte) ([]byte, error) { return []byte("{"), nil }
	if err := in.folder.Update("agents.json", spoil); err != nil {
		t.Fatal(err)
	}
	if status("/healthz") != 200 || status("/readyz") != 503 {
		t.Error("a service that cannot verify anybody is alive and not ready")
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
	_, tokens, err := in.store.List()
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

func TestStdioNeedsNoFolder(t *testing.T) {
	url, permit, _ := site(t, "over pipes")
	service, err := New(Options{Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}})
	if err != nil {
		t.Fatal(err)
	}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	in := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_fetch","arguments":{"url":%q},%s}}`, url, meta)
	var out bytes.Buffer
	if err := service.ServeStdio(t.Context(), "local", strings.NewReader(in+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) || !strings.Contains(out.String(), "over pipes") {
		t.Fatal(out.String())
	}
	if err := service.ServeStdio(t.Context(), "No Slug", strings.NewReader(""), io.Discard); err == nil {
		t.Fatal("an agent without a proper slug was served")
	}
	if err := service.Run(t.Context()); err == nil {
		t.Fatal("HTTP was served without a data folder")
	}
}

// A harness often starts before anybody has made a folder; what is allowed after that must count without a new start.
func TestStdioSeesAFolderThatComesLater(t *testing.T) {
	url, _, _ := site(t, "later words")
	path := filepath.Join(t.TempDir(), "data")
	service, err := New(Options{Data: path, DataLater: true})
	if err != nil {
		t.Fatal(err)
	}
	toUs, fromClient := io.Pipe()
	toClient, fromUs := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- service.ServeStdio(t.Context(), agent.Local, toUs, fromUs) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).
		Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, failed := read(t, session, map[string]any{"url": url}); !failed {
		t.Fatalf("nobody allowed it: %s", got)
	}
	if _, err := datafolder.Look(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the folder was made: %v", err)
	}
	folder, err := datafolder.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := allowed.NewStore(folder, nil).Allow(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"), ""); err != nil {
		t.Fatal(err)
	}
	if got, failed := read(t, session, map[string]any{"url": url}); failed || !strings.Contains(got, "later words") {
		t.Fatalf("after it was allowed: %s", got)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the end of the pipe: %v", err)
	}
}

func TestServesBothHTTPVersionsOverTLS(t *testing.T) {
	url, permit, _ := site(t, "over TLS")
	folder, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := agent.NewStore(folder, nil).NewToken("alice", agent.ScopeTools)
	if err != nil {
		t.Fatal(err)
	}
	service, err := New(Options{Data: folder.Path(), Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}})
	if err != nil {
		t.Fatal(err)
	}
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
			r.Header.Set("Authorization", "Bearer "+text.Reveal())
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
