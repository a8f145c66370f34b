package charset

import (
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// singleByte gives the decoder of an encoding with one byte a character. An encoding that is not known here is read as
// windows-1252, in which no byte is broken; encodingOf names no such encoding.
func singleByte(encoding string) decoder {
	upper := upperHalf(encoding)
	return func(dst, src []byte) []byte {
		for i := 0; i < len(src); {
			if src[i] < utf8.RuneSelf {
				n := asciiRun(src[i:])
				dst = append(dst, src[i:i+n]...)
				i += n
				continue
			}
			dst = appendBMP(dst, upper[src[i]-utf8.RuneSelf])
			i++
		}
		return dst
	}
}

// upperHalf gives the characters of bytes 0x80 to 0xFF; all are below U+10000.
func upperHalf(encoding string) *[128]uint16 {
	var upper [128]uint16
	if encoding == "x-user-defined" {
		for i := range upper {
			upper[i] = uint16(0xF780 + i)
		}
		return &upper
	}
	table := charmapOf(encoding)
	for i := range upper {
		r := table.DecodeByte(byte(0x80 + i))
		if r == utf8.RuneError && i < 0x20 {
			// x/text leaves bytes of the C1 range without a character where the vendor's table has none; the Encoding
			// Standard maps them to the C1 control of the same number.
			r = rune(0x80 + i)
		}
		upper[i] = uint16(r)
	}
	return &upper
}

func charmapOf(encoding string) *charmap.Charmap {
	switch encoding {
	case "ibm866":
		return charmap.CodePage866
	case "iso-8859-2":
		return charmap.ISO8859_2
	case "iso-8859-3":
		return charmap.ISO8859_3
	case "iso-8859-4":
		return charmap.ISO8859_4
	case "iso-8859-5":
		return charmap.ISO8859_5
	case "iso-8859-6":
		return charmap.ISO8859_6
	case "iso-8859-7":
		return charmap.ISO8859_7
	case "iso-8859-8", "iso-8859-8-i":
		return charmap.ISO8859_8
	case "iso-8859-10":
		return charmap.ISO8859_10
	case "iso-8859-13":
		return charmap.ISO8859_13
	case "iso-8859-14":
		return charmap.ISO8859_14
	case "iso-8859-15":
		return charmap.ISO8859_15
	case "iso-8859-16":
		return charmap.ISO8859_16
	case "koi8-r":
		return charmap.KOI8R
	case "koi8-u":
		return charmap.KOI8U
	case "macintosh":
		return charmap.Macintosh
	case "windows-874":
		return charmap.Windows874
	case "windows-1250":
		return charmap.Windows1250
	case "windows-1251":
		return charmap.Windows1251
	case "windows-1253":
		return charmap.Windows1253
	case "windows-1254":
		return charmap.Windows1254
	case "windows-1255":
		return charmap.Windows1255
	case "windows-1256":
		return charmap.Windows1256
	case "windows-1257":
		return charmap.Windows1257
	case "windows-1258":
		return charmap.Windows1258
	case "x-mac-cyrillic":
		return charmap.MacintoshCyrillic
	}
	return charmap.Windows1252
}
