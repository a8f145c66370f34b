package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestEntryIsCheckedBeforeItIsKept(t *testing.T) {
	good := Entry{Actor: "person:person_1", Verb: "agent.disabled", Subject: "agent_1"}
	with := func(change func(*Entry)) Entry {
		e := good
		change(&e)
		return e
	}
	for name, c := range map[string]struct {
		e      Entry
		detail string
		says   string // of the error; empty for none
	}{
		"no detail":       {good, "{}", ""},
		"an empty detail": {with(func(e *Entry) { e.Detail = map[string]any{} }), "{}", ""},
		"in order":        {with(func(e *Entry) { e.Detail = map[string]any{"b": 1, "a": "x<y"} }), `{"a":"x\u003cy","b":1}`, ""},
		"longest":         {with(func(e *Entry) { e.Actor = strings.Repeat("a", maxName) }), "{}", ""},
		"other scripts":   {with(func(e *Entry) { e.Subject = "Ünïcode 名" }), "{}", ""},
		"no actor":        {with(func(e *Entry) { e.Actor = "" }), "", "no actor"},
		"no verb":         {with(func(e *Entry) { e.Verb = "" }), "", "no verb"},
		"no subject":      {with(func(e *Entry) { e.Subject = "" }), "", "no subject"},
		"long actor":      {with(func(e *Entry) { e.Actor = strings.Repeat("a", maxName+1) }), "", "actor"},
		"long verb":       {with(func(e *Entry) { e.Verb = strings.Repeat("a", maxVerb+1) }), "", "verb"},
		"a line end":      {with(func(e *Entry) { e.Subject = "a\nb" }), "", "subject"},
		"a NUL":           {with(func(e *Entry) { e.Subject = "a\x00b" }), "", "subject"},
		"not UTF-8":       {with(func(e *Entry) { e.Actor = "a\xff" }), "", "actor"},
		"long detail":     {with(func(e *Entry) { e.Detail = map[string]any{"x": strings.Repeat("a", maxDetail)} }), "", "detail"},
		"no JSON":         {with(func(e *Entry) { e.Detail = map[string]any{"x": func() {}} }), "", "detail"},
	} {
		detail, err := c.e.Check()
		if detail != c.detail || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", name, detail, err)
		}
	}
}

