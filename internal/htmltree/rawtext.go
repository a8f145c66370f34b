// Raw text: the content of elements in which tags are text, read in one piece up to the end tag.

package htmltree

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// isRaw says that the content of an HTML element is raw text.
func isRaw(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Title, atom.Textarea, atom.Iframe, atom.Noembed, atom.Noframes, atom.Xmp:
		return true
	}
	return false
}

// rawText reads the content of the raw-text element whose start tag was read last, and its end tag. start is where
// the text stands in the source.
func (p *parser) rawText() (text string, start int) {
	start = p.pos
	var end int
	if p.tag.atom == atom.Script {
		end = p.scriptEnd(start)
	} else {
		end = p.rawEnd(start, p.tag.name)
	}
	p.pos = end
	if end < len(p.src) {
		p.pos += len("</")
		p.readTag(false)
	}
	return p.src[start:end], start
}

// rawEnd is the offset of the end tag of this name from offset i, the end of the source if there is none.
func (p *parser) rawEnd(i int, name string) int {
	for {
		j := strings.Index(p.src[i:], "</")
		if j < 0 {
			return len(p.src)
		}
		i += j
		if p.namedAt(i+len("</"), name) {
			return i
		}
		i += len("</")
	}
}

// namedAt says that a tag name, and not merely the beginning of one, stands at offset i.
func (p *parser) namedAt(i int, name string) bool {
	end := i + len(name)
	if end >= len(p.src) || !strings.EqualFold(p.src[i:end], name) {
		return false
	}
	c := p.src[end]
	return isSpace(c) || c == '/' || c == '>'
}

// scriptEnd is rawEnd for scripts, in which an HTML comment hides the end tags of scripts that are opened in it.
func (p *parser) scriptEnd(i int) int {
	const (
		data    = iota
		escaped // within <!-- -->
		double  // and within <script> there
	)
	for state := data; ; {
		marks := "<-"
		if state == data {
			marks = "<"
		}
		j := strings.IndexAny(p.src[i:], marks)
		if j < 0 {
			return len(p.src)
		}
		i += j
		rest := p.src[i:]
		switch {
		case rest[0] == '-':
			if strings.HasPrefix(rest, "-->") {
				state = data
				i += len("-->")
				continue
			}
		case state == data && strings.HasPrefix(rest, "<!--"):
			state = escaped
			i += len("<!--")
			// "<!-->" and "<!--->" are comments of their own.
			if tail := p.src[i:]; strings.HasPrefix(tail, ">") || strings.HasPrefix(tail, "->") {
				state = data
			}
			continue
		case strings.HasPrefix(rest, "</") && p.namedAt(i+len("</"), "script"):
			if state != double {
				return i
			}
			state = escaped
		case state == escaped && p.namedAt(i+1, "script"):
			state = double
		}
		i++
	}
}
