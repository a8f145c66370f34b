// Package charset turns the bytes of a body into text as the Encoding Standard says: every label it lists, every
// broken sequence answered with U+FFFD where the standard puts it, so that an ASCII byte that follows a broken lead
// byte stays in the text and no byte can hide markup from whoever reads the result.
//
// The one rule: nothing that a body holds is an error, and the text is always valid UTF-8.
package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Markup tells which declarations inside the body count.
type Markup int

// The kinds of body.
const (
	None  Markup = iota // no declaration counts
	HTML                // meta elements, then an XML declaration, as the HTML Standard says
	XML                 // the XML declaration
	XHTML               // the XML declaration, then meta elements
)

// Decode gives the text of body and the name of the encoding that was used, lower case as the Encoding Standard spells
// it in its list of labels ("utf-8", "windows-1252", "replacement"), or "utf-32le" and "utf-32be". header is the
// charset parameter of Content-Type ("" for none), markup says which declarations inside the body count.
//
// The first of these decides: a byte-order mark, which is not part of the text; header, where it is a label of the
// standard; a declaration inside the first 1,024 bytes; UTF-8. The text is at most three times as long as body.
func Decode(body []byte, header string, markup Markup) (text string, encoding string) {
	encoding, mark := detect(body, header, markup)
	body = body[mark:]
	if encoding == utf8Name && utf8.Valid(body) {
		return string(body), encoding
	}
	// Most characters take one byte more than they did for each of their bytes beyond ASCII, or less.
	room := make([]byte, 0, len(body)+countHigh(body))
	return string(decoderOf(encoding)(room, body)), encoding
}

// Wide tells whether Decode would read body in an encoding whose units are larger than a byte, UTF-16 or UTF-32, so
// that a NUL in it says nothing.
func Wide(body []byte, header string, markup Markup) bool {
	encoding, _ := detect(body, header, markup)
	return strings.HasPrefix(encoding, "utf-16") || strings.HasPrefix(encoding, "utf-32")
}

// detect gives the encoding of body and the length of its byte-order mark.
func detect(body []byte, header string, markup Markup) (encoding string, mark int) {
	encoding, mark = markOf(body)
	if encoding == "" {
		encoding = encodingOf(header)
	}
	if encoding == "" {
		encoding = declared(body, markup)
	}
	if encoding == "" {
		encoding = utf8Name
	}
	return encoding, mark
}

const (
	utf8Name    = "utf-8"
	utf16leName = "utf-16le"
	utf16beName = "utf-16be"
)

// markOf gives the encoding that a byte-order mark names, and the mark's length. UTF-32 is no encoding of the standard,
// which reads its little-endian mark as UTF-16's followed by a NUL. No text begins so; files in UTF-32 do.
func markOf(body []byte) (encoding string, length int) {
	switch {
	case bytes.HasPrefix(body, []byte{0xEF, 0xBB, 0xBF}):
		return utf8Name, 3
	case bytes.HasPrefix(body, []byte{0xFF, 0xFE, 0, 0}):
		return "utf-32le", 4
	case bytes.HasPrefix(body, []byte{0, 0, 0xFE, 0xFF}):
		return "utf-32be", 4
	case bytes.HasPrefix(body, []byte{0xFE, 0xFF}):
		return utf16beName, 2
	case bytes.HasPrefix(body, []byte{0xFF, 0xFE}):
		return utf16leName, 2
	}
	return "", 0
}

// decoder appends the text of src to dst.
type decoder func(dst, src []byte) []byte

// decoderOf gives the decoder of an encoding that encodingOf or markOf named.
func decoderOf(encoding string) decoder {
	switch encoding {
	case utf8Name:
		return decodeUTF8
	case utf16leName:
		return decodeUTF16LE
	case utf16beName:
		return decodeUTF16BE
	case "utf-32le":
		return decodeUTF32LE
	case "utf-32be":
		return decodeUTF32BE
	case "gbk", "gb18030":
		return decodeGB18030
	case "big5":
		return decodeBig5
	case "euc-jp":
		return decodeEUCJP
	case "iso-2022-jp":
		return decodeISO2022JP
	case "shift_jis":
		return decodeShiftJIS
	case "euc-kr":
		return decodeEUCKR
	case "replacement":
		return decodeReplacement
	}
	return singleByte(encoding)
}

// decodeReplacement never shows the bytes: the labels of this encoding name stateful ones in which a server could
// write markup that only some readers see.
func decodeReplacement(dst, src []byte) []byte {
	if len(src) == 0 {
		return dst
	}
	return appendBroken(dst)
}
