//go:build !linux

package costtest

import "time"

// Thread is the clock where threads cannot be asked for theirs.
func Thread() time.Duration { return time.Duration(time.Now().UnixNano()) }
