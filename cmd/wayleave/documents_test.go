package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wayleave/wayleave/internal/document/child"
)

// documentFolders adds what scripts about documents need: where ours are, and where the compiled engine is kept, which
// takes seconds to make.
func documentFolders(environ []string) ([]string, error) {
	documents, err := filepath.Abs(filepath.Join("..", "..", "testdata", "documents"))
	if err != nil {
		return nil, err
	}
	caches, err := os.UserCacheDir()
	return append(environ, "DOCUMENTS="+documents, "CACHES="+caches), err
}

// alone fails where a reader of documents is left whose parent has gone.
func alone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: alone")
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	ts.Check(err)
	for _, p := range processes {
		line, err := os.ReadFile(filepath.Join(p, "cmdline"))
		if err != nil || !bytes.HasSuffix(line, []byte("\x00"+child.Argument+"\x00")) {
			continue
		}
		status, err := os.ReadFile(filepath.Join(p, "status"))
		if err == nil && strings.Contains(string(status), "\nPPid:\t1\n") {
			ts.Fatalf("%s is left", p)
		}
	}
}
