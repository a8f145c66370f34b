package main

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/terminal"
)

// typed is what a person types when a prompt is shown.
type typed struct{ prompt, answer string }

// secretly is what is typed only once the terminal shows nothing of it: a person needs longer to begin than the program
// needs from its prompt to there, a test does not.
func secretly(prompt, answer string) typed { return typed{prompt: prompt, answer: "\x00" + answer} }

// echoOff waits until the terminal shows nothing of what is typed, or is closed.
func echoOff(terminal *os.File) {
	for {
		attrs, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
		if err != nil || attrs.Lflag&unix.ECHO == 0 {
			return
		}
		runtime.Gosched()
	}
}

// onTerminal runs a command line with a pseudo-terminal for standard output and standard error, and gives what came out
// at the other end. A terminal puts a carriage return before each line feed; that one is left out.
func onTerminal(t *testing.T, stdin string, args ...string) (shown string, code int) {
	t.Helper()
	return atTerminal(t, strings.NewReader(stdin), nil, args...)
}

// atTerminal is onTerminal with somebody at the keyboard where stdin is nil.
func atTerminal(t *testing.T, stdin io.Reader, types []typed, args ...string) (shown string, code int) {
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
	if stdin == nil {
		stdin = slave
	}
	read := make(chan string, 1)
	go func() {
		var all strings.Builder
		var b [4096]byte
		answered := 0 // up to where prompts were answered
		for {
			n, err := master.Read(b[:])
			all.Write(b[:n])
			if len(types) > 0 {
				if at := strings.Index(all.String()[answered:], types[0].prompt); at >= 0 {
					answered += at + len(types[0].prompt)
					answer, secret := strings.CutPrefix(types[0].answer, "\x00")
					if secret {
						echoOff(master)
					}
					_, _ = io.WriteString(master, answer+"\n")
					types = types[1:]
				}
			}
			if err != nil { // EIO: the other end is closed
				if !errors.Is(err, syscall.EIO) && !errors.Is(err, fs.ErrClosed) {
					all.WriteString(err.Error())
				}
				read <- all.String()
				return
			}
		}
	}()
	code = run(args, []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, stdin, slave, slave)
	slave.Close()
	return strings.ReplaceAll(<-read, "\r\n", "\n"), code
}

// inert fails where a terminal got what it would obey.
func inert(t *testing.T, name, shown string) {
	t.Helper()
	if terminal.Inert(shown) != shown || strings.ContainsRune(shown, '\x1b') {
		t.Errorf("%s: the terminal gets %q", name, shown)
	}
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
		inert(t, c.name, shown)
	}
}

// TestTM077AgentsAndModelsCannotCommandTheTerminal shows what they wrote: titles of runs, reasons, questions.
func TestTM077AgentsAndModelsCannotCommandTheTerminal(t *testing.T) {
	data, st := staging(t)
	for _, c := range []struct {
		args  []string
		shows string
	}{
		{[]string{"runs"}, "buy things begin"},
		{[]string{"runs", "--json"}, "buy things begin"},
		{[]string{"runs", "show", st.run}, "the connection ended before an answer begin"},
		{[]string{"runs", "show", st.run, st.call}, "arguments"},
		{[]string{"runs", "show", st.run, "--json"}, "buy things begin"},
		{[]string{"approvals", "--list"}, "do_order"},
		{[]string{"approvals", "--json"}, "shop begin"},
		{[]string{"audit"}, "approval.asked"},
	} {
		shown, code := onTerminal(t, "", append(c.args, "--data", data)...)
		if code != cli.ExitDone || !strings.Contains(shown, c.shows) {
			t.Errorf("%q: exit %d, shown %q", c.args, code, shown)
		}
		inert(t, strings.Join(c.args, " "), shown)
	}
}

// TestADeletionIsAskedForOnATerminal: what goes is shown first, and only the whole word lets it go.
func TestADeletionIsAskedForOnATerminal(t *testing.T) {
	data, st := staging(t)
	if _, stderr, code := commandLine(t, "", nil, "runs", "end", st.run, "--data", data); code != cli.ExitDone {
		t.Fatal(stderr)
	}
	if _, stderr, code := commandLine(t, "", nil, "runs", "reconcile", st.run, st.call, "happened", "--data", data); code != cli.ExitDone {
		t.Fatal(stderr)
	}
	// What counts in this minute goes a minute later; here at once.
	if err := statement(t.Context(), data, "DELETE FROM reservations"); err != nil {
		t.Fatal(err)
	}
	const prompt = "type delete to delete it, or nothing to leave it: "
	for _, word := range []string{"", "d", "yes"} {
		shown, code := atTerminal(t, nil, []typed{{prompt, word}}, "runs", "delete", st.run, "--data", data)
		if code != cli.ExitDone || !strings.Contains(shown, "goes for good: ") || !strings.Contains(shown, "left as it is") || strings.Contains(shown, "is deleted") {
			t.Errorf("%q: exit %d, %s", word, code, shown)
		}
		inert(t, "a deletion", shown)
	}
	shown, code := atTerminal(t, nil, []typed{{prompt, "delete"}}, "runs", "delete", st.run, "--data", data)
	if code != cli.ExitDone || !strings.Contains(shown, "run "+st.run+" is deleted") || !strings.Contains(shown, "of the calls is an effect whose outcome nobody saw") {
		t.Errorf("exit %d, %s", code, shown)
	}
}

