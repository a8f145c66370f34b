package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/terminal"
)

// onTerminal runs a command line with a pseudo-terminal for standard output and standard error, and gives what came out
// at the other end. A terminal puts a carriage return before each line feed; that one is left out.
func onTerminal(t *testing.T, stdin string, args ...string) (shown string, code int) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(number)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan []byte, 1)
	go func() {
		var b bytes.Buffer
		if _, err := io.Copy(&b, master); err != nil && !errors.Is(err, syscall.EIO) && !errors.Is(err, fs.ErrClosed) { // EIO: the other end is closed
			b.WriteString(err.Error())
		}
		read <- b.Bytes()
	}()
	code = run(args, []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, strings.NewReader(stdin), slave, slave)
	slave.Close()
	return strings.ReplaceAll(string(<-read), "\r\n", "\n"), code
}

// TestTM077PageCannotCommandTheTerminal reads a hostile page on a pseudo-terminal, with every command that shows one.
func TestTM077PageCannotCommandTheTerminal(t *testing.T) {
	const evil = "begin \x1b]52;c;ZXZpbA==\x07\x1b]0;canary-title\x1b\\\x1b[2J\u009b31m\u009d0;canary\u009c\x1bP+q544e\x1b\\\x1bc\r\b\u202e end"
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/text":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		case "/html":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<title>"+evil+"</title>")
		default:
			w.Header().Set("Content-Type", "image/png")
		}
		_, _ = io.WriteString(w, evil)
	}))
	defer site.Close()
	for _, c := range []struct {
		name  string
		stdin string
		args  []string
		code  int
		shows string
	}{
		{"fetch", "", []string{"fetch", "--allow-private-hosts", site.URL + "/text"}, cli.ExitDone, "begin  end"},
		{"fetch, raw", "", []string{"fetch", "--allow-private-hosts", "--format", "raw", site.URL + "/html"}, cli.ExitDone, "begin  end"},
		{"fetch, as JSON", "", []string{"fetch", "--allow-private-hosts", "--json", site.URL + "/html"}, cli.ExitDone, `"title": "begin `},
		{"fetch that fails", "", []string{"fetch", "--allow-private-hosts", site.URL + "/else"}, cli.ExitFailed, "web_fetch_unsupported_content_type"},
		{"fetch that fails, as JSON", "", []string{"fetch", "--allow-private-hosts", "--json", site.URL + "/else"}, cli.ExitFailed, "web_fetch_unsupported_content_type"},
		{"fetch of no URL", "", []string{"fetch", "http://" + evil + "/"}, cli.ExitFailed, "invalid_web_fetch_input"},
		{"convert", evil, []string{"convert", "--content-type", "text/plain; charset=utf-8"}, cli.ExitDone, "begin  end"},
		{"convert, as JSON", "<title>" + evil + "</title>" + evil, []string{"convert", "--content-type", "text/html; charset=utf-8", "--json"}, cli.ExitDone, `"title": "begin `},
		{"check-url", "", []string{"check-url", "http://" + evil + "/"}, cli.ExitDone, `"verdict":"refuse"`},
		{"a flag's value", "", []string{"fetch", "--user-agent", evil, "http://a.example/"}, cli.ExitUsage, "user_agent"},
		{"a command", "", []string{evil}, cli.ExitUsage, "unexpected argument begin  end"},
	} {
		shown, code := onTerminal(t, c.stdin, c.args...)
		if code != c.code || !strings.Contains(shown, c.shows) {
			t.Errorf("%s: exit %d, shown %q", c.name, code, shown)
		}
		if terminal.Inert(shown) != shown || strings.ContainsRune(shown, '\x1b') {
			t.Errorf("%s: the terminal gets %q", c.name, shown)
		}
	}
}
