// This file says how the keys are, for people: what a doctor, a restore and an export ask.
package keystore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Status is how the keys of an install are.
type Status struct {
	// Master is where the master key is, and how it is kept.
	Master keyfile.Report
	// Keyset is the id of the present wrapping, Since when it was made; empty where there is no keyset yet.
	Keyset string
	Since  time.Time
	// Under is the fingerprint of the master key that the keyset is under; Primary is the key that seals.
	Under, Primary string
	// Old are keys that are to go when nothing is under them any more.
	Old []string
	// Present, Older and Lost count sealed values: under the present key, under an old one, under none that is there.
	Present, Older, Lost int64
	// LostIn are the columns of the lost, as table.column.
	LostIn []string
	// Err is why the keyset does not open; nil where it does. Without it, Older and Lost are not told apart: all are Older.
	Err error
}

// Level is how much a finding matters.
type Level string

const (
	OK   Level = "ok"
	Warn Level = "warn"
	Bad  Level = "bad"
)

// Finding is one sentence for a person.
type Finding struct {
	Level Level
	Text  string
}

// Examine looks at everything and changes nothing; it works where Open does not. data is the folder of the data, empty
// where it is not on this machine. The error is one of the database.
func Examine(ctx context.Context, db *sqldb.DB, masters *keyfile.Source, data string) (Status, error) {
	st := Status{Master: masters.Report(data)}
	var r row
	var found bool
	if err := db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		r, found, err = currentRow(tx)
		return err
	}); err != nil {
		return st, err
	}
	var known []string
	switch {
	case found:
		st.Keyset, st.Since, st.Under, st.Primary = r.id, time.UnixMicro(r.created).UTC(), r.master, r.primary
		k, err := peek(r, masters)
		if st.Err = err; err == nil {
			known = k.Keys()
			st.Old = slices.DeleteFunc(k.Keys(), func(id string) bool { return id == r.primary })
		}
	default:
		if err := db.Read(ctx, nothingSealed); errors.Is(err, ErrLost) {
			st.Err = err
		} else if err != nil {
			return st, err
		}
	}
	err := db.Maintain(ctx, func(ctx context.Context, pool *sql.DB) error {
		for _, c := range sealedColumns() {
			heads, err := c.heads(ctx, pool)
			if err != nil {
				return err
			}
			st.count(c, heads, known)
		}
		return nil
	})
	return st, err
}

// count adds a column's values. Where no key is known, nothing that names one is called lost.
func (st *Status) count(c Column, heads map[string]int64, known []string) {
	lost := st.Lost
	for key, n := range heads {
		switch {
		case key != "" && key == st.Primary:
			st.Present += n
		case key != "" && (known == nil || slices.Contains(known, key)):
			st.Older += n
		default:
			st.Lost += n
		}
	}
	if st.Lost > lost {
		st.LostIn = append(st.LostIn, c.Table+"."+c.Name)
	}
}

// peek opens a row and puts nothing in its place.
func peek(r row, masters *keyfile.Source) (*seal.Keyset, error) {
	m, err := masters.Master()
	if err != nil {
		return nil, err
	}
	if m.Fingerprint() != r.master {
		return nil, fmt.Errorf("%w: %s has key %s and the database is under %s", keyfile.ErrOther, masters.Where(), m.Fingerprint(), r.master)
	}
	return seal.Unwrap(m, r.id, r.wrapped)
}

