package pack

// Cutting XML into tokens, as a stream: a part need not be held to be read, and nothing is set aside but the window that the
// present token lies in.

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/wayleave/wayleave/internal/document"
)

const (
	window    = 32 << 10 // bytes that are read at a time
	longText  = 1 << 20  // characters come in pieces of about this many bytes where they are more
	longTag   = 8 << 20  // bytes of one tag; a longer one is refused
	maxTagged = 4096     // names that are kept for the next time they come
)

// scanner cuts a text into tokens.
type scanner struct {
	in    io.Reader // nil once all is in buf
	buf   []byte
	at    int
	end   int // of what is in buf
	fixed bool
	err   error // of in, other than its end

	names map[string]string
	tag   []byte // the present start tag, which its attributes point into
	attrs []attribute
	close bool   // the present start tag is an empty element, so that its end comes next
	last  string // name of the present start tag
	began bool
}

// attribute is one of the present start tag. Its value is in the tag, or decoded already.
type attribute struct {
	prefix, local string
	from, to      int // of the value in the tag
	decoded       string
	done          bool
}

func (s *scanner) value(a *attribute) string {
	if !a.done {
		a.decoded, a.done = string(s.tag[a.from:a.to]), true
	}
	return a.decoded
}

// more reads on; false at the end.
func (s *scanner) more() bool {
	if s.in == nil || s.err != nil {
		return false
	}
	if s.at > 0 {
		copy(s.buf, s.buf[s.at:s.end])
		s.end -= s.at
		s.at = 0
	}
	if len(s.buf)-s.end < window/2 {
		bigger := make([]byte, max(window, 2*len(s.buf)))
		copy(bigger, s.buf[:s.end])
		s.buf = bigger
	}
	for range 100 {
		n, err := s.in.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.in = nil
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
	s.err = io.ErrNoProgress
	return false
}

// left is what has been read and not been cut.
func (s *scanner) left() []byte { return s.buf[s.at:s.end] }

// need makes sure that n bytes are there; false if there are not so many.
func (s *scanner) need(n int) bool {
	for s.end-s.at < n {
		if !s.more() {
			return false
		}
	}
	return true
}

// begin looks at the first bytes, which tell of the encoding.
func (s *scanner) begin() {
	s.began = true
	s.need(4)
	b := s.left()
	switch {
	case bytes.HasPrefix(b, []byte("\xEF\xBB\xBF")):
		s.at += 3
	case bytes.HasPrefix(b, []byte("\xFF\xFE")), bytes.HasPrefix(b, []byte("<\x00")):
		s.decode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM))
	case bytes.HasPrefix(b, []byte("\xFE\xFF")), bytes.HasPrefix(b, []byte("\x00<")):
		s.decode(unicode.UTF16(unicode.BigEndian, unicode.UseBOM))
	}
}

// decode reads what is left by an encoding.
func (s *scanner) decode(e encoding.Encoding) {
	var rest io.Reader = bytes.NewReader(bytes.Clone(s.left()))
	if s.in != nil {
		rest = io.MultiReader(rest, s.in)
	}
	s.in, s.buf, s.at, s.end, s.fixed = e.NewDecoder().Reader(rest), nil, 0, 0, true
}

// fault is why a token cannot be cut.
func (s *scanner) fault(what string) error {
	if s.err != nil {
		return s.err
	}
	return errors.New(what)
}

// find gives the offset of a byte in what is left from an offset on; -1 at the end. At most tells how much may be read for it.
func (s *scanner) find(c byte, from, most int) int {
	for {
		if i := bytes.IndexByte(s.left()[from:], c); i >= 0 {
			return from + i
		}
		from = s.end - s.at
		if from >= most || !s.more() {
			return -1
		}
	}
}

// pass goes behind a mark.
func (s *scanner) pass(mark string) error {
	for {
		if i := bytes.Index(s.left(), []byte(mark)); i >= 0 {
			s.at += i + len(mark)
			return nil
		}
		s.at = max(s.at, s.end-len(mark)+1)
		if !s.more() {
			return s.fault(mark + " is missing")
		}
	}
}

// token cuts the next token. A start has its name and attributes, an end its name, characters their text. It gives io.EOF at the end.
func (s *scanner) token() (kind Kind, name, text string, err error) {
	if !s.began {
		s.begin()
	}
	if s.close {
		s.close = false
		return End, s.last, "", nil
	}
	for {
		if !s.need(1) {
			if s.err != nil {
				return 0, "", "", s.err
			}
			return 0, "", "", io.EOF
		}
		if s.buf[s.at] != '<' {
			text, err := s.characters()
			return Chars, "", text, err
		}
		s.need(9)
		b := s.left()
		switch {
		case len(b) > 1 && b[1] == '/':
			name, err := s.endTag()
			return End, name, "", err
		case bytes.HasPrefix(b, []byte("<![CDATA[")):
			s.at += 9
			text, err := s.raw()
			return Chars, "", text, err
		case bytes.HasPrefix(b, []byte("<!--")):
			s.at += 4
			err = s.pass("-->")
		case len(b) > 1 && b[1] == '!':
			err = s.directive()
		case len(b) > 1 && b[1] == '?':
			err = s.instruction()
		default:
			name, err := s.startTag()
			return Start, name, "", err
		}
		if err != nil {
			return 0, "", "", err
		}
	}
}

