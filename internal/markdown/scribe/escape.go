// Text as Markdown: what could be read as markup gets a backslash, ordinary prose gets none.

package scribe

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Classes of bytes in text.
const (
	plain   = iota // copied as it is, wherever it stands
	blank          // HTML white space
	mark           // may be markup: escaped by what stands around it
	wide           // may begin a blank, an invisible or a control character
	control        // dropped
)

// class is the class of each byte.
var class = func() (t [256]uint8) {
	for c := range 0x20 {
		t[c] = control
	}
	t[0x7f] = control
	for _, c := range []byte(" \t\n\f\r") {
		t[c] = blank
	}
	for _, c := range []byte("\\`*_[](<&~|:^") {
		t[c] = mark
	}
	for _, c := range []byte{0xC2, 0xE2, 0xE3, 0xEF} {
		t[c] = wide
	}
	return t
}()

// Text writes text: white space collapsed, what cannot be seen left out, and nothing of it read as markup. It is one
// piece: what follows may go on with the same word.
func (w *Writer) Text(s string) {
	w.runFrom = 0 // of another text
	w.breakMailbox(s)
	for i := 0; i < len(s); {
		switch class[s[i]] {
		case blank:
			i = w.blanks(s, i)
		case control:
			i++
		case wide:
			n, what := wideChar(s[i:])
			switch what {
			case blank:
				w.space = true
			case plain:
				w.word(s[i:], s[i:i+n])
			}
			i += n
		case mark:
			if w.steps++; w.steps%128 == 0 { // a long text of nothing but marks is work, too
				if w.err = w.ctx.Err(); w.err != nil {
					return
				}
			}
			w.ready()
			if n := w.lineStarts(s[i:]); n > 0 {
				i += n
				continue
			}
			i += w.markup(s[i:])
		default:
			j := i + 1
			for j < len(s) && (class[s[j]] == plain || s[j] == ' ' && j+1 < len(s) && class[s[j+1]] == plain) {
				j++
			}
			w.word(s[i:], s[i:j])
			i = j
		}
	}
}

// word writes a piece of text that needs no escape unless it stands at the start of a line. rest is the node's text
// from there on.
func (w *Writer) word(rest, word string) {
	w.ready()
	if w.markHere() {
		w.breakAddress()
	}
	word = word[w.lineStarts(rest):]
	if w.math && strings.IndexByte(word, '$') >= 0 {
		word = strings.ReplaceAll(word, "$", `\$`)
	}
	w.out = append(w.out, word...)
}

// blanks collapses the white space at s[i:] and answers where it ends.
func (w *Writer) blanks(s string, i int) int {
	j, feed := i, false
	for j < len(s) && class[s[j]] == blank {
		feed = feed || s[j] == '\n'
		j++
	}
	if feed && w.keepLines {
		w.LineBreak()
		return j
	}
	w.space = true
	return j
}

// wideChar is the length and class of the character at the start of s, whose lead byte is of class wide.
func wideChar(s string) (int, uint8) {
	if len(s) < 2 || utf8.RuneStart(s[1]) {
		return 1, plain // broken: the end makes it the replacement character
	}
	if s[0] == 0xC2 {
		switch {
		case s[1] == 0xA0:
			return 2, blank
		case s[1] == 0xAD, s[1] < 0xA0:
			return 2, control // soft hyphen, C1 controls
		}
		return 2, plain
	}
	if len(s) < 3 || utf8.RuneStart(s[2]) {
		return 1, plain
	}
	switch c := uint32(s[0])<<16 | uint32(s[1])<<8 | uint32(s[2]); {
	case c >= 0xE28080 && c <= 0xE2808A, c == 0xE280A8, c == 0xE280A9, c == 0xE280AF, c == 0xE2819F, c == 0xE38080:
		return 3, blank
	case c == 0xE2808B, c == 0xE281A0, c == 0xEFBBBF:
		return 3, control // zero-width space, word joiner, byte-order mark
	}
	return 3, plain
}

// unseen says that s, which is not empty, begins with a character that is left out.
func unseen(s string) bool {
	if class[s[0]] == wide {
		_, what := wideChar(s)
		return what == control
	}
	return class[s[0]] == control
}

// namesMailbox says that what follows "<" may be a mailbox's name and "@", which would make a link of it.
func namesMailbox(s string) bool {
	n := 0
	for n < len(s) && mailboxByte(s[n]) {
		n++
	}
	return n < len(s) && (s[n] == '@' && n > 0 || unseen(s[n:]))
}

func mailboxByte(c byte) bool {
	return letter(c) || digit(c) || strings.IndexByte(".!#$%&'*+/=?^_`{|}~-", c) >= 0
}

// breakMailbox escapes the "<" before a mailbox's name that a text has begun and the next one, s, goes on with.
func (w *Writer) breakMailbox(s string) {
	if !w.open || w.SpaceDue() {
		return
	}
	n := 0
	for n < len(s) && (mailboxByte(s[n]) || unseen(s[n:])) {
		size := 1
		if class[s[n]] == wide {
			size, _ = wideChar(s[n:])
		}
		n += size
	}
	if n == len(s) || s[n] != '@' {
		return
	}
	const longest = 256 // bytes of a name that is looked through
	for i := len(w.out) - 1; i >= w.lineStart && len(w.out)-i < longest; i-- {
		switch c := w.out[i]; {
		case c == '<' && (i == w.lineStart || w.out[i-1] != '\\'):
			w.insertByte(i, '\\')
			return
		case !mailboxByte(c) && c != '\\':
			return
		}
	}
}

