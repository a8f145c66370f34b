package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is an ordinary user; root may read every process.
const nobody = 65534

// ordinary makes a command run as an ordinary user where the test runs as root.
func ordinary(cmd *exec.Cmd) *exec.Cmd {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}}
	}
	return cmd
}

func TestTM095OwnersMemoryIsShutToOthersOfItsUser(t *testing.T) {
	cmd := ordinary(exec.CommandContext(t.Context(), program(t), "mcp"))
	home := filepath.Join(filepath.Dir(cmd.Path), "home") // beside the program, where that user may come
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(home, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Env = []string{"CANARY=canary-in-the-environment", "HOME=" + home}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	// An answer means that it serves, so it has hidden itself.
	if _, err := io.WriteString(in, "{bad\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	proc := fmt.Sprintf("/proc/%d/", cmd.Process.Pid)
	for _, file := range []string{"environ", "maps", "mem"} {
		got, err := ordinary(exec.CommandContext(t.Context(), "cat", proc+file)).CombinedOutput()
		if err == nil || strings.Contains(string(got), "canary") || !strings.Contains(string(got), "Permission denied") {
			t.Errorf("%s: %v, %.200s", file, err, got)
		}
	}
	if got, err := ordinary(exec.CommandContext(t.Context(), "ls", proc+"fd")).CombinedOutput(); err == nil {
		t.Errorf("fd: %s", got)
	}
	limits, err := os.ReadFile(proc + "limits")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(limits), "\n") {
		if strings.HasPrefix(line, "Max core file size") && !strings.Contains(line, " 0 ") {
			t.Errorf("a crash leaves a core: %s", line)
		}
	}
}

func TestTM095TheTestSeesWhatAnOpenProcessShows(t *testing.T) {
	cmd := ordinary(exec.CommandContext(t.Context(), "sleep", "60"))
	cmd.Env = []string{"CANARY=canary-in-the-environment"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	got, err := ordinary(exec.CommandContext(t.Context(), "cat", fmt.Sprintf("/proc/%d/environ", cmd.Process.Pid))).CombinedOutput()
	if err != nil || !strings.Contains(string(got), "canary") {
		t.Fatalf("reading an ordinary process: %v, %s; the other test would pass for nothing", err, got)
	}
}
