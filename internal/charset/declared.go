package charset

import (
	"bytes"
	"strings"
)

// prescanBytes is how far into a body a declaration may stand: the HTML Standard's number.
const prescanBytes = 1024

// declared gives the encoding that the body itself declares; "" for none.
func declared(body []byte, markup Markup) string {
	head := body[:min(len(body), prescanBytes)]
	var encoding string
	switch markup {
	case None:
		return ""
	case XML:
		encoding = xmlDeclared(head)
	case XHTML:
		encoding = xmlDeclared(head)
		if encoding == "" {
			encoding = metaDeclared(head)
		}
	case HTML:
		encoding = metaDeclared(head)
		if encoding == "" {
			encoding = xmlDeclared(head)
		}
	}
	return encoding
}

// asDeclared corrects what cannot be: the declaration was read as ASCII, so it does not stand in UTF-16.
func asDeclared(encoding string) string {
	if encoding == utf16leName || encoding == utf16beName {
		return utf8Name
	}
	return encoding
}

// xmlDeclared reads the encoding of an XML declaration, or sees that one is written in UTF-16.
func xmlDeclared(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("<\x00?\x00x\x00")):
		return utf16leName
	case bytes.HasPrefix(head, []byte("\x00<\x00?\x00x")):
		return utf16beName
	}
	rest, ok := bytes.CutPrefix(head, []byte("<?xml"))
	if !ok {
		return ""
	}
	declaration, _, ok := bytes.Cut(rest, []byte(">"))
	if !ok {
		return ""
	}
	_, value, ok := bytes.Cut(declaration, []byte("encoding"))
	if !ok {
		return ""
	}
	value = trimControls(value)
	value, ok = bytes.CutPrefix(value, []byte("="))
	if !ok {
		return ""
	}
	value = trimControls(value)
	if len(value) == 0 || value[0] != '"' && value[0] != '\'' {
		return ""
	}
	label, _, ok := bytes.Cut(value[1:], value[:1])
	if !ok || bytes.ContainsFunc(label, func(r rune) bool { return r <= ' ' }) {
		return ""
	}
	return asDeclared(encodingOf(string(label)))
}

// trimControls drops leading blanks and controls, all of which the HTML Standard skips in a declaration.
func trimControls(p []byte) []byte {
	return bytes.TrimLeftFunc(p, func(r rune) bool { return r <= ' ' })
}

// metaDeclared is the HTML Standard's prescan for meta elements: comments are skipped whole, attributes are read as a
// parser reads them, the first declaration whose label is known counts.
func metaDeclared(head []byte) string {
	s := scan{p: head}
	for !s.done() {
		switch {
		case s.at("<!--"):
			// The dashes of the opening may be those of the end: <!--> is a whole comment.
			s.i += len("<!")
			s.skipPast("-->")
		case s.atMeta():
			s.i += len("<meta")
			if encoding := s.meta(); encoding != "" {
				return encoding
			}
			s.i++
		case s.atTag():
			s.skipTo("\t\n\f\r >")
			for _, ok := s.attribute(); ok; _, ok = s.attribute() {
			}
			s.i++
		case s.at("<!"), s.at("</"), s.at("<?"):
			s.skipPast(">")
		default:
			s.i++
		}
	}
	return ""
}

// scan is a place in the head of a body. Running out of bytes ends the prescan wherever it happens, so every reader
// leaves i at the end then.
type scan struct {
	p []byte
	i int
}

func (s *scan) done() bool { return s.i >= len(s.p) }

func (s *scan) at(prefix string) bool { return bytes.HasPrefix(s.p[s.i:], []byte(prefix)) }

func (s *scan) atMeta() bool {
	const size = len("<meta")
	rest := s.p[s.i:]
	return len(rest) > size && bytes.EqualFold(rest[:size], []byte("<meta")) && (isSpace(rest[size]) || rest[size] == '/')
}

