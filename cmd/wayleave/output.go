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
)

// output is stdout or stderr. It is safe for concurrent use.
type output struct {
	w        io.Writer
	terminal bool

	mu sync.Mutex // guards w
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
		text = inert(text)
	}
	return o.raw(text)
}

func (o *output) raw(text string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err := io.WriteString(o.w, text)
	return err
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

// inert removes what a terminal would obey: control characters but line feed and tab, whole escape sequences with
// their parameters, and the marks that reorder text.
func inert(text string) string {
	var b strings.Builder
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == 0x1b || r >= 0x80 && r <= 0x9f:
			i += sequence(runes[i:]) - 1
		case r < ' ' || r == 0x7f || reorders(r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// maxSequence bounds an unterminated control string, so that it cannot hide all that follows.
const maxSequence = 4096

// sequence is how many characters the escape sequence at the front has, at least 1.
func sequence(rs []rune) int {
	introducer, n := rs[0], 1
	if introducer == 0x1b {
		if len(rs) < 2 {
			return 1
		}
		// ESC with 0x40–0x5f is the seven-bit spelling of a C1 control.
		introducer, n = rs[1]+0x40, 2
		if rs[1] < 0x40 || rs[1] > 0x5f {
			if rs[1] < ' ' || rs[1] > '~' {
				return 1
			}
			return 2
		}
	}
	switch introducer {
	case 0x9b: // CSI: parameters, then one final byte
		for n < len(rs) && rs[n] >= 0x20 && rs[n] <= 0x3f {
			n++
		}
		if n < len(rs) && rs[n] >= 0x40 && rs[n] <= 0x7e {
			n++
		}
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // DCS, SOS, OSC, PM, APC: up to BEL or ST, and never over a line's end
		for start := n; n < len(rs) && n-start < maxSequence; n++ {
			switch {
			case rs[n] == '\n':
				return n
			case rs[n] == 0x07 || rs[n] == 0x9c:
				return n + 1
			case rs[n] == 0x1b && n+1 < len(rs) && rs[n+1] == '\\':
				return n + 2
			}
		}
	}
	return n
}

// reorders says whether a character changes the order in which others are shown, or is an invisible tag.
func reorders(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
}

// progress tells a person who waits what is going on, on a terminal only and not before a second has passed. The
// function that it gives ends it and clears the line.
func (o *output) progress(what string) (done func()) {
	if !o.terminal {
		return func() {}
	}
	what = strings.ReplaceAll(inert(what), "\n", " ")
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
