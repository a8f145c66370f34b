package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The program as a process of its own, as harnesses and service managers start it.

// program copies this test binary, which is the program under the name wayleave, to where an ordinary user may run it.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "wayleave")
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o755); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	return path
}

// process is one that runs.
type process struct {
	*exec.Cmd
	t       *testing.T
	in      io.WriteCloser
	out     *bufio.Reader
	said    *transcript // standard error
	waiting chan error
}

// transcript keeps what a process says, and tells when it said something.
type transcript struct {
	mu   sync.Mutex // guards text
	text strings.Builder
	more chan struct{}
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	select {
	case s.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// begin starts the program. It is killed when the test ends, if it has not ended by then.
func begin(t *testing.T, path string, environ []string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(path, args...), t: t, said: &transcript{more: make(chan struct{}, 1)}, waiting: make(chan error, 1)}
	p.Env, p.Stderr = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, environ...), p.said
	var err error
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out, p.Stdout = bufio.NewReader(out), w
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go func() { p.waiting <- p.Wait() }()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.waiting
		out.Close()
		if t.Failed() {
			t.Logf("%v said:\n%s", args, p.said)
		}
	})
	return p
}

// until waits for a text on standard error.
func (p *process) until(text string) {
	p.t.Helper()
	limit := time.After(patience)
	for !strings.Contains(p.said.String(), text) {
		select {
		case <-p.said.more:
		case <-limit:
			p.t.Fatalf("%v never said %q", p.Args[1:], text)
		}
	}
}

// patience bounds every wait of these tests.
const patience = 60 * time.Second

// ended waits for the end, and gives its error.
func (p *process) ended() error {
	p.t.Helper()
	select {
	case err := <-p.waiting:
		p.waiting <- err
		return err
	case <-time.After(patience):
		p.t.Fatalf("%v does not end", p.Args[1:])
		return nil
	}
}

// ask writes a message of the newest era; answer reads the next one.
func (p *process) ask(id int, method, params string) {
	p.t.Helper()
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, id, method, params)
	if _, err := io.WriteString(p.in, message+"\n"); err != nil {
		p.t.Fatalf("%v: %v", p.Args[1:], err)
	}
}

func (p *process) answer() string {
	p.t.Helper()
	type outcome struct {
		line string
		err  error
	}
	got := make(chan outcome, 1)
	go func() {
		line, err := p.out.ReadString('\n')
		got <- outcome{line, err}
	}()
	select {
	case o := <-got:
		if o.err != nil {
			p.t.Fatalf("%v answers no more: %v", p.Args[1:], o.err)
		}
		return o.line
	case <-time.After(patience):
		p.t.Fatalf("%v does not answer", p.Args[1:])
		return ""
	}
}

// fetch is a call of web_fetch.
func (p *process) fetch(id int, arguments string) {
	p.t.Helper()
	p.ask(id, "tools/call", `"name":"web_fetch","arguments":{`+arguments+`},`)
}
