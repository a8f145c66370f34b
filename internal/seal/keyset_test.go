package seal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

func fresh(t *testing.T) *Keyset {
	t.Helper()
	k, err := NewKeyset()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sealed(t *testing.T, k *Keyset, p Place, plain string) []byte {
	t.Helper()
	b, err := k.Seal(p, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var here = Place{Table: "tool_calls", Column: "args", Row: "call_1"}

func TestOpenGivesWhatWasSealed(t *testing.T) {
	k := fresh(t)
	for _, plain := range []string{"", "x", "a page", string(bytes.Repeat([]byte{0, 0xff}, 1<<19))} {
		box := sealed(t, k, here, plain)
		if len(box) != len(plain)+33 {
			t.Fatalf("%d bytes became %d", len(plain), len(box))
		}
		if got, err := k.Open(here, box); err != nil || string(got) != plain {
			t.Fatalf("Open: %d bytes, %v", len(got), err)
		}
	}
	if bytes.Equal(sealed(t, k, here, "twice"), sealed(t, k, here, "twice")) {
		t.Fatal("the same value was sealed to the same bytes twice")
	}
}

// TestTM106SealedValueOpensOnlyInItsPlace: the bytes of another row, column or table do not open.
func TestTM106SealedValueOpensOnlyInItsPlace(t *testing.T) {
	k := fresh(t)
	box := sealed(t, k, here, "a secret")
	for _, p := range []Place{
		{"tool_calls", "args", "call_2"}, {"tool_calls", "result", "call_1"}, {"kept_pages", "args", "call_1"},
		{"tool_calls", "args", "call_1/0"}, {"tool_calls", "args", "1"},
	} {
		if plain, err := k.Open(p, box); !errors.Is(err, ErrSealed) || plain != nil {
			t.Errorf("at %v: %q, %v", p, plain, err)
		}
	}
	// A row's key may hold slashes without meeting another place.
	a, b := Place{"t", "c", "x/y"}, Place{"t", "c", "x"}
	if _, err := k.Open(b, sealed(t, k, a, "v")); !errors.Is(err, ErrSealed) {
		t.Errorf("rows x/y and x are one: %v", err)
	}
}

func TestEveryDamageIsErrSealed(t *testing.T) {
	k, other := fresh(t), fresh(t)
	box := sealed(t, k, here, "a secret")
	damaged := map[string][]byte{"nil": nil, "empty": {}, "other install": sealed(t, other, here, "a secret"), "plain text": []byte("a secret that nobody sealed"), "longer": append(slices.Clone(box), 0)}
	for i := range box {
		damaged[fmt.Sprintf("bit of byte %d", i)] = func() []byte { b := slices.Clone(box); b[i] ^= 1; return b }()
		damaged[fmt.Sprintf("cut at %d", i)] = box[:i]
	}
	for name, b := range damaged {
		if plain, err := k.Open(here, b); !errors.Is(err, ErrSealed) || plain != nil {
			t.Errorf("%s: %q, %v", name, plain, err)
		}
	}
	if _, err := k.Open(here, box); err != nil {
		t.Fatalf("the undamaged value: %v", err)
	}
}

func TestPlaceMustBeWhole(t *testing.T) {
	k := fresh(t)
	for _, p := range []Place{{}, {"t", "c", ""}, {"t", "", "r"}, {"", "c", "r"}, {"t/c", "c", "r"}, {"t", "c/c", "r"}} {
		if _, err := k.Seal(p, []byte("x")); err == nil {
			t.Errorf("%v was sealed", p)
		}
		if _, err := k.Open(p, []byte("x")); err == nil || errors.Is(err, ErrSealed) {
			t.Errorf("%v: %v", p, err)
		}
	}
}

func TestNewPrimaryOpensOldAndDroppedKeyDoesNot(t *testing.T) {
	k := fresh(t)
	old := sealed(t, k, here, "old")
	both, err := k.WithNewPrimary()
	if err != nil {
		t.Fatal(err)
	}
	young := sealed(t, both, here, "young")
	if KeyOf(old) != k.Primary() || KeyOf(young) != both.Primary() || both.Primary() == k.Primary() {
		t.Fatalf("keys of boxes: %s, %s; primaries %s, %s", KeyOf(old), KeyOf(young), k.Primary(), both.Primary())
	}
	if hex.EncodeToString(young[1:5]) != both.Primary() {
		t.Fatal("a key's name is not bytes 2 to 5 of its values")
	}
	if got := both.Keys(); !slices.Equal(got, []string{k.Primary(), both.Primary()}) {
		t.Fatalf("Keys() = %v", got)
	}
	if len(k.Keys()) != 1 || KeyOf(sealed(t, k, here, "x")) != KeyOf(old) {
		t.Fatal("the keyset that it was made from has changed")
	}
	last, err := both.OnlyPrimary()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		k    *Keyset
		box  []byte
		ok   bool
	}{{"both opens old", both, old, true}, {"both opens young", both, young, true}, {"first opens young", k, young, false}, {"last opens young", last, young, true}, {"last opens old", last, old, false}} {
		if _, err := c.k.Open(here, c.box); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrSealed) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if KeyOf(nil) != "" || KeyOf([]byte("abcdef")) != "" || KeyOf([]byte{1, 2}) != "" {
		t.Error("bytes that are not sealed have a key")
	}
}

// TestUnknownKeyAsksTheSource: another process made a new key; its values open here at once, and the keyset is asked
// for once however many read at that time.
func TestUnknownKeyAsksTheSource(t *testing.T) {
	k := fresh(t)
	elsewhere, err := k.WithNewPrimary()
	if err != nil {
		t.Fatal(err)
	}
	box := sealed(t, elsewhere, here, "young")
	var asked atomic.Int64
	always := func() bool { return true }
	k.From(Source{Load: func() error { asked.Add(1); k.Replace(elsewhere); return nil }, Fresh: always})
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if plain, err := k.Open(here, box); err != nil || string(plain) != "young" {
				t.Errorf("%q, %v", plain, err)
			}
		})
	}
	all.Wait()
	if asked.Load() != 1 {
		t.Errorf("the source was asked %d times", asked.Load())
	}
	if KeyOf(sealed(t, k, here, "x")) != elsewhere.Primary() {
		t.Error("the loaded keyset does not seal")
	}
	// A key that the source does not know either.
	if _, err := k.Open(here, sealed(t, fresh(t), here, "x")); !errors.Is(err, ErrSealed) {
		t.Error(err)
	}
	gone := errors.New("no database")
	k.From(Source{Load: func() error { return gone }, Fresh: always})
	if _, err := k.Open(here, sealed(t, fresh(t), here, "x")); !errors.Is(err, ErrSealed) || !errors.Is(err, gone) {
		t.Error(err)
	}
	if _, err := k.Open(here, box); err != nil {
		t.Errorf("a failed look took keys away: %v", err)
	}
}

