package child

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
)

// TestTM011AChildThatReachesOutIsKilled: a file, a socket, another program.
func TestTM011AChildThatReachesOutIsKilled(t *testing.T) {
	p := pool(t, Options{Size: 1})
	holds, watched, err := p.Holds(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !holds.Calls || !holds.Limits || !holds.Closed || !watched {
		t.Fatalf("this system is to grant what Linux has: %+v, watched %v", holds, watched)
	}
	for _, does := range []string{"open", "socket", "exec", "write"} {
		text, err := p.Read(context.Background(), does, nil)
		if err == nil && strings.Contains(text.Markdown, "operation not permitted") {
			continue // a C library is linked in, as the race detector wants it: files are refused, and nobody is killed
		}
		if reason(err) != document.Failed || text.Markdown != "" || !strings.Contains(err.Error(), "bad system call") {
			t.Errorf("%s: %v %q", does, err, text.Markdown)
		}
	}
	if _, err := os.Stat("/tmp/wayleave-child-wrote"); err == nil {
		t.Error("a file was written")
	}
	for range 3 {
		if got, err := p.Read(context.Background(), "threads", nil); err != nil || got.Markdown == "" {
			t.Errorf("what a reader may do: %v", err)
		}
	}
}

// TestTM097AChildHoldsNoDescriptorOfItsParents: but the two pipes and the null device. What it opened itself, before it
// gave up files, is the runtime's.
func TestTM097AChildHoldsNoDescriptorOfItsParents(t *testing.T) {
	p := pool(t, Options{Size: 1})
	f, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := p.take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer p.give(c)
	folder := "/proc/" + strconv.Itoa(c.cmd.Process.Pid) + "/fd"
	entries, err := os.ReadDir(folder)
	if err != nil {
		if os.Getuid() != 0 && os.IsPermission(err) {
			return // it is closed to us, too
		}
		t.Fatal(err)
	}
	for _, e := range entries {
		to, err := os.Readlink(folder + "/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(to, "pipe:") && to != "/dev/null" && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/sys/fs/cgroup/") {
			t.Errorf("descriptor %s is %s", e.Name(), to)
		}
	}
}
