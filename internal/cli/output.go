// This file stands between what pages, clients and people wrote and the terminal (TM-077): a terminal gets text that it
// cannot obey, a pipe or file gets the bytes as they are.
package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/wayleave/wayleave/internal/terminal"
)

// Output is stdout or stderr. It is safe for concurrent use.
type Output struct {
	// Terminal says that a person looks at it.
	Terminal bool

	w io.Writer

	mu  sync.Mutex // guards w and what follows
	err error      // of the first write that failed
}

// NewOutput writes to w, which is a terminal or is not.
func NewOutput(w io.Writer) *Output {
	f, ok := w.(*os.File)
	return &Output{w: w, Terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// Write writes whole texts: a control sequence must not be split over two calls.
func (o *Output) Write(p []byte) (int, error) {
	if err := o.Print(string(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Print writes a text, without what a terminal would obey where it is one.
func (o *Output) Print(text string) error {
	if o.Terminal {
		text = terminal.Inert(text)
	}
	return o.raw(text)
}

func (o *Output) raw(text string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err := io.WriteString(o.w, text)
	if o.err == nil {
		o.err = err
	}
	return err
}

// Raw is the writer as it is: for a protocol, whose bytes go out as they are, and for tests of terminals.
func (o *Output) Raw() io.Writer { return o.w }

// failed is why something that was printed is not there, nil if all is.
func (o *Output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Printf is Print of a format; what is lost is told at the end of the command.
func (o *Output) Printf(format string, args ...any) { _ = o.Print(fmt.Sprintf(format, args...)) }

// JSONLine writes one JSON value on one line.
func (o *Output) JSONLine(value any) error {
	text, err := encode(value, "")
	if err != nil {
		return err
	}
	return o.Print(text)
}

// JSON writes one JSON value for people and programs.
func (o *Output) JSON(value any) error {
	text, err := encode(value, "  ")
	if err != nil {
		return err
	}
	return o.Print(text)
}

func encode(value any, indent string) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(value)
	return b.String(), err
}

// Progress tells a person who waits what is going on, on a terminal only and not before a second has passed. The
// function that it gives ends it and clears the line.
func (o *Output) Progress(what string) (done func()) {
	if !o.Terminal {
		return func() {}
	}
	what = strings.ReplaceAll(terminal.Inert(what), "\n", " ")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-tick.C:
				_ = o.raw(fmt.Sprintf("\r\x1b[K%s … %d s", what, n))
			case <-stop:
				if n > 1 {
					_ = o.raw("\r\x1b[K")
				}
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}
