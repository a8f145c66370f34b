//go:build unix

package costtest

import (
	"syscall"
	"time"
)

// spent is what the process has used, in user and system mode.
func spent() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return used(u), true
}

func used(u syscall.Rusage) time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }
