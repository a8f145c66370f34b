//go:build unix

package main

import (
	"golang.org/x/sys/unix"
)

// restrictFiles keeps other users from every file that this process makes (TM-094).
func restrictFiles() { unix.Umask(0o077) }
