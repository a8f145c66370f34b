// Tags and declarations: the part of the standard's tokenizer that stands between angle brackets.

package htmltree

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/htmltree/charref"
	"github.com/wayleave/wayleave/internal/htmltree/declaration"
)

// tag is a start or end tag.
type tag struct {
	name        string // lower case
	atom        atom.Atom
	attrs       []html.Attribute // valid until the next tag is read
	selfClosing bool
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\f' }

// readTag reads a tag whose name begins at pos; false if the source ends within it, which makes no tag.
func (p *parser) readTag(attributes bool) bool {
	src, i := p.src, p.pos
	for i < len(src) && !isSpace(src[i]) && src[i] != '/' && src[i] != '>' {
		i++
	}
	p.tag.atom, p.tag.name = p.tagName(src[p.pos:i])
	p.tag.attrs = p.tag.attrs[:0]
	p.tag.selfClosing = false
	for i < len(src) {
		switch c := src[i]; {
		case isSpace(c):
			i++
		case c == '>':
			p.pos = i + 1
			return true
		case c == '/':
			i++
			p.tag.selfClosing = i < len(src) && src[i] == '>'
		default:
			i = p.readAttribute(i, attributes)
		}
	}
	p.pos = len(src)
	return false
}

// tagName is the name in lower case, and its atom if it is a common one.
func (p *parser) tagName(raw string) (atom.Atom, string) {
	const longest = 24 // no atom is longer
	if len(raw) <= longest {
		var lower [longest]byte
		for i := range len(raw) {
			c := raw[i]
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			lower[i] = c
		}
		if a := atom.Lookup(lower[:len(raw)]); a != 0 {
			return a, a.String()
		}
	}
	return 0, p.withoutNUL(lowerCase(raw))
}

// lowerCase folds ASCII letters; a name without capitals comes back as it is.
func lowerCase(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}

// withoutNUL puts the replacement character in place of NUL bytes.
func (p *parser) withoutNUL(s string) string {
	if p.nul && strings.IndexByte(s, 0) >= 0 {
		return strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}

// readAttribute reads the attribute at offset i and answers where it ends. A name that the tag already has is dropped.
func (p *parser) readAttribute(i int, keep bool) int {
	src, start := p.src, i
	i++ // an equals sign may begin a name
	for i < len(src) && !isSpace(src[i]) && src[i] != '/' && src[i] != '>' && src[i] != '=' {
		i++
	}
	name, value := src[start:i], ""
	for i < len(src) && isSpace(src[i]) {
		i++
	}
	if i < len(src) && src[i] == '=' {
		value, i = p.attributeValue(i + 1)
	}
	if !keep || i >= len(src) || len(p.tag.attrs) == maxAttributes {
		return i
	}
	name = p.withoutNUL(lowerCase(name))
	for k := range p.tag.attrs {
		if p.tag.attrs[k].Key == name {
			return i
		}
	}
	p.tag.attrs = append(p.tag.attrs, html.Attribute{Key: name, Val: p.withoutNUL(charref.Attribute(value))})
	return i
}

// attributeValue is the value that begins at offset i, blanks before it skipped, and where it ends.
func (p *parser) attributeValue(i int) (string, int) {
	src := p.src
	for i < len(src) && isSpace(src[i]) {
		i++
	}
	if i == len(src) || src[i] == '>' {
		return "", i
	}
	start := i
	if quote := src[i]; quote == '"' || quote == '\'' {
		start++
		end := strings.IndexByte(src[start:], quote)
		if end < 0 {
			return "", len(src)
		}
		return src[start : start+end], start + end + 1
	}
	for i < len(src) && !isSpace(src[i]) && src[i] != '>' {
		i++
	}
	return src[start:i], i
}

// declaration reads what begins with "<!": pos is at the exclamation mark. Comments leave nothing, a doctype only says
// which rules hold, and a CDATA section in foreign content is text.
func (p *parser) declaration() {
	rest := p.src[p.pos+1:]
	switch {
	case strings.HasPrefix(rest, "--"):
		start := p.pos + len("!--")
		p.pos = declaration.CommentEnd(p.src, start)
		if p.streamed != nil {
			p.flushText()
			p.streamed.Comment(strings.TrimSuffix(p.src[start:p.pos], "-->"), p.top().node)
		}
	case len(rest) >= len("doctype") && strings.EqualFold(rest[:len("doctype")], "doctype"):
		start := p.pos + 1 + len("doctype")
		p.pos = p.after(start, ">")
		p.doctype(p.src[start:p.pos])
	case strings.HasPrefix(rest, "[CDATA[") && p.inForeign():
		start := p.pos + 1 + len("[CDATA[")
		p.pos = p.after(start, "]]>")
		end := p.pos
		if strings.HasSuffix(p.src[start:end], "]]>") {
			end -= len("]]>")
		}
		p.foreignText(p.src[start:end], start)
	default:
		p.pos = p.after(p.pos, ">")
	}
}

// doctype takes from a doctype whether the page is in quirks mode. It counts only at the very start.
func (p *parser) doctype(s string) {
	if p.mode != initial {
		return
	}
	p.mode = beforeHTML
	p.quirks = declaration.Quirks(s)
}
