//go:build unix

package datafolder

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipeInTheFolderIsRefusedAtOnce: a reader that waited for a writer would hold up every request.
func TestPipeInTheFolderIsRefusedAtOnce(t *testing.T) {
	f := open(t, t.TempDir())
	if err := syscall.Mkfifo(filepath.Join(f.Path(), "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Read("pipe"); err == nil || !strings.Contains(err.Error(), "not an ordinary file") {
		t.Errorf("read: %v", err)
	}
}
