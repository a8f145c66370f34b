// Package cli is what every command works with: where it reads and writes, where its settings came from, and how it
// fails. The commands themselves are in the packages below it, one file a command; command wayleave joins them.
//
// The one rule: what a person or a page wrote goes to a terminal only through [Output], which strips what a terminal
// would obey. Exit codes: 0 done, 1 failed, 2 used wrongly (flags, arguments, configuration).
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Exit codes.
const (
	ExitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2
)

// Session is what a command works with.
type Session struct {
	Ctx      context.Context
	In       io.Reader // standard input; a signal ends a read
	Pipe     io.Reader // standard input as it is
	Out      *Output   // results
	Err      *Output   // everything else
	Settings *Settings
	Getenv   func(string) string
	Build    Build
	Self     Program
}

// Program is this program, to be started again. The zero value cannot be.
type Program struct {
	Path string // not looked for in any folder
	Name string // that it is called by
}

// Build is what is known of this binary.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"` // GOOS/GOARCH
}

// UsageError is a mistake in flags, arguments or configuration.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Misused makes a UsageError.
func Misused(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

var (
	// ErrTold says that the command failed and has said so itself.
	ErrTold = errors.New("failed")
	// ErrInterrupted says that a signal ended the command.
	ErrInterrupted = errors.New("interrupted")
)

// Report says why a command failed, and gives the exit code. out must be standard output, so that what was lost there is
// a failure: a token, say.
func Report(err error, out, problems *Output) (code int) {
	if err == nil {
		err = out.failed()
	}
	var used *UsageError
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, ErrTold):
		return ExitFailed
	case errors.As(err, &used):
		problems.Printf("wayleave: %v\n", err)
		return ExitUsage
	}
	problems.Printf("wayleave: %v\n", err)
	return ExitFailed
}

// Interactive says whether somebody can be asked: both ends are a terminal.
func (s *Session) Interactive() bool { return s.Out.Terminal && s.keyboard() != nil }

// keyboard is standard input where it is a terminal.
func (s *Session) keyboard() *os.File {
	if f, ok := s.Pipe.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}
