package bodytype

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// oleMagic begins every file of Microsoft's compound format [MS-CFB], in which Office wrote until 2007.
const oleMagic = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"

const (
	oleHeader     = 512
	oleEntrySize  = 128
	maxOLEEntries = 4096 // directory entries that are looked at
	maxOLETables  = 1024 // sectors of the list of allocation tables beyond the 109 of the header
	oleNoSector   = 0xFFFFFFFA
	oleNoEntry    = 0xFFFFFFFF
)

// oleDocument gives the media type of the Office document that a compound file is; "" for another compound file. Only
// what stands at the root says what the file is: a spreadsheet inside a letter has its own streams, further down.
func oleDocument(body []byte) string {
	f, ok := openOLE(body)
	if !ok {
		return ""
	}
	names := f.rootNames()
	for _, known := range [...]struct{ stream, mediaType string }{
		{"worddocument", "application/msword"},
		{"powerpoint document", "application/vnd.ms-powerpoint"},
		{"workbook", TypeXLS},
		{"book", TypeXLS},
		{"encryptedpackage", typeEncrypted},
		{"visiodocument", "application/vnd.visio"},
		{"__properties_version1.0", "application/vnd.ms-outlook"},
	} {
		if names[known.stream] {
			return known.mediaType
		}
	}
	return ""
}

// oleFile is a compound file, read as far as its directory.
type oleFile struct {
	body       []byte
	sectorSize int64
	tables     []uint32 // the sectors of the allocation table
}

func openOLE(body []byte) (*oleFile, bool) {
	if len(body) < oleHeader {
		return nil, false
	}
	shift := binary.LittleEndian.Uint16(body[30:])
	if shift != 9 && shift != 12 {
		return nil, false
	}
	f := &oleFile{body: body, sectorSize: 1 << shift}
	f.addTables(body[76:oleHeader])
	next := binary.LittleEndian.Uint32(body[68:])
	for range maxOLETables {
		sector := f.sector(next)
		if sector == nil {
			break
		}
		last := len(sector) - 4
		f.addTables(sector[:last])
		next = binary.LittleEndian.Uint32(sector[last:])
	}
	return f, true
}

func (f *oleFile) addTables(list []byte) {
	for ; len(list) >= 4; list = list[4:] {
		if n := binary.LittleEndian.Uint32(list); n < oleNoSector {
			f.tables = append(f.tables, n)
		}
	}
}

// sector gives the bytes of a sector; nil for one that is not whole or not there.
func (f *oleFile) sector(n uint32) []byte {
	start := (int64(n) + 1) * f.sectorSize
	if n >= oleNoSector || start+f.sectorSize > int64(len(f.body)) {
		return nil
	}
	return f.body[start : start+f.sectorSize]
}

// after gives the sector that follows n in its chain.
func (f *oleFile) after(n uint32) uint32 {
	perTable := uint32(f.sectorSize / 4)
	if n/perTable >= uint32(len(f.tables)) {
		return oleNoSector
	}
	table := f.sector(f.tables[n/perTable])
	if table == nil {
		return oleNoSector
	}
	return binary.LittleEndian.Uint32(table[n%perTable*4:])
}

// directory gives the directory entries, 128 bytes each; the first is the root.
func (f *oleFile) directory() []byte {
	var entries []byte
	next := binary.LittleEndian.Uint32(f.body[48:])
	for len(entries) < maxOLEEntries*oleEntrySize {
		sector := f.sector(next)
		if sector == nil {
			break
		}
		entries = append(entries, sector...)
		next = f.after(next)
	}
	return entries
}

// rootNames gives the names of the root's children in lower case, which hang on it as a binary tree.
func (f *oleFile) rootNames() map[string]bool {
	directory := f.directory()
	names := map[string]bool{}
	if len(directory) < oleEntrySize {
		return names
	}
	pending := []uint32{binary.LittleEndian.Uint32(directory[76:])}
	for visited := 0; len(pending) > 0 && visited < maxOLEEntries; visited++ {
		n := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		at := int64(n) * oleEntrySize
		if n == oleNoEntry || at+oleEntrySize > int64(len(directory)) {
			continue
		}
		entry := directory[at:]
		names[strings.ToLower(oleName(entry))] = true // case tells no two apart
		pending = append(pending, binary.LittleEndian.Uint32(entry[68:]), binary.LittleEndian.Uint32(entry[72:]))
	}
	return names
}

// oleName reads the name of a directory entry: UTF-16 and a NUL, with its length in bytes behind it.
func oleName(entry []byte) string {
	length := min(int(binary.LittleEndian.Uint16(entry[64:])), 64)
	units := make([]uint16, 0, 32)
	for i := 0; i+2 < length; i += 2 {
		units = append(units, binary.LittleEndian.Uint16(entry[i:]))
	}
	return string(utf16.Decode(units))
}
