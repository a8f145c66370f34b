package keyfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/secret"
)

func inFolder(t *testing.T) (*Source, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), Name)
	return New(path, secret.Value{}), path
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// alone fails if anything but the named files is in the folder.
func alone(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("the folder has %v, expected %v", got, names)
	}
}

func TestMadeKeyIsPrivateAndTheSameForAll(t *testing.T) {
	_, path := inFolder(t)
	var all sync.WaitGroup
	prints := make([]string, 16)
	makers := make([]bool, 16)
	for i := range prints {
		all.Go(func() {
			m, made, err := New(path, secret.Value{}).Make()
			if err != nil {
				t.Error(err)
			}
			prints[i], makers[i] = m.Fingerprint(), made
		})
	}
	all.Wait()
	made := 0
	for i := range prints {
		if prints[i] != prints[0] || prints[i] == "" {
			t.Errorf("process %d has key %s, the first %s", i, prints[i], prints[0])
		}
		if makers[i] {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d say that they made it", made)
	}
	alone(t, filepath.Dir(path), Name)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %#o", info.Mode().Perm())
	}
}

// TestTM107BadKeyFileIsNamed: whatever is wrong with the key, nothing is made in its place, and the error says where and
// what.
func TestTM107BadKeyFileIsNamed(t *testing.T) {
	good := seal.NewMaster().Text().Reveal()
	for name, c := range map[string]struct {
		text string
		mode fs.FileMode
		want error
		says string
	}{
		"empty":             {"", 0o600, seal.ErrNoMasterKey, Name},
		"other text":        {"hunter2\n", 0o600, seal.ErrNoMasterKey, Name},
		"cut":               {good[:40], 0o600, seal.ErrMasterCut, Name},
		"changed":           {good[:63] + map[bool]string{true: "4", false: "0"}[good[63] == '0'], 0o600, seal.ErrMasterSum, Name},
		"huge":              {strings.Repeat(" ", most) + good, 0o600, seal.ErrNoMasterKey, Name},
		"read by all":       {good, 0o604, nil, "chmod 600"},
		"read by the group": {good, 0o640, nil, "chmod 600"},
		"changed by all":    {good, 0o602, nil, "may change"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.mode != 0o600 {
				return // there are no such modes
			}
			s, path := inFolder(t)
			write(t, path, c.text, c.mode)
			for _, get := range []func() (seal.Master, error){s.Master, func() (seal.Master, error) { m, _, err := s.Make(); return m, err }} {
				m, err := get()
				if err == nil || !m.Zero() || errors.Is(err, ErrMissing) {
					t.Fatalf("%v, %v", m.Zero(), err)
				}
				if c.want != nil && !errors.Is(err, c.want) {
					t.Errorf("%v is not %v", err, c.want)
				}
				if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
					t.Errorf("the error does not say %q and the path: %v", c.says, err)
				}
				if strings.Contains(err.Error(), good[8:20]) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("the error tells what is in the file: %v", err)
				}
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != c.text {
				t.Error("the file was changed")
			}
			if err := s.Restore(seal.NewMaster()); err == nil || !strings.Contains(err.Error(), "move it away") {
				t.Errorf("Restore: %v", err)
			}
			alone(t, filepath.Dir(path), Name)
		})
	}
	s, _ := inFolder(t)
	if _, err := s.Master(); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), Name) {
		t.Errorf("a missing file: %v", err)
	}
	if _, _, err := New("", secret.Value{}).Make(); !errors.Is(err, ErrMissing) {
		t.Errorf("no place at all: %v", err)
	}
	folder := New(t.TempDir(), secret.Value{})
	if _, _, err := folder.Make(); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("a folder in the file's place: %v", err)
	}
	if _, _, err := New(filepath.Join(t.TempDir(), "nowhere", Name), secret.Value{}).Make(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestModeIsJudgedByWhoGaveTheFile(t *testing.T) {
	for _, c := range []struct {
		perm   fs.FileMode
		byRoot bool
		ok     bool
	}{
		{0o600, false, true}, {0o400, false, true}, {0o700, false, true}, {0o640, false, false}, {0o604, false, false},
		{0o440, true, true}, {0o640, true, true}, {0o660, true, false}, {0o644, true, false}, {0o602, true, false}, {0o610, false, false},
	} {
		if got := judge(c.perm, c.byRoot) == ""; got != c.ok {
			t.Errorf("%#o, by root %v: %v", c.perm, c.byRoot, got)
		}
	}
}

func TestVariableCountsFirst(t *testing.T) {
	_, path := inFolder(t)
	file, given := seal.NewMaster(), seal.NewMaster()
	write(t, path, file.Text().Reveal(), 0o600)
	s := New(path, given.Text())
	if m, err := s.Master(); err != nil || m.Fingerprint() != given.Fingerprint() {
		t.Fatal(err)
	}
	if m, made, err := s.Make(); err != nil || made || m.Fingerprint() != given.Fingerprint() {
		t.Fatal(made, err)
	}
	if err := s.Stage(seal.NewMaster()); err == nil || !strings.Contains(err.Error(), Variable) {
		t.Errorf("Stage: %v", err)
	}
	if err := errors.Join(s.Forget(given), s.Restore(given)); err != nil {
		t.Error(err)
	}
	if err := s.Restore(file); err == nil {
		t.Error("another key was restored beside the variable")
	}
	r := s.Report(filepath.Dir(path))
	if r.Where != "the variable "+Variable || r.Left != path || r.Beside || r.Mode != "" || r.Err != nil || r.Fingerprint != given.Fingerprint() {
		t.Errorf("%+v", r)
	}
	bad := New(path, secret.New("wlmk1_hunter2"))
	if _, _, err := bad.Make(); err == nil || !strings.Contains(err.Error(), Variable) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a damaged variable: %v", err)
	}
}

