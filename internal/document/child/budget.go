package child

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// budget is what a document may cost.
type budget struct {
	cpu    time.Duration
	memory int64 // bytes beyond what the child held when the document was sent
	wall   time.Duration
}

// cost is what a document has cost a child, as far as that was counted.
type cost struct {
	cpu     time.Duration
	memory  int64 // the most that was seen of it
	wall    time.Duration
	outside bool // and then something that was not the child's doing ended it
}

// exceeded objects to a cost.
func (b budget) exceeded(c cost) error {
	switch {
	case c.cpu > b.cpu:
		return errCost{fmt.Sprintf("more than %v of CPU", b.cpu)}
	case c.memory > b.memory:
		return errCost{fmt.Sprintf("more than %d bytes of memory", b.memory)}
	}
	return nil
}

// rest is what is left for reading a document a second time: both times together have one budget of CPU and of time.
// Memory is given back with the first child. False where a second time is none's due: the child ended by itself, or
// nothing is left.
func (b budget) rest(c cost) (budget, bool) {
	if !c.outside || c.cpu >= b.cpu || c.memory > b.memory || c.wall >= b.wall {
		return budget{}, false
	}
	return budget{b.cpu - c.cpu, b.memory, b.wall - c.wall}, true
}

// fromOutside says that a process was ended by such a signal as other processes and the kernel, when it needs memory,
// send. What a reader brings on itself are other signals, or a status.
func fromOutside(state *os.ProcessState) bool {
	if state == nil {
		return false
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && slices.Contains([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}, status.Signal())
}
