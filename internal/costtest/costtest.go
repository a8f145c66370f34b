// Package costtest bounds what the work of a test costs by the processor time of its process. What else the machine does
// hardly counts then, as it would by the clock.
package costtest

import (
	"testing"
	"time"
)

// Within runs work and reports if it cost more processor time than most, in all threads together. Nothing else of the
// process may run beside it. Where a process cannot ask for its time, the work is run and not judged.
func Within(t testing.TB, what string, most time.Duration, work func()) {
	t.Helper()
	before, _ := spent()
	work()
	if after, known := spent(); known && after-before > most {
		t.Errorf("%s cost %v of processor time, %v is the most", what, after-before, most)
	}
}
