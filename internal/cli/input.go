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

// ReadFile reads a file that a person named, of at most 4 MiB.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
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
func ReadPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := ReadFile(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := ReadFile(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}
