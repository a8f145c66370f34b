package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// coverageRow is one line of docs/seed-coverage.md: | id | requirement | where | state | tests |.
type coverageRow struct {
	id, state string
	tests     []string // "folder.TestName" or "file:case"
}

func coverage(t *testing.T) []coverageRow {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "seed-coverage.md"))
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`^(W|F|A|TM)-\d{3}$`)
	quoted := regexp.MustCompile("`([^`]+)`")
	var rows []coverageRow
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) < 5 || !id.MatchString(cells[0]) {
			continue
		}
		r := coverageRow{id: cells[0], state: cells[3]}
		for _, m := range quoted.FindAllStringSubmatch(cells[4], -1) {
			r.tests = append(r.tests, m[1])
		}
		rows = append(rows, r)
	}
	return rows
}

// TestSeedCoverageNamesTestsThatExist keeps docs/seed-coverage.md true: a row that says "shown" names at least one test,
// every test it names is there, and no row of seed 003 is missing.
func TestSeedCoverageNamesTestsThatExist(t *testing.T) {
	tests := map[string]bool{}
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[s.pkg+"."+f.Name.Name] = true
			}
		}
	}
	states := []string{"shown", "in part", "later"}
	seen := map[string]bool{}
	for _, r := range coverage(t) {
		if seen[r.id] {
			t.Errorf("%s has two rows", r.id)
		}
		seen[r.id] = true
		if !slices.Contains(states, r.state) {
			t.Errorf("%s: state %q is none of %q", r.id, r.state, states)
		}
		if r.state != "later" && len(r.tests) == 0 {
			t.Errorf("%s is %q and names no test", r.id, r.state)
		}
		for _, name := range r.tests {
			if !tests[name] {
				t.Errorf("%s names %s, which is not there", r.id, name)
			}
		}
	}
	for n := 1; n <= 198; n++ {
		if id := fmt.Sprintf("W-%03d", n); !seen[id] {
			t.Errorf("%s has no row", id)
		}
	}
}

// TestSeedCoverageCountsItsRows: the sum at its head is that of the rows.
func TestSeedCoverageCountsItsRows(t *testing.T) {
	count := map[string]int{}
	for _, r := range coverage(t) {
		count[r.state]++
	}
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "seed-coverage.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("\nOf %d rows %d are shown, %d in part, %d later.\n", len(coverage(t)), count["shown"], count["in part"], count["later"])
	if !strings.Contains(string(text), want) {
		t.Errorf("its head does not say:%s", want)
	}
}

// TestThreatModelTestsAreListed finds tests whose name carries a TM number and wants a row for each in docs/threat-model.md,
// and the other way round.
func TestThreatModelTestsAreListed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (TM-\d{3}) \|`).FindAllStringSubmatch(string(text), -1) {
		listed[strings.ReplaceAll(m[1], "-", "")] = true
	}
	named, tests := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[s.pkg+"."+f.Name.Name] = true
				for _, m := range regexp.MustCompile(`TM\d{3}`).FindAllString(f.Name.Name, -1) {
					named[m] = true
				}
			}
		}
	}
	for _, m := range regexp.MustCompile("`([a-z./]+\\.(?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(text), -1) {
		if !tests[m[1]] {
			t.Errorf("docs/threat-model.md names %s, which is not there", m[1])
		}
	}
	for tm := range named {
		if !listed[tm] {
			t.Errorf("a test is named for %s, which docs/threat-model.md does not list", tm)
		}
	}
	for tm := range listed {
		if !named[tm] {
			t.Errorf("docs/threat-model.md lists %s, and no test carries its number", tm)
		}
	}
}
