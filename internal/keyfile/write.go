// This file writes key files: whole, private, and never over another key.
package keyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

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

// Stage keeps a key beside the file, to be in use after Adopt. A staged key that was there before is lost: it was never
// in use. A key that comes from the variable cannot be changed here.
func (s *Source) Stage(m seal.Master) error {
	if s.Given() {
		return fmt.Errorf("the master key comes from the variable %s, which is not ours to change; keep the new key in a file and name that", Variable)
	}
	tmp, err := s.write(m)
	if err == nil {
		if err = os.Rename(tmp, s.file+staged); err != nil {
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

// Staged gives the key of a Stage without an Adopt: the zero Master where there is none.
func (s *Source) Staged() (seal.Master, error) {
	if s.Given() || s.file == "" {
		return seal.Master{}, nil
	}
	m, err := read(s.file + staged)
	if errors.Is(err, ErrMissing) {
		return seal.Master{}, nil
	}
	return m, err
}

// Adopt puts the staged key in the file's place. The old key is gone with it.
func (s *Source) Adopt() error {
	if err := os.Rename(s.file+staged, s.file); err != nil {
		return fmt.Errorf("put the new master key in its place: %w", err)
	}
	if err := syncFolder(filepath.Dir(s.file)); err != nil {
		return fmt.Errorf("put the new master key in its place: %w", err)
	}
	return nil
}

// Unstage removes a staged key that will not be in use.
func (s *Source) Unstage() error {
	if s.Given() || s.file == "" {
		return nil
	}
	if err := os.Remove(s.file + staged); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the staged master key: %w", err)
	}
	return nil
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
