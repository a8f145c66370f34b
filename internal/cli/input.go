// This file reads what a person named: standard input, so that an interrupt ends the wait for it, and files, within
// bounds.
package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"os"
)

// Input reads until its context ends. A read of a pipe or terminal cannot be broken off, so one that waits is left
// behind; it ends with the process.
type Input struct {
	ctx context.Context
	r   io.Reader
}

// NewInput reads r.
func NewInput(ctx context.Context, r io.Reader) Input { return Input{ctx, r} }

// Read is io.Reader's; ErrInterrupted when the context ended first.
func (i Input) Read(p []byte) (int, error) {
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
		return 0, ErrInterrupted
	}
}

// maxSettingsFile is the most bytes of a file with settings, authorities or keys: the largest lists of authorities have
// a quarter of a million.
const maxSettingsFile = 4 << 20

// Open opens a file that a person named. Opening a named pipe waits for who writes, and reading it for what is written;
// both end with ctx, as ErrInterrupted.
func Open(ctx context.Context, path string) (io.ReadCloser, error) {
	type outcome struct {
		file *os.File
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		file, err := os.Open(path)
		done <- outcome{file, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		return opened{NewInput(ctx, o.file), o.file}, nil
	case <-ctx.Done(): // what waits is left behind, as a read is
		return nil, ErrInterrupted
	}
}

// opened is a file whose reads end with a context.
type opened struct {
	Input
	io.Closer
}

// ReadFile reads a file that a person named, of at most 4 MiB.
func ReadFile(ctx context.Context, path string) ([]byte, error) {
	file, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxSettingsFile+1))
	if err == nil && len(data) > maxSettingsFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxSettingsFile)
	}
	return data, err
}

// ReadPair reads a certificate with its key.
func ReadPair(ctx context.Context, certFile, keyFile string) (tls.Certificate, error) {
	cert, err := ReadFile(ctx, certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := ReadFile(ctx, keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}
