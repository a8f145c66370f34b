//go:build unix

package datafolder

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTM097ChildGetsNothingOfOurs: git is the one program that is run here. It is asked with an environment that is
// listed, and with no open file of ours.
func TestTM097ChildGetsNothingOfOurs(t *testing.T) {
	top, tools := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(top, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	seen := filepath.Join(t.TempDir(), "seen")
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	// A git that tells what it was given, and that all is ignored. It looks for descriptors beyond those of the standard
	// streams, where one that was inherited would be.
	script := fmt.Sprintf("#!%s\nenv > '%s'\nfor d in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do if (: >&$d) 2>/dev/null; then echo \"DESCRIPTOR_$d=open\" >> '%s'; fi; done\nexit 0\n", shell, seen, seen)
	if err := os.WriteFile(filepath.Join(tools, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("WAYLEAVE_TOKEN", "canary-token")
	t.Setenv("GIT_DIR", filepath.Join(top, "elsewhere"))
	t.Setenv("GIT_CONFIG_COUNT", "1")
	for range 8 { // files that a child must not find open
		f, err := os.Open(top)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	if _, err := Open(filepath.Join(top, "data")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatalf("git was not asked: %v", err)
	}
	// PWD, OLDPWD, SHLVL and _ are the shell's own.
	expected := []string{"PATH", "HOME", "LC_ALL", "GIT_OPTIONAL_LOCKS", "PWD", "OLDPWD", "SHLVL", "_"}
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		if !slices.Contains(expected, name) {
			t.Errorf("the child was given %s", strings.TrimSpace(line))
		}
	}
}
