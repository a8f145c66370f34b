package clienttest

// A model that plays a script, for harnesses that are whole programs: it speaks the chat completions protocol, answers
// each request with the next tool call, and keeps what it was asked.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

type model struct {
	*httptest.Server
	tool  string
	calls []map[string]any

	mu       sync.Mutex
	requests []chatRequest // those that offered tools
}

type chatRequest struct {
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
	Tools []struct {
		Function struct{ Name string }
	}
	raw string
}

// toolTexts are the texts of the tool results in a request.
func (r chatRequest) toolTexts(t *testing.T) []string {
	t.Helper()
	var texts []string
	for _, m := range r.Messages {
		if m.Role != "tool" {
			continue
		}
		var text string
		if err := json.Unmarshal(m.Content, &text); err != nil {
			t.Fatalf("a tool result that is not one text: %s", m.Content)
		}
		texts = append(texts, text)
	}
	return texts
}

// newModel plays calls on the tool of that name. An offset "continue" is the one that the last result's header names.
func newModel(t *testing.T, tool string, calls []map[string]any) *model {
	m := &model{tool: tool, calls: calls}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req chatRequest
		var raw json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
			t.Errorf("the model was sent no JSON: %v", err)
		} else if err := json.Unmarshal(raw, &req); err != nil {
			t.Errorf("the model was sent no chat request: %v", err)
		}
		req.raw = string(raw)
		delta, why := map[string]any{"role": "assistant", "content": "done"}, "stop"
		if len(req.Tools) > 0 {
			m.mu.Lock()
			m.requests = append(m.requests, req)
			m.mu.Unlock()
			if texts := req.toolTexts(t); len(texts) < len(calls) {
				delta, why = m.call(t, texts), "tool_calls"
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range []map[string]any{{"delta": delta}, {"delta": map[string]any{}, "finish_reason": why}} {
			c["index"] = 0
			text, err := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
				"choices": []any{c}})
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, "data: %s\n\n", text)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(m.Close)
	return m
}

var continueAt = regexp.MustCompile(`continue with offset=(\d+)`)

func (m *model) call(t *testing.T, texts []string) map[string]any {
	args := map[string]any{}
	for k, v := range m.calls[len(texts)] {
		args[k] = v
	}
	if args["offset"] == "continue" {
		header, _, _ := strings.Cut(texts[len(texts)-1], "\n")
		found := continueAt.FindStringSubmatch(header)
		if found == nil {
			t.Errorf("no offset to continue with in %q", header)
			return map[string]any{"role": "assistant", "content": "lost"}
		}
		args["offset"], _ = strconv.Atoi(found[1])
	}
	text, err := json.Marshal(args)
	if err != nil {
		t.Error(err)
	}
	return map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"index": 0, "id": fmt.Sprintf("call_%d", len(texts)),
		"type": "function", "function": map[string]any{"name": m.tool, "arguments": string(text)}}}}
}

// report is the conversation in the form in which drivers tell theirs.
func (m *model) report(t *testing.T) report {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		t.Fatal("the model was never asked with tools at hand")
	}
	var rep report
	last := m.requests[len(m.requests)-1]
	for _, tool := range last.Tools {
		if strings.Contains(tool.Function.Name, "web_fetch") {
			rep.Offered = append(rep.Offered, tool.Function.Name)
		}
	}
	for _, r := range m.requests {
		rep.Requests = append(rep.Requests, r.raw)
	}
	rep.Texts = last.toolTexts(t)
	return rep
}
