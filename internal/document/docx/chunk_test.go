package docx

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/page"
)

const chunkPage = `<!DOCTYPE html><html><head><title>no</title><style>p{}</style></head><body><h2>Berths</h2><p>The <b>north</b> mole, <a href="https://harbour.example/?a=1&amp;b=2">notices</a>.<br>m<sup>2</sup>` +
	`<p style="display: none">hidden</p><ul><li>one<ol start="3"><li>deep</li></ol></li><li><p>two</p><p>more</p></li></ul><blockquote>said</blockquote><pre>a = 1
  b</pre><table><caption>Depths</caption><tr><th colspan=2>A</th><th>B</th></tr><tr><td>1</td><td>2</td><td><p>3</p><p>4</p></td></tr></table><img alt="A pier" src="x.png"><script>no()</script></body></html>`

const chunkText = "## Berths\n\nThe **north** mole, [notices](https://harbour.example/?a=1&b=2).\\\nm^2\n\n- one\n\n  3. deep\n- two\n\n  more\n\n> said\n\n```\na = 1\n  b\n```\n\nDepths\n\n| A | | B |\n| --- | --- | --- |\n| 1 | 2 | 3<br>4 |\n\n![A pier]()"

func TestChunks(t *testing.T) {
	message := func(encoding, text string) string {
		return "MIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n    type=\"text/html\";\r\n    boundary=\"----=part\"\r\n\r\n------=part\r\nContent-Type: text/html;\r\n    charset=\"utf-8\"\r\n" +
			"Content-Transfer-Encoding: " + encoding + "\r\nContent-Location: file:///C:/fake/document.html\r\n\r\n" + text + "\r\n------=part--\r\n"
	}
	inner := string(file("body", p("inner")+item("1", "0", "a"), "numbering", listSheet))
	for name, c := range map[string]struct{ file, content, want string }{
		"HTML":               {"a.htm", chunkPage, chunkText},
		"an archived page":   {"a.mht", message("quoted-printable", "<html><p class=3D\"x\">Gr=C3=B6=\r\n=C3=9Fe</p></html>"), "Größe"},
		"in base64":          {"a.mht", message("base64", "PHA+aGVsbG88L3A+"), "hello"},
		"an unknown charset": {"a.html", "<html><meta charset=windows-1252><p>caf\xe9", "café"},
		"text":               {"a.txt", "one\ntwo\n", "one\n\ntwo"},
		"another document":   {"a.docx", inner, "inner\n\n1. a"},
		"a broken document":  {"a.docx", "PK", ""},
		"a broken message":   {"a.mht", "MIME-Version", ""},
		"RTF":                {"a.rtf", `{\rtf1\ansi one {\b bold}\par\trowd\intbl A\cell B\cell\row}`, "one **bold**\n\n| A | B |\n| --- | --- |"},
		"RTF by its bytes":   {"a.dat", `{\rtf1 x}`, "x"},
		"something else":     {"a.wpd", "\xffWPC", ""},
		"nothing":            {"b.txt", "", ""},
	} {
		body := file("rels", `<Relationship Id="c1" Type="x/aFChunk" Target="`+c.file+`"/>`, "word/"+c.file, c.content, "body", p("before")+`<w:altChunk r:id="c1"/>`+p("after"))
		want := "before\n\n" + c.want + "\n\nafter"
		if c.want == "" {
			want = "before\n\nafter"
		}
		got, err := Read(context.Background(), body, document.Limits{})
		if err != nil || got.Markdown != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got.Markdown, want)
		}
	}
}

