package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	adapter "github.com/wayleave/wayleave/adapters/mcp"
	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// The adapter's Error is the library's (W-086).
var _ *adapter.Error = (*webfetch.Error)(nil)

// connect gives a client of a server that has the tools that add adds.
func connect(t *testing.T, add func(*mcp.Server)) *mcp.ClientSession {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "reader", Version: "1"}, nil)
	add(server)
	here, there := mcp.NewInMemoryTransports()
	serving, err := server.Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		serving.Wait()
	})
	return client
}

func addTool(tool agenttool.Tool) func(*mcp.Server) {
	return func(s *mcp.Server) { adapter.AddTool(s, tool) }
}

func textOf(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok || len(r.Content) != 1 {
		t.Fatalf("content %#v", r.Content)
	}
	return text.Text
}

// TestModelFetchesReadsOnAndMeetsAnError is a model that knows only what tool list and texts say.
func TestModelFetchesReadsOnAndMeetsAnError(t *testing.T) {
	page := strings.Repeat("A line of the page.\n", 1_000)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, page)
	}))
	defer site.Close()
	client := connect(t, func(s *mcp.Server) {
		o := webfetch.ToolOptions{Options: webfetch.Options{Policy: &weburl.Policy{AllowPrivateHosts: true}}}
		if err := adapter.AddWebFetch(s, o); err != nil {
			t.Fatal(err)
		}
	})

	list, err := client.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 1 {
		t.Fatalf("tools %v, %v", list, err)
	}
	checkTool(t, list.Tools[0])

	var read strings.Builder
	arguments := map[string]any{"url": site.URL + "/page"}
	for calls := 0; ; calls++ {
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "web_fetch", Arguments: arguments})
		if err != nil || r.IsError {
			t.Fatalf("%v, %v", r, err)
		}
		text := textOf(t, r)
		header, rest, _ := strings.Cut(text, "\n<untrusted_web_content>\n")
		read.WriteString(strings.TrimSuffix(rest, "\n</untrusted_web_content>"))
		keys := r.StructuredContent.(map[string]any)
		if keys["ok"] != true || keys["final_url"] != site.URL+"/page" || keys["content"] != nil {
			t.Errorf("structured content %v", keys)
		}
		_, next, more := strings.Cut(header, "continue with offset=")
		if !more {
			if calls == 0 || keys["next_offset"] != nil {
				t.Errorf("%d calls, structured content %v", calls, keys)
			}
			break
		}
		arguments["offset"] = json.Number(next)
	}
	if read.String() != page {
		t.Errorf("read %d bytes that are not the page", read.Len())
	}

	r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "web_fetch", Arguments: map[string]any{"url": site.URL + "/none"}})
	if err != nil || !r.IsError {
		t.Fatalf("%v, %v", r, err)
	}
	want := "web_fetch_http_error: " + site.URL + "/none answered 404 Not Found with no readable body\nnext: stop · "
	if text := textOf(t, r); !strings.HasPrefix(text, want) {
		t.Errorf("told %q, want %q", text, want)
	}
	keys := r.StructuredContent.(map[string]any)
	if keys["ok"] != false || keys["code"] != "web_fetch_http_error" || keys["status"] != 404.0 || keys["retryable"] != false {
		t.Errorf("structured content %v", keys)
	}
}

// checkTool looks at what a tool list shows: the schema in full, all four hints, and no output schema (W-074, W-079).
func checkTool(t *testing.T, tool *mcp.Tool) {
	t.Helper()
	raw, err := json.Marshal(tool)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		t.Fatal(err)
	}
	if keys["outputSchema"] != nil || keys["title"] != nil {
		t.Errorf("tool %s", raw)
	}
	var hints map[string]bool
	if err := json.Unmarshal(keys["annotations"], &hints); err != nil {
		t.Fatal(err)
	}
	if want := (map[string]bool{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true}); fmt.Sprint(hints) != fmt.Sprint(want) {
		t.Errorf("hints %v", hints)
	}
	schema := tool.InputSchema.(map[string]any)
	if fmt.Sprint(schema["required"]) != "[url]" || schema["additionalProperties"] != false {
		t.Errorf("schema %v", schema)
	}
}

// TestPictureComesAfterTheText: nothing but the two, in this order, with the host's own keys beside them.
func TestPictureComesAfterTheText(t *testing.T) {
	client := connect(t, addTool(agenttool.Tool{
		Name: "look", InputSchema: json.RawMessage(`{"type":"object"}`),
		Handler: func(_ context.Context, arguments json.RawMessage) (agenttool.Result, error) {
			return agenttool.Result{
				Content: []agenttool.Part{{Text: "look: " + string(arguments)}, {MIME: "image/jpeg", Data: []byte("jpeg")}},
				Meta:    map[string]any{"wayleave/run": "run_1"},
			}, nil
		},
	}))
	r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "look", Arguments: map[string]any{"b": 1, "a": "<"}})
	if err != nil || r.IsError || len(r.Content) != 2 {
		t.Fatalf("%v, %v", r, err)
	}
	text, picture := r.Content[0].(*mcp.TextContent), r.Content[1].(*mcp.ImageContent)
	if !strings.HasPrefix(text.Text, `look: {"a":`) || picture.MIMEType != "image/jpeg" || string(picture.Data) != "jpeg" {
		t.Errorf("content %+v, %+v", text, picture)
	}
	if r.StructuredContent != nil || r.Meta["wayleave/run"] != "run_1" {
		t.Errorf("structured %v, meta %v", r.StructuredContent, r.Meta)
	}
}

// TestCancelledCallStopsTheFetch: W-088: the source is told, and no failed result is made of it.
func TestCancelledCallStopsTheFetch(t *testing.T) {
	asked, stopped := make(chan struct{}), make(chan error, 1)
	source := webfetch.SourceFunc(func(ctx context.Context, _ webfetch.Request) (*webfetch.Page, error) {
		close(asked)
		<-ctx.Done()
		stopped <- ctx.Err()
		return nil, ctx.Err()
	})
	client := connect(t, func(s *mcp.Server) {
		if err := adapter.AddWebFetch(s, webfetch.ToolOptions{Source: source}); err != nil {
			t.Fatal(err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if r, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "web_fetch", Arguments: map[string]any{"url": "https://h.example/"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("the source saw %v", err)
	}
}

// TestOptionsAreTheLibrarys: W-010, W-012.
func TestOptionsAreTheLibrarys(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "reader", Version: "1"}, nil)
	chars := 0
	err := adapter.AddWebFetch(server, webfetch.ToolOptions{Options: webfetch.Options{PageChars: &chars}})
	var option *webfetch.OptionError
	if !errors.As(err, &option) || option.Option != "page_chars" {
		t.Errorf("error %v", err)
	}
}
