//go:build unix

package keyfile

import (
	"io/fs"
	"os"
	"syscall"
)

// givenByRoot says whether root owns a file and this process is somebody else.
func givenByRoot(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && os.Geteuid() != 0
}
