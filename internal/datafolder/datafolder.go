// Package datafolder keeps the files of one install: where the folder is, who may read it, how a file in it is changed.
//
// The one rule: nothing in the folder is ever readable by another user, and no file is ever half written. Folders are
// made with mode 0700, files with 0600; a change is written beside the old file, synced, and renamed over it under a
// lock that other processes honour.
package datafolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const (
	folderMode fs.FileMode = 0o700
	fileMode   fs.FileMode = 0o600
	// othersMask are the permissions that anyone but the owner would have.
	othersMask fs.FileMode = 0o077
	// othersWrite are the permissions with which another user could replace our files.
	othersWrite fs.FileMode = 0o022
)

// Default gives the per-user data folder of an operating system (a GOOS value): $XDG_DATA_HOME/wayleave or
// ~/.local/share/wayleave, ~/Library/Application Support/Wayleave on darwin, %LocalAppData%\Wayleave on windows.
// The error says which variable is missing.
func Default(goos string, getenv func(string) string) (string, error) {
	switch goos {
	case "windows":
		if dir := getenv("LocalAppData"); dir != "" {
			return filepath.Join(dir, "Wayleave"), nil
		}
		return "", errors.New("%LocalAppData% is not set; name a folder with --data")
	case "darwin":
		if home := getenv("HOME"); home != "" {
			return filepath.Join(home, "Library", "Application Support", "Wayleave"), nil
		}
	default:
		// The XDG specification has relative paths ignored.
		if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "wayleave"), nil
		}
		if home := getenv("HOME"); home != "" {
			return filepath.Join(home, ".local", "share", "wayleave"), nil
		}
	}
	return "", errors.New("$HOME is not set; name a folder with --data")
}

// Folder is an open data folder.
type Folder struct {
	path     string
	warnings []string
}

// Path is the folder's absolute path.
func (f *Folder) Path() string { return f.path }

// Mode is the folder's permissions as a person reads them.
func (f *Folder) Mode() string {
	info, err := os.Stat(f.path)
	if err != nil {
		return "gone"
	}
	return fmt.Sprintf("mode %#o", info.Mode().Perm())
}

// Warnings are sentences about permissions that are looser than they should be and that only a person can judge.
func (f *Folder) Warnings() []string { return f.warnings }

// Open makes the folder if it is not there and checks that it is one: a directory, not inside a git work tree that
// would pick it up, and not writable by others. An empty folder with looser permissions is tightened to 0700; a
// folder with files in it that others may list is named in Warnings, since changing what a person laid out is theirs.
func Open(path string) (*Folder, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	// The question comes before the folder is made, so that a refusal leaves nothing behind.
	if err := refuseWorkTree(abs); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(abs, folderMode); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	f, err := inspect(abs)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Look opens a folder that must be there already, and changes nothing. The error of a missing folder is
// fs.ErrNotExist.
func Look(path string) (*Folder, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("data folder %s is a file", abs)
	}
	f := &Folder{path: abs}
	perm := info.Mode().Perm()
	if runtime.GOOS == "windows" || perm&othersMask == 0 {
		return f, nil
	}
	empty, err := isEmpty(abs)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if !empty && perm&othersWrite != 0 { // Open would refuse it too
		return nil, replaceable(abs, perm)
	}
	f.warnings = append(f.warnings, looseSentence(abs, perm))
	return f, nil
}

func inspect(abs string) (*Folder, error) {
	f := &Folder{path: abs}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("data folder %s is a file", abs)
	}
	perm := info.Mode().Perm()
	if runtime.GOOS == "windows" || perm&othersMask == 0 {
		return f, nil
	}
	empty, err := isEmpty(abs)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if empty {
		if err := os.Chmod(abs, folderMode); err != nil {
			return nil, fmt.Errorf("data folder: %w", err)
		}
		return f, nil
	}
	if perm&othersWrite != 0 {
		return nil, replaceable(abs, perm)
	}
	f.warnings = append(f.warnings, looseSentence(abs, perm))
	return f, nil
}

func replaceable(path string, perm fs.FileMode) error {
	return fmt.Errorf("data folder %s has mode %#o: other users could replace its files; chmod 700 it, or name another with --data", path, perm)
}

func looseSentence(path string, perm fs.FileMode) string {
	return fmt.Sprintf("data folder %s has mode %#o; 0700 keeps other users from listing it", path, perm)
}

func isEmpty(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	return len(entries) == 0, err
}
