//go:build unix

package main

// Files that people name and that are pipes: they may be, as a shell makes them, and one into which nobody writes holds no
// command that was told to end.

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/keeping"
	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
)

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // ends the wait that is left behind
		if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
			_ = f.Close()
		}
	})
	return path
}

func TestInterruptEndsTheWaitForANamedPipe(t *testing.T) {
	path, data := fifo(t), filepath.Join(t.TempDir(), "data")
	folder, err := datafolder.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	in, err := install.Open(t.Context(), install.Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var shown, problems strings.Builder
	s := &cli.Session{Ctx: ctx, In: cli.NewInput(ctx, silent(t)), Out: cli.NewOutput(&shown), Err: cli.NewOutput(&problems), Getenv: func(string) string { return "" }}
	at := place.DataFlags{Data: data}
	for name, read := range map[string]func() error{
		"--config":  func() error { _, err := cli.LoadSettings(ctx, []string{"--config", path}, nil); return err },
		"--ca-file": func() error { _, err := page.Authorities(ctx, path); return err },
		"--tls-cert": func() error {
			_, err := place.ListenFlags{Listen: place.DefaultListen, TLSCert: path, TLSKey: path}.Front(ctx)
			return err
		},
		"a file":  func() error { _, err := cli.Open(ctx, path); return err },
		"convert": func() error { return (&page.Convert{File: path}).Run(s) },
		"apply":   func() error { return (&keeping.Apply{DataFlags: at, File: path}).Run(s) },
	} {
		if err := read(); err == nil || !strings.Contains(err.Error(), cli.ErrInterrupted.Error()) {
			t.Errorf("%s ended with %v", name, err)
		}
	}
}

func TestANamedPipeIsRead(t *testing.T) {
	path := fifo(t)
	go func() { _ = os.WriteFile(path, []byte(strings.Repeat("words ", 10_000)), 0o600) }()
	text, err := cli.ReadFile(t.Context(), path)
	if err != nil || len(text) != 60_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
