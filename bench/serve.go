package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// onPostgres does something once with a fresh, migrated database of a server that the tests' support starts, which wants a
// testing.TB. It syncs as a server does that nobody configured.
func onPostgres(do func(address string) error) error {
	err := errors.New("PostgreSQL could not be started")
	var once sync.Once
	testing.Benchmark(func(b *testing.B) {
		once.Do(func() {
			place := dbtest.Empty(b, sqldb.Postgres)
			if _, err = schema.Up(b.Context(), place.Open(b)); err == nil {
				err = do(place.Address)
			}
		})
	})
	return err
}

// starting measures `wayleave serve` over a database that is there: from its start until it says that it can serve, by the
// clock and in time of a processor, and what of memory it holds when nobody has asked anything for three seconds.
func starting(database, ledger string) error {
	dir, err := os.MkdirTemp("", "wayleave-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "wayleave")
	build := exec.Command("go", "build", "-o", program, "github.com/wayleave/wayleave/cmd/wayleave")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the program: %w", err)
	}
	var times, works, sizes []float64
	for round := range rounds + 1 {
		took, work, kilobytes, err := startOnce(program, filepath.Join(dir, "data"), database)
		if err != nil {
			return err
		}
		if round > 0 { // the first one makes the install
			times, works, sizes = append(times, float64(took.Milliseconds())), append(works, float64(work.Milliseconds())), append(sizes, float64(kilobytes)/1024)
		}
	}
	fmt.Printf("wayleave serve over an existing install on %s: ready after %.0f ms (%.0f ms of a processor), in memory when idle, with its children, %.0f MB (PSS)\n", ledger, median(times), median(works), median(sizes))
	return nil
}

func startOnce(program, data, database string) (ready, work time.Duration, kilobytes int, err error) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, program, "serve", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "error")
	c.Env = append(os.Environ(), "WAYLEAVE_DATABASE="+database)
	c.Stderr = os.Stderr
	said, err := c.StdoutPipe()
	if err != nil {
		return 0, 0, 0, err
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		return 0, 0, 0, err
	}
	defer func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, said)
		err = errors.Join(err, c.Wait())
	}()
	lines := bufio.NewReader(said)
	first, err := lines.ReadString('\n')
	if err != nil {
		return 0, 0, 0, fmt.Errorf("serve said nothing: %w", err)
	}
	words := strings.Fields(first)
	url := strings.TrimSuffix(words[len(words)-1], "/mcp") + "/readyz"
	for {
		res, err := http.Get(url)
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				break
			}
		}
		if ctx.Err() != nil {
			return 0, 0, 0, errors.Join(errors.New("serve was never ready"), err)
		}
		time.Sleep(time.Millisecond)
	}
	ready = time.Since(began)
	if work, err = worked(c.Process.Pid); err != nil {
		return 0, 0, 0, err
	}
	time.Sleep(3 * time.Second)
	kilobytes, err = resident(c.Process.Pid)
	return ready, work, kilobytes, err
}

// worked is what a process used of processors so far, as Linux counts it, in hundredths of a second.
func worked(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 13 {
		return 0, errors.New("the process's stat cannot be read")
	}
	var ticks int
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100, nil
}

// resident is the memory of a process and of its children, in kilobytes, as Linux counts it: what several share is divided
// among them.
func resident(pid int) (int, error) {
	size, err := proportional(pid)
	if err != nil {
		return 0, err
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return 0, err
	}
	for _, thread := range threads {
		list, err := os.ReadFile(thread)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(list)) {
			n, err := strconv.Atoi(child)
			if err != nil {
				return 0, err
			}
			more, err := resident(n)
			if err != nil {
				return 0, err
			}
			size += more
		}
	}
	return size, nil
}

func proportional(pid int) (int, error) {
	sizes, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(sizes), "\nPss:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, errors.New("the process has no Pss")
	}
	return strconv.Atoi(fields[0])
}
