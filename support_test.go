package wayleave

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/weburl"
)

// served is a service that runs, with the install beside it that a command line works on.
type served struct {
	beside *install.Install
	url    string
	own    netip.AddrPort
	log    *bytes.Buffer // read it after stop
	stop   func() error
	*Service
}

func launch(t *testing.T, o Options) *served {
	t.Helper()
	if o.Data == "" {
		o.Data = filepath.Join(t.TempDir(), "data")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	in := &served{own: netip.MustParseAddrPort(listener.Addr().String()), log: &bytes.Buffer{}}
	in.url = "http://" + listener.Addr().String()
	if o.Log == nil {
		o.Log = slog.New(slog.NewJSONHandler(in.log, nil))
	}
	o.Listeners = func() []netip.AddrPort { return []netip.AddrPort{in.own} }
	if in.Service, err = New(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	in.beside = openBeside(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- in.Run(ctx, listener) }()
	var once atomic.Bool
	in.stop = func() error {
		if once.Swap(true) {
			return nil
		}
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if err := errors.Join(in.stop(), in.Close()); err != nil {
			t.Error(err)
		}
	})
	in.until(t, "ready", func() bool { return in.Ready(t.Context()) == nil && in.answers.people() != "" }) // its name is known once it runs
	return in
}

// openBeside opens an install as a command line does while a service runs.
func openBeside(t *testing.T, o Options) *install.Install {
	t.Helper()
	folder, err := datafolder.Open(o.Data)
	if err != nil {
		t.Fatal(err)
	}
	in, err := install.Open(t.Context(), install.Options{Folder: folder, Database: secret.New(o.Database)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	return in
}

// until waits for something that another goroutine brings about.
func (in *served) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for !is() {
		select {
		case <-t.Context().Done():
			t.Fatalf("never: %s", what)
		default:
			runtime.Gosched()
		}
	}
}

func (in *served) token(t *testing.T, slug string) string {
	t.Helper()
	return newToken(t, in.beside, slug, agent.ScopeTools)
}

func newToken(t *testing.T, in *install.Install, slug string, scope agent.Scope) string {
	t.Helper()
	a, _, err := in.Agents.EnsureAgent(t.Context(), slug, "test")
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := in.Agents.NewToken(t.Context(), a.ID, scope, "test")
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
func (in *served) client(t *testing.T, token, revision string) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "harness", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: in.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if _, err := session.ListTools(t.Context(), nil); err != nil { // a call stands on what was listed
		t.Fatal(err)
	}
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
