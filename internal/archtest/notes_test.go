package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestNotesAndThinKindsAreDocumented holds the tables of docs/operating.md against the code: what a model may be told in a
// note, and each kind of thin page, stands there, and nothing else does.
func TestNotesAndThinKindsAreDocumented(t *testing.T) {
	notes, thin := kindsInCode(t)
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) < 15 || len(thin) < 9 {
		t.Fatalf("%d notes and %d thin kinds were found in the code", len(notes), len(thin))
	}
	for head, want := range map[string][]string{"| `note:` | says |": notes, "| thin kind | means |": thin} {
		if got := firstColumn(string(raw), head); !slices.Equal(got, want) {
			t.Errorf("the table %q of docs/operating.md has\n%q; the code has\n%q", head, got, want)
		}
	}
}

// firstColumn gives the names in the first column of a table, sorted.
func firstColumn(text, head string) []string {
	_, table, _ := strings.Cut(text, head+"\n")
	var names []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			break
		}
		for _, m := range regexp.MustCompile("`([a-z_0-9]+)`").FindAllStringSubmatch(cells[1], -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// toldNote is a note that a text of ours is given as it stands.
var toldNote = regexp.MustCompile(`^note: ([a-z_]+) · `)

// kindsInCode gives the kinds of notes and of thin pages that the packages which read name: in values of Note and Thin, in
// the constants for them, and in whole lines.
func kindsInCode(t *testing.T) (notes, thin []string) {
	t.Helper()
	for _, dir := range []string{"webfetch", "internal/reading", "internal/observation", "internal/document", "internal/thin"} {
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s: %v", dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					switch kind := kindOf(n); {
					case kind != "" && nameOf(n.Type) == "Note":
						notes = append(notes, kind)
					case kind != "" && nameOf(n.Type) == "Thin":
						thin = append(thin, kind)
					}
					// A list of notes leaves the type of its elements out.
					if list, ok := n.Type.(*ast.ArrayType); ok && nameOf(list.Elt) == "Note" {
						for _, e := range n.Elts {
							if one, ok := e.(*ast.CompositeLit); ok && kindOf(one) != "" {
								notes = append(notes, kindOf(one))
							}
						}
					}
				case *ast.ValueSpec:
					for i, id := range n.Names {
						if i >= len(n.Values) {
							break
						}
						switch kind := text(n.Values[i]); {
						case kind == "":
						case dir == "internal/document" && strings.HasPrefix(id.Name, "Note"):
							notes = append(notes, kind)
						case dir == "internal/document" && strings.HasPrefix(id.Name, "Thin"), dir == "internal/thin" && id.IsExported():
							thin = append(thin, kind)
						}
					}
				case *ast.BasicLit:
					if m := toldNote.FindStringSubmatch(text(n)); m != nil {
						notes = append(notes, m[1])
					}
				}
				return true
			})
		}
	}
	slices.Sort(notes)
	slices.Sort(thin)
	return slices.Compact(notes), slices.Compact(thin)
}

// kindOf is what a composite literal sets its field Kind to, where that is a text.
func kindOf(c *ast.CompositeLit) string {
	for _, e := range c.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && nameOf(kv.Key) == "Kind" {
			return text(kv.Value)
		}
	}
	return ""
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func text(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		return ""
	}
	return s
}
