package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/bench/peers"
	"github.com/wayleave/wayleave/webfetch"
)

// reader is one way from a page to Markdown. A page that it refuses is counted.
type reader struct {
	name string
	read func(page string) error
}

const pageAddress = "https://docs.example/guide/"

// readers are the ways, the floor first.
func readers() []reader {
	peer := func(read func(page, address string) (string, error)) func(string) error {
		return func(page string) error {
			_, err := read(page, pageAddress)
			return err
		}
	}
	ours := func(part webfetch.Part) func(string) error {
		return func(page string) error {
			_, err := webfetch.Convert(context.Background(), []byte(page), []string{"text/html; charset=utf-8"}, pageAddress, webfetch.Options{Content: part})
			return err
		}
	}
	return []reader{
		{"x/net/html.Parse alone", func(page string) error {
			_, err := html.Parse(strings.NewReader(page))
			return err
		}},
		{"ours, whole page", ours(webfetch.PartFull)},
		{"ours, main content", ours(webfetch.PartMain)},
		{"html-to-markdown, whole page", peer(peers.Whole())},
		{"go-readability + html-to-markdown", peer(peers.Readability)},
		{"go-trafilatura with fallback + html-to-markdown", peer(peers.Trafilatura)},
	}
}

// spent is what one process spent on the pages.
type spent struct {
	CPU       float64 `json:"cpu"`  // seconds, of the conversions and the collector beside them
	Peak      int64   `json:"peak"` // bytes of memory, of the whole process
	Allocated uint64  `json:"allocated"`
	Size      int     `json:"size"` // bytes of the pages
	Pages     int     `json:"pages"`
	Refused   int     `json:"refused"`
}

// beside prints what each way costs, each in a process of its own, by turns, over the same pages, which are read one at a time.
func beside(corpus []page) error {
	folder, err := os.MkdirTemp("", "wayleave-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	pages := ownPages()
	if len(corpus) > 0 {
		pages = corpus
	}
	for i, p := range pages {
		if err := writeGzip(filepath.Join(folder, fmt.Sprintf("%04d.html.gz", i)), p.html); err != nil {
			return err
		}
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	one := func(name string, step int) (s spent, err error) {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), "WAYLEAVE_BENCH=beside", "WAYLEAVE_BENCH_READER="+name, "WAYLEAVE_BENCH_FOLDER="+folder, "WAYLEAVE_BENCH_STEP="+strconv.Itoa(step))
		return answer(cmd)
	}
	const turns = 3
	all := readers()
	ratios, last := make([][]float64, len(all)), make([]spent, len(all))
	for range turns {
		floor := 0.0
		for i, r := range all {
			if last[i], err = one(r.name, 1); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			if i == 0 {
				floor = last[i].CPU
			}
			ratios[i] = append(ratios[i], last[i].CPU/floor)
		}
	}
	fmt.Printf("\nEach way in a process of its own, by turns, over %d pages, %.1f MB; medians of %d\n", last[0].Pages, float64(last[0].Size)/1e6, turns)
	fmt.Printf("%-50s %12s %14s %12s %8s\n", "", "CPU ÷ floor", "bytes ÷ byte", "peak MB", "refused")
	for i, r := range all {
		fmt.Printf("%-50s %12.2f %14.1f %12.0f %8d\n", r.name, median(ratios[i]), float64(last[i].Allocated)/float64(last[i].Size), float64(last[i].Peak)/1e6, last[i].Refused)
	}
	return besideNode(folder, len(pages), all[0].name, one)
}

// besideNode measures Readability and turndown where Node is there: a part of the pages, since it takes minutes for all.
func besideNode(folder string, pages int, floor string, one func(string, int) (spent, error)) error {
	const name = "Readability on jsdom + turndown, on Node"
	for _, needed := range []string{"node", "npm"} {
		if _, err := exec.LookPath(needed); err != nil {
			fmt.Printf("%-50s left out: no %s here\n", name, needed)
			return nil
		}
	}
	if _, err := os.Stat(filepath.Join("node", "node_modules")); err != nil {
		install := exec.Command("npm", "ci", "--loglevel=error", "--no-progress")
		install.Dir = "node"
		if out, err := install.CombinedOutput(); err != nil {
			fmt.Printf("%-50s left out: npm ci in bench/node: %v %.200s\n", name, err, out)
			return nil
		}
	}
	step := max(1, pages/8)
	least, err := one(floor, step)
	if err != nil {
		return err
	}
	s, err := answer(exec.Command("node", filepath.Join("node", "readability.mjs"), folder, strconv.Itoa(step)))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Printf("%-50s %12.0f %14s %12.0f %8d   (%d of the pages, once)\n", name, s.CPU/least.CPU, "-", float64(s.Peak)/1e6, s.Refused, s.Pages)
	return nil
}

func answer(cmd *exec.Cmd) (s spent, err error) {
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("%w: %.400s", err, problems.String())
	}
	return s, json.Unmarshal(out, &s)
}

// besideAlone is the process of one way: it reads the pages of the folder and prints what it spent.
func besideAlone(name, folder, step string) error {
	each, err := strconv.Atoi(step)
	if err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.html.gz"))
	if err != nil {
		return err
	}
	for _, r := range readers() {
		if r.name != name {
			continue
		}
		for _, p := range ownPages() { // what a process makes once
			if err := r.read(p.html); err != nil {
				return err
			}
		}
		var s spent
		for i := 0; i < len(names); i += each {
			page, err := readGzip(names[i])
			if err != nil {
				return err
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := processCPU()
			if r.read(page) != nil {
				s.Refused++
			}
			s.CPU += (processCPU() - start).Seconds()
			runtime.ReadMemStats(&after)
			s.Allocated += after.TotalAlloc - before.TotalAlloc
			s.Size += len(page)
			s.Pages++
		}
		if s.Peak, err = peak(); err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(s)
	}
	return fmt.Errorf("no reader %q", name)
}

// peak is the most memory that this process has had, in bytes. Linux's own count begins with the program; rusage's holds what
// the process before it had.
func peak() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		var u syscall.Rusage
		err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return u.Maxrss, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kb * 1024, err
		}
	}
	return 0, fmt.Errorf("no VmHWM in the process' status")
}

func writeGzip(name, text string) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o600)
}
