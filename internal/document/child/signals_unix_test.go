//go:build unix

package child

import (
	"os/exec"
	"testing"
)

// TestSignalsFromOutside: what is told of a process that the test started and ended.
func TestSignalsFromOutside(t *testing.T) {
	for how, want := range map[string]bool{"KILL": true, "TERM": true, "INT": true, "HUP": true, "SEGV": false, "SYS": false, "ABRT": false, "XCPU": false} {
		cmd := exec.Command("/bin/sh", "-c", "ulimit -c 0; kill -"+how+" $$; exit 0")
		if err := cmd.Run(); err == nil || fromOutside(cmd.ProcessState) != want {
			t.Errorf("%s: %v, %v", how, err, cmd.ProcessState)
		}
	}
	cmd := exec.Command("/bin/sh", "-c", "exit 137")
	if err := cmd.Run(); err == nil || fromOutside(cmd.ProcessState) {
		t.Errorf("a status: %v", err)
	}
	if fromOutside(nil) {
		t.Error("no process")
	}
}