// TestStaleKeysetLooksBeforeItSeals: a key that was dropped elsewhere is not sealed with, and without an answer nothing is.
func TestStaleKeysetLooksBeforeItSeals(t *testing.T) {
	k := fresh(t)
	old := sealed(t, k, here, "x")
	next, err := k.WithNewPrimary()
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("no database")
	var looked atomic.Int64
	var lately, answers atomic.Bool
	k.From(Source{Fresh: lately.Load, Load: func() error {
		looked.Add(1)
		if !answers.Load() {
			return gone
		}
		k.Replace(next)
		lately.Store(true)
		return nil
	}})
	if b, err := k.Seal(here, nil); !errors.Is(err, ErrStale) || !errors.Is(err, gone) || b != nil {
		t.Fatal(err)
	}
	if _, err := k.Open(here, old); err != nil {
		t.Fatalf("a stale keyset does not open: %v", err)
	}
	answers.Store(true)
	looked.Store(0)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			b, err := k.Seal(here, nil)
			if err != nil || KeyOf(b) != next.Primary() {
				t.Errorf("sealed with %s: %v", KeyOf(b), err)
			}
		})
	}
	all.Wait()
	if looked.Load() != 1 {
		t.Errorf("looked %d times", looked.Load())
	}
}

func FuzzOpen(f *testing.F) {
	k, err := NewKeyset()
	if err != nil {
		f.Fatal(err)
	}
	box, err := k.Seal(here, []byte("a secret"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(box)
	f.Add([]byte{1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		plain, err := k.Open(here, b)
		if bytes.Equal(b, box) {
			if err != nil {
				t.Fatal(err)
			}
		} else if !errors.Is(err, ErrSealed) || plain != nil {
			t.Fatalf("%q, %v", plain, err)
		}
	})
}
