// This file stands between what pages, clients and people wrote and the terminal (TM-077): a terminal gets text that it
// cannot obey, a pipe or file gets the bytes as they are.
package main

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

// output is stdout or stderr. It is safe for concurrent use.
type output struct {
	w        io.Writer
	terminal bool

	mu  sync.Mutex // guards w and what follows
	err error      // of the first write that failed
}

func newOutput(w io.Writer) *output {
	f, ok := w.(*os.File)
	return &output{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// Write writes whole texts: a control sequence must not be split over two calls.
func (o *output) Write(p []byte) (int, error) {
	if err := o.print(string(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (o *output) print(text string) error {
	if o.terminal {
		text = terminal.Inert(text)
	}
	return o.raw(text)
}

func (o *output) raw(text string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err := io.WriteString(o.w, text)
	if o.err == nil {
		o.err = err
	}
	return err
}

// failed is why something that was printed is not there, nil if all is.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *output) printf(format string, args ...any) { _ = o.print(fmt.Sprintf(format, args...)) }

// json writes one JSON value on one line.
func (o *output) json(value any) error {
	text, err := encode(value, "")
	if err != nil {
		return err
	}
	return o.print(text)
}

// jsonIndented writes one JSON value for people and programs.
func (o *output) jsonIndented(value any) error {
	text, err := encode(value, "  ")
	if err != nil {
		return err
	}
	return o.print(text)
}

func encode(value any, indent string) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(value)
	return b.String(), err
}

// progress tells a person who waits what is going on, on a terminal only and not before a second has passed. The
// function that it gives ends it and clears the line.
func (o *output) progress(what string) (done func()) {
	if !o.terminal {
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