func TestStagedKeyComesIntoUseByAdopt(t *testing.T) {
	s, path := inFolder(t)
	old, _, err := s.Make()
	if err != nil {
		t.Fatal(err)
	}
	other, next := seal.NewMaster(), seal.NewMaster()
	if err := errors.Join(s.Stage(other), s.Stage(next)); err != nil {
		t.Fatal(err)
	}
	if m, err := s.Master(); err != nil || m.Fingerprint() != old.Fingerprint() {
		t.Fatal("the staged key is in use")
	}
	if m, err := s.For(old.Fingerprint()); err != nil || m.Fingerprint() != old.Fingerprint() {
		t.Fatal(err)
	}
	if err := errors.Join(s.Adopt(next.Fingerprint()), s.Adopt(next.Fingerprint())); err != nil {
		t.Fatal(err)
	}
	if m, err := s.Master(); err != nil || m.Fingerprint() != next.Fingerprint() {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error("the adopted file is not private")
	}
	if err := s.Adopt(seal.NewMaster().Fingerprint()); err == nil {
		t.Error("a key was adopted that nobody staged")
	}
	// A staged key that was left behind goes with the next one, a young one stays: somebody may be about to adopt it.
	young := seal.NewMaster()
	if err := s.Stage(young); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * oldStage)
	if err := os.Chtimes(s.stage(other.Fingerprint()), long, long); err != nil {
		t.Fatal(err)
	}
	last := seal.NewMaster()
	if err := s.Stage(last); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Unstage(last.Fingerprint()), s.Unstage(last.Fingerprint())); err != nil {
		t.Fatal(err)
	}
	alone(t, filepath.Dir(path), slices.Sorted(slices.Values([]string{Name, filepath.Base(s.stage(young.Fingerprint())), filepath.Base(s.old(old.Fingerprint()))}))...)
	// What opens earlier backups is kept, private, and is found.
	kept, there := s.Old(old.Fingerprint())
	if info, err := os.Stat(kept); !there || err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the old key: %s, %v, %v", kept, there, err)
	}
	if m, err := s.For(old.Fingerprint()); err != nil || m.Fingerprint() != old.Fingerprint() {
		t.Errorf("the old key is not found: %v", err)
	}
	if m, err := s.Master(); err != nil || m.Fingerprint() != next.Fingerprint() {
		t.Errorf("looking for the old key put it in the new one's place: %v", err)
	}
}

