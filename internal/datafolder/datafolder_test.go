//go:build unix

package datafolder

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestDefaultFolderOfEachSystem(t *testing.T) {
	for _, c := range []struct {
		goos string
		env  map[string]string
		want string // "" means an error
	}{
		{"linux", map[string]string{"HOME": "/h/a"}, "/h/a/.local/share/wayleave"},
		{"linux", map[string]string{"HOME": "/h/a", "XDG_DATA_HOME": "/x"}, "/x/wayleave"},
		{"linux", map[string]string{"HOME": "/h/a", "XDG_DATA_HOME": "x"}, "/h/a/.local/share/wayleave"},
		{"linux", nil, ""},
		{"darwin", map[string]string{"HOME": "/u/a", "XDG_DATA_HOME": "/x"}, "/u/a/Library/Application Support/Wayleave"},
		{"darwin", nil, ""},
		{"windows", map[string]string{"LocalAppData": "/l"}, "/l/Wayleave"},
		{"windows", map[string]string{"HOME": "/h/a"}, ""},
	} {
		got, err := Default(c.goos, func(k string) string { return c.env[k] })
		if got != filepath.FromSlash(c.want) || (err == nil) != (c.want != "") {
			t.Errorf("Default(%s, %v) = %q, %v; want %q", c.goos, c.env, got, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "--data") {
			t.Errorf("the error %q does not name the way out", err)
		}
	}
}

func TestTM094FolderAndFilesAreTheOwnersAlone(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "a", "b"))
	mustMode(t, f.Path(), 0o700)
	mustMode(t, filepath.Dir(f.Path()), 0o700)
	if err := f.replace("x.json", []byte("1")); err != nil {
		t.Fatal(err)
	}
	release, err := f.Own()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	entries, err := os.ReadDir(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		mustMode(t, filepath.Join(f.Path(), e.Name()), 0o600)
	}
}

func TestTM094LooseFolders(t *testing.T) {
	for _, c := range []struct {
		name   string
		mode   fs.FileMode
		filled bool
		want   string // "tightened", "warned", "refused"
	}{
		{"empty and listable", 0o755, false, "tightened"},
		{"empty and open to all", 0o777, false, "tightened"},
		{"filled and listable", 0o755, true, "warned"},
		{"filled and writable by others", 0o775, true, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if c.filled {
				if err := os.WriteFile(filepath.Join(dir, "other"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(dir, c.mode); err != nil {
				t.Fatal(err)
			}
			// Looking says the same, and changes nothing.
			seen, err := Look(dir)
			if (err != nil) != (c.want == "refused") || err == nil && len(seen.Warnings()) != 1 {
				t.Fatalf("Look: %v", err)
			}
			mustMode(t, dir, c.mode)
			f, err := Open(dir)
			if c.want == "refused" {
				if err == nil || !strings.Contains(err.Error(), "chmod 700") {
					t.Fatalf("Open: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "tightened" {
				mustMode(t, dir, 0o700)
			} else {
				mustMode(t, dir, c.mode)
			}
			if (len(f.Warnings()) > 0) != (c.want == "warned") {
				t.Fatalf("warnings %q", f.Warnings())
			}
		})
	}
}

func TestTM094LooseFileIsNotBelieved(t *testing.T) {
	f := open(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(f.Path(), "x.json"), []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Read("x.json"); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Fatalf("Read: %v", err)
	}
}

func TestFolderInsideAGitWorkTreeIsRefusedUnlessIgnored(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("this test needs git")
	}
	top := t.TempDir()
	if out, err := exec.Command("git", "-C", top, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(top, ".gitignore"), []byte("/data/\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"secrets", "sub/deep", "."} {
		dir := filepath.Join(top, name)
		_, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), "git work tree") || !strings.Contains(err.Error(), "--data") {
			t.Errorf("Open(%s): %v", name, err)
		}
		if _, err := os.Stat(dir); name != "." && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the refusal left %s behind", name)
		}
	}
	for _, name := range []string{"data", "data/inner"} {
		if _, err := Open(filepath.Join(top, name)); err != nil {
			t.Errorf("Open(%s): %v", name, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(top, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(link, "secrets")); err == nil {
		t.Error("a symbolic link into the work tree was followed without asking git")
	}
}

func TestReadersNeverSeeHalfOfAFile(t *testing.T) {
	f := open(t, t.TempDir())
	const size = 1 << 20
	whole := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, size) }
	if err := f.replace("n", whole(0)); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 50 {
			if err := f.replace("n", whole(i)); err != nil {
				t.Error(err)
			}
		}
	}()
	for writing := true; writing; {
		select {
		case <-done:
			writing = false
		default:
		}
		if data, _, err := f.Read("n"); err != nil || len(data) != size || bytes.Count(data, data[:1]) != size {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	}
	left, err := filepath.Glob(filepath.Join(f.Path(), "*.new"))
	if err != nil || len(left) > 0 {
		t.Fatalf("files left behind: %v, %v", left, err)
	}
}

func TestOneOwner(t *testing.T) {
	f := open(t, t.TempDir())
	release, err := f.Own()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Own(); !errors.Is(err, ErrOwned) {
		t.Fatalf("a second owner: %v", err)
	}
	release()
	release, err = f.Own()
	if err != nil {
		t.Fatalf("the lock outlived its owner: %v", err)
	}
	release()
}

func TestReadOfWhatIsNoFile(t *testing.T) {
	f := open(t, t.TempDir())
	if data, info, err := f.Read("missing"); data != nil || info != nil || err != nil {
		t.Fatalf("%q, %v, %v", data, info, err)
	}
	if err := os.Mkdir(filepath.Join(f.Path(), "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Read("dir"); err == nil {
		t.Fatal("a folder was read as a file")
	}
	big := filepath.Join(f.Path(), "big")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, maxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Read("big"); err == nil {
		t.Fatal("a file over the bound was read")
	}
}

func TestLookChangesNothing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	if _, err := Look(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Look: %v", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("Look made the folder")
	}
}

func open(t *testing.T, path string) *Folder {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has mode %#o, want %#o", filepath.Base(path), got, want)
	}
}
