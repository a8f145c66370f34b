package confine

import "golang.org/x/sys/unix"

func calls() table {
	t := common()
	t.arch = unix.AUDIT_ARCH_AARCH64
	return t
}
