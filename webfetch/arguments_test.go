package webfetch

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestToolInputCases(t *testing.T) {
	for _, c := range behaviours(t, "tool_input") {
		t.Run(c.ID, func(t *testing.T) {
			var want struct {
				Code   Code
				Status int
				Blames string
				Source *Request `json:"source_receives"`
			}
			read(t, c.Expected, &want)
			source := &recordingSource{page: &Page{Content: "x"}}
			if c.ID == "tool_input-005" { // the URL is the source's to judge
				source.err = &Error{Code: CodeInvalidInput, Status: 400, Field: "url", Reason: "is no URL"}
			}
			tool := mustTool(t, ToolOptions{Source: source})
			result, err := tool.Handler(t.Context(), c.Input)
			if err != nil {
				t.Fatal(err)
			}
			if want.Source != nil {
				if result.Failure != nil || len(source.requests) != 1 || source.requests[0] != *want.Source {
					t.Errorf("the source was asked for %+v, failure %v", source.requests, result.Failure)
				}
				return
			}
			var e *Error
			if !errors.As(result.Failure, &e) || e.Code != want.Code || want.Status != 0 && e.Status != want.Status || e.Retryable {
				t.Fatalf("failure %#v", result.Failure)
			}
			if source.err == nil && len(source.requests) != 0 {
				t.Errorf("%d requests", len(source.requests))
			}
			if want.Blames != "" && e.Field != want.Blames {
				t.Errorf("blames %q", e.Field)
			}
			if text := result.Text(); !strings.HasPrefix(text, string(want.Code)+": "+e.Field+" · ") || !strings.Contains(text, "\nnext: fix_input · ") {
				t.Errorf("the model is told %q", text)
			}
		})
	}
}

