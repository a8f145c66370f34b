package documents

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/doctest"
	"github.com/wayleave/wayleave/webfetch"
)

const own = "../../testdata/documents/"

func converter(t *testing.T) *Converter {
	t.Helper()
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(own + name)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestOwnDocuments reads every document of ours under the type that says only "a download".
func TestOwnDocuments(t *testing.T) {
	c := converter(t)
	doctest.Run(t, "../..", func(body []byte) (document.Text, error) {
		got, err := c.Convert(context.Background(), "application/octet-stream", body)
		var why *webfetch.Unreadable
		if errors.As(err, &why) {
			var failed *document.Error
			if !errors.As(err, &failed) || string(failed.Reason) != why.Reason {
				t.Errorf("the cause of %v", err)
			}
			err = failed
		}
		return document.Text{Markdown: got.Markdown, Title: got.Title}, err
	}, ".docx", ".odt", ".ods", ".xlsx", ".xlsm", ".xlsb", ".xls", ".numbers", ".pdf")
}

// TestTheBytesDecide: a document that is called another one is read as what it is.
func TestTheBytesDecide(t *testing.T) {
	c := converter(t)
	for name, as := range map[string]string{
		"harbour.docx":            "application/vnd.ms-excel",
		"harbour.xlsx":            "application/zip",
		"harbour.odt":             "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		"harbour.xls":             "application/pdf",
		"harbour-sheetjs.numbers": "",
	} {
		got, err := c.Convert(context.Background(), as, file(t, name))
		if err != nil || got.Markdown == "" {
			t.Errorf("%s as %q: %v", name, as, err)
		}
	}
}

// TestFlatDocumentsAreRead: an OpenDocument file that is one file of XML, under its own type, as a download, and as XML, which
// it stays.
func TestFlatDocumentsAreRead(t *testing.T) {
	const flat = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<office:document xmlns:office="o" xmlns:table="t" xmlns:text="x" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.`
	cell := func(s string) string {
		return `<table:table-cell office:value-type="string"><text:p>` + s + `</text:p></table:table-cell>`
	}
	sheet := flat + `spreadsheet"><office:body><office:spreadsheet><table:table table:name="Fees"><table:table-row>` + cell("Boat") + cell("Fee") +
		`</table:table-row><table:table-row>` + cell("Sloop") + cell("18.50") + `</table:table-row></table:table></office:spreadsheet></office:body></office:document>`
	text := flat + `text"><office:body><office:text><text:h text:outline-level="1">Fees</text:h><text:p>A sloop pays.</text:p></office:text></office:body></office:document>`
	c := converter(t)
	for kind, one := range map[string]struct{ body, want string }{
		"spreadsheet": {sheet, "## Fees\n\n| Boat | Fee |\n| --- | --- |\n| Sloop | 18.50 |"}, "text": {text, "# Fees\n\nA sloop pays."},
	} {
		for _, as := range []string{"application/octet-stream", "application/vnd.oasis.opendocument." + kind + "-flat-xml"} {
			page, err := webfetch.Convert(t.Context(), []byte(one.body), []string{as}, "https://harbour.example/a", webfetch.Options{Documents: c})
			if err != nil || page.Content != one.want || page.ContentType != "application/vnd.oasis.opendocument."+kind {
				t.Errorf("%s as %s: %v %+v", kind, as, err, page)
			}
		}
		page, err := webfetch.Convert(t.Context(), []byte(one.body), []string{"application/xml"}, "https://harbour.example/a", webfetch.Options{Documents: c})
		if err != nil || page.Via != webfetch.ViaText || page.Content != one.body {
			t.Errorf("%s as XML: %v %+v", kind, err, page)
		}
	}
}

func TestWhyADocumentCannotBeRead(t *testing.T) {
	var empty bytes.Buffer
	z := zip.NewWriter(&empty)
	w, err := z.Create("word/document.xml")
	if err == nil {
		_, err = w.Write([]byte(`<w:document xmlns:w="w"><w:body><w:p/></w:body></w:document>`))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	c := converter(t)
	for name, body := range map[string]struct {
		body []byte
		want document.Reason
	}{
		"cut":      {file(t, "harbour-cut.docx"), document.Damaged},
		"entities": {file(t, "harbour-entities.docx"), document.Entities},
		"bomb":     {file(t, "harbour-bomb.xlsx"), document.TooLarge},
		"none":     {[]byte("PK\x03\x04 and so on"), document.Unsupported},
		"empty":    {empty.Bytes(), document.Empty},
	} {
		got, err := c.Convert(context.Background(), "application/zip", body.body)
		var why *webfetch.Unreadable
		if !errors.As(err, &why) || why.Reason != string(body.want) || got.Markdown != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAPageInADocumentsPlaceIsToldAsOne: a site that sends its login under the type of a file.
func TestAPageInADocumentsPlaceIsToldAsOne(t *testing.T) {
	c := converter(t)
	for _, as := range []string{"application/pdf", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/vnd.oasis.opendocument.text",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.apple.numbers", "application/vnd.ms-excel.sheet.binary.macroenabled.12"} {
		for body, want := range map[string]document.Reason{
			"<!DOCTYPE html><html><body><form>Sign in <input type=password></form></body></html>": document.WebPage,
			"%PDX-1.7 and no page": "",
		} {
			_, err := c.Convert(t.Context(), as, []byte(body))
			var why *webfetch.Unreadable
			if !errors.As(err, &why) || want != "" && why.Reason != string(want) || want == "" && why.Reason == string(document.WebPage) {
				t.Errorf("%.20q as %s: %v", body, as, err)
			}
		}
	}
}

// TestAModelIsToldWhy: through the library, with the type as served.
func TestAModelIsToldWhy(t *testing.T) {
	c := converter(t)
	_, err := webfetch.Convert(context.Background(), file(t, "harbour-entities.docx"), []string{"application/octet-stream"}, "https://harbour.example/a", webfetch.Options{Documents: c})
	text := webfetch.ErrorResult(err, webfetch.AnswerOptions{}).Text()
	if !strings.HasPrefix(text, "web_fetch_conversion_failed: ") || !strings.Contains(text, "could not be converted to text: it declares entities of its own") || !strings.Contains(text, "next: stop") {
		t.Errorf("%s", text)
	}
	if said := err.Error(); !strings.HasPrefix(said, "the document cannot be read: it declares entities of its own") || strings.Count(said, "cannot be read") != 1 {
		t.Errorf("a host is told %q", said)
	}
	page, err := webfetch.Convert(context.Background(), file(t, "harbour.docx"), []string{"application/octet-stream"}, "https://harbour.example/a", webfetch.Options{Documents: c})
	if err != nil || page.Via != webfetch.ViaConverted || page.Title != "Harbour dredging survey 2031" || !strings.Contains(page.Content, "| North 2 | 6.9 | Silt | Dredge |") {
		t.Errorf("%v %+v", err, page)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{Timeout: -1}, {Timeout: time.Hour}, {Timeout: time.Microsecond}, {AtOnce: 65}, {AtOnce: -1}, {MaxText: 65 << 20}, {MaxUnpacked: -1}} {
		if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), "documents: option ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestACancelledCallEnds(t *testing.T) {
	c := converter(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Convert(ctx, "", file(t, "harbour.docx")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestTM012NothingOutsideOfADocumentIsAskedFor: pictures, templates, parts and entities that name a host or a file.
func TestTM012NothingOutsideOfADocumentIsAskedFor(t *testing.T) {
	asked := make(chan string, 100)
	site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer site.Close()
	canary := filepath.Join(t.TempDir(), "canary")
	if err := os.WriteFile(canary, []byte("canary words"), 0o600); err != nil {
		t.Fatal(err)
	}
	external := func(kinds ...string) string {
		rels := "<Relationships>"
		for i, kind := range kinds {
			for j, to := range []string{site.URL + "/" + kind, "file://" + canary, "../../../../../../.." + canary} {
				rels += fmt.Sprintf(`<Relationship Id="r%d%d" Type="http://x/%s" Target="%s" TargetMode="External"/>`, i, j, kind, to)
			}
		}
		return rels + "</Relationships>"
	}
	archive := func(parts ...string) []byte {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		for i := 0; i < len(parts); i += 2 {
			w, err := z.Create(parts[i])
			if err == nil {
				_, err = w.Write([]byte(parts[i+1]))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	word := `<w:document xmlns:w="w" xmlns:r="r"><w:body><w:altChunk r:id="r00"/><w:p><w:r><w:t>words</w:t><w:drawing><blip r:link="r10" r:embed="r11"/></w:drawing></w:r></w:p></w:body></w:document>`
	office := `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:draw="d" xmlns:xlink="x"><office:body><office:text><text:section><text:section-source xlink:href="` + site.URL + `/section"/><text:p>words<draw:frame><draw:image xlink:href="` + site.URL + `/picture"/><draw:object xlink:href="../../../../../../..` + canary + `"/></draw:frame></text:p></text:section></office:text></office:body></office:document-content>`
	c := converter(t)
	for name, body := range map[string][]byte{
		"docx":       archive("word/document.xml", word, "word/_rels/document.xml.rels", external("aFChunk", "image", "styles", "numbering", "footnotes"), "word/_rels/settings.xml.rels", external("attachedTemplate")),
		"odt":        archive("mimetype", "application/vnd.oasis.opendocument.text", "content.xml", office),
		"own xxe":    file(t, "harbour-xxe.docx"),
		"of a file":  archive("word/document.xml", `<!DOCTYPE a [<!ENTITY b SYSTEM "file://`+canary+`">]>`+strings.Replace(word, "words", "words &b;", 1)),
		"of a host":  archive("word/document.xml", `<!DOCTYPE a SYSTEM "`+site.URL+`/dtd">`+word),
		"parameters": archive("mimetype", "application/vnd.oasis.opendocument.text", "content.xml", `<!DOCTYPE a [<!ENTITY % b SYSTEM "`+site.URL+`/dtd">%b;]>`+office),
	} {
		got, err := c.Convert(context.Background(), "", body)
		if strings.Contains(got.Markdown, "canary") || err == nil && !strings.Contains(got.Markdown, "words") && name != "own xxe" {
			t.Errorf("%s: %v %q", name, err, got.Markdown)
		}
	}
	select {
	case path := <-asked:
		t.Errorf("%s was asked for", path)
	default:
	}
}