// characters cuts a text, up to the next tag.
func (s *scanner) characters() (string, error) {
	end := s.find('<', 0, longText)
	if end < 0 {
		end = s.end - s.at
		if end >= longText { // a piece of it, which cuts neither a character nor a reference
			end = longText
			for n := 0; n < utf8.UTFMax && !utf8.RuneStart(s.buf[s.at+end]); n++ {
				end--
			}
			if i := bytes.LastIndexByte(s.left()[end-32:end], '&'); i >= 0 {
				end += i - 32
			}
		}
	}
	b := s.left()[:end]
	s.at += end
	return decoded(b)
}

// raw cuts what is in CDATA.
func (s *scanner) raw() (string, error) {
	var b strings.Builder
	for {
		i := bytes.Index(s.left(), []byte("]]>"))
		n := i
		if i < 0 {
			n = max(0, s.end-s.at-2)
		}
		b.Write(s.left()[:n])
		s.at += n
		if i >= 0 {
			s.at += 3
			break
		}
		if !s.more() {
			return "", s.fault("]]> is missing")
		}
	}
	if !utf8.ValidString(b.String()) {
		return "", errors.New("no UTF-8")
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(b.String()), nil
}

// decoded makes text of bytes: references are resolved, and lines end as they do everywhere.
func decoded(b []byte) (string, error) {
	if !utf8.Valid(b) {
		return "", errors.New("no UTF-8")
	}
	if bytes.IndexByte(b, '&') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return string(b), nil
	}
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		i := bytes.IndexAny(b, "&\r")
		if i < 0 {
			out = append(out, b...)
			break
		}
		out = append(out, b[:i]...)
		b = b[i:]
		if b[0] == '\r' {
			if len(b) == 1 || b[1] != '\n' {
				out = append(out, '\n')
			}
			b = b[1:]
			continue
		}
		end := bytes.IndexByte(b[:min(len(b), 32)], ';')
		if end < 0 {
			return "", errors.New("a reference without its end")
		}
		c, ok := reference(string(b[1:end]))
		if !ok {
			return "", errors.New("an unknown reference &" + string(b[1:end]) + ";")
		}
		out = utf8.AppendRune(out, c)
		b = b[end+1:]
	}
	return string(out), nil
}

// withBareSigns spells the signs & in a value that begin no reference: some programs write addresses as they are.
func withBareSigns(b []byte) []byte {
	const most = 64 << 10 // bytes, of which no address has more
	if len(b) > most {
		return b
	}
	var out []byte
	from := 0
	for i := range b {
		if b[i] == '&' && !beginsReference(b[i+1:]) {
			out = append(append(out, b[from:i]...), "&amp;"...)
			from = i + 1
		}
	}
	if out == nil {
		return b
	}
	return append(out, b[from:]...)
}

// beginsReference says that a name and a semicolon stand at the start.
func beginsReference(b []byte) bool {
	for i, c := range b[:min(len(b), 32)] {
		switch {
		case c == ';':
			return i > 0
		case c != '#' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z'):
			return false
		}
	}
	return false
}

// reference resolves what stands between & and ; .
func reference(name string) (rune, bool) {
	switch name {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return 0, false
	}
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil {
		return 0, false
	}
	if n == 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return utf8.RuneError, true
	}
	return rune(n), true
}

// endTag cuts </name>.
func (s *scanner) endTag() (string, error) {
	end := s.find('>', 0, longTag)
	if end < 0 {
		return "", s.fault("an end tag without its end")
	}
	_, name, err := s.name(bytes.TrimRight(s.left()[2:end], " \t\r\n"))
	s.at += end + 1
	return name, err
}