// TestWhatIsNotReadOfChunksIsTold: whatever Word would show, and we do not.
func TestWhatIsNotReadOfChunksIsTold(t *testing.T) {
	broken := string(file("body", p("second")))
	damaged := broken[:len(broken)/2]
	inner := string(file("rels", `<Relationship Id="c1" Type="x/aFChunk" Target="a.wpd"/>`, "word/a.wpd", "\xffWPC", "body", p("second")+`<w:altChunk r:id="c1"/>`))
	for name, c := range map[string]struct {
		file, content string
		times, unread int
	}{
		"another kind":             {"a.wpd", "\xffWPC", 1, 1},
		"another kind, twice":      {"a.wpd", "\xffWPC", 2, 2},
		"a broken document":        {"a.docx", damaged, 1, 1},
		"no document":              {"a.docx", "PK", 1, 1},
		"a message without a page": {"a.mht", "MIME-Version: 1.0\r\nContent-Type: image/png\r\n\r\nx", 1, 1},
		"a chunk of a chunk":       {"a.docx", inner, 1, 1},
		"more than are read":       {"a.txt", "x", maxChunks + 3, 3},
		"a text":                   {"a.txt", "x", 1, 0},
		"RTF":                      {"a.rtf", `{\rtf1 x}`, 1, 0},
		"nothing":                  {"a.rtf", "", 1, 0},
	} {
		body := file("rels", `<Relationship Id="c1" Type="x/aFChunk" Target="`+c.file+`"/>`, "word/"+c.file, c.content, "body", p("before")+strings.Repeat(`<w:altChunk r:id="c1"/>`, c.times))
		got, err := Read(context.Background(), body, document.Limits{})
		var told []string
		for _, note := range got.Notes {
			told = append(told, note.Kind+" "+fmt.Sprint(note.Data["files"])+" "+note.Words)
		}
		want := "[]"
		switch {
		case c.unread == 1:
			want = "[attachments 1 1 document within it, of a kind that is not read or damaged, is left out]"
		case c.unread > 1:
			want = fmt.Sprintf("[attachments %d %[1]d documents within it, of kinds that are not read or damaged, are left out]", c.unread)
		}
		if err != nil || fmt.Sprint(told) != want {
			t.Errorf("%s: %v, %v, want %s", name, err, told, want)
		}
	}
}

// TestADeepChunkKeepsItsText: what is nested beyond what browsers nest is text all the same.
func TestADeepChunkKeepsItsText(t *testing.T) {
	deep := "<html><p>first" + strings.Repeat("<div>", 5_000) + "at the bottom" + strings.Repeat("</div>", 5_000) + "<p>last"
	got, err := Read(context.Background(), file("rels", `<Relationship Id="c1" Type="x/aFChunk" Target="a.htm"/>`, "word/a.htm", deep, "body", `<w:altChunk r:id="c1"/>`), document.Limits{})
	if err != nil || got.Markdown != "first\n\nat the bottom\n\nlast" || len(got.Notes) > 0 {
		t.Errorf("%v %v\n%s", err, got.Notes, got.Markdown)
	}
}

// TestAChunkHasNoChunks: a document within the document that takes itself in would never end.
func TestAChunkHasNoChunks(t *testing.T) {
	inner := string(file("rels", `<Relationship Id="c1" Type="x/aFChunk" Target="a.docx"/>`, "word/a.docx", string(file("body", p("third"))), "body", p("second")+`<w:altChunk r:id="c1"/>`))
	got, err := Read(context.Background(), file("rels", `<Relationship Id="c1" Type="x/aFChunk" Target="a.docx"/>`, "word/a.docx", inner, "body", `<w:altChunk r:id="c1"/>`), document.Limits{})
	if err != nil || got.Markdown != "second" {
		t.Errorf("%v\n%s", err, got.Markdown)
	}
}

// TestALongPageIsCutAndSaysSo: what is read of a page in a document is bounded.
func TestALongPageIsCutAndSaysSo(t *testing.T) {
	long := "<html>" + strings.Repeat("<p>some words", page.Most/10)
	got, err := Read(context.Background(), file("rels", `<Relationship Id="c1" Type="x/aFChunk" Target="a.htm"/>`, "word/a.htm", long, "body", `<w:altChunk r:id="c1"/>`), document.Limits{})
	if err != nil || len(got.Notes) != 1 || got.Notes[0].Kind != document.NoteCut || !strings.HasPrefix(got.Markdown, "some words\n\nsome") {
		t.Errorf("%v %v %d", err, got.Notes, len(got.Markdown))
	}
}
