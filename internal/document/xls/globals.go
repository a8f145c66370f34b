// What the sheets of a workbook share.

package xls

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/wayleave/wayleave/internal/document"
)

// maxSheets is more than a workbook has in honest work.
const maxSheets = 10_000

// globals reads the records before the sheets.
func (r *reader) globals() error {
	s := &records{data: r.data}
	depth := 0
	for {
		rec, err := s.next()
		if err != nil {
			return err
		}
		switch rec.id {
		case recBOF:
			depth++
			continue
		case recEOF:
			if depth--; depth <= 0 {
				return nil
			}
			continue
		}
		if depth > 1 {
			continue
		}
		if rec.id == recFilePass && r.version == 8 && !r.unlocked {
			if err := r.unlock(rec); err != nil {
				return err
			}
			r.unlocked, s.data = true, r.data
			continue
		}
		if err := r.shared(rec, s); err != nil {
			return err
		}
	}
}

// shared reads a record that is not a cell's.
func (r *reader) shared(rec record, s *records) error {
	switch rec.id {
	case recFilePass:
		if r.unlocked {
			return nil // a sheet may tell it once more
		}
		return document.Fail(document.Encrypted, "a workbook under a password")
	case recCodePage:
		r.text = codePage(rec.U16(0))
	case recDateMode:
		r.since1904 = rec.U16(0) == 1
	case recBoundSheet:
		if len(r.sheets) == maxSheets {
			return document.Fail(document.TooLarge, "more than %d sheets", maxSheets)
		}
		e := entry{at: rec.U32(0), hidden: rec.Byte(4)&3 != 0, kind: rec.Byte(5)}
		e.name = r.short(rec.From(6), 1)
		r.sheets = append(r.sheets, e)
	case recFormat2:
		r.styles.Code(r.styles.Codes(), r.short(rec.From(0), 1))
	case recFormat:
		switch r.version {
		case 4:
			r.styles.Code(r.styles.Codes(), r.short(rec.From(2), 1))
		case 8:
			r.styles.Code(rec.U16(0), r.short(rec.From(2), 2))
		default:
			r.styles.Code(rec.U16(0), r.short(rec.From(2), 1))
		}
	case recXF, recXF2, recXF3, recXF4:
		r.styles.Style(styleFormat(rec))
	case recSST:
		r.readStrings(rec, s)
	}
	return nil
}

// styleFormat gives the number of the format that a style has.
func styleFormat(rec record) int {
	switch rec.id {
	case recXF:
		return rec.U16(2)
	case recXF2:
		return int(rec.Byte(2) & 0x3F)
	}
	return int(rec.Byte(1))
}

// short reads a string whose length comes first, in so many bytes; before the last version it is in the code page.
func (r *reader) short(b []byte, countBytes int) string {
	if r.version == 8 {
		var out strings.Builder
		p := pieces{left: [][]byte{b}}
		p.unicode(&out, countBytes)
		return out.String()
	}
	if len(b) < countBytes {
		return ""
	}
	n := int(b[0])
	if countBytes == 2 {
		n |= int(b[1]) << 8
	}
	b = b[countBytes:]
	return r.narrow(b[:min(n, len(b))])
}

func (r *reader) readStrings(rec record, s *records) {
	p := pieces{left: s.continued(rec)}
	p.skip(4)
	n := p.u16() | p.u16()<<16
	for r.strings.Len() < n && !p.empty() {
		p.unicode(&r.strings.Next, 2)
		if !r.strings.Add() {
			return
		}
	}
}

// codePage gives the encoding of a code page as Windows numbers them.
func codePage(n int) encoding.Encoding {
	switch n {
	case 437:
		return charmap.CodePage437
	case 850:
		return charmap.CodePage850
	case 852:
		return charmap.CodePage852
	case 855:
		return charmap.CodePage855
	case 858:
		return charmap.CodePage858
	case 860:
		return charmap.CodePage860
	case 862:
		return charmap.CodePage862
	case 863:
		return charmap.CodePage863
	case 865:
		return charmap.CodePage865
	case 866:
		return charmap.CodePage866
	case 874:
		return charmap.Windows874
	case 932, 10001: // from 10001 on as the Macintosh has them, which differ in some signs
		return japanese.ShiftJIS
	case 936, 10008:
		return simplifiedchinese.GBK
	case 949, 10003:
		return korean.EUCKR
	case 950, 10002:
		return traditionalchinese.Big5
	case 1250:
		return charmap.Windows1250
	case 1251:
		return charmap.Windows1251
	case 1253:
		return charmap.Windows1253
	case 1254:
		return charmap.Windows1254
	case 1255:
		return charmap.Windows1255
	case 1256:
		return charmap.Windows1256
	case 1257:
		return charmap.Windows1257
	case 1258:
		return charmap.Windows1258
	case 10000, 0x8000:
		return charmap.Macintosh
	case 10007:
		return charmap.MacintoshCyrillic
	case 20866:
		return charmap.KOI8R
	case 21866:
		return charmap.KOI8U
	case 28591:
		return charmap.ISO8859_1
	case 28592:
		return charmap.ISO8859_2
	case 28595:
		return charmap.ISO8859_5
	case 28605:
		return charmap.ISO8859_15
	}
	return charmap.Windows1252
}
