package webfetch

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/bodytype"
	"github.com/wayleave/wayleave/internal/charset"
	"github.com/wayleave/wayleave/internal/jsontext"
)

// bodyCase is a case of testdata/webfetch.json of the areas that say what a body is.
type bodyCase struct {
	ID    string `json:"id"`
	Area  string `json:"area"`
	Input struct {
		MediaType       string   `json:"media_type"`
		ContentType     string   `json:"content_type"`
		Served          string   `json:"served_content_type"`
		Body            string   `json:"body"`
		BodyHex         string   `json:"body_hex"`
		DeclaredCharset string   `json:"declared_charset"`
		HTML            bool     `json:"html"`
		Kind            string   `json:"kind"`
		Content         pieces   `json:"content"`
		MarkdownLines   []string `json:"markdown_lines"`
		Live            bool     `json:"live"`
		Response        *struct {
			ContentType string `json:"content_type"`
			Body        string `json:"body"`
			BodyHex     string `json:"body_hex"`
		} `json:"response"`
	} `json:"input"`
	Expected struct {
		Handling      string   `json:"handling"`
		MediaType     string   `json:"media_type"`
		Charset       string   `json:"charset"`
		ContentType   string   `json:"content_type"`
		Text          string   `json:"text"`
		Content       string   `json:"content"`
		Via           string   `json:"via"`
		Title         string   `json:"title"`
		MarkdownLines []string `json:"markdown_lines"`
	} `json:"expected"`
}

// body gives the bytes of a case and its Content-Type header.
func (c bodyCase) body(t *testing.T) (body []byte, contentType string) {
	t.Helper()
	text, digits, contentType := c.Input.Body, c.Input.BodyHex, c.Input.Served
	if r := c.Input.Response; r != nil {
		text, digits, contentType = r.Body, r.BodyHex, r.ContentType
	}
	if digits == "" {
		return []byte(text), contentType
	}
	body, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return body, contentType
}

// bodyCases reads the cases of an area.
func bodyCases(t *testing.T, area string) []bodyCase {
	t.Helper()
	var file struct {
		Cases []json.RawMessage `json:"cases"`
	}
	readJSON(t, "../testdata/webfetch.json", &file)
	var cases []bodyCase
	for _, raw := range file.Cases {
		var head struct{ Area string }
		if err := json.Unmarshal(raw, &head); err != nil {
			t.Fatal(err)
		}
		if head.Area != area {
			continue
		}
		var c bodyCase
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		t.Fatalf("no cases of area %q", area)
	}
	return cases
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// bytesCase is a case of testdata/charset.json or testdata/sniff.json.
type bytesCase struct {
	ID       string            `json:"id"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body_b64"`
	Encoding string            `json:"encoding"`
	Contains []string          `json:"contains"`
	Exact    *string           `json:"exact"`
	Kind     string            `json:"kind"`
	Via      *string           `json:"via"`
	Refused  bool              `json:"refused"`
}

func bytesCases(t *testing.T, path string, count int) []bytesCase {
	t.Helper()
	var file struct {
		Cases []bytesCase `json:"cases"`
	}
	readJSON(t, path, &file)
	if len(file.Cases) != count {
		t.Fatalf("%s has %d cases, want %d", path, len(file.Cases), count)
	}
	return file.Cases
}

// read does with a case's response what a fetch does before it converts.
func (c bytesCase) read(t *testing.T) (mediaType, text, encoding string) {
	t.Helper()
	body, err := base64.StdEncoding.DecodeString(c.Body)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	if value, sent := c.Headers["Content-Type"]; sent {
		values = append(values, value)
	}
	served, label := bodytype.ParseContentType(values)
	mediaType = bodytype.Sniff(body, served, label)
	text, encoding = charset.Decode(body, label, bodytype.MarkupOf(mediaType))
	return mediaType, text, encoding
}

func TestCharsetFile(t *testing.T) {
	for _, c := range bytesCases(t, "../testdata/charset.json", 94) {
		_, text, encoding := c.read(t)
		if encoding != c.Encoding {
			t.Errorf("%s: decoded as %s, want %s", c.ID, encoding, c.Encoding)
		}
		if c.Exact != nil && text != *c.Exact {
			t.Errorf("%s:\n got %q\nwant %q", c.ID, text, *c.Exact)
		}
		for _, part := range c.Contains {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is not in %q", c.ID, part, text)
			}
		}
	}
}

