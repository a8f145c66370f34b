package wayleave

// An effect comes in at every door and changes the world once: after a stream that was cut, and after a person's yes,
// whether it was given in the client or on the page.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
)

// launchTools is a service with the scripted tools. A call waits for a person for as long as is given; 0 means as long as
// the product does.
func launchTools(t *testing.T, wait time.Duration) (*served, *tooltest.Set) {
	t.Helper()
	set := tooltest.NewSet(tooltest.NewWorld(), func(context.Context, string) (string, error) { return "an answer", nil })
	return launch(t, Options{extend: func(p *parts) { p.catalog, p.plugs, p.wait = tooltest.Catalog(), set.Plugs(), wait }}), set
}

// wired is a client that writes its requests itself, so that a test cuts one of them off and nothing else.
type wired struct {
	in     *served
	token  string
	header http.Header
	meta   string // members of each request's params, with a comma behind
	ids    atomic.Int64
}

// wire begins a conversation in an era.
func (in *served) wire(t *testing.T, token, revision string) *wired {
	t.Helper()
	w := &wired{in: in, token: token, header: http.Header{"Mcp-Protocol-Version": {revision}}}
	if revision >= "2026" {
		w.meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + revision + `","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"wired","version":"1"}},`
		w.must(t, "tools/list", `{`+strings.TrimSuffix(w.meta, ",")+`}`)
		return w
	}
	_, header := w.must(t, "initialize", `{"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"wired","version":"1"}}`)
	w.header.Set("Mcp-Session-Id", header.Get("Mcp-Session-Id"))
	w.must(t, "tools/list", `{}`)
	return w
}

func (w *wired) must(t *testing.T, method, params string) (string, http.Header) {
	t.Helper()
	said, header, err := w.send(t.Context(), method, "", params)
	if err != nil || strings.Contains(said, `"error":{`) {
		t.Fatalf("%s: %v %s", method, err, said)
	}
	return said, header
}

// send is one request; name is the tool's of a call.
func (w *wired) send(ctx context.Context, method, name, params string) (string, http.Header, error) {
	return w.post(ctx, method, name, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.ids.Add(1), method, params))
}

// post is one message.
func (w *wired) post(ctx context.Context, method, name, message string) (string, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.in.url+"/mcp", strings.NewReader(message))
	if err != nil {
		return "", nil, err
	}
	r.Header = w.header.Clone()
	r.Header.Set("Authorization", "Bearer "+w.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if w.meta != "" {
		r.Header.Set("Mcp-Method", method)
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", nil, err
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	return string(said), res.Header, err
}

// call calls a tool without a key of the caller's.
func (w *wired) call(ctx context.Context, name, arguments string) (string, error) {
	said, _, err := w.send(ctx, "tools/call", name, `{"name":"`+name+`",`+w.meta+`"arguments":`+arguments+`}`)
	return said, err
}

// TM-055, F-024.
func TestCutStreamAndTheSameCallAgainAreOneEffect(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		for _, when := range []string{"while it runs", "when it is over"} {
			t.Run(revision+", "+when, func(t *testing.T) {
				in, set := launchTools(t, 0)
				stop := tooltest.NewStop()
				set.Script.At(tooltest.Input(2), stop.Do) // one of two inputs is out
				w := in.wire(t, in.token(t, "alice"), revision)
				ctx, cut := context.WithCancel(t.Context())
				first := make(chan error, 1)
				go func() {
					_, err := w.call(ctx, tooltest.PressTool, `{"text":"buy"}`)
					first <- err
				}()
				select {
				case <-stop.Reached:
				case err := <-first:
					t.Fatalf("it was not sent: %v", err)
				}
				cut()
				if err := <-first; !errors.Is(err, context.Canceled) {
					t.Fatalf("the stream was not cut: %v", err)
				}
				if when == "when it is over" {
					stop.Go()
					in.until(t, "over", func() bool { return in.ledger.Health().InFlight == 0 })
				}
				again := make(chan string, 1)
				go func() {
					said, err := w.call(t.Context(), tooltest.PressTool, `{"text":"buy"}`)
					if err != nil {
						t.Error(err)
					}
					again <- said
				}()
				if when == "while it runs" {
					select {
					case said := <-again:
						t.Fatalf("the same call did not wait: %s", said)
					case <-time.After(300 * time.Millisecond): // it waits; the first one goes on
					}
					stop.Go()
				}
				if said := <-again; !strings.Contains(said, "press: delivered · 2 inputs") || strings.Contains(said, `"isError":true`) {
					t.Errorf("the same call got: %s", said)
				}
				entries := set.World.Entries()
				if len(entries) != 2 || entries[0].Call != entries[1].Call {
					t.Errorf("the world: %+v", entries)
				}
			})
		}
	}
}

