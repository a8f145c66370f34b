//go:build !unix

package pdf

import "github.com/tetratelabs/wazero/experimental"

// reserve is not used here: the runtime has its own memory.
type reserve struct{}

func (e *Engine) allocator() experimental.MemoryAllocator { return nil }

// Free does nothing.
func (r *reserve) Free() {}
