package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// governing compares web_fetch through the service with the same fetch by a tool of the bare protocol library: calls a second
// over loopback. database is PostgreSQL's address, empty for SQLite; ledger says which it is.
func governing(article page, database, ledger string) (err error) {
	if database == "" { // as `wayleave serve` does, here for both
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1))
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, article.html)
	}))
	defer site.Close()
	dir, err := os.MkdirTemp("", "wayleave-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	policy := &weburl.Policy{AllowPrivateHosts: true}

	ctx, stop := context.WithCancel(context.Background())
	service, err := wayleave.New(ctx, wayleave.Options{Data: filepath.Join(dir, "data"), Database: database, PerMinute: 1 << 30, PerHost: 1000, PerHostSecond: 1_000_000, Fetch: webfetch.Options{Policy: policy}})
	if err != nil {
		stop()
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		stop()
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx, l) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended, service.Close())
	}()
	token, err := benchToken(ctx, filepath.Join(dir, "data"), database)
	if err != nil {
		return err
	}
	governed, err := connectTo(ctx, "http://"+l.Addr().String()+"/mcp", token)
	if err != nil {
		return err
	}
	defer governed.Close()

	fetcher, err := webfetch.Direct(webfetch.Options{Policy: policy, Politeness: webfetch.NewPoliteness(1000, 1_000_000), Content: webfetch.PartMain})
	if err != nil {
		return err
	}
	plain := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	plain.AddTool(&mcp.Tool{Name: webfetch.ToolName, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ URL string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		p, err := fetcher.Fetch(ctx, webfetch.Request{URL: in.URL})
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: p.Content}}}, nil
	})
	bareServer := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return plain }, &mcp.StreamableHTTPOptions{Stateless: true}))
	defer bareServer.Close()
	bare, err := connectTo(ctx, bareServer.URL, "")
	if err != nil {
		return err
	}
	defer bare.Close()

	var ratios, rates []float64
	for round := range rounds + 1 {
		b, err := callsPerSecond(ctx, bare, site.URL)
		if err != nil {
			return err
		}
		g, err := callsPerSecond(ctx, governed, site.URL)
		if err != nil {
			return err
		}
		if round > 0 {
			ratios, rates = append(ratios, g/b), append(rates, g)
		}
	}
	fmt.Printf("\nweb_fetch over MCP, ledger on %s, %d in flight: %.0f calls/s; governed ÷ a bare tool with the same fetch %.2f\n", ledger, callers, median(rates), median(ratios))
	return nil
}

func benchToken(ctx context.Context, data, database string) (string, error) {
	folder, err := datafolder.Open(data)
	if err != nil {
		return "", err
	}
	in, err := install.Open(ctx, install.Options{Folder: folder, Database: secret.New(database)})
	if err != nil {
		return "", err
	}
	defer in.Close()
	a, _, err := in.Agents.EnsureAgent(ctx, "bench", "bench")
	if err != nil {
		return "", err
	}
	_, token, err := in.Agents.NewToken(ctx, a.ID, agent.ScopeTools, "bench")
	return token.Reveal(), err
}

type withBearer struct {
	token string
	next  http.RoundTripper
}

func (b withBearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

func connectTo(ctx context.Context, endpoint, token string) (*mcp.ClientSession, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: callers}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: withBearer{token, transport}}, MaxRetries: -1}, nil)
	if err != nil {
		return nil, err
	}
	_, err = s.ListTools(ctx, nil)
	return s, err
}

func callsPerSecond(ctx context.Context, s *mcp.ClientSession, url string) (float64, error) {
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	began := time.Now()
	for range callers {
		all.Go(func() {
			for time.Since(began) < time.Second {
				res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: webfetch.ToolName, Arguments: map[string]any{"url": url}})
				if err == nil && res.IsError {
					err = fmt.Errorf("the tool failed: %v", res.Content[0])
				}
				if err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(began).Seconds(), nil
}
