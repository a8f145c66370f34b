package datafolder

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

func owner(fs.FileInfo) string { return "" }

// Free is how many bytes this user may still write where the folder is.
func (f *Folder) Free() (uint64, error) {
	path, err := windows.UTF16PtrFromString(f.path)
	if err != nil {
		return 0, err
	}
	var free uint64
	return free, windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
}
