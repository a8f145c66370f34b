// This file breaks the store on purpose, one fault at a time, and looks that the walk sees each. The faults are written
// into a copy of the store's sources that only this test's program is built from.
package storetest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// mutantVariable names the fault that a program of mutants has.
const mutantVariable = "WAYLEAVE_MUTANT"

// fault is what a mutant does wrong: a text of the store's sources and what stands there instead. In the new text,
// MUTANT is the condition that this mutant is the one that runs, and SQL(wrong|right) a piece of a statement.
type fault struct{ name, file, right, wrong string }

// races are the faults that only a crowd on PostgreSQL can meet: without the settings lock, what was read may be changed
// before it is acted on.
func races() []fault {
	const lock, none = `(ctx, sqldb.Calls, func`, `(ctx, map[bool]sqldb.Lock{true: sqldb.Free, false: sqldb.Calls}[MUTANT], func`
	return []fault{
		{"admission without the settings lock", "ledgerstore/admit.go", lock, none},
		{"dispatch without the settings lock", "ledgerstore/dispatch.go", lock, none},
		{"result without the settings lock", "ledgerstore/settle.go", lock, none},
	}
}

func faults() []fault {
	return []fault{
		{"hold ignored", "ledgerstore/dispatch.go", ` AND hold_call IS NULL RETURNING now_us()`, `SQL(| AND hold_call IS NULL) RETURNING now_us()`},
		{"hold ignored at the gate", "ledgerstore/judge.go", `if hold != "" {`, `if hold != "" && !MUTANT {`},
		{"judging before looking", "ledgerstore/admit.go", `	row, conflict, err := same(tx, a, g)`,
			"	if r := offered(a, g); r != nil && MUTANT {\n		return turned(r)\n	}\n	row, conflict, err := same(tx, a, g)"},
		{"settle over a swept row", "ledgerstore/settle.go", `if u.nonce != r.Nonce || u.State != r.From {`, `if u.nonce != r.Nonce || u.State != r.From && !MUTANT {`},
		{"settle over a swept row", "ledgerstore/settle.go", `WHERE id=$1 AND nonce=$2 AND state=$3`, `WHERE id=$1 AND nonce=$2 AND (state=$3SQL( OR 1=1|))`},
		{"dispatched effect swept to failed", "ledgerstore/sweep.go", `state=CASE WHEN state='admitted' OR class='observation' THEN 'failed'`,
			`state=CASE WHEN state='admitted' OR class='observation'SQL( OR class='effect'|) THEN 'failed'`},
		{"uncertain releasing the hold", "ledgerstore/settle.go", `u.Class == effect.Effect && r.State != effect.Uncertain {`,
			`u.Class == effect.Effect && (r.State != effect.Uncertain || MUTANT) {`},
		{"limit off by one", "ledgerstore/admit.go", `limitOf(b.RunLimit))`, `limitOf(b.RunLimit+map[bool]int64{true: min(b.RunLimit, 1)}[MUTANT]))`},
		{"minute limit off by one", "ledgerstore/admit.go", `limitOf(b.MinuteLimit))`, `limitOf(b.MinuteLimit+map[bool]int64{true: min(b.MinuteLimit, 1)}[MUTANT]))`},
		{"no second check", "ledgerstore/settle.go", `	bound, changed := s.bindingNow(u)`, "	bound, changed := s.bindingNow(u)\n	changed = changed && !MUTANT"},
		{"dead process renewing", "processstore/processes.go", `"UPDATE processes SET expires_at=now_us()+$2 WHERE id=$1 AND dead=0"`,
			`"UPDATE processes SET expires_at=now_us()+$2 WHERE id=$1SQL(| AND dead=0)"`},
		{"twin rule off", "ledgerstore/judge.go", "	if a.Key != \"\" {\n		return inTheWay{}, nil", "	if a.Key != \"\" || MUTANT {\n		return inTheWay{}, nil"},
		{"reconciling in flight", "ledgerstore/reconcile.go", `	case !c.State.Final():`, `	case !c.State.Final() && !MUTANT:`},
		{"reconciling in flight", "ledgerstore/reconcile.go", `	case c.State != effect.Uncertain:`, `	case c.State != effect.Uncertain && !MUTANT:`},
		{"older offer accepted", "ledgerstore/judge.go", `g.offer.fingerprint.V != g.fingerprint:`, `g.offer.fingerprint.V != g.fingerprint && !MUTANT:`},
		{"dispatch without recheck", "ledgerstore/dispatch.go", `if _, changed := s.bindingNow(u); changed {`, `if _, changed := s.bindingNow(u); changed && !MUTANT {`},
		{"lease taken from the living", "processstore/processes.go", `WHERE leases.owner IS NULL OR`, `WHERE SQL(1=1|leases.owner IS NULL) OR`},
		{"mark goes back", "ledgerstore/reconcile.go", `delivery=0"`, `deliverySQL(>=|=)0"`},
	}
}