// startTag cuts <name attribute="value" …>.
func (s *scanner) startTag() (string, error) {
	// The end is the first > that is in no quotes.
	end := 1
	quote := byte(0)
	for {
		for ; end < s.end-s.at; end++ {
			c := s.buf[s.at+end]
			if quote == 0 && c == '>' {
				break
			}
			switch {
			case quote == c:
				quote = 0
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			}
		}
		if end < s.end-s.at {
			break
		}
		if end >= longTag || !s.more() {
			return "", s.fault("a start tag without its end")
		}
	}
	s.tag = append(s.tag[:0], s.left()[1:end]...)
	s.at += end + 1
	if n := len(s.tag); n > 0 && s.tag[n-1] == '/' {
		s.tag = s.tag[:n-1]
		s.close = true
	}
	if !utf8.Valid(s.tag) {
		return "", errors.New("no UTF-8")
	}
	return s.attributes()
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// attributes reads the present tag.
func (s *scanner) attributes() (string, error) {
	s.attrs = s.attrs[:0]
	tag := s.tag
	i := 0
	for i < len(tag) && !space(tag[i]) {
		i++
	}
	_, name, err := s.name(tag[:i])
	if err != nil {
		return "", err
	}
	s.last = name
	for {
		for i < len(tag) && space(tag[i]) {
			i++
		}
		if i == len(tag) {
			return name, nil
		}
		from := i
		for i < len(tag) && tag[i] != '=' && !space(tag[i]) {
			i++
		}
		prefix, local, err := s.name(tag[from:i])
		if err != nil {
			return "", err
		}
		for i < len(tag) && space(tag[i]) {
			i++
		}
		if i == len(tag) || tag[i] != '=' {
			return "", errors.New("an attribute without a value")
		}
		for i++; i < len(tag) && space(tag[i]); i++ {
		}
		if i == len(tag) || tag[i] != '"' && tag[i] != '\'' {
			return "", errors.New("a value without quotes")
		}
		n := bytes.IndexByte(tag[i+1:], tag[i])
		if n < 0 {
			return "", errors.New("a value without its end")
		}
		a := attribute{prefix: prefix, local: local, from: i + 1, to: i + 1 + n}
		if value := tag[a.from:a.to]; bytes.IndexByte(value, '&') >= 0 || bytes.IndexByte(value, '\r') >= 0 {
			if a.decoded, err = decoded(withBareSigns(value)); err != nil {
				return "", err
			}
			a.done = true
		}
		s.attrs = append(s.attrs, a)
		i = a.to + 1
	}
}

// name parts a name at its colon.
func (s *scanner) name(b []byte) (prefix, local string, err error) {
	if len(b) == 0 || bytes.IndexByte(b, '<') >= 0 {
		return "", "", errors.New("no name")
	}
	if c := b[0]; c < 'A' && c != ':' || c > 'Z' && c < '_' || c == '`' || c > 'z' && c < 0x80 {
		return "", "", errors.New("no name")
	}
	if i := bytes.IndexByte(b, ':'); i > 0 && i < len(b)-1 {
		return s.kept(b[:i]), s.kept(b[i+1:]), nil
	}
	return "", s.kept(b), nil
}

// kept gives a name as a string, the same one each time it comes.
func (s *scanner) kept(b []byte) string {
	if name, ok := s.names[string(b)]; ok {
		return name
	}
	name := string(b)
	if s.names == nil {
		s.names = map[string]string{}
	}
	if len(s.names) < maxTagged && len(b) < 64 {
		s.names[name] = name
	}
	return name
}

// directive passes <!…>, which may hold others; one that declares an entity is refused.
func (s *scanner) directive() error {
	const most = 1 << 16 // bytes, of which no document needs more
	depth, quote := 0, byte(0)
	for i := 0; i < most; i++ {
		if !s.need(i + 1) {
			return s.fault("a directive without its end")
		}
		switch c := s.buf[s.at+i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '<':
			depth++
		case c == '>':
			if depth--; depth == 0 {
				text := bytes.ToUpper(s.left()[:i])
				s.at += i + 1
				if bytes.Contains(text, []byte("ENTITY")) {
					return document.Fail(document.Entities, "a directive")
				}
				return nil
			}
		}
	}
	return s.fault("a directive without its end")
}

// instruction passes <?…?>; the first may name the encoding of what follows.
func (s *scanner) instruction() error {
	s.need(256)
	head := s.left()
	if end := bytes.Index(head, []byte("?>")); end >= 0 {
		head = head[:end]
	}
	label := ""
	if bytes.HasPrefix(head, []byte("<?xml ")) && !s.fixed {
		label = encodingOf(string(head))
	}
	s.at += 2
	if err := s.pass("?>"); err != nil {
		return err
	}
	if label == "" || strings.EqualFold(label, "utf-8") || strings.EqualFold(label, "us-ascii") {
		return nil
	}
	e, err := htmlindex.Get(label)
	if err != nil {
		return errors.New("an unknown encoding " + strconv.Quote(label))
	}
	s.decode(e)
	return nil
}

// encodingOf gives the encoding that a declaration names; "" for none.
func encodingOf(head string) string {
	_, rest, ok := strings.Cut(head, "encoding")
	rest = strings.TrimLeft(rest, " \t\r\n=")
	if !ok || rest == "" {
		return ""
	}
	label, _, ok := strings.Cut(rest[1:], rest[:1])
	if !ok {
		return ""
	}
	return label
}
