package keyfile

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/secret"
)

var phrase = secret.New("correct horse battery")

func exported(t *testing.T, m seal.Master) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := export(&b, m, phrase, "made\nfor a test", 10); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExportOpensUnderItsPassphraseAlone(t *testing.T) {
	m := seal.NewMaster()
	var out bytes.Buffer
	if err := Export(&out, m, phrase, ExportNote("quiet-otter", m, time.Unix(0, 0))); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"real cost": out.Bytes(), "low cost": exported(t, m), "blank lines around": []byte("\n\n" + string(exported(t, m)) + "\n\n")} {
		got, err := Import(bytes.NewReader(b), phrase)
		if err != nil || got.Text().Reveal() != m.Text().Reveal() {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Contains(b, []byte("-----BEGIN AGE ENCRYPTED FILE-----")) || bytes.Contains(b, []byte("wlmk1_")) || bytes.Contains(b, []byte(m.Fingerprint())) {
			t.Errorf("%s: not armored, or not encrypted", name)
		}
	}
	for _, wrong := range []string{"correct horse batterz", "", "x"} {
		if got, err := Import(bytes.NewReader(exported(t, m)), secret.New(wrong)); err == nil || !got.Zero() {
			t.Errorf("%q opens it: %v", wrong, err)
		} else if wrong != "" && !errors.Is(err, ErrPassphrase) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestExportRefusesWeakPassphrases(t *testing.T) {
	for phrase, ok := range map[string]bool{"": false, "short": false, "eleven char": false, "twelve chars": true, "äöüäöüäöüäöü": true} {
		var b bytes.Buffer
		err := export(&b, seal.NewMaster(), secret.New(phrase), "", 10)
		if (err == nil) != ok {
			t.Errorf("%q: %v", phrase, err)
		}
		if !ok && b.Len() > 0 {
			t.Errorf("%q: %d bytes were written", phrase, b.Len())
		}
	}
	if err := Export(new(bytes.Buffer), seal.Master{}, phrase, ""); !errors.Is(err, ErrMissing) {
		t.Errorf("no key: %v", err)
	}
}

func TestImportRefusesWhatIsNoExport(t *testing.T) {
	good := exported(t, seal.NewMaster())
	noKey := func() []byte {
		var b bytes.Buffer
		if err := export(&b, seal.NewMaster(), phrase, "", 10); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}()
	for name, b := range map[string][]byte{
		"nothing":      nil,
		"text":         []byte("hunter2"),
		"cut":          good[:len(good)/2],
		"changed":      bytes.Replace(good, good[120:124], []byte("AAAA"), 1),
		"two exports":  append(bytes.Clone(good), noKey...),
		"a bare key":   []byte(seal.NewMaster().Text().Reveal()),
		"endless":      bytes.Repeat([]byte("a"), mostExport+1),
		"a dear guess": dear(t),
	} {
		m, err := Import(bytes.NewReader(b), phrase)
		if err == nil || !m.Zero() {
			t.Errorf("%s was read", name)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "wlmk1_")) {
			t.Errorf("%s: the error tells its contents: %v", name, err)
		}
	}
}

// dear is an export whose header asks for more work than is done here.
func dear(t *testing.T) []byte {
	t.Helper()
	return []byte("age-encryption.org/v1\n-> scrypt bBjlhJVYZeE4aqUdmtRHfw 30\nZV/AhotwSGqaPCU43cepl4WYUouAa17a3xpu4G2yi5k\n--- qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo\n")
}

func FuzzImport(f *testing.F) {
	f.Add([]byte("-----BEGIN AGE ENCRYPTED FILE-----\n"))
	f.Add([]byte("age-encryption.org/v1\n-> scrypt AAAAAAAAAAAAAAAAAAAAAA 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := Import(bytes.NewReader(b), phrase); err == nil || !m.Zero() {
			t.Fatal("a stranger's bytes gave a key")
		}
	})
}
