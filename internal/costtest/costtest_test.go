//go:build unix

package costtest

import (
	"testing"
	"time"
)

// judged notes what was reported.
type judged struct {
	testing.TB
	errors int
}

func (j *judged) Helper()               {}
func (j *judged) Errorf(string, ...any) { j.errors++ }

func TestWorkCountsAndWaitingDoesNot(t *testing.T) {
	var j judged
	Within(&j, "waiting", 50*time.Millisecond, func() { <-time.After(200 * time.Millisecond) })
	if j.errors != 0 {
		t.Error("waiting was counted")
	}
	Within(&j, "work", 50*time.Millisecond, func() {
		began, _ := spent()
		for now := began; now-began < 100*time.Millisecond; now, _ = spent() {
		}
	})
	if j.errors != 1 {
		t.Error("work was not counted")
	}
}
