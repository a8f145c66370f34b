// Package doctest judges what readers of documents wrote, by the rules of expected.json: the Markdown is parsed, and what a
// person would see of it is what counts, never its spelling.
package doctest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/document"
)

// Case is what expected.json says of one file.
type Case struct {
	File string `json:"-"` // its name
	Path string `json:"-"` // where it is

	InOrder     []string `json:"in_order"` // visible text, in this sequence
	Anywhere    []string `json:"anywhere"` // visible text, or the address of a link
	Absent      []string `json:"absent"`   // neither text nor address, nor the Markdown's source
	Headings    []string `json:"headings"` // the text of a heading
	Tables      []Table  `json:"tables"`
	Refused     bool     `json:"refused"` // a clean failure and no text
	Why         string   `json:"why"`
	Made        string   `json:"made"`
	Source      string   `json:"source"` // a stranger's file: where it is from
	ContentType string   `json:"content_type"`
}

// Table lists rows that tables of the text hold, in this sequence. Between their cells, and between the rows, others may
// stand.
type Table struct {
	Rows [][]string `json:"rows"`
}

// Load reads the cases of a folder with an expected.json, ordered by the names of their files.
func Load(dir string) ([]Case, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		return nil, err
	}
	var all struct {
		Files map[string]Case `json:"files"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("read expected.json: %w", err)
	}
	var cases []Case
	for _, name := range slices.Sorted(maps.Keys(all.Files)) {
		c := all.Files[name]
		c.File, c.Path = name, filepath.Join(dir, name)
		cases = append(cases, c)
	}
	return cases, nil
}

// Of gives the cases whose files end in one of these, such as ".xlsx".
func Of(cases []Case, endings ...string) []Case {
	var some []Case
	for _, c := range cases {
		if slices.Contains(endings, filepath.Ext(c.File)) {
			some = append(some, c)
		}
	}
	return some
}

// Run reads each of our own documents (testdata/documents at root, a path) that end in one of these, and reports what does
// not hold.
func Run(t *testing.T, root string, read func(body []byte) (document.Text, error), endings ...string) {
	t.Helper()
	cases, err := Load(filepath.Join(root, "testdata", "documents"))
	if err != nil {
		t.Fatal(err)
	}
	some := Of(cases, endings...)
	if len(some) == 0 {
		t.Fatalf("no document ends in any of %q", endings)
	}
	for _, c := range some {
		t.Run(c.File, func(t *testing.T) {
			body, err := os.ReadFile(c.Path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := read(body)
			for _, w := range c.Judge(text, err) {
				t.Error(w)
			}
			if t.Failed() {
				t.Logf("error: %v\n%.4000s", err, text.Markdown)
			}
		})
	}
}

// Judge says what does not hold of what a reader made of the file; nothing when all does.
func (c Case) Judge(text document.Text, err error) []string {
	var wrong []string
	var clean *document.Error
	if err != nil && !errors.As(err, &clean) {
		wrong = append(wrong, fmt.Sprintf("the error is no *document.Error: %v", err))
	}
	if err != nil && text.Markdown != "" {
		wrong = append(wrong, "there is an error and a text as well")
	}
	switch {
	case c.Refused && err == nil:
		return append(wrong, "it was read, and has to be refused: "+c.Why)
	case c.Refused, err != nil && c.free():
		return wrong
	case err != nil:
		return append(wrong, fmt.Sprintf("it was not read: %v", err))
	case strings.TrimSpace(text.Markdown) == "":
		return append(wrong, "an empty text passes as success")
	}
	return append(wrong, c.judge(text.Markdown)...)
}

// free says that the file may be read or refused.
func (c Case) free() bool {
	return len(c.InOrder)+len(c.Anywhere)+len(c.Headings)+len(c.Tables) == 0 && c.Why != ""
}

func (c Case) judge(markdown string) []string {
	p := parse(markdown)
	var wrong []string
	at := 0
	for _, s := range c.InOrder {
		i := strings.Index(p.text[at:], clean(s))
		if i < 0 {
			how := "nowhere"
			if strings.Contains(p.text, clean(s)) {
				how = "not in its place"
			}
			wrong = append(wrong, fmt.Sprintf("in order: %q is %s", s, how))
			continue
		}
		at += i + len(clean(s))
	}
	for _, s := range c.Anywhere {
		if !strings.Contains(p.text, clean(s)) && !slices.Contains(p.addresses, s) {
			wrong = append(wrong, fmt.Sprintf("anywhere: %q is nowhere", s))
		}
	}
	for _, s := range c.Absent {
		if strings.Contains(p.text, clean(s)) || strings.Contains(strings.Join(p.addresses, "\n"), s) || strings.Contains(markdown, s) {
			wrong = append(wrong, fmt.Sprintf("absent: %q is there", s))
		}
	}
	for _, s := range c.Headings {
		if !slices.Contains(p.headings, clean(s)) {
			wrong = append(wrong, fmt.Sprintf("headings: %q is none of %q", s, p.headings))
		}
	}
	for _, t := range c.Tables {
		from := 0
		for _, row := range t.Rows {
			i := slices.IndexFunc(p.rows[from:], func(cells []string) bool { return holds(cells, row) })
			if i < 0 {
				how := "nowhere"
				if slices.ContainsFunc(p.rows, func(cells []string) bool { return holds(cells, row) }) {
					how = "not in its place"
				}
				wrong = append(wrong, fmt.Sprintf("tables: the row %q is %s", row, how))
				continue
			}
			from += i + 1
		}
	}
	return wrong
}

// holds says that these cells stand in a row in their sequence. An empty one is no demand.
func holds(row, cells []string) bool {
	at := 0
	for _, want := range cells {
		if want = clean(want); want == "" {
			continue
		}
		i := slices.Index(row[at:], want)
		if i < 0 {
			return false
		}
		at += i + 1
	}
	return true
}

// Sound is what a fuzz target asks of a reader: that it ends, that it fails with a reason or makes a text, valid and not empty.
func Sound(t *testing.T, read func(body []byte) (document.Text, error), body []byte) {
	t.Helper()
	text, err := read(body)
	var clean *document.Error
	switch {
	case err != nil && !errors.As(err, &clean):
		t.Errorf("the error is no *document.Error: %v", err)
	case err != nil && text.Markdown != "":
		t.Error("there is an error and a text as well")
	case err == nil && strings.TrimSpace(text.Markdown) == "":
		t.Error("an empty text passes as success")
	case !utf8.ValidString(text.Markdown):
		t.Error("the text is no UTF-8")
	}
}
