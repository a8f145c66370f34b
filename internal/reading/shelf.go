// This file keeps pages in memory, bounded in bytes, number and time. In the next order the ledger keeps them.
package reading

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/wayleave/wayleave/webfetch"
)

// Bounds of kept pages. A zero field means its default.
type Bounds struct {
	CallerBytes int64         // of one caller's pages; default 16 MiB. The page that was used longest ago goes.
	TotalBytes  int64         // of all pages; default 256 MiB
	CallerPages int           // pages of one caller that are kept or remembered; default 256
	Idle        time.Duration // since a page was last read; default 30 min
}

func (b Bounds) orDefaults() Bounds {
	if b.CallerBytes == 0 {
		b.CallerBytes = 16 << 20
	}
	if b.TotalBytes == 0 {
		b.TotalBytes = 256 << 20
	}
	if b.CallerPages == 0 {
		b.CallerPages = 256
	}
	if b.Idle == 0 {
		b.Idle = 30 * time.Minute
	}
	return b
}

// pageKey says which page it is, and whose.
type pageKey struct {
	Caller
	url    string // as asked for or as answered, without fragment
	format webfetch.Format
}

// entry is one page. Its text may have been let go; its number and hash are remembered, so that a model that reads on
// is told whether it is the page it knew.
type entry struct {
	keys     []pageKey // the address asked for, and where the answer came from
	page     *webfetch.Page
	size     int64
	sum      [sha256.Size]byte
	snapshot int
	used     time.Time
}

// kept is what the shelf knows of a page that was just put on it.
type kept struct {
	snapshot int
	known    bool // an earlier one was there or is remembered
	changed  bool // and differs
}

type shelf struct {
	bounds Bounds
	now    func() time.Time

	mu      sync.Mutex
	byKey   map[pageKey]*list.Element // of *entry
	order   *list.List                // used last at the front
	bytes   map[Caller]int64
	pages   map[Caller]int
	allSize int64
}

func newShelf(b Bounds, now func() time.Time) *shelf {
	return &shelf{bounds: b.orDefaults(), now: now, byKey: make(map[pageKey]*list.Element), order: list.New(),
		bytes: make(map[Caller]int64), pages: make(map[Caller]int)}
}

// take gives a kept page and its number.
func (s *shelf) take(k pageKey) (*webfetch.Page, int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropIdle()
	el := s.byKey[k]
	if el == nil {
		return nil, 0, false
	}
	e := el.Value.(*entry)
	if e.page == nil {
		return nil, 0, false
	}
	e.used = s.now()
	s.order.MoveToFront(el)
	return e.page, e.snapshot, true
}

// put keeps a page that was just fetched. A page that alone is over the caller's bound is remembered and not kept.
func (s *shelf) put(k pageKey, p *webfetch.Page) kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropIdle()
	e := &entry{keys: []pageKey{k}, page: p, size: sizeOf(p), sum: sha256.Sum256([]byte(p.Content)), snapshot: 1, used: s.now()}
	// A header line names where the page came from, so a model may read on under that address.
	if found := withoutFragment(p.FinalURL); found != "" && found != k.url {
		e.keys = append(e.keys, pageKey{Caller: k.Caller, url: found, format: k.format})
	}
	var out kept
	if old := s.byKey[k]; old != nil {
		was := old.Value.(*entry)
		out.known, out.changed = true, was.sum != e.sum
		e.snapshot = was.snapshot
		if out.changed {
			e.snapshot++
		}
	}
	out.snapshot = e.snapshot
	// Where the key only led to another address's entry, that entry stays under its own.
	if old := s.byKey[k]; old != nil && old.Value.(*entry).keys[0] == k {
		s.remove(old)
	}
	el := s.order.PushFront(e)
	for _, key := range e.keys {
		s.byKey[key] = el
	}
	s.count(e, +1)
	s.pages[k.Caller]++
	s.makeRoom(k.Caller)
	return out
}

// makeRoom lets go of text, longest unused first, until the bounds hold again.
func (s *shelf) makeRoom(c Caller) {
	for el := s.order.Back(); el != nil; {
		e, next := el.Value.(*entry), el.Prev()
		mine := e.keys[0].Caller == c
		if e.page != nil && (s.allSize > s.bounds.TotalBytes || mine && s.bytes[c] > s.bounds.CallerBytes) {
			s.count(e, -1)
			e.page = nil
		}
		if mine && s.pages[c] > s.bounds.CallerPages {
			s.remove(el)
		}
		el = next
	}
}

func (s *shelf) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropIdle()
}

func (s *shelf) dropIdle() {
	for el := s.order.Back(); el != nil && s.now().Sub(el.Value.(*entry).used) >= s.bounds.Idle; el = s.order.Back() {
		s.remove(el)
	}
}

func (s *shelf) remove(el *list.Element) {
	e := el.Value.(*entry)
	s.order.Remove(el)
	for _, k := range e.keys {
		if s.byKey[k] == el {
			delete(s.byKey, k)
		}
	}
	if e.page != nil {
		s.count(e, -1)
	}
	c := e.keys[0].Caller
	if s.pages[c]--; s.pages[c] == 0 {
		delete(s.pages, c)
	}
}

func (s *shelf) count(e *entry, sign int64) {
	c := e.keys[0].Caller
	s.allSize += sign * e.size
	if s.bytes[c] += sign * e.size; s.bytes[c] == 0 {
		delete(s.bytes, c)
	}
}

// sizeOf is about what a page takes in memory.
func sizeOf(p *webfetch.Page) int64 {
	const fields = 1024
	size := int64(fields + len(p.Content) + len(p.Title) + len(p.RequestedURL) + len(p.FinalURL))
	for k, v := range p.Headers {
		size += int64(len(k) + len(v))
	}
	for _, u := range p.Redirects {
		size += int64(len(u))
	}
	return size
}
