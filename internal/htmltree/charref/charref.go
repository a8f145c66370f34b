// Package charref resolves character references as the HTML standard does. The common ones are answered without a look
// into the table of names.
package charref

import (
	"strings"

	"golang.org/x/net/html"
)

// Text resolves the references in text.
func Text(s string) string { return resolve(s, false) }

// Attribute resolves those in an attribute's value, where one without a semicolon counts only if neither a letter, a
// digit nor an equals sign follows.
func Attribute(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	return resolve(s, true)
}

// resolve puts what character references stand for in their place.
func resolve(s string, attribute bool) string {
	b := make([]byte, 0, len(s))
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			return string(append(b, s...))
		}
		b = append(b, s[:i]...)
		s = s[i:]
		n := referenceLength(s)
		b = append(b, reference(s[:n], s[n:], attribute)...)
		s = s[n:]
	}
}

// referenceLength is how many bytes of s, which begins with &, may be a reference.
func referenceLength(s string) int {
	const longest = 40 // no name is longer
	i := 1
	if i < len(s) && s[i] == '#' {
		for i++; i < len(s) && isAlphanumeric(s[i]); i++ {
		}
	} else {
		for i < len(s) && i < longest && isAlphanumeric(s[i]) {
			i++
		}
	}
	if i < len(s) && s[i] == ';' {
		i++
	}
	return i
}

func isAlphanumeric(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

// reference is what one reference stands for, or the reference itself.
func reference(ref, rest string, attribute bool) string {
	switch ref {
	case "&":
		return ref
	case "&amp;":
		return "&"
	case "&lt;":
		return "<"
	case "&gt;":
		return ">"
	case "&quot;", "&#34;":
		return `"`
	case "&nbsp;", "&#160;":
		return "\u00a0"
	case "&#39;", "&#x27;", "&#039;", "&apos;":
		return "'"
	}
	text := html.UnescapeString(ref)
	if attribute && ref[1] != '#' && !whole(ref, text, rest) {
		return ref
	}
	return text
}

// whole says that ref as a whole is the name of text, and not only its beginning. The names that need no semicolon
// stand for no letter, digit or semicolon: one at the end is the source's own.
func whole(ref, text, rest string) bool {
	last := text[len(text)-1]
	if ref[len(ref)-1] == ';' {
		return last != ';' || len(text) == 1
	}
	return !isAlphanumeric(last) && !strings.HasPrefix(rest, "=")
}
