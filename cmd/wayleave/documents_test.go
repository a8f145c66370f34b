package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/child"
	"github.com/wayleave/wayleave/internal/document/reader"
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
	left, err := children(1)
	ts.Check(err)
	if len(left) > 0 {
		ts.Fatalf("left: %q", left)
	}
}

// TestManyDocumentsLeaveNothing: one process lets children read documents, a tenth of them hostile; what it holds does not
// grow, every document reads as it did the first time, and no child is left. make soak reads 10,000.
func TestManyDocumentsLeaveNothing(t *testing.T) {
	many := 60
	if os.Getenv("WAYLEAVE_SOAK") != "" {
		many = 10_000
	}
	cache, err := page.EngineFolder()
	if err != nil {
		t.Fatal(err)
	}
	o := child.Options{Program: program(t), Args: []string{"wayleave", child.Argument}, CacheDir: cache}
	pools := child.Pools{Needs: reader.NeedsEngine}
	if pools.Plain, err = child.New(o); err != nil {
		t.Fatal(err)
	}
	o.Engine = true
	if pools.Engine, err = child.New(o); err != nil {
		t.Fatal(err)
	}
	honest, hostile := honestDocuments(), hostileDocuments()
	bodies := map[string][]byte{}
	for _, name := range slices.Concat(honest, hostile) {
		if bodies[name], err = os.ReadFile(filepath.Join("..", "..", "testdata", "documents", name)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		text, err := pools.Read(t.Context(), "", bodies[name])
		var failed *document.Error
		if errors.As(err, &failed) {
			return "failed: " + string(failed.Reason)
		}
		return fmt.Sprint(text.Markdown, err)
	}
	first := map[string]string{}
	for name := range bodies {
		if first[name] = read(name); strings.HasPrefix(first[name], "failed") != slices.Contains(hostile, name) {
			t.Errorf("%s: %.200s", name, first[name])
		}
	}
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := worker; i < many; i += 4 {
				name := honest[i%len(honest)]
				if i%10 == 0 {
					name = hostile[i/10%len(hostile)]
				}
				if got := read(name); got != first[name] {
					t.Errorf("%s, the %d.: %.200s", name, i, got)
				}
			}
		})
	}
	all.Wait()
	const spare = 8 << 20
	if after := held(); after > before+spare {
		t.Errorf("%d bytes are held, there were %d", after, before)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pools.Close(ctx)
	if left, err := children(os.Getpid()); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

func honestDocuments() []string {
	return []string{"harbour.docx", "harbour.odt", "harbour.ods", "harbour.xlsx", "harbour-sheetjs.xlsb", "harbour.xls", "harbour-sheetjs.numbers", "harbour.pdf", "harbour-web.pdf"}
}

func hostileDocuments() []string {
	return []string{"harbour-bomb.xlsx", "harbour-cut.docx", "harbour-cut.pdf", "harbour-entities.docx", "harbour-locked.pdf"}
}

// children are the readers of documents that a process has, as far as the system tells.
func children(parent int) (found []string, err error) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		line, err := os.ReadFile(filepath.Join(p, "cmdline"))
		if err != nil || !bytes.HasSuffix(line, []byte("\x00"+child.Argument+"\x00")) {
			continue
		}
		status, err := os.ReadFile(filepath.Join(p, "status"))
		if err == nil && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", parent)) {
			found = append(found, p)
		}
	}
	return found, err
}
