package clienttest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// server is the program, serving.
type server struct {
	program string
	data    string // its data folder
	url     string // of its MCP endpoint
	token   string
	output  *lines
}

var endpoint = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// serve starts the program on a free port with a data folder of its own, and stops it when the test ends: the process
// must end by itself, with exit code 0, when it is asked to.
func serve(t *testing.T, program string, flags ...string) *server {
	t.Helper()
	s := &server{program: program, data: filepath.Join(t.TempDir(), "data"), output: newLines()}
	cmd := exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", s.data}, flags...)...)
	cmd.Stdout, cmd.Stderr = s.output, s.output
	cmd.Env = quietEnv(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("stop the server: %v\n%s", err, s.log())
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the server ended with %v\n%s", err, s.log())
			}
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
			t.Errorf("the server did not stop when asked to\n%s", s.log())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	address, ok := s.output.await(ctx, endpoint)
	if !ok {
		t.Fatalf("the server named no address:\n%s", s.log())
	}
	s.url = address + "/mcp"
	s.token = s.newToken(t, "tools")
	return s
}

// newToken makes an agent's token with the program's own command.
func (s *server) newToken(t *testing.T, scope string) string {
	t.Helper()
	var answer struct{ Token string }
	if err := json.Unmarshal([]byte(s.command(t, "agents", "token", "new", "tester", "--scope", scope, "--json")), &answer); err != nil || answer.Token == "" {
		t.Fatalf("agents token new gave no token (%v)", err)
	}
	return answer.Token
}

// command runs the program on the server's data folder and gives what it wrote to standard output.
func (s *server) command(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.program, append(args, "--data", s.data)...)
	cmd.Env = quietEnv(t)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("wayleave %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

// overHTTP and overStdio are the orders that tell a driver how to reach the program; mcpServers says the same in the
// form that many clients share.
func (s *server) overHTTP() map[string]any {
	headers := map[string]string{"Authorization": "Bearer " + s.token}
	return map[string]any{"url": s.url, "headers": headers,
		"mcpServers": map[string]any{"wayleave": map[string]any{"type": "http", "url": s.url, "headers": headers}}}
}

func (s *server) overStdio(allowed string) map[string]any {
	args := []string{"mcp", "--allow-host", allowed}
	return map[string]any{"command": s.program, "args": args,
		"mcpServers": map[string]any{"wayleave": map[string]any{"command": s.program, "args": args}}}
}

func (s *server) log() string { return s.output.text() }

// quietEnv has no settings of the person at the machine in it.
func quietEnv(t *testing.T) []string {
	return []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
}

// lines collects what a process writes.
type lines struct {
	mu      sync.Mutex
	all     []byte
	changed chan struct{} // closed and replaced when more has come
}

func newLines() *lines { return &lines{changed: make(chan struct{})} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, p...)
	close(l.changed)
	l.changed = make(chan struct{})
	return len(p), nil
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.all)
}

// await gives the first match in what was written, as soon as it is there.
func (l *lines) await(ctx context.Context, form *regexp.Regexp) (string, bool) {
	for {
		l.mu.Lock()
		found, changed := form.FindString(string(l.all)), l.changed
		l.mu.Unlock()
		if found != "" {
			return found, true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", false
		}
	}
}
