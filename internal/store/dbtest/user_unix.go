//go:build unix

// This file finds the ordinary user under whom PostgreSQL runs: it refuses root.
package dbtest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// identity is who runs PostgreSQL; the zero value is ourselves.
type identity struct{ credential *syscall.Credential }

func ordinaryUser() (identity, error) {
	if os.Getuid() != 0 {
		return identity{}, nil
	}
	for _, name := range []string{"nobody", "postgres", "daemon"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil && uid != 0 {
			return identity{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
		}
	}
	return identity{}, errors.New("PostgreSQL does not run as root, and there is no user nobody, postgres or daemon to run it as")
}

func (i identity) own(path string) error {
	if i.credential == nil {
		return nil
	}
	return os.Chown(path, int(i.credential.Uid), int(i.credential.Gid))
}

// run has a command run as that user, in a group of its own so that an interrupt at the terminal reaches it through us.
func (i identity) run(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Credential: i.credential, Setpgid: true}
}
