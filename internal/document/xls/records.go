// Records: a number, a length and so many bytes; long ones go on in records of their own.

package xls

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/biff"
)

// Numbers of records.
const (
	recFormula2, recEOF                = 0x0006, 0x000A
	recBlank2, recInteger2, recNumber2 = 0x0001, 0x0002, 0x0003
	recLabel2, recBoolErr2, recString2 = 0x0004, 0x0005, 0x0007
	recRow2, recBOF2                   = 0x0008, 0x0009
	recFormat2, recDateMode            = 0x001E, 0x0022
	recFilePass, recContinue           = 0x002F, 0x003C
	recCodePage, recXF2                = 0x0042, 0x0043
	recObject                          = 0x005D
	recColInfo, recBoundSheet          = 0x007D, 0x0085
	recMulRK, recRString               = 0x00BD, 0x00D6
	recXF, recMergeCells               = 0x00E0, 0x00E5
	recInterface                       = 0x00E1
	recSST, recLabelSST                = 0x00FC, 0x00FD
	recHLink, recNumber                = 0x01B8, 0x0203
	recLabel, recBoolErr               = 0x0204, 0x0205
	recFormula3, recString             = 0x0206, 0x0207
	recRow, recBOF3                    = 0x0208, 0x0209
	recXF3, recRK                      = 0x0243, 0x027E
	recFormula4, recBOF4               = 0x0406, 0x0409
	recFormat, recXF4                  = 0x041E, 0x0443
	recBOF                             = 0x0809
)

// record is one record; data holds at least as many bytes as it says.
type record struct {
	id int
	biff.Fields
}

// records walks over a stream.
type records struct {
	data []byte
	at   int64
}

// next reads a record. At the end of the stream, which comes after its last record, it is Damaged: whoever reads stops at the end
// record.
func (s *records) next() (record, error) {
	if s.at < 0 || s.at+4 > int64(len(s.data)) {
		return record{}, document.Fail(document.Damaged, "the records end early")
	}
	id := int(binary.LittleEndian.Uint16(s.data[s.at:]))
	n := int64(binary.LittleEndian.Uint16(s.data[s.at+2:]))
	from := s.at + 4
	if from+n > int64(len(s.data)) {
		return record{}, document.Fail(document.Damaged, "a record at %d ends early", s.at)
	}
	s.at = from + n
	return record{id, s.data[from:s.at]}, nil
}

// continued gives the bytes of a record and of those that continue it, one piece each.
func (s *records) continued(first record) [][]byte {
	pieces := [][]byte{first.Fields}
	for {
		before := s.at
		r, err := s.next()
		if err != nil || r.id != recContinue {
			s.at = before
			return pieces
		}
		pieces = append(pieces, r.Fields)
	}
}

// pieces reads over the edges of continued records.
type pieces struct {
	left [][]byte // the first of them is being read
}

func (p *pieces) tidy() {
	for len(p.left) > 0 && len(p.left[0]) == 0 {
		p.left = p.left[1:]
	}
}

func (p *pieces) empty() bool {
	p.tidy()
	return len(p.left) == 0
}

// take gives n bytes, fewer at the end.
func (p *pieces) take(n int) []byte {
	p.tidy()
	if len(p.left) == 0 || n <= 0 {
		return nil
	}
	if n <= len(p.left[0]) {
		out := p.left[0][:n]
		p.left[0] = p.left[0][n:]
		return out
	}
	var out []byte
	for n > 0 && !p.empty() {
		part := p.left[0][:min(n, len(p.left[0]))]
		out = append(out, part...)
		p.left[0] = p.left[0][len(part):]
		n -= len(part)
	}
	return out
}

func (p *pieces) skip(n int) {
	for n > 0 && !p.empty() {
		part := min(n, len(p.left[0]))
		p.left[0] = p.left[0][part:]
		n -= part
	}
}

func (p *pieces) u16() int {
	b := p.take(2)
	if len(b) < 2 {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b))
}

// chars writes n characters; wide tells whether they are of two bytes. Where they go on in another piece, that begins by telling it
// anew.
func (p *pieces) chars(b *strings.Builder, n int, wide bool) {
	for n > 0 && !p.empty() {
		size := 1
		if wide {
			size = 2
		}
		have := min(n, len(p.left[0])/size)
		writeChars(b, p.left[0][:have*size], wide)
		p.left[0] = p.left[0][have*size:]
		n -= have
		if n == 0 {
			return
		}
		p.left[0] = nil // an odd byte, which no character has
		if p.empty() {
			return
		}
		wide = p.left[0][0]&1 != 0
		p.left[0] = p.left[0][1:]
	}
}

func writeChars(b *strings.Builder, data []byte, wide bool) {
	if !wide {
		for _, c := range data {
			if c < 0x80 {
				b.WriteByte(c)
			} else {
				b.WriteRune(rune(c))
			}
		}
		return
	}
	for i := 0; i+2 <= len(data); i += 2 {
		u := rune(binary.LittleEndian.Uint16(data[i:]))
		if utf16.IsSurrogate(u) && i+4 <= len(data) {
			if c := utf16.DecodeRune(u, rune(binary.LittleEndian.Uint16(data[i+2:]))); c != 0xFFFD {
				b.WriteRune(c)
				i += 2
				continue
			}
		}
		b.WriteRune(u)
	}
}

// unicode reads a string of the last version: a count of characters of so many bytes, what it has beside them, and they themselves.
func (p *pieces) unicode(b *strings.Builder, countBytes int) {
	var n int
	if countBytes == 1 {
		if c := p.take(1); len(c) == 1 {
			n = int(c[0])
		}
	} else {
		n = p.u16()
	}
	flags := p.take(1)
	if len(flags) == 0 {
		return
	}
	runs, extra := 0, 0
	if flags[0]&8 != 0 {
		runs = p.u16()
	}
	if flags[0]&4 != 0 {
		if e := p.take(4); len(e) == 4 {
			extra = int(min(binary.LittleEndian.Uint32(e), 1<<30))
		}
	}
	p.chars(b, n, flags[0]&1 != 0)
	p.skip(4*runs + extra)
}
