package canary

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// judge stands in for a test, and keeps what it was told.
type judge struct{ faults, notes []string }

func (j *judge) Helper()                      {}
func (j *judge) Errorf(f string, args ...any) { j.faults = append(j.faults, fmt.Sprintf(f, args...)) }
func (j *judge) Logf(f string, args ...any)   { j.notes = append(j.notes, fmt.Sprintf(f, args...)) }

func verdict(h *Hunt) *judge {
	j := new(judge)
	h.Check(j)
	return j
}

// expect compares faults with the beginnings of what they should say, in order.
func (j *judge) expect(t *testing.T, want ...string) {
	t.Helper()
	if len(j.faults) != len(want) {
		t.Errorf("%d faults, expected %d:\n%s", len(j.faults), len(want), strings.Join(j.faults, "\n"))
		return
	}
	for i, w := range want {
		if !strings.HasPrefix(j.faults[i], "canary: "+w) {
			t.Errorf("fault %d is %q, expected %q", i, j.faults[i], w)
		}
	}
}

func TestCleanHuntPassesAndSaysWhatItSaw(t *testing.T) {
	h := NewHunt()
	h.Plant("K1")
	h.Look("log", "line", []byte("one "+h.Control("log")))
	h.Look("log", "line", []byte("two"))
	j := verdict(h)
	j.expect(t)
	if len(j.notes) != 1 || j.notes[0] != fmt.Sprintf("canary: log: %d bytes in 2 looks", len("one ")+len(h.Control("log"))+3) {
		t.Errorf("%q", j.notes)
	}
}

func TestHuntThatProvesNothingFails(t *testing.T) {
	verdict(NewHunt()).expect(t, "nothing was planted", "no place was looked at")

	h := NewHunt()
	h.Plant("K1")
	verdict(h).expect(t, "no place was looked at")

	h.Look("log", "line", nil)
	verdict(h).expect(t, "log gave no bytes", "the control of log was not found")

	h.Look("log", "line", []byte("text without a control"))
	verdict(h).expect(t, "the control of log was not found")

	// A control that was asked for and whose place was never looked at.
	h.Control("backup")
	verdict(h).expect(t, "backup gave no bytes", "the control of backup was not found", "the control of log was not found")

	// The control of another place proves nothing of this one, nor does a piece of its own.
	h = NewHunt()
	h.Plant("K1")
	h.Look("log", "line", []byte(h.Control("backup")+" "+h.Control("log")[:20]))
	h.Look("backup", "file", []byte(h.Control("backup")))
	verdict(h).expect(t, "the control of log was not found")
}

func TestHuntNamesEachLeak(t *testing.T) {
	h := NewHunt()
	k1, k3 := h.Plant("K1"), h.Plant("K3-token")
	h.May("answer", "K3-token")
	h.Look("answer", "POST /api/tokens", []byte(h.Control("answer")+k3.String()))
	h.Look("log", "stderr", []byte(h.Control("log")+" at "+gzipped(strings.Repeat("a line of a log\n", 50)+k3.String())))
	h.Look("log", "stderr", []byte(k1.random[3:11]))
	verdict(h).expect(t, fmt.Sprintf("K3-token is in log: whole, plain, at byte %d of stderr, in gzip at ", 50*len("a line of a log\n")+len("cnry-K3-token-")), "K1 is in log: part, plain, at byte 0 of stderr")

	// What is planted after a look is looked for too.
	late := New("K9")
	h = NewHunt()
	h.Look("log", "stderr", []byte(h.Control("log")+late.String()))
	h.add(late)
	verdict(h).expect(t, "K9 is in log")
}

func TestWhatMustBeThereIsMissed(t *testing.T) {
	h := NewHunt()
	c := h.Plant("K3")
	h.Must("answer", "K3")
	h.May("answer", "K3") // does not take the demand back
	h.Look("answer", "body", []byte(h.Control("answer")))
	verdict(h).expect(t, "K3 must be in answer and is not")
	h.Look("answer", "body", []byte(c.String()))
	verdict(h).expect(t)
	if err := h.Seek("K5", "wl_tools_0q1w2e3r4t5y6u7i8o9p0a1s2d"); err != nil {
		t.Fatal(err)
	}
	h.Look("answer", "body", []byte("key: 0q1w2e3r4t5y6u7i8o9p0a1s2d"))
	verdict(h).expect(t, "K5 is in answer")
	if err := h.Seek("K6", "short"); err == nil {
		t.Error("a short secret is sought")
	}
}

func TestSmallLooksCountEnds(t *testing.T) {
	h := NewHunt()
	c := h.Plant("K1")
	h.Look("api", "list", []byte(h.Control("api")))
	h.Look("api", "list", []byte("…"+c.random[22:]))
	verdict(h).expect(t)
	h.LookSmall("api", "list", []byte("…"+c.random[22:]))
	verdict(h).expect(t, "K1 is in api: end, plain")
}

// TestWriterSeesAcrossWrites: a log is written in pieces, and by many at once.
func TestWriterSeesAcrossWrites(t *testing.T) {
	h := NewHunt()
	c := h.Plant("K1")
	w := h.Writer("log", "stderr")
	other := h.Writer("log", "stdout")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				_, _ = io.WriteString(other, "a line\n")
			}
		})
	}
	for _, b := range []byte(h.Control("log") + "\n" + c.String()) {
		if n, err := w.Write([]byte{b}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	all.Wait()
	verdict(h).expect(t, "K1 is in log: whole, plain")
}

func TestFilesAreLookedAtWithTheirNames(t *testing.T) {
	h := NewHunt()
	inFile, inName, behindLink := h.Plant("K1"), h.Plant("K2"), h.Plant("K4")
	root, elsewhere := t.TempDir(), t.TempDir()
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(root, "control"), h.Control("data"))
	put(filepath.Join(root, "a", "b", "db-wal"), strings.Repeat("\x00", 5000)+inFile.String())
	put(filepath.Join(root, "a", inName.String()), "")
	put(filepath.Join(elsewhere, "x"), behindLink.String())
	if err := os.Symlink(elsewhere, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := h.LookFiles("data", root); err != nil {
		t.Fatal(err)
	}
	verdict(h).expect(t, "K1 is in data: whole, plain, at byte 5008 of "+filepath.Join(root, "a", "b", "db-wal"), "K2 is in data: whole, plain")
	if err := h.LookFiles("data", filepath.Join(root, "nowhere")); err == nil {
		t.Error("a folder that is not there was looked at")
	}
}

func TestTwoCanariesOfOneNameAreAMistake(t *testing.T) {
	h := NewHunt()
	h.Plant("K1")
	defer func() {
		if recover() == nil {
			t.Error("it was taken")
		}
	}()
	h.Plant("K1")
}