// person is somebody who is signed in with a browser.
type person struct {
	in              *served
	cookie, confirm string
}

// signIn redeems a link as the page does.
func (in *served) signIn(t *testing.T, link, password string) person {
	t.Helper()
	p := person{in: in}
	body, err := json.Marshal(map[string]string{"secret": link, "password": password})
	if err != nil {
		t.Fatal(err)
	}
	res, said := p.do(t, http.MethodPost, "/api/sign-in/link", string(body))
	var session struct{ Confirm string }
	if err := json.Unmarshal([]byte(said), &session); err != nil || res.StatusCode != http.StatusOK || len(res.Cookies()) != 1 {
		t.Fatalf("sign in: %d %s", res.StatusCode, said)
	}
	p.cookie, p.confirm = res.Cookies()[0].Value, session.Confirm
	return p
}

func (p person) do(t *testing.T, method, path, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.in.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = strings.TrimPrefix(p.in.answers.people(), "http://")
	r.Header.Set("Content-Type", "application/json")
	if p.cookie != "" {
		r.AddCookie(&http.Cookie{Name: operatorapi.CookieName, Value: p.cookie})
		r.Header.Set(operatorapi.ConfirmHeader, p.confirm)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(said)
}

// asks states that an agent's client asks a person.
func (in *served) asks(t *testing.T, slug string) {
	t.Helper()
	a, _, err := in.beside.Agents.EnsureAgent(t.Context(), slug, "test")
	if err == nil {
		_, err = in.beside.Agents.SetElicitation(t.Context(), a.ID, true, "test")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func published(set *tooltest.Set) (calls map[string]int) {
	calls = make(map[string]int)
	for _, e := range set.World.Entries() {
		if e.Tool == tooltest.PublishTool {
			calls[e.Call]++
		}
	}
	return calls
}

func TestYesInTheClientRunsTheCallOnce(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			in, set := launchTools(t, 0)
			token := in.token(t, "alice")
			in.asks(t, "alice")
			var asked []string
			c := mcp.NewClient(&mcp.Implementation{Name: "asks", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked = append(asked, r.Params.Message)
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "once"}}, nil
				}})
			session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: in.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1},
				&mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { session.Close() })
			if _, err := session.ListTools(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if text, failed := call(t, session, tooltest.PublishTool, map[string]any{"text": "the piece"}); failed || !strings.HasPrefix(text, "publish: delivered · 2 inputs") {
				t.Fatal(text)
			}
			if len(asked) != 1 || !strings.Contains(asked[0], "https://example.com") {
				t.Errorf("the person was asked: %q", asked)
			}
			if calls := published(set); len(calls) != 1 || len(set.World.Entries()) != 2 {
				t.Errorf("the world: %+v", set.World.Entries())
			}
		})
	}
}

