package serving

import (
	"context"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/document/child"
)

// documents says which bounds hold for the documents of strangers. It starts a child without the engine, which reads nothing.
func (c *Doctor) documents(s *cli.Session, d *checkup) {
	if s.Self.Path == "" {
		d.add("documents", "warn", "this program cannot be started again, so PDF and Office files are refused")
		return
	}
	pool, err := child.New(child.Options{Program: s.Self.Path, Args: []string{s.Self.Name, child.Argument}, Size: 1})
	if err != nil {
		d.add("documents", "fail", "%v", err)
		return
	}
	ctx, cancel := context.WithTimeout(s.Ctx, 5*time.Second)
	defer cancel()
	defer pool.Close(ctx)
	holds, watched, err := pool.Holds(ctx)
	if err != nil {
		d.add("documents", "fail", "a child that reads PDF and Office files does not start: %v", err)
		return
	}
	var has, lacks []string
	for _, b := range []struct {
		holds bool
		bound string
	}{
		{holds.Calls, "no file, socket or program by seccomp"}, {holds.Files, "no file by Landlock"}, {watched, "2 s of CPU and 100 MB a document"},
		{holds.Limits, "CPU and address space at the latest by the system"}, {holds.Closed, "memory shut to other processes"},
	} {
		if b.holds {
			has = append(has, b.bound)
		} else {
			lacks = append(lacks, b.bound)
		}
	}
	d.add("documents", "ok", "PDF and Office files are read in children of this program: %s", strings.Join(append(has, "no environment", "20 s a document"), "; "))
	if len(lacks) > 0 {
		status := "info"
		if runtime.GOOS == "linux" && (!holds.Calls || !watched) {
			status = "warn"
		}
		d.add("documents", status, "this system does not grant them: %s", strings.Join(lacks, "; "))
	}
	dir, err := page.EngineFolder()
	switch {
	case err != nil:
		d.add("documents", "warn", "the compiled engine for PDF files cannot be kept, so each child compiles it, 4 s of CPU and 300 MB: %v", err)
	default:
		if _, err := os.Stat(dir); err != nil {
			d.add("documents", "info", "the compiled engine for PDF files is not there yet; the first start makes it in %s", dir)
		}
	}
}
