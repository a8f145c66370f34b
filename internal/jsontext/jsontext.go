// Package jsontext lays JSON out for reading.
//
// The one rule: every token stands in the result as it was written, and the result stays in proportion to the source,
// whatever its depth.
package jsontext

import "strings"

const (
	indentWidth = 2
	// Indentation grows with the square of the depth: 18 kB nested 9,000 deep would take 160 MB. Where the text would
	// be longer than maxGrowth times the source and growthSlack bytes, its lines are not indented at all; then it is at
	// most twice as long. Ordinary JSON stays far below: a list of digits six levels deep takes 7.5.
	maxGrowth   = 8
	growthSlack = 64 << 10
)

// Indent lays strict JSON (RFC 8259) out with two spaces a level, every token as written: numbers keep their digits,
// objects their order and repeated keys. {} and [] stay on one line. ok is false, and the text empty, for anything that
// is not one JSON value; such a body is read as text. Depth is not bounded; time and memory are linear in src.
func Indent(src string) (text string, ok bool) {
	c := check{src: src}
	if !c.document() {
		return "", false
	}
	size := c.size + c.indents*indentWidth
	width := indentWidth
	if size > maxGrowth*len(src)+growthSlack {
		size, width = c.size, 0
	}
	return string(appendIndented(make([]byte, 0, size), src, width)), true
}

// check checks src and counts what its layout takes: size without indentation, and the levels of all lines.
type check struct {
	src     string
	i       int
	size    int
	indents int
	depth   int
	objects bitStack // of the open containers, which are objects
}

// document checks the whole of src. Nesting is kept on a stack of bits, not of calls, so that no depth can hurt.
func (c *check) document() bool {
	for {
		// Here a value must begin, or a container that was just opened may end.
		c.space()
		if c.i == len(c.src) {
			return false
		}
		switch b := c.src[c.i]; b {
		case '{', '[':
			c.i++
			c.size++
			c.space()
			if c.i < len(c.src) && c.src[c.i] == b+2 { // the ASCII codes of a bracket and its partner are two apart
				c.i++
				c.size++
				break
			}
			c.depth++
			c.objects.push(b == '{')
			c.line()
			if b == '{' && !c.key() {
				return false
			}
			continue
		default:
			if !c.scalar() {
				return false
			}
		}
		more, ok := c.afterValue()
		if !ok || !more {
			return ok
		}
	}
}

// afterValue reads closing brackets and the comma and key that may follow. more tells whether a value must follow.
func (c *check) afterValue() (more, ok bool) {
	for {
		c.space()
		if c.depth == 0 {
			return false, c.i == len(c.src)
		}
		if c.i == len(c.src) {
			return false, false
		}
		object := c.objects.top()
		b := c.src[c.i]
		c.i++
		c.size++
		switch {
		case b == ',':
			c.line()
			return true, !object || c.key()
		case b == '}' && object, b == ']' && !object:
			c.depth--
			c.objects.pop()
			c.line()
		default:
			return false, false
		}
	}
}

// line counts a line feed and the indentation behind it.
func (c *check) line() {
	c.size++
	c.indents += c.depth
}

// key reads a key and its colon.
func (c *check) key() bool {
	c.space()
	if c.i == len(c.src) || c.src[c.i] != '"' || !c.scalar() {
		return false
	}
	c.space()
	if c.i == len(c.src) || c.src[c.i] != ':' {
		return false
	}
	c.i++
	c.size += len(": ")
	return true
}

func (c *check) space() {
	for c.i < len(c.src) && isSpace(c.src[c.i]) {
		c.i++
	}
}

// scalar reads a string, number or word.
func (c *check) scalar() bool {
	rest := c.src[c.i:]
	var n int
	switch b := rest[0]; {
	case b == '"':
		n = stringLen(rest)
	case b == '-' || isDigit(b):
		n = numberLen(rest)
	case strings.HasPrefix(rest, "true") || strings.HasPrefix(rest, "null"):
		n = 4
	case strings.HasPrefix(rest, "false"):
		n = 5
	}
	c.i += n
	c.size += n
	return n > 0
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// stringLen gives the length of the string that s begins with, its quotes included; 0 where it is none.
func stringLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch b := s[i]; {
		case b == '"':
			return i + 1
		case b < ' ':
			return 0
		case b == '\\':
			i++
			if i == len(s) {
				return 0
			}
			switch s[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if len(s)-i < 5 || !isHex4(s[i+1:i+5]) {
					return 0
				}
				i += 4
			default:
				return 0
			}
		}
	}
	return 0
}

func isHex4(s string) bool {
	for i := range len(s) {
		if b := s[i] | 0x20; !isDigit(s[i]) && (b < 'a' || 'f' < b) {
			return false
		}
	}
	return true
}

// numberLen gives the length of the number that s begins with; 0 where it is none.
func numberLen(s string) int {
	i := 0
	if s[0] == '-' {
		i++
	}
	digits := func() bool {
		start := i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		return i > start
	}
	switch {
	case i < len(s) && s[i] == '0':
		i++
	case !digits():
		return 0
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return 0
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}

// bitStack is a stack of claims, a bit each.
type bitStack struct {
	words []uint64
	n     int
}

func (s *bitStack) push(claim bool) {
	if s.n == len(s.words)*64 {
		s.words = append(s.words, 0)
	}
	word, bit := &s.words[s.n/64], uint64(1)<<(s.n%64)
	*word &^= bit
	if claim {
		*word |= bit
	}
	s.n++
}

func (s *bitStack) pop() { s.n-- }

func (s *bitStack) top() bool { return s.words[(s.n-1)/64]>>((s.n-1)%64)&1 == 1 }

// appendIndented lays out source that was checked, with width spaces a level.
func appendIndented(out []byte, src string, width int) []byte {
	indent := 0
	for i := 0; i < len(src); {
		switch b := src[i]; b {
		case ' ', '\n', '\t', '\r':
			i++
		case '{', '[':
			i++
			for isSpace(src[i]) {
				i++
			}
			if src[i] == b+2 {
				out = append(out, b, b+2)
				i++
				continue
			}
			indent += width
			out = appendLine(append(out, b), indent)
		case '}', ']':
			i++
			indent -= width
			out = append(appendLine(out, indent), b)
		case ',':
			i++
			out = appendLine(append(out, b), indent)
		case ':':
			i++
			out = append(out, ": "...)
		default:
			n := checkedScalarLen(src[i:])
			out = append(out, src[i:i+n]...)
			i += n
		}
	}
	return out
}

// checkedScalarLen gives the length of the string, number or word that s, which was checked, begins with.
func checkedScalarLen(s string) int {
	i := 1
	if s[0] == '"' {
		for ; s[i] != '"'; i++ {
			if s[i] == '\\' {
				i++
			}
		}
		return i + 1
	}
	for i < len(s) && (s[i] > ',' || s[i] == '+') && s[i] != ']' && s[i] != '}' {
		i++
	}
	return i
}

// appendLine begins a line with indent spaces.
func appendLine(out []byte, indent int) []byte {
	const blanks = "                                                                "
	out = append(out, '\n')
	for ; indent > len(blanks); indent -= len(blanks) {
		out = append(out, blanks...)
	}
	return append(out, blanks[:indent]...)
}
