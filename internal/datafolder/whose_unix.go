//go:build unix

package datafolder

import (
	"io/fs"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func owner(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(uint64(stat.Uid), 10)
	}
	return ""
}

// Free is how many bytes this user may still write where the folder is.
func (f *Folder) Free() (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(f.path, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}
