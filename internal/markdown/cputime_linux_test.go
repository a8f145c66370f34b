package markdown

import (
	"syscall"
	"time"
)

// cpuTime is what the calling thread has spent, so that what else the machine does hardly counts.
func cpuTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