func TestArgumentsAreRead(t *testing.T) {
	able := Abilities{MainContent: true}
	for raw, want := range map[string]Arguments{
		`{"url":" https://h/a#x \n"}`: {URL: "https://h/a#x", MaxBytes: 12_000, Content: PartMain, Format: FormatAuto},
		`{"url":"u","offset":2.0,"max_bytes":2e1,"find":" a b ","content":"full","links":true,"format":"raw"}`: {
			URL: "u", Offset: 2, MaxBytes: 20, Find: "a b", Content: PartFull, Links: true, Format: FormatRaw},
		`{"url":"u","offset":null,"max_bytes":null,"find":null,"content":null,"links":null,"format":null}`: {
			URL: "u", MaxBytes: 12_000, Content: PartMain, Format: FormatAuto},
		`{"offset":-0,"max_bytes":200e-2,"url":"u","links":false}`: {URL: "u", MaxBytes: 2, Content: PartMain, Format: FormatAuto},
		`{"url":"u","offset":9007199254740991}`:                    {URL: "u", Offset: 1<<53 - 1, MaxBytes: 12_000, Content: PartMain, Format: FormatAuto},
		"\n {\"u\\u0072l\" : \"u\"}\t":                             {URL: "u", MaxBytes: 12_000, Content: PartMain, Format: FormatAuto},
		`{"url":"u","find":"` + strings.Repeat("é", 200) + `"}`:    {URL: "u", MaxBytes: 12_000, Find: strings.Repeat("é", 200), Content: PartMain, Format: FormatAuto},
	} {
		if got, err := ParseArguments(json.RawMessage(raw), able); err != nil || got != want {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
	if got, err := ParseArguments(json.RawMessage(`{"url":"u"}`), Abilities{}); err != nil || got.Content != PartFull {
		t.Errorf("without main content: %+v, %v", got, err)
	}
}

// TestBadArgumentsNameTheFirstMember has for each wrong call the member that is blamed and a part of the reason. The
// order is W-032: JSON, unknown, offset, max_bytes, find, content, links, format, url.
func TestBadArgumentsNameTheFirstMember(t *testing.T) {
	for _, c := range []struct{ raw, field, reason string }{
		{``, "url", "missing"},
		{`null`, "url", "missing"},
		{`{}`, "url", "missing"},
		{`{"url":null}`, "url", "missing"},
		{`{"url":""}`, "url", "blank"},
		{`{"url":" \t"}`, "url", "blank"},
		{`{"url":5}`, "url", "must be a string"},
		{`{"url":["u"]}`, "url", "must be a string"},
		{`[]`, "", "one JSON object"},
		{`"u"`, "", "one JSON object"},
		{`{"url":"u"`, "", "not valid JSON"},
		{`{"url":"u",}`, "", "not valid JSON"},
		{`{"url" "u"}`, "", "not valid JSON"},
		{`{"url":"u"} {}`, "", "one JSON object"},
		{`{"url":"u"} x`, "", "one JSON object"},
		{`{"url":` + strings.Repeat("[", 100_000) + `}`, "", "not valid JSON"},
		{`{"url":"` + strings.Repeat("u", 256<<10) + `"}`, "", "256 KiB"},
		{`{"url":"u","url":"u"}`, "url", "twice"},
		{`{"url":"u","find":null,"f\u0069nd":"x"}`, "find", "twice"},
		{`{"url":"u","URL":"u"}`, "URL", "no argument"},
		{`{"url":"u","headers":{},"offset":-1}`, "headers", "takes url, offset, format, content, find, links, max_bytes"},
		{`{"offset":-1,"":1}`, "", "no argument"},
		{`{"url":"u","x":null}`, "x", "no argument"},
		{`{"url":"","offset":-1,"max_bytes":0,"find":"","content":"x","links":1,"format":"x"}`, "offset", "0 or more"},
		{`{"url":"","max_bytes":0,"find":"","content":"x","links":1,"format":"x"}`, "max_bytes", "1 to 20000"},
		{`{"url":"","find":"","content":"x","links":1,"format":"x"}`, "find", "1 to 200"},
		{`{"url":"","content":"x","links":1,"format":"x"}`, "content", `"main" or "full"`},
		{`{"url":"","links":1,"format":"x"}`, "links", "true or false"},
		{`{"url":"","format":"x"}`, "format", `"auto" or "raw"`},
		{`{"url":"u","offset":1.5}`, "offset", "whole number"},
		{`{"url":"u","offset":"10"}`, "offset", "whole number"},
		{`{"url":"u","offset":true}`, "offset", "whole number"},
		{`{"url":"u","offset":{"a":1}}`, "offset", "whole number"},
		{`{"url":"u","offset":9007199254740992}`, "offset", "whole number"},
		{`{"url":"u","offset":1e999999999999}`, "offset", "whole number"},
		{`{"url":"u","offset":1e-999999999999}`, "offset", "whole number"},
		{`{"url":"u","offset":2.0000000000000000000001}`, "offset", "whole number"},
		{`{"url":"u","max_bytes":20001}`, "max_bytes", "whole number"},
		{`{"url":"u","max_bytes":0}`, "max_bytes", "whole number"},
		{`{"url":"u","find":"` + strings.Repeat("é", 201) + `"}`, "find", "has 201"},
		{`{"url":"u","find":7}`, "find", "must be a string"},
		{`{"url":"u","content":"Main"}`, "content", "must be"},
		{`{"url":"u","links":"true"}`, "links", "must be"},
		{`{"url":"u","format":""}`, "format", "must be"},
		{`{"url":"u","format":["raw"]}`, "format", "must be"},
	} {
		_, err := ParseArguments(json.RawMessage(c.raw), Abilities{MainContent: true})
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeInvalidInput || e.Status != 400 || e.Retryable {
			t.Errorf("%.60s: %v", c.raw, err)
			continue
		}
		if e.Field != c.field || !strings.Contains(e.Reason, c.reason) {
			t.Errorf("%.60s: blames %q, which %s", c.raw, e.Field, e.Reason)
		}
	}
}

// TestTM042ArgumentsThatReachFurtherAreRefused: no argument widens what an operator decided (W-004).
func TestTM042ArgumentsThatReachFurtherAreRefused(t *testing.T) {
	source := &recordingSource{page: &Page{Content: "x"}}
	tool := mustTool(t, ToolOptions{Source: source})
	for _, name := range []string{
		"allowed_hosts", "blocked_hosts", "allow_private_hosts", "timeout_ms", "max_redirects", "max_body_bytes", "page_chars", "headers",
		"method", "body", "user_agent", "proxy", "cookies", "authorization", "script", "provider", "endpoint", "profile", "file", "content", "links", "__proto__",
	} {
		raw, _ := json.Marshal(map[string]any{"url": "https://h.example/", name: 1})
		result, err := tool.Handler(t.Context(), raw)
		var e *Error
		if err != nil || !errors.As(result.Failure, &e) || e.Code != CodeInvalidInput || e.Field != name {
			t.Errorf("%s: %v, %v", name, result.Failure, err)
		}
	}
	if len(source.requests) != 0 {
		t.Errorf("%d requests were made", len(source.requests))
	}
}

// FuzzArguments: whatever is sent, the answer is arguments in their ranges or an error that fits on its lines.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{
		`{"url":"https://h/","offset":2.0,"max_bytes":20,"find":"x","content":"main","links":true,"format":"raw"}`,
		`{"url":"u","offset":1e3}`, `{"a":1,"a":2}`, `[]`, `{"url":"\ud800"}`, `{"\u202e":1}`, "{\"url\":\"\xff\"}", `{"url":"u","offset":-0.0e-0}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := ParseArguments(raw, Abilities{MainContent: true})
		if err == nil {
			find := utf8.RuneCountInString(a.Find)
			if a.URL == "" || a.URL != strings.TrimSpace(a.URL) || a.Offset < 0 || a.MaxBytes < 1 || a.MaxBytes > MaxWindowBytes ||
				find > 200 || a.Content != PartMain && a.Content != PartFull || a.Format != FormatAuto && a.Format != FormatRaw {
				t.Fatalf("%q gave %+v", raw, a)
			}
			var plain map[string]json.RawMessage
			if json.Unmarshal(raw, &plain) != nil || plain["url"] == nil {
				t.Fatalf("%q was taken for an object", raw)
			}
			return
		}
		checkErrorResult(t, err, AnswerOptions{})
	})
}
