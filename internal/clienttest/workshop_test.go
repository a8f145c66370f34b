package clienttest

// What every test here stands on: the program, built once, and the clients with their Node. A missing piece fails the
// tests and names the command that brings it; nothing is skipped.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// clientTimeout bounds one client's whole run. Node starts in half a second, OpenCode ten, and a busy machine many times that.
const clientTimeout = 5 * time.Minute

// oldestNode is the oldest Node that all clients run under (pi and the Inspector ask for it).
var oldestNode = [2]int{22, 19}

// shop is made by TestMain; its parts are made when a test first asks for them.
var shop struct {
	root    string // the repository
	scratch string // gone when the tests are done
	program func() (string, error)
	fixture func() (string, error)
	node    func() (string, error)
}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		root, err := filepath.Abs("../..")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		scratch, err := os.MkdirTemp("", "wayleave-clients-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(scratch)
		shop.root, shop.scratch = root, scratch
		shop.program = sync.OnceValues(func() (string, error) { return build("wayleave") })
		shop.fixture = sync.OnceValues(func() (string, error) { return build("wayleave-fixtures", "-tags", "conformance") })
		shop.node = sync.OnceValues(findNode)
		return m.Run()
	}())
}

func build(name string, flags ...string) (string, error) {
	out := filepath.Join(shop.scratch, name)
	args := append([]string{"build", "-o", out}, flags...)
	cmd := exec.Command("go", append(args, "./cmd/wayleave")...)
	cmd.Dir = shop.root
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(cmd.Args[1:], " "), err, text)
	}
	return out, nil
}

// findNode prefers the Node of the lock file, so that everybody tests with the same one.
func findNode() (string, error) {
	packaged, err := filepath.Glob(inClients("node_modules/node-linux-*/bin/node"))
	if err != nil {
		return "", err
	}
	for _, node := range append(packaged, "node") {
		text, err := exec.Command(node, "--version").Output()
		if err != nil {
			continue
		}
		if newEnough(strings.TrimSpace(string(text))) {
			return node, nil
		}
	}
	return "", fmt.Errorf("no Node from %d.%d on: run make deps", oldestNode[0], oldestNode[1])
}

func newEnough(version string) bool {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	return errA == nil && errB == nil && (a > oldestNode[0] || a == oldestNode[0] && b >= oldestNode[1])
}

func inClients(path string) string {
	return filepath.Join(shop.root, "test", "clients", filepath.FromSlash(path))
}

// requireClients fails where the clients are not those of the lock file. scripts/deps.sh leaves a copy of it beside them.
func requireClients(t *testing.T) {
	t.Helper()
	want, err := os.ReadFile(inClients("package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(inClients("node_modules/.wayleave-lock")); err != nil || !bytes.Equal(got, want) {
		t.Fatal("the MCP clients are not installed as test/clients/package-lock.json says: run make deps")
	}
}

// installed gives the path of an installed client.
func installed(t *testing.T, path string) string {
	t.Helper()
	requireClients(t)
	found, err := filepath.Glob(inClients("node_modules/" + path))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s is not installed (this system may have no package of it): run make deps", path)
	}
	return found[0]
}

func program(t *testing.T) string {
	t.Helper()
	path, err := shop.program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// run is one finished client.
type run struct {
	code           int
	stdout, stderr string
}

// runNode runs a script under Node in an environment of its own: a home that is thrown away and no proxy, so that a
// client can neither read nor leave settings of the person at the machine.
func runNode(t *testing.T, stdin string, env []string, script string, args ...string) run {
	t.Helper()
	node, err := shop.node()
	if err != nil {
		t.Fatal(err)
	}
	return runAlone(t, "", stdin, env, node, append([]string{script}, args...)...)
}

func runAlone(t *testing.T, dir, stdin string, env []string, name string, args ...string) run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	home := t.TempDir()
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/config", "XDG_DATA_HOME=" + home + "/data",
		"XDG_CACHE_HOME=" + home + "/cache", "XDG_STATE_HOME=" + home + "/state", "PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}, env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out.String(), errs.String())
	}
	if ctx.Err() != nil {
		t.Fatalf("%s %s: not done after %s\n%s%s", filepath.Base(name), strings.Join(args, " "), clientTimeout, out.String(), errs.String())
	}
	return run{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// report is what a driver of test/clients says of its conversation.
type report struct {
	Offered  []string          // names of the tools as the model saw them
	Requests []string          // what went to the model, one JSON text a turn
	Texts    []string          // the tool results as the model saw them, in order
	Results  []json.RawMessage // what the host was given
	Details  []json.RawMessage // what the host's own lines made of it
	Stored   []string          // the conversation as it is sent again later
	Protocol string            // the revision that was spoken, where the client tells it
	Error    *struct{ Name, Message string }
}

// drive runs a driver of test/clients with its orders.
func drive(t *testing.T, driver string, orders map[string]any, env ...string) report {
	t.Helper()
	requireClients(t)
	text, err := json.Marshal(orders)
	if err != nil {
		t.Fatal(err)
	}
	r := runNode(t, string(text)+"\n", env, driver)
	if r.code != 0 {
		t.Fatalf("%s: exit %d\n%s\n%s", filepath.Base(driver), r.code, r.stdout, r.stderr)
	}
	var rep report
	if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil {
		t.Fatalf("%s: %v in %q", filepath.Base(driver), err, r.stdout)
	}
	return rep
}
