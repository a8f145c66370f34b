package keystore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"

	"github.com/wayleave/wayleave/internal/canary"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// seek looks for the install's own keys, which it made itself.
func seek(t *testing.T, h *canary.Hunt, name string, s *stage, p *Store) {
	t.Helper()
	m, err := s.source().Master()
	if err != nil {
		t.Fatal(err)
	}
	for what, key := range map[string]string{"-master": m.Text().Reveal(), "-digest": string(p.DigestKey()), "-audit": string(p.AuditKey())} {
		if err := h.Seek("K5"+what+name, key); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTM100RawFilesHaveNoSecret before, in the middle of and after a rotation and a rewrap: F-022.
func TestTM100RawFilesHaveNoSecret(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		h := canary.NewHunt()
		text := h.Plant("K10-page")
		p := s.open(t, nil)
		values := fill(t, p.db, p.keys, text.String(), h.Control("before")+h.Control("during")+h.Control("after")) + 2
		seek(t, h, "-first", s, p)
		h.Look("before", "database", s.files(t, p.db))

		rotate(t, p)
		stopped := false
		if _, err := p.Finish(t.Context(), Finishing{Tell: func(g Progress) {
			if g.Resealed > values/2 && !stopped {
				stopped = true
				h.Look("during", "database", s.files(t, p.db))
			}
		}}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Rewrap(t.Context(), who); err != nil {
			t.Fatal(err)
		}
		again := s.open(t, nil) // with the new keys only
		settled(t, again, values)
		if err := h.Seek("K5-master-second", mustMaster(t, s).Text().Reveal()); err != nil {
			t.Fatal(err)
		}
		h.Look("after", "database", s.files(t, p.db))
		h.Check(t)
	})
}

func mustMaster(t *testing.T, s *stage) seal.Master {
	t.Helper()
	m, err := s.source().Master()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTM102RotatedValuesLeaveTheFile: the bytes that were sealed under the old key are gone from SQLite's files.
// PostgreSQL keeps dead rows until a vacuum, under a key that is gone.
func TestTM102RotatedValuesLeaveTheFile(t *testing.T) {
	s := (&stage{place: dbtest.Place{Dialect: sqldb.SQLite}}).sibling(t)
	p := s.open(t, nil)
	fill(t, p.db, p.keys, "text", "control")
	var old [][]byte
	if err := eachPage(t.Context(), p.db, everyHead(), func(c Column, page []value) error {
		old = append(old, page[0].box)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	before := s.files(t, p.db)
	if err := rotation(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	after := s.files(t, p.db)
	for n, box := range old {
		// Forty bytes are the value's own: its key, its nonce and some of it. A longer one may be parted over pages.
		piece := box[:min(40, len(box))]
		if !bytes.Contains(before, piece) {
			t.Fatalf("value %d was not in the file", n)
		}
		if bytes.Contains(after, piece) {
			t.Errorf("value %d under the old key is still in the file", n)
		}
	}
}

// copied is an install on a copy of a SQLite database, with a master key file of its own.
func copied(t *testing.T, s *stage, p *Store) *stage {
	t.Helper()
	elsewhere := filepath.Join(t.TempDir(), "wayleave.db")
	if err := p.db.Maintain(t.Context(), func(ctx context.Context, pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, "VACUUM INTO $1", elsewhere)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return &stage{place: dbtest.Place{Dialect: sqldb.SQLite, Address: elsewhere, Clock: s.place.Clock}, file: filepath.Join(t.TempDir(), keyfile.Name)}
}

// TestCopyOpensWithItsKeyAndOtherwiseNot: F-023, for the file of a database; the key comes by an export.
func TestCopyOpensWithItsKeyAndOtherwiseNot(t *testing.T) {
	s := (&stage{place: dbtest.Place{Dialect: sqldb.SQLite}}).sibling(t)
	p := s.open(t, nil)
	values := fill(t, p.db, p.keys, "text", "control") + 2
	pass := secret.New("correct horse battery")
	var export bytes.Buffer
	if print, err := Export(t.Context(), p.db, s.source(), &export, pass, who); err != nil || print != mustMaster(t, s).Fingerprint() {
		t.Fatal(err)
	}
	c := copied(t, s, p)
	db := c.place.Open(t)

	// Without a key and with another one: a clear refusal, and no key is made.
	if _, err := c.try(t, c.source(), nil); !errors.Is(err, ErrLocked) || !errors.Is(err, keyfile.ErrMissing) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := c.try(t, keyfile.New(c.file, seal.NewMaster().Text()), nil); !errors.Is(err, ErrLocked) || !errors.Is(err, keyfile.ErrOther) {
		t.Errorf("with another key: %v", err)
	}

	// Exports of other keys, other passphrases, and files that have a key already.
	foreign, own := cheap(t, seal.NewMaster(), pass), cheap(t, mustMaster(t, s), pass)
	for name, c := range map[string]struct {
		in   []byte
		pass secret.Value
		want error
	}{
		"another install's": {foreign, pass, keyfile.ErrOther},
		"another phrase":    {own, secret.New("correct horse batterz"), keyfile.ErrPassphrase},
		"no export":         {[]byte("hunter2"), pass, nil},
	} {
		file := filepath.Join(t.TempDir(), keyfile.Name)
		_, err := Import(t.Context(), db, keyfile.New(file, secret.Value{}), bytes.NewReader(c.in), c.pass)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a key was kept", name)
		}
	}
	taken := filepath.Join(t.TempDir(), keyfile.Name)
	if err := os.WriteFile(taken, []byte(seal.NewMaster().Text().Reveal()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), db, keyfile.New(taken, secret.Value{}), bytes.NewReader(own), pass); err == nil {
		t.Error("another key was overwritten")
	}

	for db, export := range map[*sqldb.DB][]byte{db: export.Bytes(), nil: own} { // the second time it is there already
		if print, err := Import(t.Context(), db, c.source(), bytes.NewReader(export), pass); err != nil || print != mustMaster(t, s).Fingerprint() {
			t.Fatal(err)
		}
	}
	settled(t, c.open(t, nil), values)
}

// cheap is an export that is quick to open; what Export itself writes is opened once.
func cheap(t *testing.T, m seal.Master, pass secret.Value) []byte {
	t.Helper()
	recipient, err := age.NewScryptRecipient(pass.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	recipient.SetWorkFactor(8)
	var b bytes.Buffer
	w, err := age.Encrypt(&b, recipient)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, m.Text().Reveal()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExportWritesOnlyAKeyThatHelps(t *testing.T) {
	s := (&stage{place: dbtest.Place{Dialect: sqldb.SQLite}}).sibling(t)
	db := s.place.Open(t)
	pass := secret.New("correct horse battery")
	var out bytes.Buffer
	if _, err := Export(t.Context(), db, s.source(), &out, pass, who); !errors.Is(err, keyfile.ErrMissing) {
		t.Errorf("no key: %v", err)
	}
	if _, _, err := s.source().Make(); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(t.Context(), db, s.source(), &out, pass, who); err == nil {
		t.Error("a key that protects nothing was exported")
	}
	s.open(t, nil)
	if _, err := Export(t.Context(), db, keyfile.New("", seal.NewMaster().Text()), &out, pass, who); !errors.Is(err, keyfile.ErrOther) {
		t.Errorf("another key: %v", err)
	}
	if _, err := Export(t.Context(), db, s.source(), &out, secret.New("short"), who); err == nil {
		t.Error("a short passphrase was taken")
	}
	if out.Len() > 0 {
		t.Errorf("%d bytes were written", out.Len())
	}
}
