package keystore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// TestFirstStartsAgree: processes that start at once on one folder have one master key, one keyset, one digest key and
// one audit key.
func TestFirstStartsAgree(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		const processes = 6
		var all sync.WaitGroup
		opened := make([]*Store, processes)
		dbs := make([]*sqldb.DB, processes)
		for n := range dbs {
			dbs[n] = s.place.Open(t)
		}
		for n := range opened {
			all.Go(func() {
				var err error
				if opened[n], err = Open(t.Context(), dbs[n], s.source(), Options{}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
		place := seal.Place{Table: "kept_pages", Column: "body", Row: "x"}
		for n, p := range opened {
			box, err := p.keys.Seal(place, []byte("x"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := opened[0].keys.Open(place, box); err != nil {
				t.Errorf("process %d seals what the first cannot open: %v", n, err)
			}
			if !bytes.Equal(p.DigestKey(), opened[0].DigestKey()) || !bytes.Equal(p.AuditKey(), opened[0].AuditKey()) {
				t.Errorf("process %d has other keys", n)
			}
		}
		p := opened[0]
		if len(p.DigestKey()) != 32 || len(p.AuditKey()) != 32 || bytes.Equal(p.DigestKey(), p.AuditKey()) {
			t.Error("the digest key and the audit key are not two keys of 32 bytes")
		}
		if n := count(t, p.db, "SELECT count(*) FROM keysets"); n != 1 {
			t.Errorf("%d keysets", n)
		}
		if whole(t, p) != 2 {
			t.Error("the two keys are not all that is sealed")
		}
	})
}

// TestFirstStartThatSomebodyElseMade: between the look and the making another process made it. That is no lost keyset.
func TestFirstStartThatSomebodyElseMade(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		fill(t, p.db, p.keys, "text", "control")
		second := (&Store{db: s.place.Open(t), masters: s.source()}).with(Options{})
		r, err := second.first(t.Context())
		if err != nil || r.id != p.present().id {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestFirstStartsOnTwoMachines: the second has a key file of its own making, which protects nothing; it says so and leaves
// none behind.
func TestFirstStartsOnTwoMachines(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		s.open(t, nil)
		elsewhere := filepath.Join(t.TempDir(), keyfile.Name)
		// As if the first had committed just after the second looked and made its key.
		second := (&Store{db: s.place.Open(t), masters: keyfile.New(elsewhere, secret.Value{})}).with(Options{})
		m, made, err := second.masters.Make()
		if err != nil || !made {
			t.Fatal(made, err)
		}
		r, err := second.begin(t.Context(), m, made)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := second.unwrap(r); !errors.Is(err, ErrLocked) || !errors.Is(err, keyfile.ErrMissing) {
			t.Errorf("%v", err)
		}
		if _, err := os.Stat(elsewhere); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a key that protects nothing was left: %v", err)
		}
	})
}

// TestTM107StartRefusesWithoutTheRightKey: whatever became of the key, nothing is changed, no new key is made, and the
// error names the way out.
func TestTM107StartRefusesWithoutTheRightKey(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		good, err := os.ReadFile(s.file)
		if err != nil {
			t.Fatal(err)
		}
		before := heads(t, p.db)
		other := seal.NewMaster()
		for name, c := range map[string]struct {
			text  string // of the file; empty for none
			given secret.Value
			want  error
			says  []string
		}{
			"missing":                     {"", secret.Value{}, keyfile.ErrMissing, []string{s.file, "wayleave keys import"}},
			"damaged":                     {"wlmk1_damaged", secret.Value{}, seal.ErrMasterCut, []string{s.file, "wayleave keys import"}},
			"foreign":                     {other.Text().Reveal(), secret.Value{}, keyfile.ErrOther, []string{s.file, other.Fingerprint(), "wayleave keys import"}},
			"foreign in the variable":     {string(good), other.Text(), keyfile.ErrOther, []string{keyfile.Variable, other.Fingerprint()}},
			"damaged in the variable":     {string(good), secret.New("x"), seal.ErrNoMasterKey, []string{keyfile.Variable}},
			"half of it":                  {string(good[:30]), secret.Value{}, seal.ErrMasterCut, []string{s.file}},
			"a file that holds a secret":  {"password=hunter2", secret.Value{}, seal.ErrNoMasterKey, []string{s.file}},
			"a key file of zeros in size": {" ", secret.Value{}, seal.ErrNoMasterKey, []string{s.file}},
		} {
			t.Run(name, func(t *testing.T) {
				if err := os.Remove(s.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				if c.text != "" {
					if err := os.WriteFile(s.file, []byte(c.text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				source := keyfile.New(s.file, c.given)
				_, err := s.try(t, source, nil)
				if !errors.Is(err, ErrLocked) || !errors.Is(err, c.want) {
					t.Fatalf("%v", err)
				}
				for _, says := range c.says {
					if !strings.Contains(err.Error(), says) {
						t.Errorf("the error does not say %q: %v", says, err)
					}
				}
				if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), string(good[8:20])) {
					t.Errorf("the error tells a secret: %v", err)
				}
				if now, err := os.ReadFile(s.file); (err == nil) != (c.text != "") || string(now) != c.text {
					t.Errorf("the key file was changed: %v", err)
				}
				st, err := Examine(t.Context(), p.db, source, "")
				if err != nil || st.Err == nil || st.Findings()[0].Level != Bad {
					t.Errorf("a doctor sees nothing: %+v, %v", st, err)
				}
				if st.Present != values || st.Lost != 0 {
					t.Errorf("a doctor counts %d values, and %d lost, of %d", st.Present, st.Lost, values)
				}
			})
		}
		if got := heads(t, p.db); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Errorf("sealed values changed: %v, before %v", got, before)
		}
		if err := os.WriteFile(s.file, good, 0o600); err != nil {
			t.Fatal(err)
		}
		if whole(t, s.open(t, nil)) != values {
			t.Error("with the right key back not all is there")
		}
	})
}

// TestTM107NoNewKeyWhileSealedRowsExist: the keyset is gone or damaged. A new one would look like a working install.
func TestTM107NoNewKeyWhileSealedRowsExist(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		fill(t, p.db, p.keys, "text", "control")
		type saved struct {
			id, master, primary string
			wrapped             []byte
		}
		var k saved
		if err := p.db.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One("SELECT id, wrapped, master, primary_key FROM keysets", nil, &k.id, &k.wrapped, &k.master, &k.primary)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		damaged := bytes.Clone(k.wrapped)
		damaged[len(damaged)/2] ^= 1
		restore := func() {
			write(t, p.db, "DELETE FROM keysets")
			write(t, p.db, "INSERT INTO keysets (id, wrapped, master, primary_key, created_at) VALUES ($1, $2, $3, $4, 1)", k.id, k.wrapped, k.master, k.primary)
		}
		for _, c := range []struct {
			name, query string
			args        []any
			want        error
			says        string
		}{
			{"the row is deleted", "DELETE FROM keysets", nil, ErrLost, "backup"},
			{"the row is retired", "UPDATE keysets SET retired_at = 2", nil, ErrLost, "keysets has old rows"},
			{"the row is damaged", "UPDATE keysets SET wrapped = $1", []any{damaged}, ErrLocked, "backup"},
			{"the row is cut", "UPDATE keysets SET wrapped = $1", []any{k.wrapped[:10]}, ErrLocked, "backup"},
			{"the row has another name", "UPDATE keysets SET id = 'keys_other'", nil, ErrLocked, "keys_other"},
			{"the row names another primary", "UPDATE keysets SET primary_key = '00000001'", nil, ErrLocked, "00000001"},
		} {
			write(t, p.db, c.query, c.args...)
			for _, file := range []string{s.file, filepath.Join(t.TempDir(), keyfile.Name)} { // the old key, and none
				_, err := s.try(t, keyfile.New(file, secret.Value{}), nil)
				if file == s.file && (!errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says)) || err == nil {
					t.Errorf("%s: %v", c.name, err)
				}
				if _, err := os.Stat(file); (err == nil) != (file == s.file) {
					t.Errorf("%s: a key was made: %v", c.name, err)
				}
			}
			if n := count(t, p.db, "SELECT count(*) FROM keysets WHERE retired_at IS NULL"); n > 1 || c.want == ErrLost && n > 0 {
				t.Errorf("%s: a keyset was made", c.name)
			}
			restore()
		}
		// The values came when somebody had already looked and found none.
		write(t, p.db, "DELETE FROM keysets")
		if _, err := p.begin(t.Context(), seal.NewMaster(), false); !errors.Is(err, ErrLost) {
			t.Errorf("values came in between: %v", err)
		}
		restore()
		// One sealed value of any column is enough.
		for _, c := range sealedColumns() {
			if c.Table == "settings" {
				continue
			}
			other := s.sibling(t)
			q := other.open(t, nil)
			fill(t, q.db, q.keys, "text", "control")
			write(t, q.db, "DELETE FROM keysets")
			write(t, q.db, "UPDATE settings SET digest_key = NULL, audit_key = NULL")
			q.strip(t, c)
			_, err := other.try(t, other.source(), nil)
			if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), c.Table+"."+c.Name) {
				t.Errorf("%s.%s alone: %v", c.Table, c.Name, err)
			}
		}
		// A key of digests that is gone is not made anew either.
		for _, column := range []string{"digest_key", "audit_key"} {
			other := s.sibling(t)
			q := other.open(t, nil)
			write(t, q.db, "UPDATE settings SET "+column+" = NULL")
			if _, err := other.try(t, other.source(), nil); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), column) {
				t.Errorf("%s is gone: %v", column, err)
			}
		}
	})
}
