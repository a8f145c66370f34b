package child

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// folder is where a child stands.
const folder = "/"

// meter tells what a process costs.
type meter struct {
	clock int32
	statm *os.File
}

// newMeter is nil where the system does not tell.
func newMeter(pid int) *meter {
	f, err := os.Open(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return nil
	}
	// The clock of a process's CPU time has its number from the process's: see clock_getcpuclockid in the kernel's
	// posix-timers.
	const scheduled = 2
	m := &meter{clock: int32(^pid)<<3 | scheduled, statm: f}
	if _, _, err := m.read(); err != nil {
		f.Close()
		return nil
	}
	return m
}

// read gives the CPU time that a process has used, and the bytes of memory that it holds now.
func (m *meter) read() (cpu time.Duration, memory int64, err error) {
	var t unix.Timespec
	if err := unix.ClockGettime(m.clock, &t); err != nil {
		return 0, 0, err
	}
	var text [128]byte
	n, err := m.statm.ReadAt(text[:], 0)
	if n == 0 {
		return 0, 0, err
	}
	words := strings.Fields(string(text[:n]))
	if len(words) < 2 {
		return 0, 0, fmt.Errorf("statm: %q", text[:n])
	}
	pages, err := strconv.ParseInt(words[1], 10, 64)
	return time.Duration(t.Nano()), pages * int64(os.Getpagesize()), err
}

func (m *meter) close() {
	if m != nil {
		m.statm.Close()
	}
}

// attributes put a child into a group of its own, and let it end with the thread that started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
