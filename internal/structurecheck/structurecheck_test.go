// The case files load, and what is written wrong in one does not.

package structurecheck

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestCaseFilesLoad(t *testing.T) {
	files, err := filepath.Glob("../../testdata/structure*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	seen := map[string]string{}
	for _, file := range files {
		cases, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if other, ok := seen[c.ID]; ok {
				t.Errorf("id %s is in %s and %s", c.ID, other, file)
			}
			seen[c.ID] = file
		}
		t.Logf("%s: %d cases", file, len(cases))
	}
	if len(seen) < 180 {
		t.Errorf("%d cases, at least 180 are known", len(seen))
	}
}

// A case that cannot fail judges nothing.
func TestNoCaseAcceptsNonsense(t *testing.T) {
	files, err := filepath.Glob("../../testdata/structure*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		cases, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			nonsense := Output{Markdown: "# nonsense\n\n[nonsense](javascript:nonsense) data: base64 php", Title: "nonsense", Thin: []string{"nonsense"}}
			if len(c.Judge(nonsense)) == 0 {
				t.Errorf("%s accepts nonsense", c.ID)
			}
		}
	}
}

func TestLoadRefusesWhatCannotBeJudged(t *testing.T) {
	head := `{"cases": [{"id": "a", "mode": "full", "url": "https://x.example/", `
	for _, c := range []struct{ name, file, says string }{
		{"unknown check", head + `"html": "x", "checks": [{"tekst": "x"}]}]}`, "tekst"},
		{"two checks in one", head + `"html": "x", "checks": [{"text": "x", "once": ["x"]}]}]}`, "exactly one name"},
		{"unknown part of a check", head + `"html": "x", "checks": [{"link": {"txt": "x"}}]}]}`, "txt"},
		{"display without math", head + `"html": "x", "checks": [{"display": true, "text": "x"}]}]}`, "display"},
		{"null check", head + `"html": "x", "checks": [{"text": null}]}]}`, "null"},
		{"no checks", head + `"html": "x", "checks": []}]}`, "checks"},
		{"unknown mode", `{"cases": [{"id": "a", "mode": "ful", "html": "x", "checks": [{"text": "x"}]}]}`, "mode"},
		{"unknown field", head + `"html": "x", "staus": 402, "checks": [{"text": "x"}]}]}`, "staus"},
		{"unknown repetition", head + `"html": [{"text": "x", "time": 2}], "checks": [{"text": "x"}]}]}`, "time"},
		{"id twice", head + `"html": "x", "checks": [{"text": "x"}]}, {"id": "a", "mode": "full", "html": "x", "checks": [{"text": "x"}]}]}`, "twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode([]byte(c.file))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
}

func TestRepeatedPartsAreJoined(t *testing.T) {
	cases, err := decode([]byte(`{"cases": [{"id": "a", "mode": "full", "html": ["<p>", {"text": "ab", "times": 3}, "</p>"], "checks": [{"text": "x"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := cases[0].HTML; got != "<p>ababab</p>" {
		t.Errorf("joined %q", got)
	}
}

// The judge reads whatever a converter writes, and its math parser is its own.
func FuzzJudgeReadsAnyMarkdown(f *testing.F) {
	for _, seed := range []string{"$$\nx\n$$", "$a$$b$", "> $$\n> x", "- [^1]\n\n[^1]: $x\n\n    y$", "|a|\n|-|\n|`\\|`$|", "<b>**x</b>**", "![a\\\nb](c)"} {
		f.Add(seed)
	}
	var check Check
	if err := check.UnmarshalJSON([]byte(`{"any_of": [[{"text": "\u0000"}, {"lines": ["\u0000"]}], [{"math": "\u0000"}], [{"sup": {"base": "\u0000", "text": "1"}}]]}`)); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		if len(Case{Checks: []Check{check}}.Judge(Output{Markdown: markdown})) != 1 {
			t.Errorf("accepted %q", markdown)
		}
	})
}
