package charset

import (
	"sort"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// decodeGB18030 decodes gb18030 and gbk, which share one decoder in the standard.
func decodeGB18030(dst, src []byte) []byte {
	index := gb18030Index()
	for i := 0; i < len(src); {
		b := src[i]
		switch {
		case b < utf8.RuneSelf:
			n := asciiRun(src[i:])
			dst = append(dst, src[i:i+n]...)
			i += n
			continue
		case b == 0x80:
			dst = append(dst, "€"...)
			i++
			continue
		case b == 0xFF:
			dst = appendBroken(dst)
			i++
			continue
		case i+1 == len(src):
			return appendBroken(dst)
		}
		trail := src[i+1]
		if '0' <= trail && trail <= '9' {
			r, size := gb18030Four(src[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
			continue
		}
		var r uint16
		if 0x40 <= trail && trail != 0x7F && trail != 0xFF {
			r = index[gb18030Pointer(b, trail)]
		}
		if r == 0 {
			dst, i = appendBrokenPair(dst, trail, i)
			continue
		}
		dst = appendBMP(dst, r)
		i += 2
	}
	return dst
}

// gb18030Four reads a sequence of four bytes of which two are there and right. One that stops being right is a broken
// first byte, and all after it is read again; one that the end cuts is broken as a whole.
func gb18030Four(p []byte) (r rune, size int) {
	for i := 2; i < 4; i++ {
		if i == len(p) {
			return utf8.RuneError, len(p)
		}
		if i == 2 && (p[2] < 0x81 || p[2] == 0xFF) || i == 3 && (p[3] < '0' || '9' < p[3]) {
			return utf8.RuneError, 1
		}
	}
	pointer := ((int(p[0])-0x81)*10+int(p[1])-'0')*1260 + (int(p[2])-0x81)*10 + int(p[3]) - '0'
	return gb18030Rune(pointer), 4
}

func gb18030Rune(pointer int) rune {
	const (
		astral    = 189000  // the pointer of U+10000
		astralEnd = 1237575 // that of U+10FFFF
		privateE7 = 7457    // U+E7C7: two-byte 0xA8BC took its place when it became U+1E3F
	)
	switch {
	case pointer == privateE7:
		return 0xE7C7
	case pointer < gb18030Pointers:
		ranges := gb18030Ranges()
		after := sort.Search(len(ranges), func(i int) bool { return int(ranges[i].pointer) > pointer })
		in := ranges[after-1]
		return rune(int(in.first) + pointer - int(in.pointer))
	case astral <= pointer && pointer <= astralEnd:
		return rune(0x10000 + pointer - astral)
	}
	return utf8.RuneError
}

// completeGB18030 adds to x/text's index what the Encoding Standard has and it has not: private characters, and those
// that took the place of private ones when GB 18030 was revised.
func completeGB18030(index []uint16) {
	next := uint16(0xE000)
	for _, area := range []struct{ firstLead, lastLead, start, size int }{
		{0xAA, 0xAF, 96, 94}, // trail bytes 0xA1 to 0xFE
		{0xF8, 0xFE, 96, 94},
		{0xA1, 0xA7, 0, 96}, // trail bytes 0x40 to 0xA0
	} {
		for lead := area.firstLead; lead <= area.lastLead; lead++ {
			for i := range area.size {
				index[(lead-0x81)*190+area.start+i] = next
				next++
			}
		}
	}
	index[(0xA3-0x81)*190+95] = 0x3000 // not private: a second ideographic space
	for _, run := range [...]struct{ pair, first, size uint16 }{
		{0xA2AB, 0xE766, 6}, {0xA2E4, 0xE76D, 1}, {0xA2EF, 0xE76E, 2}, {0xA2FD, 0xE770, 2}, {0xA4F4, 0xE772, 11},
		{0xA5F7, 0xE77D, 8}, {0xA6B9, 0xE785, 8}, {0xA6D9, 0xFE10, 1}, {0xA6DA, 0xFE12, 1}, {0xA6DB, 0xFE11, 1},
		{0xA6DC, 0xFE13, 4}, {0xA6EC, 0xFE17, 2}, {0xA6F3, 0xFE19, 1}, {0xA6F6, 0xE797, 9}, {0xA7C2, 0xE7A0, 15},
		{0xA7F2, 0xE7AF, 13}, {0xA896, 0xE7BC, 11}, {0xA8BC, 0x1E3F, 1}, {0xA8C1, 0xE7C9, 4}, {0xA8EA, 0xE7CD, 21},
		{0xA958, 0xE7E2, 1}, {0xA95B, 0xE7E3, 1}, {0xA95D, 0xE7E4, 3}, {0xA997, 0xE7F4, 13}, {0xA9F0, 0xE801, 15},
		{0xD7FA, 0xE810, 5}, {0xFE51, 0xE816, 3}, {0xFE59, 0x9FB4, 1}, {0xFE61, 0x9FB5, 1}, {0xFE66, 0x9FB6, 2},
		{0xFE6C, 0xE831, 1}, {0xFE6D, 0x9FB8, 1}, {0xFE76, 0xE83B, 1}, {0xFE7E, 0x9FB9, 1}, {0xFE90, 0x9FBA, 1},
		{0xFE91, 0xE855, 1}, {0xFEA0, 0x9FBB, 1},
	} {
		pointer := gb18030Pointer(byte(run.pair>>8), byte(run.pair))
		for i := range run.size {
			index[pointer+int(i)] = run.first + i
		}
	}
}

// gb18030Pointer gives the pointer of a pair whose trail byte is 0x40 to 0xFE without 0x7F.
func gb18030Pointer(lead, trail byte) int {
	pointer := int(lead-0x81)*190 + int(trail) - 0x40
	if trail > 0x7F {
		pointer--
	}
	return pointer
}

// gb18030Range says that the four-byte pointers from pointer on are the characters from first on.
type gb18030Range struct{ pointer, first uint16 }

// gb18030Pointers is the number of four-byte pointers that mean characters below U+10000.
const gb18030Pointers = 39420

// gb18030Ranges is the standard's index of ranges, about two hundred.
var gb18030Ranges = sync.OnceValue(func() []gb18030Range {
	var ranges []gb18030Range
	next := rune(-1)
	read(simplifiedchinese.GB18030, gb18030Pointers, func(p int, b []byte) []byte {
		return append(b, byte(p/12600+0x81), byte(p/1260%10+0x30), byte(p/10%126+0x81), byte(p%10+0x30))
	}, func(p int, r rune) {
		if r != next {
			ranges = append(ranges, gb18030Range{pointer: uint16(p), first: uint16(r)})
		}
		next = r + 1
	})
	return ranges
})
