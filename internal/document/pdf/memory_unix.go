//go:build unix

package pdf

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// reserve is a linear memory that grows in place: addresses are set aside to its cap, and the system gives pages as
// they are touched. So it is never copied, and is no part of the heap that the collector paces itself by.
type reserve struct{ all []byte }

// allocator gives the memory of the run that is being made.
func (e *Engine) allocator() experimental.MemoryAllocator {
	return experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
		r := &reserve{}
		// Where the system gives none, Reallocate answers nil, and the start fails.
		r.all, _ = unix.Mmap(-1, 0, int(most), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
		if e.made != nil {
			e.made.memory = r
		}
		return r
	})
}

// Reallocate gives the first size bytes.
func (r *reserve) Reallocate(size uint64) []byte {
	if size > uint64(len(r.all)) {
		return nil
	}
	return r.all[:size:len(r.all)]
}

// Free gives the memory back; a second time does nothing.
func (r *reserve) Free() {
	if r != nil && r.all != nil {
		unix.Munmap(r.all)
		r.all = nil
	}
}
