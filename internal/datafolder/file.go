// This file changes files in the folder so that no reader, and no crash, ever sees half of one.
package datafolder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// maxFile is the most bytes of a file that Read takes: ten thousand tokens stay far below it, and a file that
// someone else filled up is refused instead of read.
const maxFile = 16 << 20

// Read gives a file's bytes and its identity. A missing file is nil bytes and no error. A file that others may read
// or write is refused: what it holds can no longer be trusted.
func (f *Folder) Read(name string) ([]byte, fs.FileInfo, error) {
	path := filepath.Join(f.path, name)
	// Opening a named pipe waits for a writer, so the question comes before it, and again of what was opened.
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not an ordinary file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not an ordinary file", path)
	}
	if perm := info.Mode().Perm(); runtime.GOOS != "windows" && perm&othersMask != 0 {
		return nil, nil, fmt.Errorf("%s has mode %#o and other users may read or change it; chmod 600 it if that is not so", file.Name(), perm)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("%s is larger than %d bytes", file.Name(), maxFile)
	}
	return data, info, nil
}

// replace writes beside the file, syncs, renames over it and syncs the folder, so that after a crash the name stands
// for the old bytes or the new ones.
func (f *Folder) replace(name string, data []byte) error {
	tmp, err := os.CreateTemp(f.path, name+".*.new") // CreateTemp makes files with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename, as it should
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(fileMode); err != nil && runtime.GOOS != "windows" {
		tmp.Close()
		return err
	}
	if err := tmp.Sync(); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), filepath.Join(f.path, name)); err != nil {
		return err
	}
	return syncFolder(f.path)
}
