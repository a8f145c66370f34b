// This file reads standard input so that an interrupt ends the wait for it.
package main

import (
	"context"
	"errors"
	"io"
)

// errInterrupted says that a signal ended the command.
var errInterrupted = errors.New("interrupted")

// input reads until its context ends. A read of a pipe or terminal cannot be broken off, so one that waits is left
// behind; it ends with the process.
type input struct {
	ctx context.Context
	r   io.Reader
}

func (i input) Read(p []byte) (int, error) {
	type outcome struct {
		n   int
		err error
	}
	own := make([]byte, len(p)) // p is the caller's again once we return
	done := make(chan outcome, 1)
	go func() {
		n, err := i.r.Read(own)
		done <- outcome{n, err}
	}()
	select {
	case o := <-done:
		return copy(p, own[:o.n]), o.err
	case <-i.ctx.Done():
		return 0, errInterrupted
	}
}
