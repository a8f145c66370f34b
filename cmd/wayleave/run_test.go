package main

import (
	"io"

	"github.com/wayleave/wayleave/internal/cli"
)

// run is runAs for commands that run in the test's own process, which cannot be started again as this program.
func run(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	return runAs(cli.Program{}, args, environ, stdin, stdout, stderr)
}
