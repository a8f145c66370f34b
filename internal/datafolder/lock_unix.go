//go:build unix

package datafolder

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errLocked says that another process has the lock.
var errLocked = errors.New("locked by another process")

// lock takes an exclusive lock on a file made for it, or says errLocked at once. The lock goes with the process, whatever
// way that ends. The file stays: removing it would let two processes lock two files of one name.
func lock(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
	return func() { f.Close() }, nil
}

// syncFolder makes a rename durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
