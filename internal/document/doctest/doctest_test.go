package doctest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
)

const right = `# Harbour & co

Intro with **bold** text\
and a [notice](https://harbour.example/n?a=1&b=2).

| Item | Note |
| --- | --- |
| Anchor "S" | pipe \| inside |
| Buoy |  | multi<br>line |
`

var rules = Case{
	InOrder:  []string{"Harbour & co", "Intro with bold text and a notice.", "Item", "Buoy"},
	Anywhere: []string{"https://harbour.example/n?a=1&b=2", `Anchor "S"`},
	Absent:   []string{"47916"},
	Headings: []string{"Harbour & co"},
	Tables:   []Table{{Rows: [][]string{{"Item", "Note"}, {`Anchor "S"`, "pipe | inside"}, {"Buoy", ""}}}},
}

func TestATextThatHolds(t *testing.T) {
	if wrong := rules.Judge(document.Text{Markdown: right}, nil); len(wrong) > 0 {
		t.Errorf("%q", wrong)
	}
}

func TestTextsThatMustFail(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"out of order":            {"# Harbour & co\n", "", "in order"},
		"not where it was":        {"| Buoy |", "| # |", "in order"},
		"marks are no text":       {"**bold**", "**bol**d**", "in order"},
		"escapes are no text":     {"Intro", `Int\\ro`, "in order"},
		"the address is another":  {"b=2", "b=3", "anywhere"},
		"a serial":                {"Intro", "47916 Intro", "absent"},
		"a serial in an address":  {"?a=1", "?d=47916&a=1", "absent"},
		"a serial in a comment":   {"Intro", "<!-- 47916 -->\nIntro", "absent"},
		"text in a comment":       {"| Buoy |  | multi<br>line |", "\n<!-- Buoy -->", "in order"},
		"no heading":              {"# Harbour", "Harbour", "headings"},
		"more in the heading":     {"# Harbour", "# The Harbour", "headings"},
		"no table":                {"| --- | --- |\n", "", "tables"},
		"a pipe that parts cells": {`\|`, "|", "tables"},
		"cells exchanged":         {"| Item | Note |", "| Note | Item |", "tables"},
		"half a cell":             {`| Anchor "S" |`, `| Anchor "S" 2 |`, "tables"},
		"rows exchanged":          {"| --- | --- |\n", "| --- | --- |\n| Buoy | |\n", ""},
		"no row":                  {"| Buoy", "| Boy", "tables"},
	} {
		text := strings.Replace(right, c.old, c.new, 1)
		if text == right {
			t.Fatalf("%s changes nothing", name)
		}
		wrong := rules.Judge(document.Text{Markdown: text}, nil)
		if c.want == "" {
			if len(wrong) > 0 {
				t.Errorf("%s is no fault: %q", name, wrong)
			}
			continue
		}
		if !slices.ContainsFunc(wrong, func(w string) bool { return strings.HasPrefix(w, c.want) }) {
			t.Errorf("%s: found %q", name, wrong)
		}
	}
	exchanged := Case{Tables: []Table{{Rows: [][]string{{"b"}, {"a"}}}}}
	exchanged.InOrder = []string{"b", "a"}
	if wrong := exchanged.Judge(document.Text{Markdown: "| a |\n| --- |\n| b |\n"}, nil); len(wrong) != 2 {
		t.Errorf("rows in another sequence: %q", wrong)
	}
}

func TestRefusals(t *testing.T) {
	refused := Case{Refused: true, Why: "cut off"}
	free := Case{Why: "both are fine"}
	damaged := document.Fail(document.Damaged, "x")
	for name, c := range map[string]struct {
		c    Case
		text string
		err  error
		ok   bool
	}{
		"refused":             {refused, "", damaged, true},
		"read after all":      {refused, "text", nil, false},
		"empty as success":    {refused, "", nil, false},
		"text with an error":  {refused, "text", damaged, false},
		"another error":       {refused, "", errors.New("EOF"), false},
		"either, read":        {free, "text", nil, true},
		"either, refused":     {free, "", damaged, true},
		"either, badly":       {free, "", errors.New("EOF"), false},
		"either, nothing":     {free, "", nil, false},
		"not to be refused":   {rules, "", damaged, false},
		"an empty text is no": {rules, " \n", nil, false},
	} {
		if wrong := c.c.Judge(document.Text{Markdown: c.text}, c.err); (len(wrong) == 0) != c.ok {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}

// TestOwnDocumentsAreThere: every file of expected.json lies beside it, and each is judged by something.
func TestOwnDocumentsAreThere(t *testing.T) {
	cases, err := Load("../../../testdata/documents")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 19 {
		t.Errorf("only %d", len(cases))
	}
	for _, c := range cases {
		if _, err := os.Stat(c.Path); err != nil {
			t.Error(err)
		}
		if c.Source != "" || c.Made == "" {
			t.Errorf("%s is not our own", c.File)
		}
		if !c.Refused && c.Why == "" && len(c.InOrder)+len(c.Tables) == 0 {
			t.Errorf("%s: nothing is asked", c.File)
		}
	}
	if got := Of(cases, ".docx", ".odt"); len(got) < 4 {
		t.Errorf("%d text documents", len(got))
	}
}