// names are the faults, each once.
func names(faults []fault) (list []string) {
	seen := make(map[string]bool)
	for _, f := range faults {
		if !seen[f.name] {
			seen[f.name] = true
			list = append(list, f.name)
		}
	}
	return list
}

// helper is added to each package that has a fault.
const helper = `

import "os"

func mutated(name string) bool { return os.Getenv("` + mutantVariable + `") == name }

func mutatedSQL(name, wrong, right string) string {
	if mutated(name) {
		return wrong
	}
	return right
}
`

var sqlPiece = regexp.MustCompile(`SQL\(([^|]*)\|([^)]*)\)`)

// written is a fault as Go: which quotes a statement has is seen from the text around it.
func (f fault) written(text string) (string, error) {
	if n := strings.Count(text, f.right); n != 1 {
		return "", fmt.Errorf("%s has %q %d times, want once: tell the mutant %q what it is now", f.file, f.right, n, f.name)
	}
	quote := `"`
	if strings.Count(text[:strings.Index(text, f.right)], "`")%2 == 1 {
		quote = "`"
	}
	wrong := strings.ReplaceAll(f.wrong, "MUTANT", fmt.Sprintf("mutated(%q)", f.name))
	wrong = sqlPiece.ReplaceAllStringFunc(wrong, func(piece string) string {
		p := sqlPiece.FindStringSubmatch(piece)
		return fmt.Sprintf("%s+mutatedSQL(%q, %q, %q)+%s", quote, f.name, p[1], p[2], quote)
	})
	return strings.Replace(text, f.right, wrong, 1), nil
}

// buildMutants makes the program of this package's tests over the faulty copy.
func buildMutants(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	store, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for _, f := range slices.Concat(faults(), races()) {
		pkg := path.Dir(f.file)
		texts[path.Join(pkg, "mutated.go")] = "package " + pkg + helper
		if texts[f.file] == "" {
			text, err := os.ReadFile(filepath.Join(store, f.file))
			if err != nil {
				t.Fatal(err)
			}
			texts[f.file] = string(text)
		}
		if texts[f.file], err = f.written(texts[f.file]); err != nil {
			t.Fatal(err)
		}
	}
	replace := make(map[string]string)
	for name, text := range texts {
		copied := filepath.Join(folder, strings.ReplaceAll(name, "/", "_"))
		replace[filepath.Join(store, filepath.FromSlash(name))] = copied
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "mutants.test")
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(folder, "overlay.json"), "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the mutants: %v\n%s", err, out)
	}
	return program
}

// TestMutantsAreKilled lets the walk meet a store with each fault. On SQLite each has 6,000 steps to show itself; a soak
// does the same on PostgreSQL, and lets the crowd meet the races.
func TestMutantsAreKilled(t *testing.T) {
	if os.Getenv(mutantVariable) != "" {
		t.Fatal("a mutant looks for mutants")
	}
	program := buildMutants(t)
	run := func(mutant, test string, d sqldb.Dialect, steps string) (string, error) {
		c := exec.CommandContext(t.Context(), program, "-test.run", "^"+test+"$/^"+string(d)+"$", "-test.timeout", "10m")
		c.Env = append(os.Environ(), mutantVariable+"="+mutant, "WAYLEAVE_STEPS="+steps)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	killed := func(mutant, test string, d sqldb.Dialect, sign *regexp.Regexp) {
		t.Run(fmt.Sprintf("%s on %s", mutant, d), func(t *testing.T) {
			out, err := run(mutant, test, d, "6000")
			found := sign.FindString(out)
			if err == nil || found == "" {
				t.Fatalf("the mutant lives: %v\n%s", err, out)
			}
			t.Log(found)
		})
	}
	foreseen := regexp.MustCompile(`seed \d+, step \d+ of \d+: [^\n]*`)
	if out, err := run("none", "TestWalk", sqldb.SQLite, "300"); err != nil {
		t.Fatalf("the copy without a fault does not pass: %v\n%s", err, out)
	}
	for _, name := range names(faults()) {
		killed(name, "TestWalk", sqldb.SQLite, foreseen)
	}
	if os.Getenv(soak) == "" {
		return
	}
	for _, name := range names(faults()) {
		killed(name, "TestWalk", sqldb.Postgres, foreseen)
	}
	for _, name := range names(races()) {
		killed(name, "TestCrowd", sqldb.Postgres, regexp.MustCompile(`I[478] \w+: not so [^\n]*`))
	}
}
