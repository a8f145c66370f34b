package audit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// noVerbs are the literals of a verb's shape that are something else, in packages that write entries: points at which tests
// stop a process, columns of statements, a file.
var noVerbs = regexp.MustCompile(`^(.*\.(before|after)_[a-z]+|[a-z]\.[a-z_]+|rows\.db|reseal\.batch|rewrap\.(staged|adopted)|rotate\.made)$`)

// TestEveryVerbHasWords reads the sources: whatever a package that writes entries says in the shape of a verb is one that
// has words, and whatever has words is written somewhere.
func TestEveryVerbHasWords(t *testing.T) {
	root := filepath.Join("..", "..")
	sources, writes := map[string][]*ast.File{}, map[string]bool{}
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "node_modules" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		sources[dir] = append(sources[dir], f)
		ast.Inspect(f, func(n ast.Node) bool { // who makes an entry writes one
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Entry" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "audit" {
					writes[dir] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(writes) < 8 {
		t.Fatalf("only %d packages write entries", len(writes))
	}
	shape := regexp.MustCompile(`^[a-z]+\.[a-z_]+$`)
	written := map[string]bool{VerbPurged: true, VerbBroken: true}
	for _, kind := range []string{"link", "session", "token"} { // of credentials: peoplestore puts these verbs together
		written["person."+kind+"_ended"] = true
	}
	for dir := range writes {
		for _, f := range sources[dir] {
			ast.Inspect(f, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				if err == nil && shape.MatchString(text) && !noVerbs.MatchString(text) {
					written[text] = true
					if !slices.Contains(Verbs(), text) {
						t.Errorf("%s: the verb %s has no words; give it some in words.go", files.Position(lit.Pos()), text)
					}
				}
				return true
			})
		}
	}
	for _, verb := range Verbs() {
		if !written[verb] {
			t.Errorf("%s has words, and nothing writes it", verb)
		}
	}
}

func TestWordsSayWhatWasDoneToWhat(t *testing.T) {
	names := map[string]string{"agent_1": "reviewer", "person_1": "anna"}
	called := func(id string) string {
		if name, ok := names[id]; ok {
			return name
		}
		return id
	}
	for _, c := range []struct{ verb, subject, detail, want string }{
		{"agent.paused", "agent_1", `{"slug":"reviewer"}`, "paused the agent reviewer"},
		{"agent.paused", "agent_9", `{}`, "paused the agent agent_9"},
		{"agents.imported", "install", `{"agents":1,"tokens":12}`, "took over 1 agent and 12 tokens of an earlier version"},
		{"token.created", "token_1", `{"agent":"agent_1","scope":"tools"}`, "made a token of scope tools for reviewer"},
		{"token.created", "token_1", `{}`, "made a token"},
		{"connection.changed", "install", `{"capability":"read","mode":"auto","provider":"","version":2,"run_limit":0,"minute_limit":300}`, "set the read connection of the install to automatic, at most 300 a minute"},
		{"connection.changed", "agent_1", `{"capability":"read","mode":"own","provider":"direct","run_limit":50,"minute_limit":300}`, "set the read connection of the agent reviewer to a connection of its own, provider direct, at most 300 a minute and 50 a run"},
		{"host.allowed", "10.0.0.5:8080", `{"agent":"all"}`, "let every agent read 10.0.0.5:8080"},
		{"host.removed", "printer.lan", `{"agent":"agent_1"}`, "took back that reviewer may read printer.lan"},
		{"person.created", "person_1", `{"name":"anna","role":"operator"}`, "added anna as operator"},
		{"person.token_created", "person_1", `{"credential":"token_2","label":"<b>ci</b>"}`, "made an API token for anna: <b>ci</b>"},
		{"person.signed_in", "session_1", `{"by":"link","from":"127.0.0.1"}`, "signed in by link"},
		{"approval.answered", "approval_1", `{"answer":"once","tool":"do_publish","agent":"agent_1"}`, "allowed do_publish of reviewer once"},
		{"approval.answered", "approval_1", `{"answer":"deny","tool":"do_publish","agent":"agent_1"}`, "said no to do_publish of reviewer"},
		{"approval.answered", "approval_1", `{"answer":"always","tool":"do_publish"}`, "answered the question of do_publish with always"},
		{"call.reconciled", "call_1", `{"verdict":"not_happened"}`, "stated what became of a call: it did not happen"},
		{"run.deleted", "run_1", `{"agent":"agent_1","calls":1}`, "deleted a run of reviewer with 1 call"},
		{"audit.purged", "audit", `{"through":48174}`, "removed entries whose time of keeping is over, up to link 48174"},
		{"grant.given", "grant_1", `{}`, "grant.given grant_1"}, // a newer program's
		{"agent.paused", "agent_1", `not JSON`, "paused the agent reviewer"},
	} {
		if got := Words(c.verb, c.subject, []byte(c.detail), called); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.verb, c.detail, got, c.want)
		}
	}
	for _, verb := range Verbs() { // whatever an entry lacks, its words are words
		got := Words(verb, "x", nil, called)
		if got == "" || got != strings.TrimSpace(got) || strings.Contains(got, "  ") || strings.Contains(got, "<") {
			t.Errorf("%s without a detail: %q", verb, got)
		}
	}
}