func TestCharsetCases(t *testing.T) {
	// Where an unknown header label goes on to the meta element, as W-112 says and the case's note allows.
	ours := map[string]string{"charset-013": "<meta charset=gbk>你"}
	for _, c := range bodyCases(t, "charset") {
		body, contentType := c.body(t)
		label, markup, want := c.Input.DeclaredCharset, charset.None, c.Expected.Text
		if c.Input.Response != nil {
			_, label = bodytype.ParseContentType([]string{contentType})
			want = c.Expected.Content
		} else if c.Input.HTML {
			markup = charset.HTML
		}
		if our, differs := ours[c.ID]; differs {
			want = our
		}
		if text, _ := charset.Decode(body, label, markup); text != want {
			t.Errorf("%s: got %q, want %q", c.ID, text, want)
		}
	}
}

// TestCharsetHardening covers what the four flaws of the reference (F-CHARSET) would do, through the whole of reading.
func TestCharsetHardening(t *testing.T) {
	for _, c := range []struct{ name, contentType, body, want string }{
		{"hardening-023", "", "\xFF\xFEh\x00i\x00\n\x00", "hi\n"},
		{"hardening-025", "text/html", "<meta charset=utf-16><p>café</p>", "<meta charset=utf-16><p>café</p>"},
		{"hardening-026", "application/xml", `<?xml version="1.0" encoding="ISO-8859-1"?><a>caf` + "\xE9</a>",
			`<?xml version="1.0" encoding="ISO-8859-1"?><a>café</a>`},
		{"unknown header", "text/html; charset=x-made-up", "<meta charset=gbk>\xC4\xE3", "<meta charset=gbk>你"},
		{"meta in a comment", "text/html", "<!-- <meta charset=gbk> -->é", "<!-- <meta charset=gbk> -->é"},
		{"XHTML", "application/xhtml+xml", `<?xml version="1.0" encoding="gbk"?><html>` + "\xC4\xE3", `<?xml version="1.0" encoding="gbk"?><html>你`},
		{"two headers' charset", "text/plain;charset=gbk, text/plain", "\xC4\xE3", "你"},
	} {
		_, text, _ := bytesCase{
			Headers: map[string]string{"Content-Type": c.contentType},
			Body:    base64.StdEncoding.EncodeToString([]byte(c.body)),
		}.read(t)
		if text != c.want {
			t.Errorf("%s: got %q, want %q", c.name, text, c.want)
		}
	}
}

func TestSniffFile(t *testing.T) {
	kinds := map[string][]bodytype.Kind{"html": {bodytype.HTML}, "text": {bodytype.Text}, "markdown": {bodytype.Markdown}, "pdf": {bodytype.Document},
		"binary": {bodytype.Binary}, "json": {bodytype.JSON}}
	for _, c := range bytesCases(t, "../testdata/sniff.json", 43) {
		mediaType, text, _ := c.read(t)
		k := bodytype.KindOf(mediaType)
		if !slices.Contains(kinds[c.Kind], k) {
			t.Errorf("%s: %s is of kind %d, want %s", c.ID, mediaType, k, c.Kind)
		}
		if c.Refused != (k == bodytype.Binary) {
			t.Errorf("%s: refused is %v", c.ID, k == bodytype.Binary)
		}
		if k == bodytype.JSON {
			if indented, ok := jsontext.Indent(text); ok {
				text = indented
			}
		}
		for _, part := range c.Contains {
			if k != bodytype.Document && !strings.Contains(text, part) {
				t.Errorf("%s: %q is not in %q", c.ID, part, text)
			}
		}
	}
}
