package keystore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/auditstore"
)

func TestRewrapChangesTheMasterKey(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p, running := s.open(t, nil), s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		was, err := os.ReadFile(s.file)
		if err != nil {
			t.Fatal(err)
		}
		before := heads(t, p.db)
		got, err := p.Rewrap(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.source().Master()
		if err != nil || m.Fingerprint() != got || strings.TrimSpace(string(was)) == m.Text().Reveal() {
			t.Errorf("the file has %s, expected %s: %v", m.Fingerprint(), got, err)
		}
		if now := heads(t, p.db); now[p.keys.Primary()] != values || before[p.keys.Primary()] != values {
			t.Errorf("values changed: %v, before %v", now, before)
		}
		settled(t, s.open(t, nil), values)
		// A server that runs hears of it, and rotates and rewraps in its turn.
		if err := running.Look(); err != nil || running.Ready() != nil {
			t.Errorf("%v, %v", err, running.Ready())
		}
		rotate(t, running)
		finish(t, running, Finishing{})
		if _, err := running.Rewrap(t.Context(), who); err != nil {
			t.Error(err)
		}
		settled(t, running, values)

		// The old key opens nothing.
		old := filepath.Join(t.TempDir(), keyfile.Name)
		if err := os.WriteFile(old, was, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.try(t, keyfile.New(old, secret.Value{}), nil); !errors.Is(err, ErrLocked) || !errors.Is(err, keyfile.ErrOther) {
			t.Errorf("with the old key: %v", err)
		}
	})
}

func TestRewrapToAKeyThatIsKeptElsewhere(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p, running := s.open(t, nil), s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		next := seal.NewMaster()
		given := keyfile.New(s.file, next.Text())
		if err := p.RewrapTo(t.Context(), next, who); err != nil {
			t.Fatal(err)
		}
		if _, err := s.try(t, s.source(), nil); !errors.Is(err, keyfile.ErrOther) {
			t.Errorf("with the old key: %v", err)
		}
		after, err := s.try(t, given, nil)
		if err != nil {
			t.Fatal(err)
		}
		settled(t, after, values)
		// A server that runs without the new key goes on with what it has, and says that it would not start.
		s.place.Clock.Advance(2 * looked)
		session(t, running.db, "still", running.keys)
		if err := running.Look(); err != nil || !errors.Is(running.Ready(), keyfile.ErrOther) {
			t.Errorf("%v, %v", err, running.Ready())
		}
		// But not under a key that is another by now.
		rotate(t, after)
		s.place.Clock.Advance(2 * looked)
		if _, err := running.keys.Seal(digestPlace(), nil); !errors.Is(err, seal.ErrStale) || !errors.Is(err, ErrLocked) {
			t.Errorf("%v", err)
		}
		finish(t, after, Finishing{})
		settled(t, after, values+1)
		// With the key back, it works again by itself.
		if err := os.WriteFile(s.file, []byte(next.Text().Reveal()), 0o600); err != nil {
			t.Fatal(err)
		}
		session(t, running.db, "again", running.keys)
		if running.Ready() != nil {
			t.Error(running.Ready())
		}
		settled(t, running, values+2)
		// What comes from the variable is not ours to change.
		if _, err := after.Rewrap(t.Context(), who); err == nil || !strings.Contains(err.Error(), keyfile.Variable) {
			t.Errorf("%v", err)
		}
		settled(t, after, values+2)
	})
}

// TestRewrapsAtOnce: one is made, or several one after the other, and the file always has the database's key.
func TestRewrapsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		processes := []*Store{s.open(t, nil), s.open(t, nil), s.open(t, nil)}
		for range 4 {
			var all sync.WaitGroup
			for _, p := range processes {
				all.Go(func() {
					if _, err := p.Rewrap(t.Context(), who); err != nil && !errors.Is(err, ErrMoved) && !errors.Is(err, ErrLocked) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			next := s.open(t, nil)
			m, err := s.source().Master()
			if err != nil || m.Fingerprint() != next.present().master {
				t.Fatalf("the file has %s, the database %s: %v", m.Fingerprint(), next.present().master, err)
			}
		}
		// Beside the file stand the keys whose place was taken, which open earlier backups, and nothing else.
		entries, err := os.ReadDir(filepath.Dir(s.file))
		if err != nil || len(entries) < 2 {
			t.Errorf("%v beside the key file: %v", entries, err)
		}
		for _, e := range entries {
			if name := e.Name(); name != filepath.Base(s.file) && !strings.HasSuffix(name, ".old") {
				t.Errorf("%s beside the key file", name)
			}
		}
	})
}

func TestReplacedKeysetsLeaveTheDisk(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		fill(t, p.db, p.keys, "text", "control")
		var gone [][]byte
		for _, change := range []func() error{
			func() error { _, err := p.Rewrap(t.Context(), who); return err },
			func() error { return rotation(t.Context(), p) },
			func() error { return p.RewrapTo(t.Context(), seal.NewMaster(), who) },
		} {
			old := p.present().wrapped
			if !bytes.Contains(s.files(t, p.db), old) {
				t.Fatal("the keyset is not on the disk at all")
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			gone = append(gone, old)
		}
		all := s.files(t, p.db)
		for n, old := range gone {
			if bytes.Contains(all, old) {
				t.Errorf("keyset %d is still on the disk", n)
			}
		}
		if !bytes.Contains(all, p.present().wrapped) {
			t.Error("the present keyset is not on the disk")
		}
	})
}

// TestAuditTellsWhatBecameOfTheKeys, once each, with their names and nothing of theirs.
func TestAuditTellsWhatBecameOfTheKeys(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		first := p.keys.Primary()
		rotate(t, p)
		finish(t, p, Finishing{Alone: true})
		if _, err := p.Rewrap(t.Context(), who); err != nil {
			t.Fatal(err)
		}
		if _, err := Export(t.Context(), p.db, s.source(), new(bytes.Buffer), secret.New("correct horse battery"), who); err != nil {
			t.Fatal(err)
		}
		if _, err := Export(t.Context(), p.db, s.source(), new(bytes.Buffer), secret.New("short"), who); err == nil {
			t.Fatal("a short passphrase was taken")
		}
		rows, err := auditstore.New(p.db).List(t.Context(), audit.Filter{After: "audit_"})
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, r := range rows {
			told = append(told, r.Actor+" "+r.Verb)
		}
		if got, want := strings.Join(told, ", "), who+" keys.rotated, system keys.dropped, "+who+" keys.rewrapped, "+who+" keys.exported"; got != want {
			t.Errorf("%s, expected %s", got, want)
		}
		if d := string(rows[0].Detail); !strings.Contains(d, `"key":"`+p.keys.Primary()+`"`) || !strings.Contains(d, first) {
			t.Errorf("%s", d)
		}
		if err := p.Rotate(t.Context(), ""); err == nil || len(p.keys.Keys()) != 1 {
			t.Errorf("nobody rotated: %v", err)
		}
	})
}
