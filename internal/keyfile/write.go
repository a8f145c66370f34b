// This file writes key files: whole, private, and never over another key.
package keyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/seal"
)

// write keeps a key under a name of its own beside the file.
func (s *Source) write(m seal.Master) (path string, err error) {
	tmp, err := os.CreateTemp(filepath.Dir(s.file), filepath.Base(s.file)+".*.tmp") // CreateTemp makes files with mode 0600
	if err != nil {
		return "", err
	}
	if err := fill(tmp, m); err != nil {
		return "", errors.Join(err, os.Remove(tmp.Name()))
	}
	return tmp.Name(), nil
}

// place keeps a key in the file, whole or not at all. fs.ErrExist says that the name is taken.
func (s *Source) place(m seal.Master) error {
	tmp, err := s.write(m)
	if err != nil {
		return err
	}
	// A link fails where the name is taken already: a rename would overwrite a key.
	err = os.Link(tmp, s.file)
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
		var f *os.File
		if f, err = os.OpenFile(s.file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
			err = fill(f, m)
		}
	}
	if err == nil {
		err = syncFolder(filepath.Dir(s.file))
	}
	return errors.Join(err, os.Remove(tmp))
}

// fill writes, syncs and closes.
func fill(f *os.File, m seal.Master) error {
	_, err := f.WriteString(m.Text().Reveal() + "\n")
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Restore puts an imported key in the file's place. A key that is there already is not overwritten: the same one is no
// error, another one is.
func (s *Source) Restore(m seal.Master) error {
	there, err := s.Master()
	switch {
	case err == nil && there.Fingerprint() == m.Fingerprint():
		return nil
	case err == nil:
		return fmt.Errorf("%s already has another master key (%s); move it away first, it may be the only copy", s.Where(), there.Fingerprint())
	case !errors.Is(err, ErrMissing):
		return fmt.Errorf("%w; move it away first", err)
	}
	if err := s.place(m); err != nil {
		return fmt.Errorf("keep the master key: %w", err)
	}
	return nil
}

// Forget removes the file if it has exactly this key: one that was made here and, as it turned out, for nothing.
func (s *Source) Forget(m seal.Master) error {
	if s.Given() {
		return nil
	}
	there, err := s.Master()
	if err != nil || there.Fingerprint() != m.Fingerprint() {
		return err
	}
	return os.Remove(s.file)
}

// oldStage is after which time a staged key was surely left behind: changing the master key takes seconds.
const oldStage = time.Hour

func (s *Source) stage(fingerprint string) string { return s.file + "." + fingerprint + ".new" }

// Stage keeps a key beside the file, to be in use after Adopt, and removes staged keys that were left behind. A key that
// comes from the variable cannot be changed here.
func (s *Source) Stage(m seal.Master) error {
	if s.Given() || s.file == "" {
		return fmt.Errorf("the master key comes from the variable %s, which is not ours to change; keep the new key in a file and name that", Variable)
	}
	if left, err := filepath.Glob(escape(s.file) + ".*.new"); err == nil {
		for _, path := range left {
			if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > oldStage {
				_ = os.Remove(path) // it will be tried again
			}
		}
	}
	tmp, err := s.write(m)
	if err == nil {
		if err = os.Rename(tmp, s.stage(m.Fingerprint())); err != nil {
			err = errors.Join(err, os.Remove(tmp))
		}
	}
	if err == nil {
		err = syncFolder(filepath.Dir(s.file))
	}
	if err != nil {
		return fmt.Errorf("keep a new master key: %w", err)
	}
	return nil
}

// escape makes a path of a pattern's signs.
func escape(path string) string {
	if runtime.GOOS == "windows" {
		return path // a backslash separates there, and a pattern has no escape
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// old is where the key of a fingerprint is kept once another one took its place.
func (s *Source) old(fingerprint string) string { return s.file + "." + fingerprint + ".old" }

// Adopt puts a staged key in the file's place, and keeps the one that was there beside it: it is the only one that opens
// backups that were made before. Where somebody else did so already, there is nothing to do.
func (s *Source) Adopt(fingerprint string) error {
	_, err := os.Stat(s.stage(fingerprint))
	if was, there := s.Master(); err == nil && there == nil && was.Fingerprint() != fingerprint {
		var tmp string
		if tmp, err = s.write(was); err == nil {
			err = os.Rename(tmp, s.old(was.Fingerprint()))
		}
		if err != nil {
			return fmt.Errorf("keep the old master key, which opens earlier backups: %w", err)
		}
	}
	err = os.Rename(s.stage(fingerprint), s.file)
	if errors.Is(err, fs.ErrNotExist) {
		if m, there := s.Master(); there == nil && m.Fingerprint() == fingerprint {
			return nil
		}
	}
	if err == nil {
		err = syncFolder(filepath.Dir(s.file))
	}
	if err != nil {
		return fmt.Errorf("put the new master key in its place: %w", err)
	}
	return nil
}

// Unstage removes a staged key that will not be in use.
func (s *Source) Unstage(fingerprint string) error {
	if err := os.Remove(s.stage(fingerprint)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the staged master key: %w", err)
	}
	return nil
}

// Old is the file that has the key of a fingerprint since another took its place; false where there is none.
func (s *Source) Old(fingerprint string) (path string, there bool) {
	if s.Given() || s.file == "" {
		return "", false
	}
	m, err := read(s.old(fingerprint))
	return s.old(fingerprint), err == nil && m.Fingerprint() == fingerprint
}

// For gives the key of a fingerprint, and puts it in its place first where it is still staged: a change of the master key
// was cut off after its commit. One that another took the place of is looked for, too: an earlier backup is under it. ErrMissing and ErrOther are told apart; each error names the way out.
func (s *Source) For(fingerprint string) (seal.Master, error) {
	m, err := s.Master()
	if err == nil && m.Fingerprint() == fingerprint {
		return m, nil
	}
	if !s.Given() && s.file != "" {
		if next, staged := read(s.stage(fingerprint)); staged == nil && next.Fingerprint() == fingerprint {
			return next, s.Adopt(fingerprint)
		}
		if was, kept := read(s.old(fingerprint)); kept == nil && was.Fingerprint() == fingerprint {
			return was, nil
		}
	}
	const way = "put the right key back there, or in the variable " + Variable + ", or take it from an export with `wayleave keys import`"
	switch {
	case err == nil:
		return seal.Master{}, fmt.Errorf("%w: %s has key %s and the database is under %s; %s", ErrOther, s.Where(), m.Fingerprint(), fingerprint, way)
	default:
		return seal.Master{}, fmt.Errorf("%w (the database is under master key %s); %s", err, fingerprint, way)
	}
}

// syncFolder makes a rename durable. Windows has no such thing.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
