// Package compound opens compound files, the containers of Office's binary documents and of its encrypted ones.
//
// The one rule: what the file says of its own size is believed only as far as there are bytes for it. Every chain of
// sectors ends after as many as the file has.
package compound

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"strings"
	"unicode/utf16"

	"github.com/wayleave/wayleave/internal/document"
)

const magic = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"

// Is tells whether a body is a compound file.
func Is(body []byte) bool { return bytes.HasPrefix(body, []byte(magic)) }

// File is an open compound file.
type File struct {
	body      []byte
	size      int // of a sector
	mini      int // of a small one
	fat       []uint32
	miniFAT   []uint32
	small     []byte // where small streams lie; nil until one is read
	cutoff    uint64 // streams below this size are small
	entries   []entry
	readSmall bool
}

type entry struct {
	name               string
	kind               byte
	left, right, child uint32
	start              uint32
	size               uint64
}

const (
	storage    = 1
	stream     = 2
	entryBytes = 128
	lastRegion = 0xFFFFFFFA // sector numbers from here on mean something else
)

// Open reads the directory. Reason: Damaged.
func Open(body []byte) (*File, error) {
	if !Is(body) || len(body) < 512 {
		return nil, document.Fail(document.Damaged, "no compound file")
	}
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(body[at:])) }
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(body[at:]) }
	shift, miniShift := u16(30), u16(32)
	if shift < 7 || shift > 16 || miniShift < 4 || miniShift >= shift {
		return nil, document.Fail(document.Damaged, "sectors of 2^%d and 2^%d bytes", shift, miniShift)
	}
	f := &File{body: body, size: 1 << shift, mini: 1 << miniShift, cutoff: uint64(u32(56))}
	most := len(body)/f.size + 1 // sectors
	// The sectors of the table: the first 109 in the header, the others in a chain.
	var tables []uint32
	for i := range 109 {
		tables = append(tables, u32(76+4*i))
	}
	next := u32(68)
	for range most {
		s := f.sector(next)
		if len(s) < f.size || len(tables) > most {
			break
		}
		for i := 0; i+4 < f.size; i += 4 {
			tables = append(tables, binary.LittleEndian.Uint32(s[i:]))
		}
		next = binary.LittleEndian.Uint32(s[f.size-4:])
	}
	for _, t := range tables {
		s := f.sector(t)
		if t >= lastRegion || s == nil {
			continue
		}
		if len(f.fat) > most {
			break // more than there are sectors to tell of
		}
		for i := 0; i+4 <= len(s); i += 4 {
			f.fat = append(f.fat, binary.LittleEndian.Uint32(s[i:]))
		}
	}
	dir := f.chain(u32(48), -1)
	for ; len(dir) >= entryBytes; dir = dir[entryBytes:] {
		f.entries = append(f.entries, readEntry(dir, f.size == 512))
	}
	if len(f.entries) == 0 {
		return nil, document.Fail(document.Damaged, "a compound file without a directory")
	}
	// A small stream's size may have anything in its upper half, where old writers left memory as it was. The root's is that of
	// all small streams together: one beyond the file is a claim that others would set memory aside for.
	if root := binary.LittleEndian.Uint64(f.chain(u32(48), entryBytes)[120:]); root > uint64(len(body)) {
		return nil, document.Fail(document.Damaged, "the root claims %d bytes", root)
	}
	table := f.chain(u32(60), -1)
	for ; len(table) >= 4; table = table[4:] {
		f.miniFAT = append(f.miniFAT, binary.LittleEndian.Uint32(table))
	}
	return f, nil
}

