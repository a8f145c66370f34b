// This file says whose a folder is: permission to its files is all the permission that there is.
package datafolder

import (
	"os"
	"os/user"
	"strconv"
)

// Me is the id of this process's user, as the system has it; empty where the system does not say.
func Me() string {
	if id := os.Getuid(); id >= 0 {
		return strconv.Itoa(id)
	}
	if u, err := user.Current(); err == nil { // Windows has no numbers
		return u.Uid
	}
	return ""
}

// Whose is the id of the user to whom the folder belongs; empty where the system does not say.
func (f *Folder) Whose() string {
	info, err := os.Stat(f.path)
	if err != nil {
		return ""
	}
	return owner(info)
}
