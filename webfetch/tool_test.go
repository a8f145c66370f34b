package webfetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/untrusted"
	"github.com/wayleave/wayleave/weburl"
)

// recordingSource gives one page, or one error, and remembers what it was asked for.
type recordingSource struct {
	page     *Page
	err      error
	requests []Request
}

func (s *recordingSource) Fetch(_ context.Context, req Request) (*Page, error) {
	s.requests = append(s.requests, req)
	return s.page, s.err
}

func mustTool(t testing.TB, o ToolOptions) agenttool.Tool {
	t.Helper()
	tool, err := NewTool(o)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// call runs a tool on arguments that are JSON text.
func call(t testing.TB, tool agenttool.Tool, arguments string) agenttool.Result {
	t.Helper()
	result, err := tool.Handler(t.Context(), json.RawMessage(arguments))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestToolAnswersWithHeaderWrapperAndKeys(t *testing.T) {
	source := &recordingSource{page: &Page{
		FinalURL: "https://h.example/b", Status: 200, ContentType: "text/html", Via: ViaConverted, Title: "A title", Content: "# Hello\n\nWorld",
		RetrievedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Headers: map[string]string{"etag": "x"}, Bytes: 99,
		Redirects: []string{"https://h.example/a"}, Provider: "fake",
	}}
	result := call(t, mustTool(t, ToolOptions{Source: source}), `{"url":" https://h.example/a#f "}`)
	want := "web_fetch: https://h.example/b · 200 · text/html → markdown · chars 0–14 of 14\n" + untrusted.OpenTag + "\n# Hello\n\nWorld\n" + untrusted.CloseTag
	if len(result.Content) != 1 || result.Text() != want {
		t.Errorf("text %q", result.Text())
	}
	keys := `{"ok":true,"provider":"fake","notes":[],"requested_url":"https://h.example/a#f","final_url":"https://h.example/b","status":200,` +
		`"content_type":"text/html","via":"converted","content_kind":"full","total_chars":14,"full_chars":14,"offset":0,"next_offset":null,` +
		`"truncated":false,"retrieved_at":"2026-01-02T03:04:05Z","bytes":99,"redirects":["https://h.example/a"]}`
	if string(result.Structured) != keys {
		t.Errorf("structured content\n%s\nwant\n%s", result.Structured, keys)
	}
	if result.Failure != nil || result.Meta != nil {
		t.Errorf("failure %v, meta %v", result.Failure, result.Meta)
	}
}

// TestWindowsOfTheToolAreThoseOfTheLibrary: W-190, and W-047 in that only the header is read.
func TestWindowsOfTheToolAreThoseOfTheLibrary(t *testing.T) {
	page := &Page{FinalURL: "https://h.example/", Status: 200, ContentType: "text/plain", Via: ViaText, Content: strings.Repeat("ein Wörtchen\n", 50)}
	chars := 100
	tool := mustTool(t, ToolOptions{Source: &recordingSource{page: page}, Options: Options{PageChars: &chars}})
	offset := 0
	for w := NewWindow(page, 0, chars); ; w = NewWindow(page, *w.NextOffset, chars) {
		text := call(t, tool, fmt.Sprintf(`{"url":"https://h.example/","offset":%d}`, offset)).Text()
		if text != Render(w) {
			t.Fatalf("the tool gives\n%s\nthe library\n%s", text, Render(w))
		}
		header, _, _ := strings.Cut(text, "\n")
		_, next, more := strings.Cut(header, "continue with offset=")
		if more != (w.NextOffset != nil) {
			t.Fatalf("header %q", header)
		}
		if !more {
			break
		}
		if _, err := fmt.Sscan(next, &offset); err != nil {
			t.Fatal(err)
		}
	}
	if offset == 0 {
		t.Error("there was one window only")
	}
}

func TestSourceFailuresKeepTheirType(t *testing.T) {
	plain := errors.New("backend says no")
	for name, c := range map[string]struct {
		source *recordingSource
		code   Code
		status int
	}{
		"plain":   {&recordingSource{err: plain}, CodeUnavailable, 502}, // W-170
		"nothing": {&recordingSource{}, CodeUnavailable, 502},
		"foreign": {&recordingSource{err: &Error{Code: "quota", Status: 1}}, CodeUnavailable, 502}, // W-158
		"ours":    {&recordingSource{err: fmt.Errorf("wrapped: %w", &Error{Code: CodeBlocked, Status: 403})}, CodeBlocked, 403},
	} {
		result := call(t, mustTool(t, ToolOptions{Source: c.source}), `{"url":"u"}`)
		var e *Error
		if !errors.As(result.Failure, &e) || e.Code != c.code || e.Status != c.status {
			t.Errorf("%s: %#v", name, e)
		}
		if c.source.err != nil && name != "ours" && !errors.Is(result.Failure, c.source.err) {
			t.Errorf("%s: the original error is lost", name)
		}
		if result.Failure.Error() != result.Text() { // W-085
			t.Errorf("%s: the failure reads %q", name, result.Failure)
		}
	}
}

func TestPanickingSourceFailsItsCall(t *testing.T) {
	source := SourceFunc(func(context.Context, Request) (*Page, error) { panic("no such table") })
	result := call(t, mustTool(t, ToolOptions{Source: source}), `{"url":"u"}`)
	var e *Error
	if !errors.As(result.Failure, &e) || e.Code != CodeUnavailable || strings.Contains(result.Text(), "table") {
		t.Errorf("%q", result.Text())
	}
}

// TestSourceThatOutlivesItsDeadlineIsLeftBehind: cases timeout-001 and -002, W-154.
func TestSourceThatOutlivesItsDeadlineIsLeftBehind(t *testing.T) {
	behaviours(t, "", "timeout-001", "timeout-002")
	for name, obeys := range map[string]bool{"obeys": true, "ignores": false} {
		synctest.Test(t, func(t *testing.T) {
			end := make(chan struct{})
			source := SourceFunc(func(ctx context.Context, _ Request) (*Page, error) {
				if obeys {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				<-end
				return &Page{}, nil
			})
			timeout := 10 * time.Millisecond
			tool := mustTool(t, ToolOptions{Source: source, Options: Options{Timeout: &timeout}})
			began := time.Now()
			result := call(t, tool, `{"url":"https://example.com/doc"}`)
			var e *Error
			if !errors.As(result.Failure, &e) || e.Code != CodeTimeout || e.Status != 504 || !e.Retryable || e.Timeout != timeout || e.URL != "https://example.com/doc" {
				t.Errorf("%s: %#v", name, e)
			}
			if took := time.Since(began); took != timeout {
				t.Errorf("%s: took %v", name, took)
			}
			if !strings.HasPrefix(result.Text(), "web_fetch_timeout: https://example.com/doc timed out after 10 ms\nnext: retry · ") {
				t.Errorf("%s: the model is told %q", name, result.Text())
			}
			close(end)
		})
	}
}

// TestCancellationPassesAsItIs: case cancel-005, W-155: the caller's own end is no failed result, and wins.
func TestCancellationPassesAsItIs(t *testing.T) {
	behaviours(t, "", "cancel-005")
	source := &recordingSource{page: &Page{}}
	tool := mustTool(t, ToolOptions{Source: source})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if result, err := tool.Handler(gone, json.RawMessage(`{"offset":-1}`)); !errors.Is(err, context.Canceled) || result.Content != nil {
		t.Errorf("cancelled before: %v, %v", result, err)
	}
	if len(source.requests) != 0 {
		t.Error("the source was asked")
	}
	during, cancel := context.WithCancel(t.Context())
	waiting := mustTool(t, ToolOptions{Source: SourceFunc(func(context.Context, Request) (*Page, error) {
		cancel()
		return nil, &Error{Code: CodeTimeout}
	})})
	if result, err := waiting.Handler(during, json.RawMessage(`{"url":"u"}`)); !errors.Is(err, context.Canceled) || result.Content != nil {
		t.Errorf("cancelled during: %v, %v", result, err)
	}
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if _, err := tool.Handler(expired, json.RawMessage(`{"url":"u"}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's deadline: %v", err)
	}
}

func TestPageOfASourceIsMadeWhole(t *testing.T) {
	given := &Page{Content: "a\xff\u202eb\U000E0041é", TotalChars: 999, Notes: make([]Note, 0, 5)}
	tool := mustTool(t, ToolOptions{Source: &recordingSource{page: given}})
	result := call(t, tool, `{"url":"https://h.example/#x"}`)
	want := "web_fetch: https://h.example/ · unknown · unknown → text · chars 0–4 of 4\nnote: dropped · 2 invisible direction or tag characters left out\n" +
		untrusted.OpenTag + "\na\uFFFDbé\n" + untrusted.CloseTag
	if result.Text() != want {
		t.Errorf("text\n%s\nwant\n%s", result.Text(), want)
	}
	if given.Content != "a\xff\u202eb\U000E0041é" || len(given.Notes) != 0 || given.TotalChars != 999 {
		t.Error("the source's own page was changed")
	}
	raw := call(t, tool, `{"url":"u","format":"raw"}`).Text()
	if !strings.Contains(raw, "\u202eb\U000E0041") {
		t.Errorf("raw left something out: %q", raw)
	}
}

func TestOptionsCases(t *testing.T) {
	for _, c := range behaviours(t, "options") {
		t.Run(c.ID, func(t *testing.T) {
			var in struct{ Options map[string]any }
			read(t, c.Input, &in)
			var want struct {
				Valid       *bool
				Description string `json:"tool_description"`
				Defaults    map[string]any
			}
			read(t, c.Expected, &want)
			tool, err := newToolFrom(in.Options)
			if want.Valid != nil && (err == nil) != *want.Valid {
				t.Errorf("error %v", err)
			}
			if want.Description != "" && tool.Description != want.Description {
				t.Errorf("description %q", tool.Description)
			}
			for name, value := range want.Defaults {
				if got := defaults()[name]; got != value {
					t.Errorf("%s is %v, want %v", name, got, value)
				}
			}
		})
	}
}

// newToolFrom makes a tool from options as configuration writes them, as far as the cases go.
func newToolFrom(options map[string]any) (agenttool.Tool, error) {
	var o ToolOptions
	for name, value := range options {
		number, isNumber := value.(float64)
		whole := int(number)
		switch name {
		case "page_chars", "max_redirects", "timeout_ms":
			if !isNumber || number != float64(whole) { // no Go value can say it
				return agenttool.Tool{}, fmt.Errorf("%s is %v", name, value)
			}
		}
		switch name {
		case "page_chars":
			o.Options.PageChars = &whole
		case "max_redirects":
			o.Options.MaxRedirects = &whole
		case "description":
			text := value.(string)
			o.Options.Description = &text
		case "allowed_hosts":
			for _, host := range value.([]any) {
				pattern, err := weburl.ParseHostPattern(host.(string))
				if err != nil {
					return agenttool.Tool{}, err
				}
				o.Options.Policy = &weburl.Policy{AllowedHosts: []weburl.HostPattern{pattern}}
			}
		case "binding":
			o.Options.Converter = plainConverter{}
		case "source":
			o.Source = SourceFunc(nil)
			if value == true {
				o.Source = &recordingSource{}
			}
		default:
			return agenttool.Tool{}, fmt.Errorf("unknown option %s", name)
		}
	}
	return NewTool(o)
}

type plainConverter struct{}

func (plainConverter) ConvertHTML(_ context.Context, page HTML) (string, error) {
	return page.Text, nil
}

// defaults are the values that nil options stand for, by the names of the cases.
func defaults() map[string]any {
	return map[string]any{
		"name": Definition("", Abilities{}).Name, "page_chars": float64(DefaultPageChars), "max_bytes": float64(DefaultMaxBodyBytes),
		"timeout_ms": float64(DefaultTimeout.Milliseconds()), "max_redirects": float64(DefaultMaxRedirects),
		"allow_private_hosts": weburl.Policy{}.AllowPrivateHosts,
	}
}

// TestInvalidOptionsFailWhenTheToolIsMade: W-012: the error names option, value and range.
func TestInvalidOptionsFailWhenTheToolIsMade(t *testing.T) {
	for _, c := range []struct {
		o     ToolOptions
		words []string
	}{
		{ToolOptions{Options: Options{PageChars: ptr(0)}}, []string{"page_chars", "is 0", "1 to 200000"}},
		{ToolOptions{Options: Options{PageChars: ptr(200_001)}}, []string{"page_chars", "200001"}},
		{ToolOptions{Options: Options{MaxBodyBytes: ptr(int64(0))}}, []string{"max_body_bytes", "is 0", "1 to 100000000"}},
		{ToolOptions{Options: Options{MaxBodyBytes: ptr(int64(100_000_001))}}, []string{"max_body_bytes"}},
		{ToolOptions{Options: Options{Timeout: ptr(-time.Millisecond)}}, []string{"timeout_ms", "is -1", "1 to 600000"}},
		{ToolOptions{Options: Options{Timeout: ptr(time.Duration(0))}}, []string{"timeout_ms", "is 0"}},
		{ToolOptions{Options: Options{Timeout: ptr(10*time.Minute + time.Millisecond)}}, []string{"timeout_ms", "is 600001"}},
		{ToolOptions{Options: Options{MaxRedirects: ptr(-1)}}, []string{"max_redirects", "is -1", "0 to 20"}},
		{ToolOptions{Options: Options{MaxRedirects: ptr(21)}}, []string{"max_redirects", "is 21"}},
		{ToolOptions{Options: Options{UserAgent: ptr(" ")}}, []string{"user_agent", "not blank"}},
		{ToolOptions{Options: Options{UserAgent: ptr("a\r\nb")}}, []string{"user_agent", `"a\r\nb"`, "control"}},
		{ToolOptions{Options: Options{Description: ptr(" \n")}}, []string{"description", "not blank"}},
		{ToolOptions{Name: "a b"}, []string{"name", `"a b"`, "letters"}},
		{ToolOptions{Name: strings.Repeat("a", 41)}, []string{"name", "40"}},
		{ToolOptions{Name: "é"}, []string{"name"}},
		{ToolOptions{Source: (*recordingSource)(nil)}, []string{"source"}},
		{ToolOptions{Source: &recordingSource{}, Options: Options{PageChars: ptr(0)}}, []string{"page_chars"}},
	} {
		_, err := NewTool(c.o)
		var option *OptionError
		if !errors.As(err, &option) {
			t.Errorf("%v: error %v", c.words, err)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%q does not say %q", err, word)
			}
		}
	}
	for _, o := range []ToolOptions{
		{}, {Name: strings.Repeat("a", 40)}, {Options: Options{PageChars: ptr(200_000), MaxBodyBytes: ptr(int64(1)), Timeout: ptr(10 * time.Minute), MaxRedirects: ptr(0)}},
	} {
		if _, err := NewTool(o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// TestNoOptionIsMeaninglessBesideASource: W-027, also for the options that are added one day.
func TestNoOptionIsMeaninglessBesideASource(t *testing.T) {
	host, err := weburl.ParseHostPattern("h.example")
	if err != nil {
		t.Fatal(err)
	}
	for name, policy := range map[string]*weburl.Policy{
		"allowed_hosts":       {AllowedHosts: []weburl.HostPattern{host}},
		"blocked_hosts":       {BlockedHosts: []weburl.HostPattern{host}},
		"allow_private_hosts": {AllowPrivateHosts: true},
		"policy":              {},
	} {
		if _, err := NewTool(ToolOptions{Source: &recordingSource{}, Options: Options{Policy: policy}}); err == nil || !strings.Contains(err.Error(), "option "+name+" ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	applies := map[string]bool{"PageChars": true, "Timeout": true, "Description": true}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Options]()) {
		o := ToolOptions{Source: &recordingSource{page: &Page{}}}
		value := reflect.ValueOf(&o.Options).Elem().FieldByIndex(field.Index)
		switch field.Type.Kind() {
		case reflect.Pointer:
			value.Set(reflect.New(field.Type.Elem()))
		case reflect.Interface:
			value.Set(reflect.ValueOf(seams{}))
		case reflect.Bool:
			value.SetBool(true)
		case reflect.String:
			value.SetString(map[string]string{"Content": string(PartFull), "Links": string(LinksNone)}[field.Name])
		default:
			t.Fatalf("option %s is of a kind that this test does not know", field.Name)
		}
		switch field.Name {
		case "PageChars":
			*o.Options.PageChars = 1
		case "Timeout":
			*o.Options.Timeout = time.Second
		case "MaxBodyBytes":
			*o.Options.MaxBodyBytes = 1
		case "Description", "UserAgent":
			value.Elem().SetString("x")
		}
		if _, err := NewTool(o); (err == nil) != applies[field.Name] {
			t.Errorf("%s beside a source: %v", field.Name, err)
		}
	}
}

// seams is whatever an option asks for.
type seams struct{ plainConverter }

func (seams) Convert(context.Context, string, []byte) (Document, error) { return Document{}, nil }
