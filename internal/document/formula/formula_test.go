package formula

import (
	"strings"
	"testing"
)

// TestEquationsEnd: what a code leaves open makes no trouble.
func TestEquationsEnd(t *testing.T) {
	for _, code := range []string{`\`, `\f`, `\f(`, `\f(1,`, `\f(1,2))`, `)(`, `\b\bc\（(a)`, strings.Repeat(`\f(`, 2000), strings.Repeat(`(`, 2000), `\b\bc\`} {
		if got := Field(code); len(got) > len(code)+100 {
			t.Errorf("%q: %q", code, got)
		}
	}
}
