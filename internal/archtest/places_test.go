package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSeedCoverageNamesPlacesThatExist: a file or folder in docs/seed-coverage.md or docs/threat-model.md is there. What
// moves in the code moves there too.
func TestSeedCoverageNamesPlacesThatExist(t *testing.T) {
	quoted := regexp.MustCompile("`([^`]+)`")
	place := regexp.MustCompile(`^(webfetch|weburl|agenttool|adapters|internal|cmd|docs|README\.md)(/[\w./-]+)?$`)
	found := 0
	for file, cell := range map[string]int{"seed-coverage.md": 2, "threat-model.md": 2} {
		text, err := os.ReadFile(filepath.Join(root(t), "docs", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			if len(cells) < 5 {
				continue
			}
			for _, m := range quoted.FindAllStringSubmatch(cells[cell], -1) {
				if !place.MatchString(m[1]) {
					continue // a flag, a name in code
				}
				found++
				if _, err := os.Stat(filepath.Join(root(t), filepath.FromSlash(m[1]))); err != nil {
					t.Errorf("docs/%s, row %s: %s is not there", file, strings.TrimSpace(cells[0]), m[1])
				}
			}
		}
	}
	if found < 150 {
		t.Errorf("%d places were found, there are more", found)
	}
}
