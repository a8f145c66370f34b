// Package keyfile keeps the master key outside the database: in a file of its own, or in a variable that somebody else
// sets; and writes it out under a passphrase.
//
// The one rule: no file that has a key is ever overwritten by another key, and a key that others may read is not used.
package keyfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/secret"
)

const (
	// Name is the file's name where nothing else was said: beside the data.
	Name = "master.key"
	// Variable has the key itself, where no file should.
	Variable = "WAYLEAVE_MASTER_KEY"
	// most is the most bytes that are read of a key file: a key is 64.
	most = 4096
)

var (
	// ErrMissing says that there is no key at all: no variable, and no file.
	ErrMissing = errors.New("there is no master key")
	// ErrOther says that there is a key, and not the one that was asked for.
	ErrOther = errors.New("the master key is another one")
)

// Source is where the master key of this install is. It is safe for concurrent use.
type Source struct {
	file  string
	given secret.Value
}

// New names the file, which need not be there, and what the variable holds, empty for none. The variable counts first.
func New(file string, given secret.Value) *Source { return &Source{file: file, given: given} }

// Where names the place in a sentence, without what is in it.
func (s *Source) Where() string {
	if !s.given.Empty() {
		return "the variable " + Variable
	}
	return "the file " + s.file
}

// Given says whether the key comes from the variable, so that nothing here can change it.
func (s *Source) Given() bool { return !s.given.Empty() }

// Master reads the key as it is now. ErrMissing says that there is none; every other error names the place and what is
// wrong there, and never a part of the key.
func (s *Source) Master() (seal.Master, error) {
	if s.Given() {
		m, err := seal.ParseMaster(s.given.Reveal())
		if err != nil {
			return seal.Master{}, fmt.Errorf("the variable %s: %w", Variable, err)
		}
		return m, nil
	}
	return read(s.file)
}

func read(path string) (seal.Master, error) {
	if path == "" {
		return seal.Master{}, ErrMissing
	}
	// Opening a named pipe waits for a writer, so the question comes before it, and again of what was opened.
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return seal.Master{}, fmt.Errorf("%w: %s is not there", ErrMissing, path)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not an ordinary file", path)
	}
	if err != nil {
		return seal.Master{}, fmt.Errorf("the master key: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return seal.Master{}, fmt.Errorf("the master key: %w", err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return seal.Master{}, fmt.Errorf("the master key: %w", err)
	}
	if !info.Mode().IsRegular() {
		return seal.Master{}, fmt.Errorf("the master key: %s is not an ordinary file", path)
	}
	if loose := looseness(info); loose != "" {
		return seal.Master{}, fmt.Errorf("the master key file %s has mode %#o: %s; if nobody has read it, chmod 600 it, else `wayleave keys rewrap` after that",
			path, info.Mode().Perm(), loose)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return seal.Master{}, fmt.Errorf("the master key: %w", err)
	}
	if len(text) > most {
		return seal.Master{}, fmt.Errorf("the master key file %s: %w", path, seal.ErrNoMasterKey)
	}
	m, err := seal.ParseMaster(string(text))
	if err != nil {
		return seal.Master{}, fmt.Errorf("the master key file %s: %w", path, err)
	}
	return m, nil
}

// looseness says in words who besides the owner may do what with a file; empty where it is private.
func looseness(info fs.FileInfo) string {
	if runtime.GOOS == "windows" {
		return "" // its modes say nothing of who may read
	}
	return judge(info.Mode().Perm(), givenByRoot(info))
}

// judge: a key that root owns and gave to the group of this process, as service managers hand over credentials, is as
// private as one of our own.
func judge(perm fs.FileMode, byRoot bool) string {
	switch {
	case perm&0o022 != 0:
		return "other users may change it"
	case perm&0o005 != 0, perm&0o050 != 0 && !byRoot:
		return "other users may read it"
	}
	return ""
}

// Make gives the key, and where there is none at all, makes one and keeps it in the file. Of several processes that do
// so at once, all get the key of the one that was first. made says that it was made here.
func (s *Source) Make() (m seal.Master, made bool, err error) {
	m, err = s.Master()
	if !errors.Is(err, ErrMissing) {
		return m, false, err
	}
	if s.file == "" {
		return seal.Master{}, false, fmt.Errorf("%w, and no file to keep a new one in; name a file or set %s", ErrMissing, Variable)
	}
	m = seal.NewMaster()
	err = s.place(m)
	if errors.Is(err, fs.ErrExist) {
		m, err = s.Master()
		return m, false, err
	}
	if err != nil {
		return seal.Master{}, false, fmt.Errorf("keep a new master key: %w", err)
	}
	return m, true, nil
}
