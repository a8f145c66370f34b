package confine

import "golang.org/x/sys/unix"

func calls() table {
	t := common()
	t.arch = unix.AUDIT_ARCH_X86_64
	t.allowed = append(t.allowed, unix.SYS_EPOLL_WAIT, unix.SYS_POLL)
	t.deadly = append(t.deadly, unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_LINK, unix.SYS_SYMLINK,
		unix.SYS_MKDIR, unix.SYS_RMDIR)
	return t
}
