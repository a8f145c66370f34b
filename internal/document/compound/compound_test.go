package compound

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/wayleave/wayleave/internal/document"
)

// part is a stream of a file that build makes.
type part struct {
	name string
	data []byte
}

// build makes a compound file with sectors of 512 bytes: streams below 4096 bytes lie among the small ones.
func build(parts ...part) []byte {
	const end, free = 0xFFFFFFFE, 0xFFFFFFFF
	var fat, mini []uint32
	var body, small []byte
	put := func(data []byte) uint32 {
		start := uint32(len(fat))
		for len(data) > 0 {
			sector := make([]byte, 512)
			data = data[copy(sector, data):]
			body = append(body, sector...)
			fat = append(fat, uint32(len(fat))+1)
		}
		fat[len(fat)-1] = end
		return start
	}
	entries := make([]byte, 128)
	for i, p := range parts {
		var start uint32
		if len(p.data) < 4096 {
			start = uint32(len(mini))
			for data := p.data; len(data) > 0; {
				sector := make([]byte, 64)
				data = data[copy(sector, data):]
				small = append(small, sector...)
				mini = append(mini, uint32(len(mini))+1)
			}
			mini[len(mini)-1] = end
		} else {
			start = put(p.data)
		}
		next := uint32(i + 2)
		if i == len(parts)-1 {
			next = free
		}
		entries = append(entries, directory(p.name, stream, free, next, free, start, uint64(len(p.data)))...)
	}
	copy(entries, directory("Root Entry", 5, free, free, 1, put(append(small, 0)), uint64(len(small))))
	dir := put(entries)
	miniFAT := put(append(words(mini), words([]uint32{free})...))
	table := uint32(len(fat))
	fat = append(fat, 0xFFFFFFFD)
	head := make([]byte, 512)
	copy(head, magic)
	for at, v := range map[int]uint16{24: 0x3E, 26: 3, 28: 0xFFFE, 30: 9, 32: 6} {
		binary.LittleEndian.PutUint16(head[at:], v)
	}
	for at, v := range map[int]uint32{44: 1, 48: dir, 56: 4096, 60: miniFAT, 64: 1, 68: end, 76: table} {
		binary.LittleEndian.PutUint32(head[at:], v)
	}
	for i := 80; i < 512; i += 4 {
		binary.LittleEndian.PutUint32(head[i:], free)
	}
	sector := words(fat)
	for len(sector) < 512 {
		sector = append(sector, 0xFF)
	}
	return slices.Concat(head, body, sector)
}

func words(list []uint32) []byte {
	var b []byte
	for _, w := range list {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func directory(name string, kind byte, left, right, child, start uint32, size uint64) []byte {
	e := make([]byte, 128)
	units := utf16.Encode([]rune(name))
	for i, u := range units {
		binary.LittleEndian.PutUint16(e[2*i:], u)
	}
	binary.LittleEndian.PutUint16(e[64:], uint16(2*len(units)+2))
	e[66] = kind
	for i, v := range []uint32{left, right, child} {
		binary.LittleEndian.PutUint32(e[68+4*i:], v)
	}
	binary.LittleEndian.PutUint32(e[116:], start)
	binary.LittleEndian.PutUint64(e[120:], size)
	return e
}

func TestStreams(t *testing.T) {
	big, small := bytes.Repeat([]byte("harbour "), 1000), bytes.Repeat([]byte("buoy"), 40)
	body := build(part{"Workbook", big}, part{"\x05Summary", small}, part{"tiny", []byte("x")})
	f, err := Open(body)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"Workbook": big, "workBOOK": big, "\x05Summary": small, "tiny": []byte("x")} {
		if got, err := f.Stream(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if _, err := f.Stream("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if names := f.Names(); !slices.Equal(names, []string{"Workbook", "\x05Summary", "tiny"}) {
		t.Errorf("%q", names)
	}
	if Encrypted(body) || !Encrypted(build(part{"EncryptionInfo", small}, part{"EncryptedPackage", big})) || Encrypted([]byte("PK")) {
		t.Error("what is encrypted")
	}
}

// TestHostileFiles: chains that bite their own tail, sizes beyond the file, trees in circles.
func TestHostileFiles(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 5000)
	body := build(part{"Workbook", big})
	circle := bytes.Clone(body)
	binary.LittleEndian.PutUint32(circle[len(circle)-512:], 0) // the first sector follows itself
	f, err := Open(circle)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Stream("Workbook"); err != nil || len(got) != 5000 {
		t.Errorf("a chain in a circle: %d, %v", len(got), err)
	}
	entry := bytes.Index(body, []byte("W\x00o\x00r\x00k"))
	claims := bytes.Clone(body)
	binary.LittleEndian.PutUint64(claims[entry+120:], 1<<31)
	if f, err = Open(claims); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Stream("Workbook"); err != nil || len(got) > len(claims) {
		t.Errorf("a size beyond the file: %d, %v", len(got), err)
	}
	tree := bytes.Clone(body)
	binary.LittleEndian.PutUint32(tree[entry+68:], 1)
	binary.LittleEndian.PutUint32(tree[entry+72:], 0)
	if f, err = Open(tree); err != nil || !f.Has("Workbook") || f.Has("other") {
		t.Errorf("a tree in a circle: %v", err)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"nothing":          func([]byte) []byte { return nil },
		"a magic alone":    func(b []byte) []byte { return b[:8] },
		"no sectors":       func(b []byte) []byte { return b[:512] },
		"giant sectors":    func(b []byte) []byte { b[30] = 60; return b },
		"no directory":     func(b []byte) []byte { binary.LittleEndian.PutUint32(b[48:], 1<<20); return b },
		"the root's claim": func(b []byte) []byte { binary.LittleEndian.PutUint64(b[entry-128+120:], 1<<43); return b },
	} {
		_, err := Open(change(bytes.Clone(body)))
		var e *document.Error
		if !errors.As(err, &e) || e.Reason != document.Damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(build(part{"Workbook", bytes.Repeat([]byte("x"), 5000)}, part{"small", []byte("y")}))
	if body, err := os.ReadFile("../../../testdata/documents/harbour.xls"); err != nil {
		f.Fatal(err)
	} else {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		file, err := Open(body)
		if err != nil {
			return
		}
		for i, name := range file.Names() {
			if data, err := file.Stream(name); err == nil && len(data) > len(body) {
				t.Errorf("%d bytes of %d", len(data), len(body))
			}
			if i == 20 {
				break
			}
		}
	})
}
