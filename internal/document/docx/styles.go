package docx

import (
	"errors"
	"strings"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// Text is styled by what stands at it, by its style, and by the styles which that is based on.

// onOff is a property that is on, off or not said.
type onOff int8

const (
	unsaid onOff = iota
	on
	off
)

func (o onOff) or(below onOff) onOff {
	if o == unsaid {
		return below
	}
	return o
}

// looks are properties of runs.
type looks struct {
	bold, italic, struck, hidden, webHidden onOff
	raised, lowered                         onOff
	mono                                    onOff  // a font in which code is set
	symbols                                 string // the font, where its characters are signs of its own
	style                                   string
}

// over gives the looks with what is unsaid taken from below.
func (l looks) over(below looks) looks {
	l.bold, l.italic, l.struck = l.bold.or(below.bold), l.italic.or(below.italic), l.struck.or(below.struck)
	l.hidden, l.webHidden = l.hidden.or(below.hidden), l.webHidden.or(below.webHidden)
	l.raised, l.lowered, l.mono = l.raised.or(below.raised), l.lowered.or(below.lowered), l.mono.or(below.mono)
	if l.symbols == "" {
		l.symbols = below.symbols
	}
	return l
}

// purpose is what a paragraph is for, as far as its style's name tells.
type purpose uint8

const (
	ordinary purpose = iota
	heading
	titled
	contents // a line of a table of contents
	code
	quoted
	continued // a further paragraph of an item
)

// style is a style with what it inherits.
type style struct {
	name    string // in lower case
	based   string
	purpose purpose
	level   int // of a heading or a line of contents, from 1
	list    string
	depth   int // level in the list; -1 for unsaid
	nested  int // level of the list that the style's name tells, from 0
	indent  int // on the side where lines begin, in twentieths of a point; -1 for unsaid
	looks   looks
	done    bool
}

type styles struct {
	byID     map[string]*style
	standard string // of paragraphs that name none
	base     looks  // of the whole document
	none     *style // of paragraphs that name none, where there is no such style
}

const noLevel = 10 // outline level of body text, counted from 1

func (r *reader) readStyles() (*styles, error) {
	s := &styles{byID: map[string]*style{}}
	part := r.rels.Part("styles")
	if part == "" || !r.archive.Has(part) {
		return s, nil
	}
	x, err := r.part(part)
	if err != nil {
		return s, err
	}
	err = x.Children(func(name string) error {
		switch name {
		case "docDefaults":
			return x.Children(func(name string) error {
				if name != "rPrDefault" {
					return nil
				}
				return x.Children(func(name string) (err error) {
					if name == "rPr" {
						s.base, err = readLooks(x)
					}
					return err
				})
			})
		case "style":
			return r.readStyle(x, s)
		}
		return nil
	})
	if errors.Is(err, prose.ErrFull) {
		err = nil
	}
	for id := range s.byID {
		s.inherit(id, 0)
	}
	return s, err
}

func (r *reader) readStyle(x *pack.XML, s *styles) error {
	id, kind := x.Attr("styleId"), x.Attr("type")
	if kind == "paragraph" && truth(x.Attr("default")) == on && x.Has("default") {
		s.standard = id
	}
	st := &style{depth: -1, indent: -1}
	level := 0
	err := x.Children(func(name string) (err error) {
		switch name {
		case "name":
			st.name = strings.ToLower(x.Attr("val"))
		case "basedOn":
			st.based = x.Attr("val")
		case "rPr":
			st.looks, err = readLooks(x)
		case "pPr":
			var p properties
			p, err = readProperties(x)
			level, st.list, st.depth, st.indent = p.outline, p.list, p.depth, p.indent
		}
		return err
	})
	if err != nil {
		return err
	}
	if s.byID[id] == nil {
		s.byID[id] = st
	}
	st.purpose, st.level = purposeOf(st.name)
	st.nested = nestedBy(st.name)
	if level != 0 && (st.purpose == ordinary || st.purpose == heading) {
		st.purpose, st.level = heading, level
		if level >= noLevel {
			st.purpose, st.level = ordinary, noLevel
		}
	}
	return r.w.Spend(1)
}

// nestedBy is the level of a list, from 0, that a style's name tells: list bullet 2.
func nestedBy(name string) int {
	for _, kind := range []string{"list bullet ", "list number ", "list "} {
		if rest, ok := strings.CutPrefix(name, kind); ok && len(rest) == 1 && rest[0] >= '2' && rest[0] <= '9' {
			return int(rest[0] - '1')
		}
	}
	return 0
}

// purposeOf tells what a style is for by its name, which is English in every language of Word; other programs have others.
func purposeOf(name string) (purpose, int) {
	if level := prose.HeadingLevel(name); level > 0 {
		return heading, level
	}
	if rest, ok := strings.CutPrefix(name, "toc "); ok && len(rest) == 1 && rest[0] >= '1' && rest[0] <= '9' {
		return contents, int(rest[0] - '0')
	}
	switch name {
	case "title":
		return titled, 1
	case "quote", "intense quote", "block text", "quotations", "block quote", "blockquote":
		return quoted, 0
	case "html preformatted", "source code", "preformatted text", "macro", "macro text", "code", "code block", "plain text code":
		return code, 0
	case "toc heading":
		return ordinary, 0
	case "table of figures", "table of authorities":
		return contents, 1
	}
	if strings.HasPrefix(name, "list continue") {
		return continued, 0
	}
	return ordinary, 0
}

// inherit fills in what a style has of those that it is based on.
func (s *styles) inherit(id string, steps int) *style {
	const most = 32 // Word's own chains have some ten
	st := s.byID[id]
	if st == nil || st.done || steps > most {
		return st
	}
	st.done = true // before its base, so that a circle ends
	base := s.inherit(st.based, steps+1)
	if base == nil || st.based == id {
		return st
	}
	st.looks = st.looks.over(base.looks)
	if st.purpose == ordinary && st.level == 0 {
		st.purpose, st.level = base.purpose, base.level
		switch st.name {
		case "subtitle", "toc heading", "author", "date", "affiliation", "abstract":
			st.purpose, st.level = ordinary, noLevel // they only look like a title or a heading
		}
	}
	if st.indent < 0 {
		st.indent = base.indent
	}
	if st.nested == 0 {
		st.nested = base.nested
	}
	if st.list == "" {
		st.list = base.list
	}
	if st.depth < 0 {
		st.depth = base.depth
	}
	return st
}

// paragraph is the style of a paragraph; never nil.
func (s *styles) paragraph(id string) *style {
	if id == "" {
		id = s.standard
	}
	if st := s.byID[id]; st != nil {
		return st
	}
	if id == "" && s.none != nil {
		return s.none
	}
	// A document may leave out the styles that every Word has.
	st := &style{depth: -1, indent: -1}
	st.purpose, st.level = purposeOf(spacedName(id))
	if id == "" {
		s.none = st
	}
	return st
}

// spacedName makes a style's name of the id that Word gives it: Heading1.
func spacedName(id string) string {
	id = strings.ToLower(id)
	if n := len(id); n > 1 && id[n-1] >= '1' && id[n-1] <= '9' && id[n-2] != ' ' {
		return id[:n-1] + " " + id[n-1:]
	}
	return id
}

func truth(val string) onOff {
	switch val {
	case "0", "false", "off", "none":
		return off
	}
	return on
}

// readLooks reads rPr. What stood there before a tracked change is passed over.
func readLooks(x *pack.XML) (looks, error) {
	var l looks
	position, sized := 0, false
	err := x.Children(func(name string) error {
		switch name {
		case "position":
			position = number(x.Attr("val"), 0)
		case "sz":
			sized = true
		case "b":
			l.bold = truth(x.Attr("val"))
		case "i":
			l.italic = truth(x.Attr("val"))
		case "strike", "dstrike":
			if v := truth(x.Attr("val")); l.struck != on {
				l.struck = v
			}
		case "vanish":
			l.hidden = truth(x.Attr("val"))
		case "webHidden":
			l.webHidden = truth(x.Attr("val"))
		case "vertAlign":
			l.raised, l.lowered = off, off
			switch x.Attr("val") {
			case "superscript":
				l.raised = on
			case "subscript":
				l.lowered = on
			}
		case "rFonts":
			font := x.Attr("ascii")
			if font == "" {
				font = x.Attr("hAnsi")
			}
			if font != "" {
				l.mono = off
				if monospaced(font) {
					l.mono = on
				}
				if prose.SignFont(font) {
					l.symbols = font
				}
			}
		case "rStyle":
			l.style = x.Attr("val")
		}
		return nil
	})
	// Some programs set raised text as small text that is moved, by half points.
	const moved = 2
	if sized && l.raised == unsaid && l.lowered == unsaid {
		switch {
		case position >= moved:
			l.raised = on
		case position <= -moved:
			l.lowered = on
		}
	}
	return l, err
}

// monospaced says that a font is one that people set code in.
func monospaced(font string) bool {
	font = strings.ToLower(font)
	for _, name := range []string{"courier", "consolas", "menlo", "monaco", "lucida console", "lucida sans typewriter", "andale mono", "source code", "fira code", "jetbrains", "inconsolata", "cascadia"} {
		if strings.HasPrefix(font, name) {
			return true
		}
	}
	return strings.HasSuffix(font, " mono") || strings.Contains(font, "sans mono") || font == "monospace"
}

// words is the style of words in a paragraph of this style, and whether nobody sees them.
func (s *styles) words(l looks, in *style) (prose.Style, looks) {
	var below looks
	if st := s.byID[l.style]; st != nil {
		below = st.looks
		if codeStyle(st.name) {
			below.mono = on
		}
	}
	l = l.over(below)
	if l.hidden == unsaid {
		l.hidden = in.looks.hidden.or(s.base.hidden)
	}
	var out prose.Style
	for _, p := range []struct {
		is    onOff
		style prose.Style
	}{{l.bold, prose.Bold}, {l.italic, prose.Italic}, {l.struck, prose.Struck}, {l.raised, prose.Raised}, {l.lowered, prose.Lowered}} {
		if p.is == on {
			out |= p.style
		}
	}
	if l.mono == on && in.looks.mono != on && s.base.mono != on {
		out |= prose.Code
	}
	if l.symbols == "" {
		l.symbols = in.looks.symbols
	}
	return out, l
}

func codeStyle(name string) bool {
	switch name {
	case "html code", "html keyboard", "html sample", "html typewriter", "code char", "verbatim char", "source text", "inline code", "code":
		return true
	}
	return false
}
