package serving

import (
	"os"
	"strconv"
	"strings"
)

// listenerUser is the id of the user whose process listens at a port of this machine; empty where nobody does.
func listenerUser(port uint16) string {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if text, err := os.ReadFile(table); err == nil {
			if user := userOf(string(text), port); user != "" {
				return user
			}
		}
	}
	return ""
}

// userOf finds it in the kernel's table: a line has number, local address, remote address, state, two queues, a timer,
// retransmissions, user.
func userOf(table string, port uint16) string {
	const listening = "0A"
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 8 || f[3] != listening {
			continue
		}
		_, hex, _ := strings.Cut(f[1], ":")
		if n, err := strconv.ParseUint(hex, 16, 16); err == nil && uint16(n) == port {
			return f[7]
		}
	}
	return ""
}
