package testsite

import (
	"context"
	"os"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

// LeavesNothing notes the goroutines and open files of now, and fails the test at its end if there are more ten
// seconds later: on a busy machine what was told to end takes its time. Call it before the test starts anything. Files are counted where the system lists them (Linux).
func LeavesNothing(t testing.TB) {
	t.Helper()
	Unused(t) // the first socket of a process opens the poller's own files
	goroutines, files := runtime.NumGoroutine(), openFiles()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for runtime.NumGoroutine() > goroutines || openFiles() > files {
			select {
			case <-tick.C:
			case <-ctx.Done():
				all := make([]byte, 1<<20)
				t.Errorf("ten seconds after the test %d goroutines run, before it %d; %d files are open, before it %d\n%s",
					runtime.NumGoroutine(), goroutines, openFiles(), files, all[:runtime.Stack(all, true)])
				return
			}
		}
	})
}

func openFiles() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
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
