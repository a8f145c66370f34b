package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/wayleave/wayleave"

// source is one Go file of the repository.
type source struct {
	pkg  string // folder below the root, "." for the root
	file string
	test bool
	ast  *ast.File
	fset *token.FileSet
	text []byte
}

func (s source) imports() []string {
	var out []string
	for _, im := range s.ast.Imports {
		p, err := strconv.Unquote(im.Path.Value)
		if err == nil {
			out = append(out, p)
		}
	}
	return out
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func sources(t *testing.T) []source {
	t.Helper()
	top := root(t)
	var out []source
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "node_modules" || name == "testdata" || name == "data" || (strings.HasPrefix(name, ".") && p != top) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, p, text, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, filepath.Dir(p))
		if err != nil {
			return err
		}
		out = append(out, source{pkg: filepath.ToSlash(rel), file: filepath.ToSlash(filepath.Join(rel, name)), test: strings.HasSuffix(name, "_test.go"), ast: f, fset: fset, text: text})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("only %d Go files found below %s: the walk is wrong", len(out), top)
	}
	return out
}

// TestImportGraph holds every arrow against the table, both ways: no arrow without a row, no row without an arrow.
func TestImportGraph(t *testing.T) {
	used := map[string]map[string]bool{}
	hasTests := map[string]bool{}
	for _, s := range sources(t) {
		if used[s.pkg] == nil && !s.test {
			used[s.pkg] = map[string]bool{}
		}
		if s.test {
			hasTests[s.pkg] = true
			continue
		}
		for _, im := range s.imports() {
			used[s.pkg][im] = true
		}
	}
	seen := map[string]bool{}
	for _, r := range graph() {
		if seen[r.pkg] {
			t.Errorf("%s has two rows", r.pkg)
		}
		seen[r.pkg] = true
		if r.why == "" {
			t.Errorf("%s: a row needs its reason", r.pkg)
		}
		got, ok := used[r.pkg]
		if !ok {
			if !hasTests[r.pkg] {
				t.Errorf("the table has a row for %s, which is not there", r.pkg)
			}
			continue
		}
		usedOurs, usedModules := map[string]bool{}, map[string]bool{}
		for im := range got {
			if im == module || strings.HasPrefix(im, module+"/") {
				our := strings.TrimPrefix(strings.TrimPrefix(im, module), "/")
				if our == "" {
					our = "."
				}
				if !slices.Contains(r.ours, our) {
					t.Errorf("%s imports %s: add it to the table with a reason, or do without", r.pkg, our)
				}
				usedOurs[our] = true
				continue
			}
			if first, _, _ := strings.Cut(im, "/"); !strings.Contains(first, ".") {
				continue
			}
			i := slices.IndexFunc(r.modules, func(m string) bool { return im == m || strings.HasPrefix(im, m+"/") })
			if i < 0 {
				t.Errorf("%s imports %s, which its row does not allow", r.pkg, im)
				continue
			}
			usedModules[r.modules[i]] = true
		}
		for _, o := range r.ours {
			if !usedOurs[o] {
				t.Errorf("%s: the row allows %s, which it does not import", r.pkg, o)
			}
		}
		for _, m := range r.modules {
			if !usedModules[m] {
				t.Errorf("%s: the row allows module %s, which it does not import", r.pkg, m)
			}
		}
	}
	for p := range used {
		if !seen[p] {
			t.Errorf("%s has no row in the table", p)
		}
	}
}

// TestPublicSignaturesNameNoInternalType keeps the library usable from outside: a caller cannot name what is internal.
func TestPublicSignaturesNameNoInternalType(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.pkg, "internal/") || strings.HasPrefix(s.pkg, "cmd/") || s.pkg == "bench" {
			continue
		}
		internal := map[string]bool{}
		for _, im := range s.ast.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			if !strings.HasPrefix(p, module+"/internal/") {
				continue
			}
			name := path.Base(p)
			if im.Name != nil {
				name = im.Name.Name
			}
			internal[name] = true
		}
		if len(internal) == 0 {
			continue
		}
		report := func(n ast.Node, what string) {
			ast.Inspect(n, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if id, ok := sel.X.(*ast.Ident); ok && internal[id.Name] {
					t.Errorf("%s: exported %s names %s.%s", s.fset.Position(sel.Pos()), what, id.Name, sel.Sel.Name)
				}
				return true
			})
		}
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
					report(d.Type, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if spec.Name.IsExported() {
							reportType(spec.Type, spec.Name.Name, report)
						}
					case *ast.ValueSpec:
						if spec.Type != nil && slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported) {
							report(spec.Type, spec.Names[0].Name)
						}
					}
				}
			}
		}
	}
}

func exportedReceiver(recv *ast.FieldList) bool {
	e := recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	id, ok := e.(*ast.Ident)
	return ok && id.IsExported()
}

// reportType looks at the exported fields of a struct, and at all of any other type.
func reportType(e ast.Expr, name string, report func(ast.Node, string)) {
	st, ok := e.(*ast.StructType)
	if !ok {
		report(e, name)
		return
	}
	for _, f := range st.Fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
			report(f.Type, name)
		}
	}
}
