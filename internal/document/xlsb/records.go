// Records: a number and a length of one to four bytes each, and so many bytes.

package xlsb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/biff"
)

// Numbers of records.
const (
	recRow                = 0
	recRK                 = 2
	recError              = 3
	recBool               = 4
	recReal               = 5
	recText               = 6
	recShared             = 7
	recFormulaText        = 8
	recFormulaNumber      = 9
	recFormulaBool        = 10
	recFormulaError       = 11
	recShortBlank         = 12 // in these the column is the one after the last
	recShortRK            = 13
	recShortError         = 14
	recShortBool          = 15
	recShortReal          = 16
	recShortText          = 17
	recShortShared        = 18
	recBlank              = 1
	recString             = 19
	recFormat             = 44
	recStyle              = 47
	recColumns            = 60
	recRichText           = 62
	recWorkbookProperties = 153
	recSheet              = 156
	recMerge              = 176
	recLink               = 494
	recDrawing            = 550
	recCellStyles         = 617
	recCellStylesEnd      = 618
)

// record is one record.
type record struct {
	id int
	biff.Fields
}

// maxRecord is how long a record may be, in bytes; the longest hold a cell's text.
const maxRecord = 8 << 20

// maxRecords is how many records a part may have: a cell's has six bytes at least, so this is a sheet as large as any that is read.
const maxRecords = 20_000_000

// walk visits the records of a part. What a record holds is good until the next.
func (r *reader) walk(part string, visit func(record) error) error {
	stream, err := r.archive.Stream(part)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(stream, 32<<10)
	var data []byte
	for n := 0; ; n++ {
		if n%4096 == 0 {
			if err := r.ctx.Err(); err != nil {
				return err
			}
		}
		if n == maxRecords {
			return document.Fail(document.TooLarge, "part %q has more than %d records", part, maxRecords)
		}
		id, err := number(in, 2)
		if errors.Is(err, io.EOF) {
			return nil
		}
		var size int
		if err == nil {
			if size, err = number(in, 4); errors.Is(err, io.EOF) {
				err = errCut
			}
		}
		if err == nil && size > maxRecord {
			err = errCut
		}
		if err == nil {
			data = slices.Grow(data[:0], size)[:size]
			_, err = io.ReadFull(in, data)
		}
		var known *document.Error
		switch {
		case errors.As(err, &known):
			return err
		case err != nil:
			return document.Fail(document.Damaged, "part %q: a record ends early", part)
		}
		if err := visit(record{id, data}); err != nil {
			return err
		}
	}
}

// errCut is that a number goes on for longer than it may.
var errCut = errors.New("a record is cut off")

// number reads a number of at most so many bytes, seven bits in each.
func number(in *bufio.Reader, most int) (n int, err error) {
	for i := range most {
		c, err := in.ReadByte()
		if err != nil {
			if i > 0 && errors.Is(err, io.EOF) {
				err = errCut
			}
			return 0, err
		}
		n |= int(c&0x7F) << (7 * i)
		if c&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errCut
}

// text reads a string: a count of characters of two bytes each, or a count that means none. It gives the offset after it.
func (r record) text(at int) (string, int) {
	n := int64(r.U32(at))
	if at+4 > len(r.Fields) || n == 0xFFFFFFFF || int64(at)+4+2*n > int64(len(r.Fields)) {
		return "", at + 4
	}
	var b strings.Builder
	end := at + 4 + 2*int(n)
	for i := at + 4; i < end; i += 2 {
		u := rune(binary.LittleEndian.Uint16(r.Fields[i:]))
		if utf16.IsSurrogate(u) && i+4 <= end {
			if c := utf16.DecodeRune(u, rune(binary.LittleEndian.Uint16(r.Fields[i+2:]))); c != 0xFFFD {
				b.WriteRune(c)
				i += 2
				continue
			}
		}
		b.WriteRune(u)
	}
	return b.String(), end
}
