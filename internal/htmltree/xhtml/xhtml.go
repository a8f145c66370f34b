// Package xhtml spells XHTML as HTML does, for a parser of HTML: elements that close themselves get an end tag, marked sections
// become text.
//
// The one rule: the spelling changes and no text does. What is no XML comes out as it is, or nearly; nothing is an error, and what comes
// out is at most five times as long, which a section of nothing but ampersands is.
package xhtml

import "strings"

// AsHTML gives src as HTML would have it.
func AsHTML(src string) string {
	if !strings.Contains(src, "/>") && !strings.Contains(src, section) {
		return src
	}
	var b strings.Builder
	b.Grow(len(src) + len(src)/16)
	for src != "" {
		i := strings.IndexByte(src, '<')
		if i < 0 {
			i = len(src)
		}
		b.WriteString(src[:i])
		if src = src[i:]; src == "" {
			break
		}
		src = src[markup(&b, src):]
	}
	return b.String()
}

const section = "<![CDATA["

// markup writes what begins with "<" at the begin of src, and answers where it ends.
func markup(b *strings.Builder, src string) int {
	switch {
	case strings.HasPrefix(src, section):
		end := after(src, "]]>")
		text := strings.TrimSuffix(src[len(section):end], "]]>")
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(text, "&", "&amp;"), "<", "&lt;"))
		return end
	case strings.HasPrefix(src, "<!--"):
		end := after(src, "-->")
		b.WriteString(src[:end])
		return end
	case strings.HasPrefix(src, "<?"):
		return after(src, "?>")
	case strings.HasPrefix(src, "<!"):
		end := after(src, ">")
		if inner := strings.IndexByte(src[:end], '['); inner >= 0 { // declarations within it
			end = after(src, "]>")
			b.WriteString(src[:inner] + ">")
			return end
		}
		b.WriteString(src[:end])
		return end
	}
	return element(b, src)
}

// element writes a tag, and with it what is no markup for HTML.
func element(b *strings.Builder, src string) int {
	name := nameOf(src[1:])
	end := tagEnd(src)
	switch {
	case name == "":
		b.WriteByte('<')
		if strings.HasPrefix(src, "</") {
			b.WriteByte('/')
			return 2
		}
		return 1
	case end < 0:
		b.WriteString(src)
		return len(src)
	case src[end-2] == '/' && !void(name):
		b.WriteString(src[:end-2] + "></" + name + ">")
		return end
	}
	b.WriteString(src[:end])
	if lower := strings.ToLower(name); src[end-2] != '/' && (lower == "script" || lower == "style") {
		close := strings.Index(src[end:], "</"+name)
		if close < 0 {
			close = len(src) - end
		}
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(src[end:end+close], section, ""), "]]>", ""))
		end += close
	}
	return end
}

// after is where the next s of src ends, the end of src where there is none.
func after(src, s string) int {
	if i := strings.Index(src, s); i >= 0 {
		return i + len(s)
	}
	return len(src)
}

// nameOf is the name of a start tag after its "<"; empty for none.
func nameOf(s string) string {
	if s == "" || (s[0]|0x20 < 'a' || s[0]|0x20 > 'z') && s[0] != '_' && s[0] < 0x80 {
		return ""
	}
	if i := strings.IndexAny(s, " \t\n\r\f/>"); i >= 0 {
		return s[:i]
	}
	return s
}

// tagEnd is where a tag ends, after its ">"; values in quotes may have that sign. -1 for a tag without an end.
func tagEnd(src string) int {
	for i := 1; i < len(src); i++ {
		switch c := src[i]; c {
		case '>':
			return i + 1
		case '"', '\'':
			j := strings.IndexByte(src[i+1:], c)
			if j < 0 {
				return -1
			}
			i += 1 + j
		}
	}
	return -1
}

// void tells of elements that have no end tag in HTML.
func void(name string) bool {
	switch strings.ToLower(name) {
	case "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}
