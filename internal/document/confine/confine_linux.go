package confine

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Apply bounds the whole process, every thread of it.
func Apply(l Limits) Holds {
	var h Holds
	h.Limits = limit(l)
	h.Closed = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) == nil
	h.Files = withoutFiles()
	h.Calls = withoutCalls() // last: it forbids the others
	return h
}

func limit(l Limits) bool {
	space := l.Space
	if size, err := addressSpace(); err == nil {
		space += size
	} else {
		return false
	}
	ok := true
	for _, r := range []struct {
		resource int
		most     uint64
	}{{unix.RLIMIT_CPU, l.CPUSeconds}, {unix.RLIMIT_AS, space}, {unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_NOFILE, 0}} {
		ok = unix.Setrlimit(r.resource, &unix.Rlimit{Cur: r.most, Max: r.most}) == nil && ok
	}
	return ok
}

// addressSpace is how many bytes of addresses the process uses.
func addressSpace() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseUint(pages, 10, 64)
	return n * uint64(os.Getpagesize()), err
}

// withoutFiles lets Landlock refuse every file, and the network that it knows of.
func withoutFiles() bool {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || version < 1 {
		return false
	}
	var rules unix.LandlockRulesetAttr
	rules.Handled_access_fs = 1<<13 - 1 // execute to make_sym: all of version 1
	size := unsafe.Sizeof(rules.Handled_access_fs)
	for _, later := range []struct {
		version uintptr
		right   uint64
	}{{2, unix.LANDLOCK_ACCESS_FS_REFER}, {3, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, {5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV}} {
		if version >= later.version {
			rules.Handled_access_fs |= later.right
		}
	}
	if version >= 4 {
		rules.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size += unsafe.Sizeof(rules.Handled_access_net)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), size, 0)
	if errno != 0 {
		return false
	}
	defer unix.Close(int(fd))
	// Both bind a thread, so every thread has to ask. Where C is linked in the runtime cannot make them.
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return false
	}
	_, _, errno = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	return errno == 0
}

// withoutCalls lets seccomp judge every system call.
func withoutCalls() bool {
	program := filter()
	if program == nil || unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
		return false
	}
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&p)))
	return errno == 0
}

// Where the parts of what a filter judges lie.
const (
	callNumber   = 0
	callArch     = 4
	firstArg     = 16 // low half, on machines that begin with it
	thirdArg     = 32
	executable   = unix.PROT_EXEC
	onlyAThread  = unix.CLONE_THREAD
	otherNumbers = 0x40000000 // x32's, on amd64
)

// filter is the program: what a running Go program needs is allowed, what reaches out kills the process, and all else
// is refused as not permitted.
func filter() []unix.SockFilter {
	t := calls()
	if t.arch == 0 {
		return nil
	}
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	jump := func(how uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	const (
		kill   = unix.SECCOMP_RET_KILL_PROCESS
		allow  = unix.SECCOMP_RET_ALLOW
		refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	)
	p := []unix.SockFilter{
		load(callArch), jump(unix.BPF_JEQ, t.arch, 1, 0), answer(kill),
		load(callNumber), jump(unix.BPF_JGE, otherNumbers, 0, 1), answer(kill),
	}
	for _, n := range t.allowed {
		p = append(p, jump(unix.BPF_JEQ, n, 0, 1), answer(allow))
	}
	for _, n := range t.deadly {
		if cLinked && n == unix.SYS_OPENAT {
			continue // refused, like what is not named
		}
		p = append(p, jump(unix.BPF_JEQ, n, 0, 1), answer(kill))
	}
	// A thread may be made, a process not. What clone3 would make cannot be seen, and who asks for it asks clone then.
	p = append(p, jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), answer(absent))
	p = append(p, jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4),
		load(firstArg), jump(unix.BPF_JSET, onlyAThread, 0, 1), answer(allow), answer(kill))
	// Memory may be mapped, and none of it made to run.
	for _, n := range []uint32{unix.SYS_MMAP, unix.SYS_MPROTECT} {
		p = append(p, jump(unix.BPF_JEQ, n, 0, 4),
			load(thirdArg), jump(unix.BPF_JSET, executable, 1, 0), answer(allow), answer(refuse))
	}
	return append(p, answer(refuse))
}

// table is what a filter is made of.
type table struct {
	arch            uint32
	allowed, deadly []uint32
}
