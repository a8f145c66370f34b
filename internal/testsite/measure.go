package testsite

import (
	"context"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

// LeavesNothing notes the goroutines that run now and fails the test at its end if there are more than these one
// second later. Call it before the test starts anything.
func LeavesNothing(t testing.TB) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for runtime.NumGoroutine() > before {
			select {
			case <-tick.C:
			case <-ctx.Done():
				all := make([]byte, 1<<20)
				t.Errorf("%d goroutines ran before, %d do a second after:\n%s", before, runtime.NumGoroutine(), all[:runtime.Stack(all, true)])
				return
			}
		}
	})
}

// HeapGrowth runs f and gives by how many bytes the live heap was larger at its largest than before, sampled. Garbage
// that was not collected yet counts, as it does for the process. Nothing else may run beside it.
func HeapGrowth(f func()) int64 {
	runtime.GC()
	before := heapBytes()
	done := make(chan struct{})
	var most int64
	var sampler sync.WaitGroup
	sampler.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, heapBytes())
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	f()
	close(done)
	sampler.Wait()
	return max(most, heapBytes()) - before
}

// heapBytes is read without stopping the world, so that sampling does not slow what it measures.
func heapBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