func (s *scan) atTag() bool {
	rest := s.p[s.i:]
	if len(rest) < 2 || rest[0] != '<' {
		return false
	}
	return isLetter(rest[1]) || rest[1] == '/' && len(rest) > 2 && isLetter(rest[2])
}

func (s *scan) skipPast(end string) {
	n := bytes.Index(s.p[s.i:], []byte(end))
	if n < 0 {
		s.i = len(s.p)
		return
	}
	s.i += n + len(end)
}

func (s *scan) skipTo(chars string) {
	n := bytes.IndexAny(s.p[s.i:], chars)
	if n < 0 {
		n = len(s.p) - s.i
	}
	s.i += n
}

func (s *scan) skipWhile(skip func(byte) bool) {
	for !s.done() && skip(s.p[s.i]) {
		s.i++
	}
}

// meta reads the attributes of a meta element and gives the encoding that it declares; "" for none.
func (s *scan) meta() string {
	var encoding string
	var pragma, found, needPragma bool
	seen := map[string]bool{}
	for {
		a, ok := s.attribute()
		if !ok {
			break
		}
		if seen[a.name] {
			continue
		}
		seen[a.name] = true
		switch a.name {
		case "http-equiv":
			pragma = pragma || a.value == "content-type"
		case "content":
			if inContent := encodingInContent(a.value); !found && inContent != "" {
				encoding, found, needPragma = inContent, true, true
			}
		case "charset":
			encoding, found, needPragma = encodingOf(a.value), true, false
		}
	}
	switch {
	case s.done() || !found || needPragma && !pragma:
		return ""
	case encoding == "x-user-defined":
		return "windows-1252"
	}
	return asDeclared(encoding)
}

// attribute is one attribute with its name and value in lower case.
type attribute struct{ name, value string }

// attribute reads the next attribute of a tag. ok is false at the end of the tag, where i stays at its ">", and at the
// end of the bytes.
func (s *scan) attribute() (a attribute, ok bool) {
	s.skipWhile(func(b byte) bool { return isSpace(b) || b == '/' })
	if s.done() || s.p[s.i] == '>' {
		return attribute{}, false
	}
	start := s.i
	s.i++ // a name may begin with "="
	s.skipTo("\t\n\f\r />=")
	name := asciiLower(string(s.p[start:s.i]))
	s.skipWhile(isSpace)
	if s.done() {
		return attribute{}, false
	}
	if s.p[s.i] != '=' {
		return attribute{name: name}, true
	}
	s.i++
	value, ok := s.value()
	return attribute{name: name, value: asciiLower(value)}, ok
}

func (s *scan) value() (value string, ok bool) {
	s.skipWhile(isSpace)
	if s.done() {
		return "", false
	}
	quote := s.p[s.i]
	if quote != '"' && quote != '\'' {
		start := s.i
		s.skipTo("\t\n\f\r >")
		return string(s.p[start:s.i]), !s.done()
	}
	s.i++
	start := s.i
	s.skipTo(string(quote))
	if s.done() {
		return "", false
	}
	s.i++
	return string(s.p[start : s.i-1]), true
}

// encodingInContent finds the charset in the value of a content attribute, which is in lower case.
func encodingInContent(content string) string {
	for {
		_, rest, ok := strings.Cut(content, "charset")
		if !ok {
			return ""
		}
		rest = strings.TrimLeft(rest, spaces)
		value, ok := strings.CutPrefix(rest, "=")
		if !ok {
			content = rest
			continue
		}
		value = strings.TrimLeft(value, spaces)
		if value == "" {
			return ""
		}
		if value[0] == '"' || value[0] == '\'' {
			label, _, ok := strings.Cut(value[1:], value[:1])
			if !ok {
				return ""
			}
			return encodingOf(label)
		}
		if end := strings.IndexAny(value, spaces+";"); end >= 0 {
			value = value[:end]
		}
		return encodingOf(value)
	}
}

// spaces are HTML's white space.
const spaces = "\t\n\f\r "

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\f' || b == '\r' }

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
