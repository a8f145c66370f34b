// Links, images and footnote references: what stands in brackets.

package scribe

import (
	"slices"
	"strconv"
	"strings"
)

// openBracket writes the bracket that begins a link; a literal exclamation mark before it must not make an image of it.
func (w *Writer) openBracket() {
	w.breakAddress()
	if w.last() == '!' && !w.markHere() {
		w.out = append(w.out[:len(w.out)-1], '\\', '!')
	}
	w.out = append(w.out, '[')
}

// closeLink writes the end of a link that began at e.at.
func (w *Writer) closeLink(e *inline) {
	content := w.out[e.at+1:]
	if e.link.Words && w.imageEnd == len(w.out) && len(content) > 1 && content[0] == '!' && content[1] == '[' {
		w.out = slices.Delete(w.out, e.at, e.at+1)
		w.moved(e.at, -1)
		return
	}
	// A block that carried words carried the link; what follows of it is text.
	e.silent = e.link.Words
	if url := e.link.URL; w.textFrom <= e.at && w.autolinks(url, len(content)) && spells(content, url) {
		// An address in angle brackets stands as it is, without escapes.
		by := len(url) - len(content)
		w.out = append(append(w.out[:e.at], '<'), url...)
		w.out = append(w.out, '>')
		w.moved(e.at, by)
		w.looked = min(w.looked, len(w.out))
		w.textFrom = len(w.out)
		return
	}
	if text := string(content); "mailto:"+text == e.link.URL && mailbox(text) {
		w.out[e.at] = '<'
		w.out = append(w.out, '>')
		w.textFrom = len(w.out)
		return
	}
	if len(content) == 1 && content[0]|0x20 == 'x' && e.at == w.leafStart {
		// At the start of an item "[x]" would be a task's box.
		w.out = slices.Replace(w.out, e.at+1, len(w.out), []byte("&#"+strconv.Itoa(int(content[0]))+";")...)
	}
	w.destination(e.link.URL)
}

// autolinks says that <address> reads as a link to it, where the last n bytes are text that may spell it.
func (w *Writer) autolinks(url string, n int) bool {
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return false
	}
	return !w.markWithin(n) && !strings.ContainsAny(url, " <>\\|")
}

// spells says that written text, escapes taken off, is s. What could be read as a character reference is not.
func spells(written []byte, s string) bool {
	i := 0
	for j := 0; j < len(written); j++ {
		if written[j] == '\\' && j+1 < len(written) && punctuation(written[j+1]) {
			if j++; written[j] == '&' {
				return false
			}
		}
		if i == len(s) || s[i] != written[j] {
			return false
		}
		i++
	}
	return i == len(s)
}

// mailbox says that <address> reads as a link to a mailbox.
func mailbox(s string) bool {
	name, host, ok := strings.Cut(s, "@")
	for _, c := range []byte(name + host) {
		if !letter(c) && !digit(c) && c != '.' && c != '-' && c != '+' {
			return false
		}
	}
	return ok && name != "" && host != "" && letter(host[0]) && letter(host[len(host)-1])
}

// destination writes the address of a link or an image and what is around it: nothing in it can end the link or the
// cell.
func (w *Writer) destination(url string) {
	if w.links == LinksReferences {
		n := w.numbers[url]
		if n == 0 {
			w.numbered = append(w.numbered, url)
			n = len(w.numbered)
			w.numbers[url] = n
		}
		w.out = append(strconv.AppendInt(append(w.out, ']', '['), int64(n), 10), ']')
		w.textFrom = len(w.out)
		return
	}
	w.out = append(w.out, ']', '(')
	w.out = appendAddress(w.out, url, w.flat == inCell)
	w.out = append(w.out, ')')
	w.textFrom = len(w.out)
}

// definitions writes what the numbers of links stand for.
func (w *Writer) definitions() {
	for i, url := range w.numbered {
		if i == 0 && len(w.out) > 0 {
			w.out = append(w.out, '\n')
		}
		w.out = append(strconv.AppendInt(append(w.out, '\n', '['), int64(i+1), 10), ']', ':', ' ')
		w.out = appendAddress(w.out, url, false)
	}
	w.numbered = nil
}

// maxNestedParens stays below the depth to which CommonMark parsers count parentheses in a destination (32).
const maxNestedParens = 16

func appendAddress(out []byte, address string, cell bool) []byte {
	depth, deepest, balanced, plain := 0, 0, true, true
	for i := 0; i < len(address); i++ {
		switch c := address[i]; {
		case c == '(':
			depth++
			deepest = max(deepest, depth)
		case c == ')':
			depth--
			balanced = balanced && depth >= 0
		case c <= ' ' || c == '<' || c == '>' || c == '\\' || c == 0x7f || c == '|' || c == '&' || c == '`':
			plain = false
		}
	}
	balanced = balanced && depth == 0 && deepest <= maxNestedParens
	if plain && balanced {
		return append(out, address...)
	}
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(address); i++ {
		switch c := address[i]; {
		case c <= ' ' || c == '<' || c == '>' || c == '\\' || c == 0x7f || c == '|' && cell || c == '`':
			out = append(out, '%', hex[c>>4], hex[c&15])
		case (c == '(' || c == ')') && !balanced, c == '&' && isReference(address[i:i+referenceLength(address[i:])]):
			out = append(out, '\\', c)
		default:
			out = append(out, c)
		}
	}
	return out
}

// Image writes an image and answers the place where it begins.
func (w *Writer) Image(alt, url string) Place {
	if w.links == LinksNone {
		if alt == "" {
			return w.Here()
		}
		start := w.Start()
		w.Text(alt)
		return start
	}
	w.ready()
	w.breakAddress()
	start := w.Here()
	w.out = append(w.out, '!', '[')
	w.alternative(alt)
	w.destination(url)
	w.imageEnd = len(w.out)
	return start
}

// alternative writes an image's alternative text, in which brackets would end it.
func (w *Writer) alternative(alt string) {
	outer, within, waiting := w.leaf, w.inLink, w.waiting
	w.inLink, w.waiting = true, false
	w.lineStart = len(w.out)
	if w.flat == inBlock {
		w.flat = inWords
	}
	w.Text(alt)
	w.leaf, w.inLink, w.waiting = outer, within, waiting
}

// NoteReference writes the reference to a footnote.
func (w *Writer) NoteReference(label string) {
	w.ready()
	w.openBracket()
	w.out = append(w.out, '^')
	w.out = append(w.out, label...)
	w.out = append(w.out, ']')
	w.textFrom = len(w.out)
}

// NoteMarker is what the first line of a footnote begins with, and the others, for Push.
func NoteMarker(label string) (more, first string) { return "    ", "[^" + label + "]: " }
