package datafolder

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestOwnerSaysWhereItServes(t *testing.T) {
	f, err := Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	if _, owned, err := f.Owner(); owned || err != nil {
		t.Fatalf("nobody owns it: %t, %v", owned, err)
	}
	release, err := f.Own()
	if err != nil {
		t.Fatal(err)
	}
	if at, owned, err := f.Owner(); !owned || err != nil || at != (Server{}) {
		t.Fatalf("owned, nothing said: %+v, %t, %v", at, owned, err)
	}
	here := Server{URL: "http://127.0.0.1:7477/mcp", Listen: "127.0.0.1:7477"}
	withdraw, err := f.Announce(here)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(f.Path(), serverFile))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if at, owned, err := f.Owner(); !owned || err != nil || at != here {
		t.Fatalf("%+v, %t, %v", at, owned, err)
	}
	// A process that did not end in order: its lock is gone, its note is not.
	release()
	if at, owned, err := f.Owner(); owned || err != nil || at != (Server{}) {
		t.Fatalf("a stale note: %+v, %t, %v", at, owned, err)
	}
	if release, err = f.Own(); err != nil {
		t.Fatal(err)
	}
	defer release()
	if at, _, err := f.Owner(); err != nil || at != (Server{}) {
		t.Fatalf("the next owner has the last one's note: %+v, %v", at, err)
	}
	if err := withdraw(); err != nil {
		t.Errorf("a note that is gone already: %v", err)
	}
}
