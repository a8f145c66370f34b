// Command bench prints the figures that the product is measured by. Each is a ratio against a floor or a peer in the
// same run, taken in turn, so that it holds on a busy machine: times come and go, ratios stay.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/bench/peers"
	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/internal/maincontent"
	"github.com/wayleave/wayleave/internal/markdown"
)

const rounds = 7

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	if os.Getenv("WAYLEAVE_BENCH") == "beside" {
		return besideAlone(os.Getenv("WAYLEAVE_BENCH_READER"), os.Getenv("WAYLEAVE_BENCH_FOLDER"), os.Getenv("WAYLEAVE_BENCH_STEP"))
	}
	corpus, err := corpusPages(os.Getenv("WAYLEAVE_CORPUS"))
	if err != nil {
		return err
	}
	fmt.Printf("%s %s/%s, %d processors, %d rounds, medians\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), rounds)
	switch os.Getenv("WAYLEAVE_BENCH") { // a part alone
	case "service":
		return serving()
	case "peers":
		return beside(corpus)
	}
	fmt.Println("\nPage to Markdown, CPU and allocated bytes; floor: golang.org/x/net/html.Parse of the same bytes")
	fmt.Println("main: the main content, and the whole page besides, as its length and its thin facts are told")
	fmt.Printf("%-22s %10s %14s %14s %14s %12s %12s %12s\n", "pages", "KB", "whole ÷ floor", "main ÷ floor", "peer ÷ floor", "whole B/B", "main B/B", "peer B/B")
	for _, p := range ownPages() {
		if err := conversion(p.name, []page{p}); err != nil {
			return err
		}
	}
	if len(corpus) > 0 {
		if err := conversion(fmt.Sprintf("corpus (%d pages)", len(corpus)), corpus); err != nil {
			return err
		}
	}
	fmt.Println("\npeer: html-to-markdown v2 with its base, commonmark and table plugins")
	if err := beside(corpus); err != nil {
		return err
	}
	if err := fetching(ownPages()[0]); err != nil {
		return err
	}
	if err := sheets(); err != nil {
		return err
	}
	judging()
	return serving()
}

// serving is the figures of the service alone, on both databases.
func serving() error {
	if err := governing(ownPages()[0], "", "SQLite (WAL, synchronous=FULL)"); err != nil {
		return err
	}
	if err := starting("", "SQLite"); err != nil {
		return err
	}
	if err := onPostgres(func(address string) error {
		return governing(ownPages()[0], address, "PostgreSQL (fsync and synchronous_commit on)")
	}); err != nil {
		return err
	}
	if err := onPostgres(func(address string) error { return starting(address, "PostgreSQL") }); err != nil { // another install, another key
		return err
	}
	return admitting()
}

// conversion prints one line: the four ways over the same pages, in turn.
func conversion(name string, pages []page) error {
	floor := func(p page) error { _, err := html.Parse(strings.NewReader(p.html)); return err }
	ours := func(p page) error {
		room := htmltree.Enter()
		defer room.Leave()
		tree, err := room.Parse(context.Background(), p.html)
		if err != nil {
			return err
		}
		_, err = markdown.Render(context.Background(), tree, markdown.Options{BaseURL: "https://docs.example/guide/"})
		return err
	}
	parts := func(p page) error {
		ctx, o := context.Background(), markdown.Options{BaseURL: "https://docs.example/guide/"}
		room := htmltree.Enter()
		defer room.Leave()
		tree, err := room.Parse(ctx, p.html)
		if err != nil {
			return err
		}
		if _, err = markdown.Render(ctx, tree, o); err != nil {
			return err
		}
		o.Drop = maincontent.Find(tree).Drop
		_, err = markdown.Render(ctx, tree, o)
		return err
	}
	peer := peers.Whole()
	theirs := func(p page) error {
		_, err := peer(p.html, "https://docs.example")
		return err
	}
	size := 0
	for _, p := range pages {
		size += len(p.html)
	}
	repeat := max(1, 4<<20/size)
	var a, m, b []float64
	var oursBytes, mainBytes, peerBytes float64
	for round := range rounds + 1 {
		f, _, err := measure(pages, repeat, floor)
		if err != nil {
			return err
		}
		o, ob, err := measure(pages, repeat, ours)
		if err != nil {
			return err
		}
		d, db, err := measure(pages, repeat, parts)
		if err != nil {
			return err
		}
		t, tb, err := measure(pages, repeat, theirs)
		if err != nil {
			return err
		}
		if round == 0 { // warm-up
			continue
		}
		a, m, b = append(a, o.Seconds()/f.Seconds()), append(m, d.Seconds()/f.Seconds()), append(b, t.Seconds()/f.Seconds())
		oursBytes, mainBytes, peerBytes = float64(ob)/float64(size*repeat), float64(db)/float64(size*repeat), float64(tb)/float64(size*repeat)
	}
	fmt.Printf("%-22s %10d %14.2f %14.2f %14.2f %12.1f %12.1f %12.1f\n", name, size/1000, median(a), median(m), median(b), oursBytes, mainBytes, peerBytes)
	return nil
}

// measure runs f over all pages and gives the CPU time of the whole process (its collector included) and the bytes
// allocated.
func measure(pages []page, repeat int, f func(page) error) (cpu time.Duration, allocated uint64, err error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := processCPU()
	for range repeat {
		for _, p := range pages {
			if err := f(p); err != nil {
				return 0, 0, fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	cpu = processCPU() - start
	runtime.ReadMemStats(&after)
	return cpu, after.TotalAlloc - before.TotalAlloc, nil
}

func processCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
