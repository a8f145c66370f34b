package serving

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// undumpable keeps other processes of the same user from this one's memory, environment and descriptors (TM-095), and
// a crash from leaving them in a core file.
func undumpable() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make the process undumpable: %w", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core files: %w", err)
	}
	return nil
}
