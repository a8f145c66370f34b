package main

// Standard input that never ends, and standard output that takes nothing.

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/keeping"
	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/cli/place"
)

// silent is a pipe into which nobody writes; its reads end with the test.
func silent(t *testing.T) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return r
}

func TestInterruptEndsTheWaitForStandardInput(t *testing.T) {
	for _, args := range [][]string{{"convert"}, {"convert", "-"}, {"check-url", "-"}, {"agents", "token", "revoke", "-"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			var shown, problems strings.Builder
			s := &cli.Session{Ctx: ctx, In: cli.NewInput(ctx, silent(t)), Out: cli.NewOutput(&shown), Err: cli.NewOutput(&problems), Getenv: func(string) string { return "" }}
			data := place.DataFlags{Data: t.TempDir()}
			var err error
			switch args[0] {
			case "convert":
				err = (&page.Convert{File: "-"}).Run(s)
			case "check-url":
				err = (&page.CheckURL{URLs: []string{"-"}}).Run(s)
			default:
				err = (&keeping.TokenRevoke{DataFlags: data, Token: "-"}).Run(s)
			}
			if !errors.Is(err, cli.ErrInterrupted) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func TestInputGivesWhatIsThere(t *testing.T) {
	text, err := io.ReadAll(cli.NewInput(t.Context(), strings.NewReader(strings.Repeat("words ", 10_000))))
	if err != nil || len(text) != 60_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// TestNamedFilesAreReadWithinBounds: a device that never ends would be read until no memory is left.
func TestNamedFilesAreReadWithinBounds(t *testing.T) {
	endless := filepath.Join(t.TempDir(), "endless")
	if err := os.WriteFile(endless, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(endless, 1<<33); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"doctor", "--config", endless}, {"fetch", "--ca-file", endless, "http://a.test/"},
		{"serve", "--tls-cert", endless, "--tls-key", endless, "--data", t.TempDir()},
	} {
		var shown, problems strings.Builder
		code := run(args, []string{"HOME=" + t.TempDir()}, strings.NewReader(""), &shown, &problems)
		if code != cli.ExitUsage || !strings.Contains(problems.String(), "is larger than") {
			t.Errorf("%s: code %d, said %q", args[0], code, problems.String())
		}
	}
}

// full takes no byte.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestOutputThatIsLostIsAFailure: a token that was made and not shown must not look like a success.
func TestOutputThatIsLostIsAFailure(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{
		{"version"}, {"doctor", "--data", data}, {"agents", "token", "new", "a", "--data", data}, {"agents", "token", "new", "a", "--json", "--data", data},
		{"agents", "--data", data}, {"allow", "10.0.0.1", "--data", data}, {"attach", "claude", "--data", data}, {"check-url", "http://a.test/"}, {"convert"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			var problems strings.Builder
			code := run(args, []string{"HOME=" + t.TempDir()}, strings.NewReader("text"), full{}, &problems)
			if code != cli.ExitFailed || !strings.Contains(problems.String(), "no space left") {
				t.Errorf("code %d, said %q", code, problems.String())
			}
		})
	}
}