// TestTM058PersonIsAskedOneByOne: all that is in a question is shown, and only a whole word answers it.
func TestTM058PersonIsAskedOneByOne(t *testing.T) {
	data, st := staging(t)
	const prompt = "once, deny, or nothing to leave it: "
	shown, code := atTerminal(t, nil, []typed{{prompt, "once"}, {prompt, ""}, {prompt, "o"}}, "approvals", "--data", data)
	if code != cli.ExitDone {
		t.Fatalf("exit %d: %s", code, shown)
	}
	inert(t, "questions", shown)
	for _, says := range []string{"question 1 of 3", "May writer run do_order on https://shop.example?", st.questions[0] + " in run " + st.run + ", tier sensitive",
		"where      https://shop.example", "its author says:\n    | Places the order.", "the model gave address:\n    | 1 Road\n    | begin", "card (not shown, not kept)",
		"approved once: writer makes the same call again", "question 2 of 3", "question 3 of 3"} {
		if !strings.Contains(shown, says) {
			t.Errorf("it does not say %q:\n%s", says, shown)
		}
	}
	if n := strings.Count(shown, "left open"); n != 2 {
		t.Errorf("%d questions are left open, want 2:\n%s", n, shown)
	}
	stdout, _, code := commandLine(t, "", nil, "approvals", "--json", "--data", data)
	if code != cli.ExitDone || strings.Contains(stdout, st.questions[0]) || !strings.Contains(stdout, st.questions[1]) || !strings.Contains(stdout, st.questions[2]) {
		t.Errorf("what waits: exit %d, %s", code, stdout)
	}
	if shown, code := atTerminal(t, nil, []typed{{prompt, "deny"}, {prompt, "deny"}}, "approvals", "--data", data); code != cli.ExitDone || strings.Count(shown, "\ndenied\n") != 2 {
		t.Errorf("exit %d: %s", code, shown)
	}
	if shown, code := atTerminal(t, nil, nil, "approvals", "--data", data); code != cli.ExitDone || !strings.Contains(shown, "nothing waits") {
		t.Errorf("exit %d: %s", code, shown)
	}
}

// TestTM094PassphraseIsNotShown: it is asked for twice, and the terminal does not show it.
// TestARefusedPrivateHostNamesTheWayOut: to a person, who reads the verdict on a terminal.
func TestARefusedPrivateHostNamesTheWayOut(t *testing.T) {
	shown, code := onTerminal(t, "", "check-url", "http://10.0.0.5/", "http://printer.lan/")
	if want := "--allow-host 10.0.0.5 here, `wayleave allow 10.0.0.5` for agents"; code != 0 || strings.Count(shown, want) != 1 {
		t.Errorf("exit %d, without %q: %s", code, want, shown)
	}
	if shown, code := onTerminal(t, "", "check-url", "https://example.com/", "http://169.254.169.254/"); code != 0 || strings.Contains(shown, "--allow-host") {
		t.Errorf("exit %d, a way out where none is: %s", code, shown)
	}
}

func TestTM094PassphraseIsNotShown(t *testing.T) {
	data, _ := staging(t)
	export := filepath.Join(t.TempDir(), "key.age")
	const phrase = "canary correct horse"
	const first, again, in = "a passphrase for the export (12 characters or more): ", "once more: ", "the passphrase of the export: "
	if shown, code := atTerminal(t, nil, []typed{secretly(first, phrase), secretly(again, phrase+"x")}, "keys", "export", export, "--data", data); code != cli.ExitFailed || !strings.Contains(shown, "not the same") {
		t.Errorf("two that differ: exit %d: %s", code, shown)
	}
	shown, code := atTerminal(t, nil, []typed{secretly(first, phrase), secretly(again, phrase)}, "keys", "export", export, "--data", data)
	if code != cli.ExitDone || strings.Contains(shown, "canary") {
		t.Errorf("exit %d: %s", code, shown)
	}
	shown, code = atTerminal(t, nil, []typed{secretly(in, phrase)}, "keys", "import", export, "--data", data)
	if code != cli.ExitDone || strings.Contains(shown, "canary") {
		t.Errorf("exit %d: %s", code, shown)
	}
}
