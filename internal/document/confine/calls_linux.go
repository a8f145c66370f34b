//go:build amd64 || arm64

package confine

import "golang.org/x/sys/unix"

// common are the calls that all machines have.
func common() table {
	return table{
		allowed: []uint32{unix.SYS_READ, unix.SYS_WRITE, unix.SYS_FUTEX, unix.SYS_MADVISE, unix.SYS_MUNMAP, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
			unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK,
			unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_GETTID, unix.SYS_GETPID, unix.SYS_TGKILL, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
			unix.SYS_RESTART_SYSCALL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_CTL, unix.SYS_GETRANDOM, unix.SYS_CLOSE, unix.SYS_BRK, unix.SYS_MINCORE,
			unix.SYS_RSEQ, unix.SYS_SET_ROBUST_LIST, unix.SYS_PPOLL, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_MREMAP},
		deadly: []uint32{unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN,
			unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV,
			unix.SYS_PROCESS_VM_WRITEV, unix.SYS_IO_URING_SETUP, unix.SYS_BPF, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_SYMLINKAT,
			unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_MOUNT, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_USERFAULTFD, unix.SYS_MEMFD_CREATE, unix.SYS_PIDFD_OPEN, unix.SYS_SETNS,
			unix.SYS_UNSHARE, unix.SYS_KILL},
	}
}
