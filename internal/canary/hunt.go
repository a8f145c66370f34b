// This file keeps what was planted and where was looked, and gives the verdict.
package canary

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Hunt is one search: canaries are planted, places are looked at, and Check judges. It is safe for concurrent use.
type Hunt struct {
	mu       sync.Mutex
	canaries []Canary
	controls map[string]Canary // by place
	allowed  map[allowance]bool
	looks    []look
}

// allowance is where a canary may be; its value in the map says whether it must.
type allowance struct{ place, canary string }

// look is bytes of a place, kept until Check: what was planted later is looked for too.
type look struct {
	place, what string
	bytes       []byte
	small       bool
}

// mostBytes is the most of one look: beyond it a search would have to leave something out.
const mostBytes = 1 << 30

// NewHunt begins a search.
func NewHunt() *Hunt {
	return &Hunt{controls: make(map[string]Canary), allowed: make(map[allowance]bool)}
}

// Plant makes a canary to plant. name says what it is and must be new: K3-agent-token.
func (h *Hunt) Plant(name string) Canary {
	c := New(name)
	h.add(c)
	return c
}

// Seek looks for a secret that a program made itself, by its last 26 bytes.
func (h *Hunt) Seek(name, secret string) error {
	c, err := Of(name, secret)
	if err == nil {
		h.add(c)
	}
	return err
}

func (h *Hunt) add(c Canary) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.ContainsFunc(h.canaries, func(o Canary) bool { return o.place == c.place }) {
		panic("two canaries of the name " + c.place)
	}
	h.canaries = append(h.canaries, c)
}

// Control gives the text that has to be planted in a place on purpose, so that its search proves that it would have
// found something. It is the same each time.
func (h *Hunt) Control(place string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, ok := h.controls[place]
	if !ok {
		c = New("control")
		h.controls[place] = c
	}
	return c.String()
}

// May allows a canary in a place.
func (h *Hunt) May(place, name string) { h.allow(place, name, false) }

// Must demands a canary in a place: the one answer that gives a token out has it, else it was never planted.
func (h *Hunt) Must(place, name string) { h.allow(place, name, true) }

func (h *Hunt) allow(place, name string, must bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.allowed[allowance{place, name}] = must || h.allowed[allowance{place, name}]
}

// Look adds bytes of a place; what names them in a report.
func (h *Hunt) Look(place, what string, b []byte) {
	h.look(look{place: place, what: what, bytes: slices.Clone(b)})
}

// LookSmall adds a short answer, in which the ends of a canary count too.
func (h *Hunt) LookSmall(place, what string, b []byte) {
	h.look(look{place: place, what: what, bytes: slices.Clone(b), small: true})
}

func (h *Hunt) look(l look) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looks = append(h.looks, l)
}

// Writer takes what a program writes into a place, such as its log. All of it is one text, however it is cut.
func (h *Hunt) Writer(place, what string) io.Writer {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looks = append(h.looks, look{place: place, what: what})
	return &writer{h, len(h.looks) - 1}
}

type writer struct {
	h *Hunt
	n int
}

func (w *writer) Write(b []byte) (int, error) {
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	l := &w.h.looks[w.n]
	l.bytes = append(l.bytes, b...)
	return len(b), nil
}

// LookFiles adds every ordinary file below a path, and the names of all, as they are now; a link is not followed. The
// error names what could not be read: a place that was looked at in part was not looked at.
func (h *Hunt) LookFiles(place, path string) error {
	return filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("look at %s: %w", place, err)
		}
		h.Look(place, "the name "+at, []byte(at))
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := readFile(at)
		if err != nil {
			return fmt.Errorf("look at %s: %w", place, err)
		}
		h.look(look{place: place, what: at, bytes: b})
		return nil
	})
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(b) > mostBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, mostBytes)
	}
	return b, err
}

// Report is what was seen of a place.
type Report struct {
	Place string
	Looks int
	Bytes int64
	// Control says that the control canary was found.
	Control bool
	// Hits are canaries where they may not be, with what they were found in; Missing are those that must be there and are
	// not.
	Hits    []Found
	Missing []string
}

// Found is a hit and what it was found in.
type Found struct {
	Hit
	What string
}

// Search looks at everything and gives a report for each place that was named, in the order of names.
func (h *Hunt) Search() []Report {
	h.mu.Lock()
	all, looks, controls, allowed := slices.Clone(h.canaries), slices.Clone(h.looks), maps.Clone(h.controls), maps.Clone(h.allowed)
	h.mu.Unlock() // what is searched may still be written to
	places := make(map[string]*Report)
	controlOf := make(map[Canary]string)
	at := func(place string) *Report {
		if places[place] == nil {
			places[place] = &Report{Place: place}
		}
		return places[place]
	}
	for place, c := range controls {
		all = append(all, c)
		controlOf[c] = place
		at(place)
	}
	s := NewScanner(all...)
	seen := make(map[allowance]bool)
	for _, l := range looks {
		r := at(l.place)
		r.Looks++
		r.Bytes += int64(len(l.bytes))
		for _, hit := range s.Find(l.bytes, l.small) {
			if place, control := controlOf[hit.Canary]; control {
				// A control in another place is what that place shows of this one: no secret, and no proof.
				r.Control = r.Control || place == l.place && hit.Part == "whole"
				continue
			}
			seen[allowance{l.place, hit.Canary.place}] = true
			if _, may := allowed[allowance{l.place, hit.Canary.place}]; !may {
				r.Hits = append(r.Hits, Found{hit, l.what})
			}
		}
	}
	for a, must := range allowed {
		if r := at(a.place); must && !seen[a] {
			r.Missing = append(r.Missing, a.canary)
		}
	}
	var reports []Report
	for _, r := range places {
		slices.Sort(r.Missing)
		reports = append(reports, *r)
	}
	slices.SortFunc(reports, func(a, b Report) int { return strings.Compare(a.Place, b.Place) })
	return reports
}

// T is what Check needs of a test.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// Check searches and fails a test for each canary where it may not be, each that must be somewhere and is not, each place
// without bytes and each without its control. It reports the bytes that were looked at.
func (h *Hunt) Check(t T) {
	t.Helper()
	h.mu.Lock()
	planted := len(h.canaries)
	h.mu.Unlock()
	if planted == 0 {
		t.Errorf("canary: nothing was planted")
	}
	reports := h.Search()
	if len(reports) == 0 {
		t.Errorf("canary: no place was looked at")
	}
	for _, r := range reports {
		t.Logf("canary: %s: %d bytes in %d looks", r.Place, r.Bytes, r.Looks)
		if r.Bytes == 0 {
			t.Errorf("canary: %s gave no bytes to look at", r.Place)
		}
		if !r.Control {
			t.Errorf("canary: the control of %s was not found there, so the search proves nothing", r.Place)
		}
		for _, f := range r.Hits {
			where := f.What
			if f.Inside != "" {
				where += ", in " + f.Inside
			}
			t.Errorf("canary: %s is in %s: %s, %s, at byte %d of %s", f.Canary.place, r.Place, f.Part, f.Form, f.At, where)
		}
		for _, name := range r.Missing {
			t.Errorf("canary: %s must be in %s and is not: it was not planted, or the place was not seen", name, r.Place)
		}
	}
}