// TestTM107KeyOfTheDatabaseIsFoundOrTheWayOutIsNamed: For is what a start asks.
func TestTM107KeyOfTheDatabaseIsFoundOrTheWayOutIsNamed(t *testing.T) {
	s, path := inFolder(t)
	m, _, err := s.Make()
	if err != nil {
		t.Fatal(err)
	}
	wanted := seal.NewMaster()
	refused := func(name string, s *Source, want error) {
		t.Helper()
		got, err := s.For(wanted.Fingerprint())
		if !errors.Is(err, want) || !got.Zero() {
			t.Errorf("%s: %v", name, err)
			return
		}
		for _, says := range []string{wanted.Fingerprint(), Variable, "wayleave keys import"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: the error does not say %q: %v", name, says, err)
			}
		}
	}
	refused("another key", s, ErrOther)
	refused("another key in the variable", New(path, m.Text()), ErrOther)
	write(t, path, "wlmk1_x", 0o600)
	refused("damaged", s, seal.ErrMasterCut)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refused("missing", s, ErrMissing)
	refused("no file named", New("", secret.Value{}), ErrMissing)

	// A staged file that has another key than its name says is not taken.
	write(t, s.stage(wanted.Fingerprint()), m.Text().Reveal(), 0o600)
	refused("staged under a wrong name", s, ErrMissing)
	alone(t, filepath.Dir(path), filepath.Base(s.stage(wanted.Fingerprint())))

	// The change of the master key was cut off between its commit and its rename, in each state that the file may have.
	for name, text := range map[string]string{"old key": m.Text().Reveal(), "damaged": "x", "missing": ""} {
		if text != "" {
			write(t, path, text, 0o600)
		}
		if err := s.Stage(wanted); err != nil {
			t.Fatal(err)
		}
		if got, err := s.For(wanted.Fingerprint()); err != nil || got.Fingerprint() != wanted.Fingerprint() {
			t.Errorf("%s: %v", name, err)
		}
		left := []string{Name}
		if name == "old key" {
			left = append(left, filepath.Base(s.old(m.Fingerprint())))
		}
		alone(t, filepath.Dir(path), left...)
		_ = os.Remove(s.old(m.Fingerprint()))
		if got, err := s.Master(); err != nil || got.Fingerprint() != wanted.Fingerprint() {
			t.Errorf("%s: the staged key was not put in its place: %v", name, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStageLooksAtItsOwnFilesOnly(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "odd [a]*? name")
	if runtime.GOOS == "windows" {
		folder = t.TempDir()
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s := New(filepath.Join(folder, Name), secret.Value{})
	old := seal.NewMaster()
	if err := s.Stage(old); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * oldStage)
	write(t, filepath.Join(folder, "other.new"), "", 0o600)
	for _, f := range []string{s.stage(old.Fingerprint()), filepath.Join(folder, "other.new")} {
		if err := os.Chtimes(f, long, long); err != nil {
			t.Fatal(err)
		}
	}
	next := seal.NewMaster()
	if err := s.Stage(next); err != nil {
		t.Fatal(err)
	}
	alone(t, folder, filepath.Base(s.stage(next.Fingerprint())), "other.new")
}

func TestForgetTakesOnlyTheKeyThatWasMeant(t *testing.T) {
	s, path := inFolder(t)
	m, _, err := s.Make()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Forget(seal.NewMaster()); err != nil {
		t.Fatal(err)
	}
	alone(t, filepath.Dir(path), Name)
	if err := s.Forget(m); err != nil {
		t.Fatal(err)
	}
	alone(t, filepath.Dir(path))
}

// TestTM101ReportSaysHowTheKeyIsKept in each state that there is.
func TestTM101ReportSaysHowTheKeyIsKept(t *testing.T) {
	s, path := inFolder(t)
	data := filepath.Dir(path)
	if r := s.Report(data); !errors.Is(r.Err, ErrMissing) || r.Mode != "" || r.Fingerprint != "" || r.Beside {
		t.Errorf("missing: %+v", r)
	}
	m, _, err := s.Make()
	if err != nil {
		t.Fatal(err)
	}
	mode := "0600"
	if runtime.GOOS == "windows" {
		mode = ""
	}
	if r := s.Report(data); r != (Report{Where: "the file " + path, Mode: mode, Fingerprint: m.Fingerprint(), Beside: true}) {
		t.Errorf("beside the data: %+v", r)
	}
	if r := s.Report(t.TempDir()); r.Beside {
		t.Errorf("elsewhere: %+v", r)
	}
	if r := s.Report(""); r.Beside {
		t.Errorf("no data on this machine: %+v", r)
	}
	if r := s.Report(data + "/../" + filepath.Base(data)); !r.Beside {
		t.Errorf("the same folder spelled otherwise: %+v", r)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if r := New(link, secret.Value{}).Report(data); !r.Beside {
		t.Errorf("a link into the folder: %+v", r)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := s.Report(data); runtime.GOOS != "windows" && (r.Err == nil || r.Mode != "0644") {
		t.Errorf("readable by all: %+v", r)
	}
}