func readEntry(b []byte, short bool) entry {
	n := min(int(binary.LittleEndian.Uint16(b[64:])), 64)
	var units []uint16
	for i := 0; i+2 <= n; i += 2 {
		if u := binary.LittleEndian.Uint16(b[i:]); u != 0 {
			units = append(units, u)
		}
	}
	e := entry{name: string(utf16.Decode(units)), kind: b[66], left: binary.LittleEndian.Uint32(b[68:]), right: binary.LittleEndian.Uint32(b[72:]),
		child: binary.LittleEndian.Uint32(b[76:]), start: binary.LittleEndian.Uint32(b[116:]), size: binary.LittleEndian.Uint64(b[120:])}
	if short {
		e.size &= 0xFFFFFFFF // what is above may be anything in files of this version
	}
	return e
}

// sector gives the bytes of a sector, fewer where the file ends in it, none where it has none.
func (f *File) sector(n uint32) []byte {
	at := (int64(n) + 1) * int64(f.size)
	if n >= lastRegion || at >= int64(len(f.body)) {
		return nil
	}
	return f.body[at:min(at+int64(f.size), int64(len(f.body)))]
}

// chain gives the bytes of a chain of sectors, at most so many; -1 for all.
func (f *File) chain(start uint32, most int) []byte {
	var out []byte
	for range len(f.fat) {
		s := f.sector(start)
		if s == nil || most >= 0 && len(out) >= most || int64(start) >= int64(len(f.fat)) {
			break
		}
		out = append(out, s...)
		start = f.fat[start]
	}
	if most >= 0 && len(out) > most {
		out = out[:most]
	}
	return out
}

// Names gives the names of the streams and storages at the root, in no order that means something.
func (f *File) Names() []string {
	var names []string
	f.atRoot(func(e *entry) bool {
		names = append(names, e.name)
		return true
	})
	return names
}

// atRoot visits what is at the root until visit answers false. In a file with a damaged tree that is everything.
func (f *File) atRoot(visit func(*entry) bool) {
	seen := make([]bool, len(f.entries))
	queue := []uint32{f.entries[0].child}
	found := false
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if int64(at) >= int64(len(f.entries)) || seen[at] || at == 0 {
			continue
		}
		seen[at] = true
		e := &f.entries[at]
		if e.kind == stream || e.kind == storage {
			found = true
			if !visit(e) {
				return
			}
		}
		queue = append(queue, e.left, e.right)
	}
	if found {
		return
	}
	for i := range f.entries {
		if e := &f.entries[i]; (e.kind == stream || e.kind == storage) && !visit(e) {
			return
		}
	}
}

// Has tells whether a stream or storage is at the root. Case does not count.
func (f *File) Has(name string) bool { return f.find(name) != nil }

func (f *File) find(name string) *entry {
	var found *entry
	f.atRoot(func(e *entry) bool {
		if strings.EqualFold(e.name, name) {
			found = e
		}
		return found == nil
	})
	return found
}

// Stream reads a stream at the root, as much of it as the file has. One that is not there is an error that is fs.ErrNotExist.
func (f *File) Stream(name string) ([]byte, error) {
	e := f.find(name)
	if e == nil || e.kind != stream {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	size := int(min(e.size, uint64(len(f.body))))
	if e.size >= f.cutoff {
		return f.chain(e.start, size), nil
	}
	if !f.readSmall {
		f.readSmall = true
		root := f.entries[0]
		f.small = f.chain(root.start, int(min(root.size, uint64(len(f.body)))))
	}
	var out []byte
	at := e.start
	for range len(f.miniFAT) {
		from := int64(at) * int64(f.mini)
		if len(out) >= size || int64(at) >= int64(len(f.miniFAT)) || from >= int64(len(f.small)) {
			break
		}
		out = append(out, f.small[from:min(from+int64(f.mini), int64(len(f.small)))]...)
		at = f.miniFAT[at]
	}
	return out[:min(len(out), size)], nil
}

// Encrypted tells whether a body is an Office document of the XML kind, or its binary sibling xlsb, under a password: such a one is
// a compound file around the encrypted archive.
func Encrypted(body []byte) bool {
	if !Is(body) {
		return false
	}
	f, err := Open(body)
	return err == nil && f.Has("EncryptedPackage")
}
