package seal

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

func TestMasterTextIsReadInOneWay(t *testing.T) {
	m := NewMaster()
	text := m.Text().Reveal()
	if len(text) != 64 || !strings.HasPrefix(text, "wlmk1_") {
		t.Fatalf("text of %d characters", len(text))
	}
	for _, around := range []string{text, text + "\n", "  " + text + "\r\n"} {
		got, err := ParseMaster(around)
		if err != nil || got.Text().Reveal() != text || got.Fingerprint() != m.Fingerprint() {
			t.Errorf("%v", err)
		}
	}
	flip := func(i int) string {
		b := []byte(text)
		if b[i] == '0' {
			b[i] = '1'
		} else {
			b[i] = '0'
		}
		return string(b)
	}
	cases := map[string]struct {
		text string
		want error
	}{
		"empty":          {"", ErrNoMasterKey},
		"another text":   {"hunter2", ErrNoMasterKey},
		"upper case":     {strings.ToUpper(text), ErrNoMasterKey},
		"cut":            {text[:63], ErrMasterCut},
		"cut to prefix":  {"wlmk1_", ErrMasterCut},
		"doubled":        {text + text, ErrMasterCut},
		"two lines":      {text + "\n" + text, ErrMasterCut},
		"not the letter": {text[:20] + "u" + text[21:], ErrMasterSum},
		"a blank inside": {text[:20] + " " + text[21:], ErrMasterSum},
		"zero bytes":     {text[:6] + strings.Repeat("\x00", 58), ErrMasterSum},
		"all zero":       {"wlmk1_" + strings.Repeat("0", 58), ErrMasterSum},
	}
	for i := len(masterPrefix); i < len(text); i++ {
		cases[fmt.Sprintf("character %d", i)] = struct {
			text string
			want error
		}{flip(i), ErrMasterSum}
	}
	for name, c := range cases {
		got, err := ParseMaster(c.text)
		if !errors.Is(err, c.want) || !got.Zero() {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && len(c.text) > 20 && strings.Contains(err.Error(), c.text[10:20]) {
			t.Errorf("%s: the error tells a part of the key", name)
		}
	}
	if NewMaster().Fingerprint() == m.Fingerprint() || (Master{}).Fingerprint() != "" || !(Master{}).Text().Empty() {
		t.Error("fingerprints or the zero Master")
	}
}

// 32 bytes that another program made are a key, in the spellings that such programs print; other lengths are none.
func TestA069BytesOfAnotherProgramAreAKey(t *testing.T) {
	raw := make([]byte, 32)
	for i := range raw {
		raw[i] = byte(i * 7)
	}
	spelt := []string{fmt.Sprintf("%x", raw), fmt.Sprintf("%X", raw), base64.StdEncoding.EncodeToString(raw), " " + fmt.Sprintf("%x", raw) + "\r\n"}
	for _, text := range spelt {
		m, err := ParseMaster(text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseMaster(m.Text().Reveal())
		if err != nil || again.Fingerprint() != m.Fingerprint() || !bytes.Equal(m.key(), raw) {
			t.Errorf("%q is another key: %v", text, err)
		}
	}
	for _, text := range []string{"abc", "   ", spelt[0][:32], spelt[0][:63], spelt[0] + "00", spelt[2][:40], spelt[2][:43], spelt[2] + "=",
		base64.StdEncoding.EncodeToString(raw[:31]), base64.StdEncoding.EncodeToString(append(raw, 1)), spelt[0] + "\n" + spelt[0], "0x" + spelt[0]} {
		if m, err := ParseMaster(text); !errors.Is(err, ErrNoMasterKey) || !m.Zero() {
			t.Errorf("%q is a key: %v", text, err)
		}
	}
}

func TestWrappedKeysetOpensOnlyUnderItsMasterAndName(t *testing.T) {
	k, m := fresh(t), NewMaster()
	k, err := k.WithNewPrimary()
	if err != nil {
		t.Fatal(err)
	}
	box := sealed(t, k, here, "x")
	wrapped, err := k.Wrap(m, "keys_1")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Unwrap(m, "keys_1", wrapped)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Keys(), k.Keys()) || again.Primary() != k.Primary() {
		t.Fatalf("%v %s became %v %s", k.Keys(), k.Primary(), again.Keys(), again.Primary())
	}
	if plain, err := again.Open(here, box); err != nil || string(plain) != "x" {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"other master": unwrapErr(NewMaster(), "keys_1", wrapped),
		"other id":     unwrapErr(m, "keys_2", wrapped),
		"cut":          unwrapErr(m, "keys_1", wrapped[:len(wrapped)-1]),
		"empty":        unwrapErr(m, "keys_1", nil),
	} {
		if !errors.Is(err, ErrMaster) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := unwrapErr(Master{}, "keys_1", wrapped); err == nil {
		t.Error("the zero Master unwraps")
	}
	if _, err := k.Wrap(Master{}, "keys_1"); err == nil {
		t.Error("the zero Master wraps")
	}
	if _, err := k.Wrap(m, ""); err == nil {
		t.Error("a wrapping without a name")
	}
}

func unwrapErr(m Master, id string, wrapped []byte) error {
	_, err := Unwrap(m, id, wrapped)
	return err
}

// TestTM105KeysAreNeverPrinted: neither a master key nor a keyset comes out of anything that prints or encodes.
func TestTM105KeysAreNeverPrinted(t *testing.T) {
	m, k := NewMaster(), fresh(t)
	text := m.Text().Reveal()
	raw := string(m.key())
	holder := struct {
		M  Master
		PM *Master
		K  *Keyset
		m  Master
		k  *Keyset
	}{m, &m, k, m, k}
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10.3s"} {
		for _, v := range []any{m, &m, k, holder, &holder, m.Text()} {
			fmt.Fprintf(&b, verb+"\n", v)
		}
	}
	for _, v := range []any{m, k, holder} {
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(j)
	}
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "m", m, "k", k, "holder", holder)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "m", m, "k", k, "holder", holder)
	if b.Len() < 1000 {
		t.Fatalf("only %d bytes were printed", b.Len())
	}
	out := strings.ToLower(b.String())
	for _, bad := range []string{text, text[6:20], raw, fmt.Sprintf("%x", raw), fmt.Sprintf("%x", raw[:8]), fmt.Sprint([]byte(raw[:8]))[1:20]} {
		if strings.Contains(out, strings.ToLower(bad)) {
			t.Errorf("a key was printed: %q", bad)
		}
	}
}
