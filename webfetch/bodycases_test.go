package webfetch

// The behaviour cases of what a body is and how it is laid out: each asks one part of reading, none needs a server.

import (
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/bodytype"
	"github.com/wayleave/wayleave/internal/jsontext"
	"github.com/wayleave/wayleave/internal/mdtext"
)

func TestContentTypeHeaderCases(t *testing.T) {
	for _, c := range bodyCases(t, "content_type_header") {
		media, label := bodytype.ParseContentType([]string{c.Input.ContentType})
		if media != c.Expected.MediaType || label != c.Expected.Charset {
			t.Errorf("%s: got %q and %q, want %q and %q", c.ID, media, label, c.Expected.MediaType, c.Expected.Charset)
		}
	}
}

func TestSniffCases(t *testing.T) {
	// Where sniffing does better than the reference, as the cases' notes allow.
	ours := map[string]string{"sniff-005": "image/jpeg", "sniff-011": "application/xhtml+xml"}
	for _, c := range bodyCases(t, "sniff") {
		body, contentType := c.body(t)
		want := c.Expected.ContentType
		if our, differs := ours[c.ID]; differs {
			want = our
		}
		served, label := bodytype.ParseContentType([]string{contentType})
		if got := bodytype.Sniff(body, served, label); got != want {
			t.Errorf("%s: got %s, want %s", c.ID, got, want)
		}
	}
}

func TestClassifyCases(t *testing.T) {
	kinds := map[string]bodytype.Kind{"markdown": bodytype.Markdown, "html": bodytype.HTML, "document": bodytype.Document, "json": bodytype.JSON,
		"text": bodytype.Text, "binary": bodytype.Binary}
	for _, c := range bodyCases(t, "classify") {
		want, known := kinds[c.Expected.Handling]
		if got := bodytype.KindOf(c.Input.MediaType); !known || got != want {
			t.Errorf("%s: %s is of kind %d, want %s", c.ID, c.Input.MediaType, got, c.Expected.Handling)
		}
	}
}

func TestJSONCases(t *testing.T) {
	for _, c := range bodyCases(t, "json") {
		if c.Input.Live {
			continue // needs the public web; its two-space style is the others' too
		}
		got, ok := jsontext.Indent(c.Input.Body)
		if !ok {
			got = c.Input.Body
		}
		if want := c.Expected.Via == "json"; got != c.Expected.Content || ok != want {
			t.Errorf("%s: got %v %q, want %s %q", c.ID, ok, got, c.Expected.Via, c.Expected.Content)
		}
	}
}

func TestTidyCases(t *testing.T) {
	for _, c := range bodyCases(t, "tidy") {
		want := strings.Join(c.Expected.MarkdownLines, "\n")
		if got := mdtext.Tidy(strings.Join(c.Input.MarkdownLines, "\n")); got != want {
			t.Errorf("%s:\n got %q\nwant %q", c.ID, got, want)
		}
	}
}

func TestTitleCases(t *testing.T) {
	// All named references are decoded, not the reference's six (W-066).
	ours := map[string]string{"title-005": "Up \u00a9 x"}
	for _, c := range bodyCases(t, "title") {
		title := mdtext.HTMLTitle
		if c.Input.Kind == "markdown" {
			title = mdtext.MarkdownTitle
		}
		want := c.Expected.Title
		if our, differs := ours[c.ID]; differs {
			want = our
		}
		if got := title(string(c.Input.Content)); got != want {
			t.Errorf("%s: got %q, want %q", c.ID, got, want)
		}
	}
}

func TestRawTitles(t *testing.T) {
	for _, c := range bodyCases(t, "raw") {
		if c.Expected.Via == "" {
			continue // refused: TestKindOfMediaType
		}
		var got string
		switch bodytype.KindOf(c.Input.MediaType) {
		case bodytype.HTML:
			got = mdtext.HTMLTitle(c.Input.Body)
		case bodytype.Markdown:
			got = mdtext.MarkdownTitle(c.Input.Body)
		}
		if got != c.Expected.Title {
			t.Errorf("%s: got %q, want %q", c.ID, got, c.Expected.Title)
		}
	}
}
