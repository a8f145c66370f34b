// This file asks for passphrases: at a terminal without showing them, or from a file. Not from an argument and not from a
// variable, which others can read.
package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"golang.org/x/term"

	"github.com/wayleave/wayleave/internal/secret"
)

// longestPassphrase is the most bytes of a file that holds one.
const longestPassphrase = 4096

// Passphrase gives what a person types, twice where it is a new one, or the first line of a file; a file - is standard
// input.
func (s *Session) Passphrase(what, file string, fresh bool) (secret.Value, error) {
	if file != "" {
		return s.firstLine(file)
	}
	if s.keyboard() == nil {
		return secret.Value{}, Misused("there is no terminal to ask for %s; give --passphrase-file FILE, or - for standard input", what)
	}
	text, err := s.typed(what + ": ")
	if err != nil || !fresh {
		return text, err
	}
	again, err := s.typed("once more: ")
	if err == nil && again.Reveal() != text.Reveal() {
		err = errors.New("the two are not the same")
	}
	return text, err
}

func (s *Session) firstLine(file string) (secret.Value, error) {
	var data []byte
	var err error
	if file == "-" {
		data, err = io.ReadAll(io.LimitReader(s.In, longestPassphrase))
	} else {
		data, err = ReadFile(s.Ctx, file)
	}
	if err != nil {
		return secret.Value{}, err
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return secret.New(strings.TrimSuffix(string(line), "\r")), nil
}

// typed reads a line without showing it. An interrupt leaves the terminal as it was.
func (s *Session) typed(prompt string) (secret.Value, error) {
	fd := int(s.keyboard().Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return secret.Value{}, err
	}
	s.Err.Printf("%s", prompt)
	defer s.Err.Printf("\n")
	type outcome struct {
		line []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		line, err := term.ReadPassword(fd)
		done <- outcome{line, err}
	}()
	select {
	case o := <-done:
		return secret.New(string(o.line)), o.err
	case <-s.Ctx.Done():
		return secret.Value{}, errors.Join(ErrInterrupted, term.Restore(fd, before))
	}
}
