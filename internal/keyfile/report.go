// This file says how well the master key is kept, for people.
package keyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Report is how the master key is kept.
type Report struct {
	// Where is a sentence's object: the variable …, or the file ….
	Where string
	// Mode is the file's permissions in octal; empty for a variable and a missing file.
	Mode string
	// Fingerprint names the key; empty where there is none that can be used.
	Fingerprint string
	// Beside says that the key lies in the folder of the data, where whoever takes the folder has both.
	Beside bool
	// Left is a key file that is not in use, since the variable counts; empty for none.
	Left string
	// Err is why the key cannot be used; nil where it can.
	Err error
}

// Report looks at the key now. data is the folder of the data; empty where there is none on this machine.
func (s *Source) Report(data string) Report {
	r := Report{Where: s.Where()}
	m, err := s.Master()
	r.Fingerprint, r.Err = m.Fingerprint(), err
	if s.file == "" {
		return r
	}
	info, err := os.Stat(s.file)
	if err != nil {
		if r.Err == nil && !s.Given() && !errors.Is(err, fs.ErrNotExist) {
			r.Err = err
		}
		return r
	}
	if s.Given() {
		r.Left = s.file
		return r
	}
	if runtime.GOOS != "windows" {
		r.Mode = fmt.Sprintf("%#o", info.Mode().Perm())
	}
	r.Beside = data != "" && within(data, s.file)
	return r
}

// within says whether a file lies in a folder or below it, after links: a link to elsewhere is elsewhere.
func within(folder, file string) bool {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return false
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return false
	}
	if file, err = filepath.Abs(file); err != nil {
		return false
	}
	rel, err := filepath.Rel(folder, file)
	return err == nil && filepath.IsLocal(rel)
}
