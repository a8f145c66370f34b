package costtest

import (
	"syscall"
	"time"
)

// Thread is what the calling thread has used. The caller locks itself to it (runtime.LockOSThread).
func Thread() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err)
	}
	return used(u)
}
