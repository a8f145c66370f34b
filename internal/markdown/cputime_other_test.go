//go:build !linux

package markdown

import "time"

// cpuTime is the clock where threads cannot be asked for theirs.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