func testKey(t *testing.T) Key {
	t.Helper()
	k, err := NewKey(bytes.Repeat([]byte{7}, minKey))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestLinkIsOfEveryField: no field may change, and no two rows give one text to hash.
func TestLinkIsOfEveryField(t *testing.T) {
	k := testKey(t)
	r := k.After(Head{6, "before"}, Row{ID: "audit_1", At: time.UnixMicro(5), Actor: "ab", Verb: "c", Subject: "d", Detail: []byte("{}")})
	if r.Link != 7 || r.Prev != "before" || len(r.Hash) != 64 || !k.Made(r) {
		t.Fatalf("%+v", r)
	}
	for name, change := range map[string]func(*Row){
		"id": func(r *Row) { r.ID = "audit_2" }, "at": func(r *Row) { r.At = r.At.Add(time.Microsecond) }, "actor": func(r *Row) { r.Actor = "x" },
		"verb": func(r *Row) { r.Verb = "x" }, "subject": func(r *Row) { r.Subject = "x" }, "detail": func(r *Row) { r.Detail = []byte("{} ") },
		"link": func(r *Row) { r.Link = 8 }, "prev": func(r *Row) { r.Prev = "x" }, "hash": func(r *Row) { r.Hash = strings.Repeat("0", 64) },
		"hash in upper case": func(r *Row) { r.Hash = strings.ToUpper(r.Hash) }, "no hash": func(r *Row) { r.Hash = "" },
		"letters moved on": func(r *Row) { r.Actor, r.Verb = "a", "bc" },
	} {
		changed := r
		change(&changed)
		if k.Made(changed) {
			t.Errorf("%s changed, and it still holds", name)
		}
	}
	other, err := NewKey(bytes.Repeat([]byte{8}, minKey))
	if err != nil {
		t.Fatal(err)
	}
	if other.Made(r) {
		t.Error("it holds under another key")
	}
	if _, err := NewKey(make([]byte, minKey-1)); err == nil {
		t.Error("a short key was taken")
	}
}

func TestPurgeIsStatedUnderTheKey(t *testing.T) {
	k := testKey(t)
	h := Head{41, strings.Repeat("a", 64)}
	detail, err := k.Purge(h).Check()
	if err != nil {
		t.Fatal(err)
	}
	row := Row{Verb: VerbPurged, Detail: []byte(detail)}
	if got, ok := k.Purged(row); !ok || got != h {
		t.Errorf("%+v, %v", got, ok)
	}
	for name, r := range map[string]Row{
		"another verb":   {Verb: "agent.disabled", Detail: []byte(detail)},
		"another number": {Verb: VerbPurged, Detail: []byte(strings.Replace(detail, "41", "42", 1))},
		"another hash":   {Verb: VerbPurged, Detail: []byte(strings.Replace(detail, "aaaa", "aaab", 1))},
		"no seal":        {Verb: VerbPurged, Detail: []byte(`{"through":41}`)},
		"no JSON":        {Verb: VerbPurged, Detail: []byte(`{`)},
		"nothing":        {Verb: VerbPurged},
	} {
		if _, ok := k.Purged(r); ok {
			t.Errorf("%s: it is believed", name)
		}
	}
}

func TestCheckpointIsFoundInAnyText(t *testing.T) {
	c := Checkpoint{Head: Head{123, strings.Repeat("0a", 32)}, At: time.UnixMicro(1700000000123456).UTC(), Install: "quiet-otter"}
	bare := Checkpoint{Head: Head{1, strings.Repeat("b", 64)}, At: time.Unix(0, 0).UTC()}
	text := "first line\n" + `{"level":"INFO","msg":"` + c.String() + `","x":1}` + "\r\ntime=… msg=\"" + bare.String() + "\" " + c.String() + "\nlast"
	got, err := ReadCheckpoints(strings.NewReader(text))
	if err != nil || len(got) != 3 || got[0] != c || got[1] != bare || got[2] != c {
		t.Errorf("%+v, %v", got, err)
	}
	for name, text := range map[string]string{
		"nothing": "", "another text": "hello\nworld", "cut": c.String()[:len(c.String())-1], "no number": strings.Replace(c.String(), "123", "x", 1),
	} {
		if _, err := ReadCheckpoints(strings.NewReader(text)); !errors.Is(err, ErrNoCheckpoint) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadCheckpoints(strings.NewReader(strings.Replace(c.String(), "2023", "20x3", 1))); err == nil {
		t.Error("a time that is none was read")
	}
	if _, err := ReadCheckpoints(strings.NewReader(strings.Repeat("x", mostLine+1))); err == nil || errors.Is(err, ErrNoCheckpoint) {
		t.Errorf("an endless line: %v", err)
	}
}

func TestCheckpointsAreAppendedToAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoints")
	tell, err := AppendTo(path)
	if err != nil {
		t.Fatal(err)
	}
	a := Checkpoint{Head: Head{1, strings.Repeat("a", 64)}, At: time.Unix(1, 0).UTC(), Install: "x"}
	b := Checkpoint{Head: Head{2, strings.Repeat("b", 64)}, At: time.Unix(2, 0).UTC(), Install: "x"}
	if err := errors.Join(tell(a), tell(b)); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := ReadCheckpoints(f)
	if err != nil || len(got) != 2 || got[0] != a || got[1] != b {
		t.Errorf("%+v, %v", got, err)
	}
	if info, err := f.Stat(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error("the file is not private")
	}
	if _, err := AppendTo(filepath.Join(t.TempDir(), "nowhere", "x")); err == nil {
		t.Error("a folder that is not there")
	}
	folder := filepath.Join(t.TempDir(), "unmounted")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if tell, err = AppendTo(filepath.Join(folder, "x")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := tell(a); err == nil {
		t.Error("the folder is gone, and a checkpoint was told")
	}
}

func TestLimitsOfReading(t *testing.T) {
	for limit, want := range map[int]int{0: 100, 1: 1, -5: 1, 500: 500, 501: 500, 1000: 500} {
		if got := (Filter{Limit: limit}).Bound(); got != want {
			t.Errorf("%d became %d", limit, got)
		}
	}
}

func FuzzReadCheckpoints(f *testing.F) {
	f.Add((Checkpoint{Head: Head{1, strings.Repeat("a", 64)}, At: time.Unix(1, 0)}).String())
	f.Add("wayleave-audit-checkpoint install=- link=1 at=x hash=")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := ReadCheckpoints(strings.NewReader(text))
		if (err == nil) != (len(found) > 0) {
			t.Fatal(found, err)
		}
		for _, c := range found {
			again, err := ReadCheckpoints(strings.NewReader(c.String()))
			if err != nil || len(again) != 1 || again[0].Head != c.Head || !again[0].At.Equal(c.At) || again[0].Install != c.Install {
				t.Fatalf("%+v became %+v, %v", c, again, err)
			}
		}
	})
}