// markup writes the character at the start of s, with a backslash where it could be read as markup, and answers how
// many bytes of s it took.
func (w *Writer) markup(s string) int {
	c := s[0]
	escape := false
	switch c {
	case '`':
		escape = true
	case '\\':
		escape = ends(s, 1) || punctuation(s[1]) // a blank may yet go, and what comes then is not known
	case '*', '_', '~':
		return w.delimiters(s)
	case '[', ']':
		escape = w.inLink || w.links == LinksReferences && c == '[' // else "[1]" would be a reference
	case '(':
		escape = w.last() == ']' // else literal brackets would make a link
	case ':':
		if n := w.bareAddress(s); n > 0 {
			return n
		}
		escape = w.last() == ']' && w.out[w.lineStart] == '[' // else a definition
	case '^':
		escape = w.last() == '['
	case '<':
		escape = len(s) == 1 || letter(s[1]) || s[1] == '/' || s[1] == '!' || s[1] == '?' || namesMailbox(s[1:])
	case '&':
		escape = looksLikeReference(s)
	case '|':
		escape = w.flat == inCell
	}
	if escape {
		w.escaped(c)
	} else {
		w.out = append(w.out, c)
	}
	return 1
}

// escaped writes a character that is not to be read as markup.
func (w *Writer) escaped(c byte) {
	w.breakAddress()
	w.out = append(w.out, '\\', c)
}

// delimiters writes a run of *, _ or ~ : bare where CommonMark's flanking rules let it neither open nor close.
func (w *Writer) delimiters(s string) int {
	n := run(s, s[0])
	before, after := w.lastRune(), rune(-1) // -1: the next node decides
	if n < len(s) && class[s[n]] != control && (class[s[n]] != wide || !ends(s, n)) {
		after, _ = utf8.DecodeRuneInString(s[n:])
	}
	free := spaceRune(before) && after >= 0 && spaceRune(after)
	switch s[0] {
	case '*':
		// The blank after it stays a blank only if more text follows; else it may yet go, and a mark or a break come.
		free = free && !w.keepLines && !w.markHere() && goesOn(s, n)
	case '_':
		free = free || after >= 0 && wordRune(before) && wordRune(after)
	case '~':
		// A lone tilde before a word can only open, and nothing of ours closes it. Three may begin a fence.
		free = n == 1 && after >= 0 && spaceRune(before) && !w.live[del] && !w.markHere()
	}
	if !free {
		w.breakAddress()
	}
	for range n {
		if !free {
			w.out = append(w.out, '\\')
		}
		w.out = append(w.out, s[0])
	}
	return n
}

// goesOn says that a visible character stands in s after n bytes and blanks.
func goesOn(s string, n int) bool {
	for n < len(s) && ends(s, n) {
		if class[s[n]] == wide {
			size, _ := wideChar(s[n:])
			n += size
		} else {
			n++
		}
	}
	return n < len(s)
}

// markHere says that an emphasis mark will stand right before what comes.
func (w *Writer) markHere() bool {
	return len(w.marks) > 0 && w.marks[len(w.marks)-1].at == len(w.out)
}

// looksLikeReference says that s, which begins with &, begins with a character reference, or that it may with what
// follows it.
func looksLikeReference(s string) bool {
	n := referenceLength(s)
	return s[n-1] != ';' && (n == len(s) || unseen(s[n:])) || isReference(s[:n])
}

// isReference says that s is a character reference.
func isReference(s string) bool {
	return len(s) > 2 && s[len(s)-1] == ';' && html.UnescapeString(s) != s
}

// referenceLength is how many bytes of s, which begins with &, are a reference if it is one.
func referenceLength(s string) int {
	const longest = 40 // no name is longer
	i := 1
	if i < len(s) && s[i] == '#' {
		i++
	}
	for i < len(s) && i < longest && (letter(s[i]) || digit(s[i])) {
		i++
	}
	if i < len(s) && s[i] == ';' {
		i++
	}
	return i
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

func punctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// last is the last byte of the current line, a blank at its start.
func (w *Writer) last() byte {
	if len(w.out) <= w.lineStart {
		return ' '
	}
	return w.out[len(w.out)-1]
}

// lastRune is the last character of the current line, a blank at its start.
func (w *Writer) lastRune() rune {
	if len(w.out) <= w.lineStart {
		return ' '
	}
	c, _ := utf8.DecodeLastRune(w.out[w.lineStart:])
	return c
}

func spaceRune(c rune) bool {
	return c == ' ' || c == '\n' || c == '\t' || c > 0x7f && unicode.IsSpace(c)
}

func punctRune(c rune) bool {
	if c < 0x80 {
		return punctuation(byte(c))
	}
	return unicode.IsPunct(c) || unicode.IsSymbol(c)
}

// strictPunct is punctRune by the rules before CommonMark 0.31, for which other symbols than ASCII's are letters.
func strictPunct(c rune) bool {
	if c < 0x80 {
		return punctuation(byte(c))
	}
	return unicode.IsPunct(c)
}

func wordRune(c rune) bool { return !spaceRune(c) && !punctRune(c) }

// AppendVisible appends text as code shows it: no-break spaces are blanks, what cannot be seen is left out, line feeds
// and tabs stay.
func AppendVisible(out []byte, s string) []byte {
	for i := 0; i < len(s); {
		switch k := class[s[i]]; {
		case k == control, s[i] == '\r', s[i] == '\f':
			i++
		case k == wide:
			n, what := wideChar(s[i:])
			if what == blank {
				out = append(out, ' ')
			} else if what == plain {
				out = append(out, s[i:i+n]...)
			}
			i += n
		default:
			j := i + 1
			for j < len(s) && class[s[j]] != control && class[s[j]] != wide && s[j] != '\r' && s[j] != '\f' {
				j++
			}
			out = append(out, s[i:j]...)
			i = j
		}
	}
	return out
}
