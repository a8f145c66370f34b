package agent

import (
	"strings"
	"testing"
)

func TestSlugs(t *testing.T) {
	for _, good := range []string{"local", "a", "0", "a-b-2", strings.Repeat("a", MaxSlug)} {
		if err := CheckSlug(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-a", "A", "a b", "a_b", "a\n", "é", "../x", strings.Repeat("a", MaxSlug+1)} {
		err := CheckSlug(bad)
		if err == nil {
			t.Errorf("%q passed", bad)
		} else if len(err.Error()) > 250 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error is not one short line: %v", bad, err)
		}
	}
	if _, err := ParseScope("admin"); err == nil || !strings.Contains(err.Error(), "tools, harness") {
		t.Errorf("ParseScope: %v", err)
	}
}
