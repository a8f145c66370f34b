package wayleave

// What two servers on one PostgreSQL do together besides counting: a form that one shows is answered at the other, and what
// one offered stands or falls at both.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
)

// crossing sends what a client says of itself to one server, and what it answers to a server's question to another.
type crossing struct {
	next             http.RoundTripper
	said, answersFor atomic.Pointer[url.URL]
}

func (c *crossing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	to := c.said.Load()
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var message struct{ Method string }
		if json.Unmarshal(body, &message) == nil && message.Method == "" {
			to = c.answersFor.Load()
		}
	}
	r.URL.Host, r.Host = to.Host, to.Host
	return c.next.RoundTrip(r)
}

// TM-062: a client of the older era answers a form by a request of its own, which behind a round robin comes to the server
// that did not ask. The yes lets exactly the call run that it was said to, and the no none.
func TestTM062AYesBehindARoundRobinIsForItsOwnQuestion(t *testing.T) {
	p := newPair(t, nil)
	token := newToken(t, p.beside, "alice", agent.ScopeTools)
	who, err := p.beside.Agents.BySlug(t.Context(), "alice")
	if err == nil {
		_, err = p.beside.Agents.SetElicitation(t.Context(), who.ID, true, "test")
	}
	if err != nil {
		t.Fatal(err)
	}
	const calls = 4 // at once
	shown := make(chan chan string, calls)
	c := mcp.NewClient(&mcp.Implementation{Name: "asks", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			answer := make(chan string)
			shown <- answer
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": <-answer}}, nil
		}})
	cross := &crossing{next: bearer(token)}
	at := make([]*url.URL, 2)
	for i, server := range p.servers {
		if at[i], err = url.Parse(server); err != nil {
			t.Fatal(err)
		}
	}
	cross.said.Store(at[0])
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: p.servers[0] + "/mcp", HTTPClient: &http.Client{Transport: cross}, MaxRetries: -1, DisableStandaloneSSE: true},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for asks := range 2 {
		cross.said.Store(at[asks])
		cross.answersFor.Store(at[1-asks])
		var all sync.WaitGroup
		var ran, refused atomic.Int64
		for i := range calls {
			all.Go(func() {
				text, failed, err := try(t.Context(), session, tooltest.PublishTool, map[string]any{"text": fmt.Sprint("piece ", asks, i)})
				switch {
				case err == nil && !failed && strings.HasPrefix(text, "publish: delivered"):
					ran.Add(1)
				case err == nil && failed && strings.HasPrefix(text, "denied: "):
					refused.Add(1)
				default:
					t.Errorf("call %d: %v %s", i, err, text)
				}
			})
		}
		var forms []chan string
		for range calls { // every form is there before any is answered
			forms = append(forms, <-shown)
		}
		for i, form := range forms {
			form <- map[bool]string{true: "deny", false: "once"}[i == 0]
		}
		all.Wait()
		if ran.Load() != calls-1 || refused.Load() != 1 {
			t.Errorf("server %d asked: %d ran, %d were refused", asks, ran.Load(), refused.Load())
		}
	}
	entries, err := tooltest.ReadWorld(p.World)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2*2*(calls-1) || len(tooltest.Twice(entries)) != 0 {
		t.Errorf("the world: %+v", entries)
	}
	if n := p.count(t, `SELECT count(*) FROM approvals WHERE state='used' AND channel='elicitation'`); n != 2*(calls-1) {
		t.Errorf("%d answers by forms were used", n)
	}
	if n := p.count(t, `SELECT count(DISTINCT owner) FROM tool_calls WHERE tool='publish' AND state='succeeded'`); n != 2 {
		t.Errorf("the calls were carried out by %d servers", n)
	}
}

// An offer is a row: what a third process changes is refused once at whichever server a client calls, then works, and clients
// that listen to either server hear of it. A token that is revoked opens nothing at either.
func TestOffersAndTokensStandOrFallAtBothServers(t *testing.T) {
	p := newPair(t, nil)
	token := newToken(t, p.beside, "alice", agent.ScopeTools)
	heard := [2]chan struct{}{make(chan struct{}, 100), make(chan struct{}, 100)}
	for i, address := range p.servers {
		c := mcp.NewClient(&mcp.Implementation{Name: "listens", Version: "1"}, &mcp.ClientOptions{
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { heard[i] <- struct{}{} }})
		session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: address + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1},
			&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { session.Close() })
	}
	at := [2]*mcp.ClientSession{connect(t, p.servers[0], token, "caller", "2026-07-28"), connect(t, p.servers[1], token, "caller", "2026-07-28")}
	for i, provider := range []string{"second", "oracle"} {
		if _, err := p.beside.Settings.Put(t.Context(), connection.Change{Owner: binding.Install, Capability: "search", Mode: connection.Own, Provider: provider, Version: int64(i)}, "test"); err != nil {
			t.Fatal(err)
		}
		// One caller, one offer: the refusal at one server makes the fresh offer for both.
		first, other := at[i], at[1-i]
		if text, failed := call(t, first, tooltest.AskTool, map[string]any{"text": "changed"}); !failed || !strings.HasPrefix(text, "stale_offer: nothing was sent; ask now uses "+provider) {
			t.Errorf("%s: %s", provider, text)
		}
		for _, session := range []*mcp.ClientSession{other, first} {
			if text, failed := call(t, session, tooltest.AskTool, map[string]any{"text": "changed"}); failed {
				t.Errorf("%s: %s", provider, text)
			}
		}
		for server := range heard {
			select {
			case <-heard[server]:
			case <-t.Context().Done():
				t.Fatalf("nobody at server %d heard of the change", server)
			}
			for len(heard[server]) > 0 {
				<-heard[server]
			}
		}
	}
	_, tokens, err := p.beside.Agents.List(t.Context(), nil)
	if err != nil || len(tokens) != 1 {
		t.Fatal(tokens, err)
	}
	if _, err := p.beside.Agents.Revoke(t.Context(), "", tokens[0].ID, "test"); err != nil {
		t.Fatal(err)
	}
	for i, session := range at {
		if text, _, err := try(t.Context(), session, tooltest.AskTool, map[string]any{"text": "revoked"}); err == nil {
			t.Errorf("server %d took a revoked token: %s", i, text)
		}
	}
	if asked := p.oracle.Asked(); asked != 4 {
		t.Errorf("%d questions were sent", asked)
	}
}
