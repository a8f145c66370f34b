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

// ordinary makes a command run as an ordinary user, since root may read everything: as it is where the test is one,
// else as the one without rights.
func ordinary(cmd *exec.Cmd) *exec.Cmd {
	if os.Geteuid() == 0 {
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// public copies this program to where every user may run it.
func public(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wayleave-public-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(dir, "wayleave") // by this name TestMain runs the program itself
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{dir, path} { // whatever the umask made of it
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestTM095OthersOfTheSameUserReadNothing: environment, memory map and descriptors of a process that serves are shut to
// another process of its user, and a crash leaves no core. An ordinary process beside it shows that they would be open.
func TestTM095OthersOfTheSameUserReadNothing(t *testing.T) {
	program := public(t)
	start := func(answers string, name string, args ...string) (pid int) {
		t.Helper()
		cmd := ordinary(exec.Command(name, args...))
		cmd.Env = []string{"HOME=" + filepath.Dir(program), "PATH=" + os.Getenv("PATH"), "CANARY=canary-environment"}
		cmd.Dir = "/"
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
		t.Cleanup(func() {
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s ended with %v", name, err)
			}
		})
		// Its first answer says that it is up.
		if _, err := io.WriteString(in, answers+"\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatalf("%s said %q, %v", name, line, err)
		}
		return cmd.Process.Pid
	}
	look := func(command string, pid int, file string) (string, error) {
		out, err := ordinary(exec.Command(command, fmt.Sprintf("/proc/%d/%s", pid, file))).Output()
		return string(out), err
	}
	ours := start(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, program, "mcp")
	other := start("hello", "cat")

	for file, command := range map[string]string{"environ": "cat", "maps": "cat", "fd": "ls", "mem": "cat"} {
		if text, err := look(command, ours, file); err == nil || text != "" {
			t.Errorf("%s of the service is open to its user: %.100q", file, text)
		}
		if file == "mem" { // its first page is nobody's
			continue
		}
		if text, err := look(command, other, file); err != nil || text == "" {
			t.Errorf("%s of an ordinary process cannot be read either (%v): the test shows nothing", file, err)
		}
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", ours))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(limits)) {
		if rest, ok := strings.CutPrefix(line, "Max core file size"); ok {
			if f := strings.Fields(rest); len(f) < 2 || f[0] != "0" || f[1] != "0" {
				t.Errorf("core files: %s", strings.TrimSpace(rest))
			}
			return
		}
	}
	t.Errorf("no limit of core files in\n%s", limits)
}
