package clienttest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// W-077: a failure reaches a pi host as an error result with the text for the model and all that a host needs to know of
// it beside.
func TestFailureReachesAPiHostWithItsFields(t *testing.T) {
	t.Parallel()
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(empty.Close)
	s := serve(t, program(t), "--allow-host", strings.TrimPrefix(empty.URL, "http://"))
	orders := s.overHTTP()
	orders["calls"] = []map[string]any{{"url": empty.URL + "/gone"}, {"url": refusedURL}}
	rep := drive(t, inClients("pi.mjs"), orders)
	if len(rep.Results) != 2 || len(rep.Texts) != 2 {
		t.Fatalf("%d results, %d texts", len(rep.Results), len(rep.Texts))
	}
	for i, want := range []struct {
		text, structured string
	}{
		{"web_fetch_http_error: " + empty.URL + "/gone answered 404 Not Found with no readable body\nnext: stop · ",
			`{"code":"web_fetch_http_error","content_type":"text/html","next":"stop","ok":false,"retryable":false,"status":404,"url":"` + empty.URL + `/gone"}`},
		{"web_fetch_disallowed_url: nothing was sent; ",
			`{"code":"web_fetch_disallowed_url","next":"stop","ok":false,"retryable":false,"status":403,"url":"` + refusedURL + `"}`},
	} {
		var r struct {
			IsError           bool
			StructuredContent map[string]any
		}
		if err := json.Unmarshal(rep.Results[i], &r); err != nil {
			t.Fatal(err)
		}
		if message, _ := r.StructuredContent["message"].(string); message == "" || strings.Contains(message, "\n") {
			t.Errorf("failure %d: message %q", i+1, message)
		}
		for _, id := range []string{"run_id", "tool_call_id"} {
			if text, _ := r.StructuredContent[id].(string); !strings.Contains(text, "_") {
				t.Errorf("failure %d: %s is %q", i+1, id, text)
			}
			delete(r.StructuredContent, id)
		}
		delete(r.StructuredContent, "message")
		got, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if !r.IsError || string(got) != want.structured {
			t.Errorf("failure %d: isError %v, %s\nwant %s", i+1, r.IsError, got, want.structured)
		}
		if !strings.HasPrefix(rep.Texts[i], want.text) {
			t.Errorf("failure %d: pi's model reads %q, want %q…", i+1, rep.Texts[i], want.text)
		}
	}
}
