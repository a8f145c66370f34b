package datafolder

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// errLocked says that another process has the lock.
var errLocked = errors.New("locked by another process")

// lock takes an exclusive lock on a file made for it, or says errLocked at once. The lock goes with the process, whatever
// way that ends.
func lock(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if err != nil {
		f.Close()
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			return nil, errLocked
		}
		return nil, err
	}
	return func() { f.Close() }, nil
}

// syncFolder does nothing: windows has no handle of a folder to sync, and NTFS journals the rename.
func syncFolder(string) error { return nil }
