package serving

import (
	"net"
	"testing"

	"github.com/wayleave/wayleave/internal/datafolder"
)

func TestUserOfAListenerIsFoundInTheKernelsTable(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1D35 00000000:0000 0A 00000000:00000000 00:00000000 00000000   990        0 12345 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1D36 0100007F:A001 01 00000000:00000000 00:00000000 00000000  1000        0 12346 1 0000000000000000 20 4 30 10 -1
   2: short
   3: 0100007F:XYZ  00000000:0000 0A 00000000:00000000 00:00000000 00000000     7        0 1 1
`
	for port, want := range map[uint16]string{7477: "990", 7478: "", 1: ""} {
		if got := userOf(table, port); got != want {
			t.Errorf("%d: %q, want %q", port, got, want)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		if got := listenerUser(uint16(port)); got != datafolder.Me() {
			t.Errorf("%s: %q, want %q", l.Addr(), got, datafolder.Me())
		}
		l.Close()
	}
}
