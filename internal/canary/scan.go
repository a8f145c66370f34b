// This file looks for pieces of canaries in bytes, for all canaries and forms in one go.
package canary

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Hit is a canary that was found.
type Hit struct {
	Canary Canary
	// Form is how it was written; Part how much of it was there: whole, first half, last half, part, or end for the four
	// characters at an end that stand alone.
	Form, Part string
	// At is the offset of the first piece, in the bytes that were looked at or in what was opened within them; Inside says
	// in which: gzip at 512.
	At     int
	Inside string
}

// piece is a window of a canary in a form.
type piece struct {
	text          []byte
	canary, start int
	form          string
}

// Scanner looks for a set of canaries. It is safe for concurrent use.
type Scanner struct {
	canaries []Canary
	pieces   map[uint64][]piece // by their first eight bytes
	maybe    []uint64           // a bit for each hash of those, so that most positions cost a look at one word
}

const (
	headLen   = 8
	maybeBits = 19
)

// NewScanner prepares a search.
func NewScanner(canaries ...Canary) *Scanner {
	s := &Scanner{canaries: canaries, pieces: make(map[uint64][]piece), maybe: make([]uint64, 1<<(maybeBits-6))}
	for n, c := range canaries {
		for start := range randomLen - window + 1 {
			for _, f := range forms() {
				for _, text := range f.write(c.random[start : start+window]) {
					head := binary.LittleEndian.Uint64([]byte(text[:headLen]))
					s.pieces[head] = append(s.pieces[head], piece{[]byte(text), n, start, f.name})
					h := hash(head)
					s.maybe[h>>6] |= 1 << (h & 63)
				}
			}
		}
	}
	return s
}

func hash(head uint64) uint64 { return head * 0x9E3779B97F4A7C15 >> (64 - maybeBits) }

// finding collects the windows of one canary in one form.
type finding struct {
	at      int
	windows [randomLen - window + 1]bool
}

type found struct {
	canary int
	form   string
}

// scan finds pieces as they stand. suffix is added to the names of forms. The race detector leaves it alone, which else
// takes minutes for the files of a database: it only reads, from a scanner that nobody changes and from bytes that a hunt
// copied.
//
//go:norace
func (s *Scanner) scan(b []byte, suffix string) []Hit {
	all := make(map[found]*finding)
	for i := 0; i+headLen <= len(b); i++ {
		head := binary.LittleEndian.Uint64(b[i:])
		if h := hash(head); s.maybe[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, p := range s.pieces[head] {
			if !bytes.HasPrefix(b[i:], p.text) {
				continue
			}
			key := found{p.canary, p.form}
			f := all[key]
			if f == nil {
				f = &finding{at: i}
				all[key] = f
			}
			f.windows[p.start] = true
		}
	}
	var hits []Hit
	for key, f := range all {
		hits = append(hits, Hit{Canary: s.canaries[key.canary], Form: key.form + suffix, Part: f.part(), At: f.at})
	}
	return hits
}

// part says how much of a canary its windows are.
func (f *finding) part() string {
	const half = randomLen/2 - window + 1 // windows that lie in a half
	first := !slices.Contains(f.windows[:half], false)
	last := !slices.Contains(f.windows[len(f.windows)-half:], false)
	switch {
	case !slices.Contains(f.windows[:], false):
		return "whole"
	case first:
		return "first half"
	case last:
		return "last half"
	}
	return "part"
}

// rounds is how many layers of one escape are undone, and of all of them together.
const rounds = 3

// Find looks at bytes in every form, and into what is compressed in them. small adds the ends of four characters, which
// are looked for in short texts alone. Hits come in the order of their places.
func (s *Scanner) Find(b []byte, small bool) []Hit {
	hits := s.layer(b, small)
	hits = append(hits, s.within(b, "", 0)...)
	slices.SortStableFunc(hits, func(x, y Hit) int { return x.At - y.At })
	return hits
}

// layer looks at bytes without opening what is in them.
func (s *Scanner) layer(b []byte, small bool) []Hit {
	hits := s.scan(b, "")
	if small {
		hits = append(hits, s.edges(b)...)
	}
	for _, u := range unescapes() {
		for plain, n := u.undo(b), 1; plain != nil && n <= rounds; plain, n = u.undo(plain), n+1 {
			hits = append(hits, s.scan(plain, ", "+u.name)...)
			if small {
				hits = append(hits, s.edges(plain)...)
			}
		}
	}
	mixed, changed := b, true
	for n := 0; n < rounds && changed; n++ {
		changed = false
		for _, u := range unescapes() {
			if plain := u.undo(mixed); plain != nil {
				mixed, changed = plain, true
			}
		}
		if changed {
			hits = append(hits, s.scan(mixed, ", several escapes")...)
		}
	}
	return dedupe(hits)
}

// dedupe keeps the first hit of a canary in a form: a plain one is also found after each unescaping.
func dedupe(hits []Hit) []Hit {
	var kept []Hit
	for _, h := range hits {
		same := func(k Hit) bool {
			return k.Canary == h.Canary && (k.Form == h.Form || len(h.Form) > len(k.Form) && h.Form[:len(k.Form)] == k.Form && k.Part == h.Part)
		}
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, h)
		}
	}
	return kept
}

// edges finds the four characters at either end of a canary where they stand alone, as in a shortened display: among
// letters and digits they are chance.
func (s *Scanner) edges(b []byte) []Hit {
	var hits []Hit
	for _, c := range s.canaries {
		for _, end := range []string{c.random[:edge], c.random[randomLen-edge:]} {
			for from := 0; ; {
				i := bytes.Index(b[from:], []byte(end))
				if i < 0 {
					break
				}
				i += from
				if !wordAt(b, i-1) && !wordAt(b, i+edge) {
					hits = append(hits, Hit{Canary: c, Form: "plain", Part: "end", At: i})
					break
				}
				from = i + 1
			}
		}
	}
	return hits
}

func wordAt(b []byte, i int) bool {
	return i >= 0 && i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i]|0x20 >= 'a' && b[i]|0x20 <= 'z')
}