func TestYesOnThePageRunsTheSameCallOnce(t *testing.T) {
	in, set := launchTools(t, 50*time.Millisecond)
	session := in.client(t, in.token(t, "alice"), "2026-07-28")
	in.asks(t, "alice") // and this client cannot
	_, link, err := in.beside.People.NewLink(t.Context(), "", "test")
	if err != nil {
		t.Fatal(err)
	}
	owner := in.signIn(t, link.Reveal(), "")
	question := func() string {
		text, failed := call(t, session, tooltest.PublishTool, map[string]any{"text": "the piece"})
		found := regexp.MustCompile(`\(question (apr_\w+)\)`).FindStringSubmatch(text)
		if !failed || !strings.HasPrefix(text, "approval_required: nothing was sent") || found == nil {
			t.Fatal(text)
		}
		if want := in.answers.people() + "/needs-you/approvals?id=" + found[1]; !strings.Contains(text, want) {
			t.Errorf("no address of the question: %s", text)
		}
		return found[1]
	}
	id := question()
	if res, _ := owner.do(t, http.MethodGet, "/needs-you/approvals?id="+id, ""); res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		t.Errorf("at the question's address: %d", res.StatusCode)
	}
	if same := question(); same != id {
		t.Errorf("the same call put a second question: %s, %s", id, same)
	}
	// Without the second secret a cookie decides nothing.
	other := owner
	other.confirm = ""
	if res, said := other.do(t, http.MethodPost, "/api/approvals/"+id+"/answer", `{"answer":"once"}`); res.StatusCode != http.StatusForbidden {
		t.Errorf("%d %s", res.StatusCode, said)
	}
	if len(published(set)) != 0 {
		t.Fatal("it ran without a yes")
	}
	if res, said := owner.do(t, http.MethodPost, "/api/approvals/"+id+"/answer", `{"answer":"once"}`); res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, said)
	}
	if text, failed := call(t, session, tooltest.PublishTool, map[string]any{"text": "the piece"}); failed || !strings.HasPrefix(text, "publish: delivered") {
		t.Fatal(text)
	}
	if next := question(); next == id {
		t.Error("a yes was good for two calls")
	}
	if calls := published(set); len(calls) != 1 || len(set.World.Entries()) != 2 {
		t.Errorf("the world: %+v", set.World.Entries())
	}
}

// A harness that people use, with a form handler of its own, answers and gets the result.
func TestYesThroughTheAISDKRunsTheCallOnce(t *testing.T) {
	in, set := launchTools(t, 0)
	token := in.token(t, "alice")
	in.asks(t, "alice")
	found, err := filepath.Glob("test/clients/node_modules/node-linux-*/bin/node")
	if err != nil {
		t.Fatal(err)
	}
	node := append(found, "node")[0]
	orders, err := json.Marshal(map[string]any{"url": in.url + "/mcp", "headers": map[string]string{"Authorization": "Bearer " + token},
		"tool": tooltest.PublishTool, "arguments": map[string]any{"text": "the piece"}, "answer": "once"})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "test/clients/ai-sdk-asked.mjs")
	cmd.Env = []string{"HOME=" + t.TempDir(), "NO_COLOR=1"}
	cmd.Stdin = bytes.NewReader(append(orders, '\n'))
	var problems bytes.Buffer
	cmd.Stderr = &problems
	said, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v (where the client is not installed: make deps)\n%s", err, problems.String())
	}
	var rep struct {
		Asked  []string
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(said, &rep); err != nil {
		t.Fatalf("%v in %s", err, said)
	}
	if len(rep.Asked) != 1 || !strings.Contains(rep.Asked[0], "https://example.com") {
		t.Errorf("the person was asked: %q", rep.Asked)
	}
	if r := rep.Result; r.IsError || len(r.Content) != 1 || !strings.HasPrefix(r.Content[0].Text, "publish: delivered · 2 inputs") {
		t.Errorf("the host got: %s", said)
	}
	if calls := published(set); len(calls) != 1 || len(set.World.Entries()) != 2 {
		t.Errorf("the world: %+v", set.World.Entries())
	}
}
