// Package tooltest is test support: scripted tools of every class, which plug into the pipeline as search, the browser and
// actions do, and the world outside that they ask and change.
//
// The one rule: the world keeps its own log, so that a test believes nothing that Wayleave says of itself.
package tooltest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// Entry is one thing that reached the world.
type Entry struct {
	Tool  string `json:"tool"`
	Call  string `json:"call"` // the ledger's id of the call that sent it
	Input int    `json:"input"`
	Text  string `json:"text"`
}

// World is what effects change: a log that is only ever added to.
type World struct {
	mu      sync.Mutex // guards what follows
	entries []Entry
	file    *os.File
}

// NewWorld makes a world in memory.
func NewWorld() *World { return &World{} }

// OpenWorld makes a world that several processes add to: a file with one JSON object a line. An entry stands there when
// the tool goes on, so a process that is killed then has changed the world.
func OpenWorld(path string) (*World, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the world: %w", err)
	}
	return &World{file: f}, nil
}

// ReadWorld gives all that stands in a world's file.
func ReadWorld(path string) ([]Entry, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the world: %w", err)
	}
	var all []Entry
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var e Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("read the world: %w", err)
		}
		all = append(all, e)
	}
	return all, lines.Err()
}

// Close ends a world in a file.
func (w *World) Close() error {
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}

// Entries gives what this process's tools did, in order.
func (w *World) Entries() []Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.entries)
}

func (w *World) add(e Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries = append(w.entries, e)
	if w.file == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = w.file.Write(append(line, '\n'))
	return err
}

// Twice gives the entries that say the same input of the same call once more: none may.
func Twice(all []Entry) []Entry {
	type input struct {
		call string
		n    int
	}
	seen := make(map[input]bool)
	var twice []Entry
	for _, e := range all {
		at := input{e.Call, e.Input}
		if seen[at] {
			twice = append(twice, e)
		}
		seen[at] = true
	}
	return twice
}

// Oracle is a local server that answers questions and counts them.
type Oracle struct {
	// URL is where it is asked.
	URL string
	// Answer replaces its answer where a test wants another; set it before the first question.
	Answer http.HandlerFunc
	asked  atomic.Int64
	client *http.Client
}

// NewOracle starts an oracle. It ends with the test.
func NewOracle(t testing.TB) *Oracle {
	o := &Oracle{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.asked.Add(1)
		if o.Answer != nil {
			o.Answer(w, r)
			return
		}
		_, _ = io.WriteString(w, "the answer to "+r.URL.Query().Get("q"))
	}))
	t.Cleanup(server.Close)
	o.URL, o.client = server.URL, server.Client()
	return o
}

// Asked is how many questions reached it.
func (o *Oracle) Asked() int64 { return o.asked.Load() }

// Send asks the oracle: the Send of Ask.
func (o *Oracle) Send(ctx context.Context, question string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.URL, nil)
	if err != nil {
		return "", err
	}
	q := r.URL.Query()
	q.Set("q", question)
	r.URL.RawQuery = q.Encode()
	resp, err := o.client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the oracle answered %d", resp.StatusCode)
	}
	return string(body), err
}
