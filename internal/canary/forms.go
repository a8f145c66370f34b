// This file writes a piece of a canary in the forms in which it may have left.
package canary

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// form is a way of writing bytes, character by character, so that a piece of a canary is found within the whole.
type form struct {
	name  string
	write func(piece string) []string
}

func forms() []form {
	one := func(f func(string) string) func(string) []string {
		return func(s string) []string { return []string{f(s)} }
	}
	return []form{
		{"plain", one(func(s string) string { return s })},
		{"upper case", one(upper)},
		{"reversed", one(reversed)},
		{"hex", func(s string) []string {
			lower := hex.EncodeToString([]byte(s))
			all := []string{lower, joined(s, " ", hexByte), joined(s, ":", hexByte), joined(s, ", ", func(b byte) string { return "0x" + hexByte(b) })}
			for _, h := range slices.Clone(all) {
				all = append(all, strings.ReplaceAll(strings.ToUpper(h), "0X", "0x"))
			}
			return all
		}},
		{"base64", base64s},
		{"UTF-16LE", one(func(s string) string { return joined(s, "", func(b byte) string { return string([]byte{b, 0}) }) })},
		{"UTF-16BE", one(func(s string) string { return joined(s, "", func(b byte) string { return string([]byte{0, b}) }) })},
		{"decimal bytes", func(s string) []string {
			return []string{joined(s, " ", decimal), joined(s, ",", decimal), joined(s, ", ", decimal)}
		}},
	}
}

func hexByte(b byte) string { return hex.EncodeToString([]byte{b}) }
func decimal(b byte) string { return strconv.Itoa(int(b)) }

func joined(s, between string, write func(byte) string) string {
	var parts []string
	for i := range len(s) {
		parts = append(parts, write(s[i]))
	}
	return strings.Join(parts, between)
}

// upper changes ASCII letters alone: a secret need not be text.
func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// base64s gives the characters that are the piece's alone, wherever it begins within three bytes, in both alphabets.
func base64s(s string) []string {
	var all []string
	for before := range 3 {
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := e.EncodeToString(append(make([]byte, before), s...))
			first := (8*before + 5) / 6         // the first character without a bit of what stands before
			last := (8 * (before + len(s))) / 6 // the first one that has a bit of what comes after
			all = append(all, text[first:last])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unescape undoes one kind of escape wherever it stands, so that a text is found in which only some characters are
// escaped. A text without one comes back as nil.
type unescape struct {
	name string
	mark byte
	// read gives the byte that an escape at the beginning of b stands for and the escape's length; 0 where there is none.
	read func(b []byte) (value byte, length int)
}

func unescapes() []unescape {
	return []unescape{
		{"percent", '%', percent},
		{"HTML", '&', entity},
		{"JSON", '\\', backslash},
	}
}

func percent(b []byte) (byte, int) {
	if len(b) < 3 {
		return 0, 0
	}
	return number(b[1:3], 16, 3)
}

// entity reads numeric references and &amp;, behind which another may be; the letters of a canary have no names.
func entity(b []byte) (byte, int) {
	if bytes.HasPrefix(b, []byte("&amp;")) {
		return '&', 5
	}
	if len(b) < 4 || b[1] != '#' {
		return 0, 0
	}
	digits, base := b[2:min(len(b), 12)], 10
	if digits[0] == 'x' || digits[0] == 'X' {
		digits, base = digits[1:], 16
	}
	start := len(b[:min(len(b), 12)]) - len(digits)
	end := 0
	for end < len(digits) && isDigit(digits[end], base) {
		end++
	}
	length := start + end
	if length < len(b) && b[length] == ';' {
		length++
	}
	return number(digits[:end], base, length)
}

// backslash reads \u0063, \x63 and \143, and takes the backslash from a sign that needs none.
func backslash(b []byte) (byte, int) {
	switch {
	case len(b) >= 6 && b[1] == 'u':
		return number(b[2:6], 16, 6)
	case len(b) >= 4 && b[1] == 'x':
		return number(b[2:4], 16, 4)
	case len(b) >= 4 && isDigit(b[1], 8) && isDigit(b[2], 8) && isDigit(b[3], 8):
		return number(b[1:4], 8, 4)
	case len(b) >= 2 && (b[1] == '-' || b[1] == '/' || b[1] == '\\'):
		return b[1], 2
	}
	return 0, 0
}

func isDigit(c byte, base int) bool { return digit(c) < base }

// digit gives a digit's value; 255 for what is none.
func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 255
}

func number(digits []byte, base, length int) (byte, int) {
	n := 0
	for _, c := range digits {
		if n = n*base + digit(c); !isDigit(c, base) || n > 0xff {
			return 0, 0
		}
	}
	if len(digits) == 0 {
		return 0, 0
	}
	return byte(n), length
}

// undo gives b without the escapes; nil where there are none. It reads b and makes its own bytes; as in scan, the race
// detector leaves it alone.
//
//go:norace
func (u unescape) undo(b []byte) []byte {
	var out []byte // nil until there is an escape
	last := 0
	for i := 0; i < len(b); i++ {
		next := bytes.IndexByte(b[i:], u.mark)
		if next < 0 {
			break
		}
		i += next
		v, n := u.read(b[i:])
		if n == 0 {
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(b))
		}
		out = append(append(out, b[last:i]...), v)
		i += n - 1
		last = i + 1
	}
	if out == nil {
		return nil
	}
	return append(out, b[last:]...)
}