// Findings are the status in sentences, each with what to do about it.
func (st Status) Findings() []Finding {
	var all []Finding
	say := func(l Level, format string, args ...any) {
		all = append(all, Finding{l, fmt.Sprintf(format, args...)})
	}
	switch {
	case st.Keyset == "" && st.Err == nil && (st.Master.Err == nil || errors.Is(st.Master.Err, keyfile.ErrMissing)):
		say(OK, "there is no keyset yet; the first start makes one")
	case st.Err != nil:
		say(Bad, "the keys do not open: %v", st.Err)
	case st.Master.Err != nil:
		say(Bad, "the master key cannot be used: %v", st.Master.Err)
	case st.Master.Mode != "":
		say(OK, "the master key is %s (%s, mode %s)", st.Master.Fingerprint, st.Master.Where, st.Master.Mode)
	default:
		say(OK, "the master key is %s (%s)", st.Master.Fingerprint, st.Master.Where)
	}
	if st.Master.Beside {
		say(Warn, "the master key lies in the data folder: whoever copies the folder has both; keep it elsewhere or in %s, or encrypt the disk, and keep a `wayleave keys export`", keyfile.Variable)
	}
	if st.Master.Left != "" {
		say(Warn, "the key file %s is not in use, since %s is set; move it away", st.Master.Left, keyfile.Variable)
	}
	if len(st.Old) > 0 {
		say(Warn, "a rotation is under way since %s, and a running server finishes it by itself: %d values are to be sealed anew, then the old key (%s) is dropped, five minutes after the rotation at the earliest. Where no server runs: `wayleave keys rotate --finish`",
			st.Since.Format(time.RFC3339), st.Older, strings.Join(st.Old, ", "))
	}
	if st.Lost > 0 {
		say(Bad, "%d values are sealed under keys that are not there (in %s): they do not open, unless from a backup", st.Lost, strings.Join(st.LostIn, ", "))
	}
	return all
}

// Verify opens every sealed value there is, and names the first that do not; damaged counts all. It is for a restored
// backup and a thorough doctor, and takes its time.
func (s *Store) Verify(ctx context.Context) (opened, damaged int64, at []seal.Place, err error) {
	err = eachPage(ctx, s.db, everyHead(), func(c Column, page []value) error {
		for _, v := range page {
			if _, err := s.keys.Open(c.place(v.key), v.box); err == nil {
				opened++
			} else if !errors.Is(err, seal.ErrSealed) {
				return err
			} else if damaged++; len(at) < mostNamed {
				at = append(at, c.place(v.key))
			}
		}
		return nil
	})
	return opened, damaged, at, err
}

// Export writes the master key under a passphrase, and gives its fingerprint. Only a key that the database is under is
// written: an export that helps nobody is worse than none. by is who does it, for the audit, which has it before the key
// is out.
func Export(ctx context.Context, db *sqldb.DB, masters *keyfile.Source, w io.Writer, passphrase secret.Value, by string) (fingerprint string, err error) {
	m, err := masters.Master()
	if err != nil {
		return "", err
	}
	var r row
	var found bool
	var install string
	var now int64
	if err := db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		if r, found, err = currentRow(tx); err != nil {
			return err
		}
		if _, err = tx.One("SELECT install FROM settings WHERE id = 1", nil, &install); err != nil {
			return err
		}
		now, err = tx.Now()
		return err
	}); err != nil {
		return "", err
	}
	if !found {
		return "", errors.New("there is no keyset yet, so the master key protects nothing; start the server once")
	}
	if _, err := peek(r, masters); err != nil {
		return "", err
	}
	var sealed bytes.Buffer
	if err := keyfile.Export(&sealed, m, passphrase, keyfile.ExportNote(install, m, time.UnixMicro(now))); err != nil {
		return "", err
	}
	if err := db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		return auditstore.Append(tx, audit.Entry{Actor: by, Verb: "keys.exported", Subject: r.id, Detail: map[string]any{"master": r.master}})
	}); err != nil {
		return "", err
	}
	if _, err := w.Write(sealed.Bytes()); err != nil {
		return "", fmt.Errorf("export the master key: %w", err)
	}
	return m.Fingerprint(), nil
}

// Import takes a master key out of an export and puts it in its file, and gives its fingerprint. A key that the database
// is not under is refused, as is a file that has another key already. db may be nil, where the database comes later.
func Import(ctx context.Context, db *sqldb.DB, masters *keyfile.Source, in io.Reader, passphrase secret.Value) (fingerprint string, err error) {
	m, err := keyfile.Import(in, passphrase)
	if err != nil {
		return "", err
	}
	if db != nil {
		var r row
		var found bool
		if err := db.Read(ctx, func(tx *sqldb.Tx) (err error) {
			r, found, err = currentRow(tx)
			return err
		}); err != nil {
			return "", err
		}
		if found && r.master != m.Fingerprint() {
			return "", fmt.Errorf("%w: the export has key %s and the database is under %s; take the export that was made of it", keyfile.ErrOther, m.Fingerprint(), r.master)
		}
	}
	return m.Fingerprint(), masters.Restore(m)
}
