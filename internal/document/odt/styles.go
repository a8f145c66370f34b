package odt

import (
	"errors"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// onOff is a property that is on, off or not said.
type onOff int8

const (
	unsaid onOff = iota
	on
	off
)

func is(yes bool) onOff {
	if yes {
		return on
	}
	return off
}

func (o onOff) or(below onOff) onOff {
	if o == unsaid {
		return below
	}
	return o
}

// purpose is what a paragraph is for, as far as the name of its style or of one above it tells.
type purpose uint8

const (
	ordinary purpose = iota
	titled
	headed   // a heading
	contents // a line of a table of contents
	code
	quoted
)

// style is a style with what it inherits.
type style struct {
	parent                                               string
	bold, italic, struck, raised, lowered, hidden, fixed onOff
	purpose                                              purpose
	level                                                int    // of a heading or a line of contents, from 1
	signs                                                string // the font, where its characters are signs of its own
	done                                                 bool
}

// level is how one level of a list counts.
type level struct {
	bullet  bool
	sign    string // of a bullet, as it is shown; empty for one that shows nothing
	format  string // 1, a, A, i, I or empty
	prefix  string
	suffix  string
	whole   string // with %1% … for the numbers of the levels, in place of the three
	start   int
	display int // how many levels its label shows
}

const levels = 10

// listStyle is how a list counts.
type listStyle [levels]level

// styles are those of paragraphs and of text, by family and name, and those of lists.
type styles struct {
	byName  map[string]*style
	lists   map[string]*listStyle
	fonts   map[string]string // the families of fonts that have names of their own
	outline listStyle         // of headings
}

func newStyles() styles {
	return styles{byName: map[string]*style{}, lists: map[string]*listStyle{}, fonts: map[string]string{}}
}

func (r *reader) readStyles(x *pack.XML) error {
	err := x.Children(func(name string) error {
		switch name {
		case "style", "default-style":
			return r.readStyle(x)
		case "list-style":
			id := x.Attr("name")
			l, err := r.readListStyle(x)
			if r.styles.lists[id] == nil {
				r.styles.lists[id] = l
			}
			return errors.Join(err, r.w.Spend(levels))
		case "outline-style":
			l, err := r.readListStyle(x)
			r.styles.outline = *l
			return err
		}
		return nil
	})
	if errors.Is(err, prose.ErrFull) {
		return nil
	}
	return err
}

func (r *reader) readStyle(x *pack.XML) error {
	family, name, display := x.Attr("family"), x.Attr("name"), x.Attr("display-name")
	if family != "paragraph" && family != "text" || name == "" {
		return nil
	}
	s := &style{parent: x.Attr("parent-style-name")}
	if display == "" {
		display = strings.ReplaceAll(name, "_20_", " ")
	}
	s.purpose, s.level = purposeOf(display)
	if n := number(x.Attr("default-outline-level"), 0); n > 0 && family == "paragraph" {
		s.purpose, s.level = headed, n
	}
	err := x.Children(func(name string) error {
		if name != "text-properties" {
			return nil
		}
		if v := x.Attr("font-weight"); v != "" {
			n, err := strconv.Atoi(v)
			s.bold = is(v == "bold" || v == "bolder" || err == nil && n >= 600)
		}
		if v := x.Attr("font-style"); v != "" {
			s.italic = is(v == "italic" || v == "oblique")
		}
		if v := x.Attr("text-line-through-style"); v != "" {
			s.struck = is(v != "none")
		} else if v := x.Attr("text-line-through-type"); v != "" {
			s.struck = is(v != "none")
		}
		if v := x.Attr("text-position"); v != "" {
			s.raised, s.lowered = off, off
			shift, _, _ := strings.Cut(v, " ")
			n, err := strconv.ParseFloat(strings.TrimSuffix(shift, "%"), 64)
			switch {
			case shift == "super" || err == nil && n > 0:
				s.raised = on
			case shift == "sub" || err == nil && n < 0:
				s.lowered = on
			}
		}
		if v := x.Attr("display"); v != "" {
			s.hidden = is(v == "none")
		}
		if font := r.font(x); font != "" {
			s.fixed = is(monospaced(font))
			if prose.SignFont(font) {
				s.signs = font
			}
		}
		return nil
	})
	if name == "Source_20_Text" || display == "Source Text" {
		s.fixed = on
	}
	if key := family + " " + name; r.styles.byName[key] == nil {
		r.styles.byName[key] = s
	}
	return errors.Join(err, r.w.Spend(1))
}

// font is the family of the font that the properties of the element that started name; empty for none.
func (r *reader) font(x *pack.XML) string {
	font := x.Attr("font-name")
	if family := r.styles.fonts[font]; family != "" {
		font = family
	}
	if font == "" {
		font = x.Attr("font-family")
	}
	return strings.Trim(font, `'"`)
}

// readFonts reads the fonts that have names of their own.
func (r *reader) readFonts(x *pack.XML) error {
	return x.Children(func(name string) error {
		if family := x.Attr("font-family"); name == "font-face" && family != "" {
			r.styles.fonts[x.Attr("name")] = strings.Trim(family, `'"`)
			if len(r.styles.fonts) > maxFonts {
				return prose.ErrFull
			}
		}
		return nil
	})
}

// maxFonts is how many fonts a document may name.
const maxFonts = 10_000

func purposeOf(name string) (purpose, int) {
	if level := prose.HeadingLevel(strings.ToLower(name)); level > 0 {
		return headed, level
	}
	for _, index := range []string{"Contents ", "Illustration Index ", "User Index ", "Object index "} {
		if rest, ok := strings.CutPrefix(name, index); ok {
			if n, err := strconv.Atoi(rest); err == nil && n >= 1 && n <= levels {
				return contents, n
			}
		}
	}
	switch name {
	case "Title":
		return titled, 0
	case "Quotations", "Quote", "Intense Quote", "Block Text":
		return quoted, 0
	case "Preformatted Text", "HTML Preformatted", "Source Code":
		return code, 0
	}
	return ordinary, 0
}

// monospaced says that a font is one that people set code in.
func monospaced(font string) bool {
	font = strings.ToLower(strings.Trim(font, `'"`))
	for _, name := range []string{"courier", "consolas", "menlo", "monaco", "lucida console", "source code", "fira code", "jetbrains", "inconsolata", "cascadia"} {
		if strings.HasPrefix(font, name) {
			return true
		}
	}
	return strings.Contains(font, " mono") || font == "monospace"
}

func (r *reader) readListStyle(x *pack.XML) (*listStyle, error) {
	l := &listStyle{}
	err := x.Children(func(name string) error {
		n, err := strconv.Atoi(x.Attr("level"))
		if err != nil || n < 1 || n > levels {
			return nil
		}
		at := &l[n-1]
		switch name {
		case "list-level-style-image":
			*at = level{bullet: true, sign: "•"}
		case "list-level-style-bullet":
			*at = level{bullet: true, sign: "•"}
			if x.Has("bullet-char") {
				at.sign = strings.TrimSpace(x.Attr("bullet-char"))
			}
			return x.Children(func(name string) error {
				if font := r.font(x); name == "text-properties" && font != "" && at.sign != "" {
					if at.sign = prose.PlainSigns(font, at.sign); at.sign == "" {
						at.sign = "•"
					}
				}
				return nil
			})
		case "list-level-style-number", "outline-level-style":
			*at = level{format: x.Attr("num-format"), prefix: x.Attr("num-prefix"), suffix: x.Attr("num-suffix"), whole: x.Attr("num-list-format"),
				start: number(x.Attr("start-value"), 1), display: min(max(number(x.Attr("display-levels"), 1), 1), n)}
		}
		return nil
	})
	return l, err
}

// maxCount is the largest number that is believed of anything counted.
const maxCount = 1_000_000

func number(s string, missing int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxCount {
		return missing
	}
	return n
}

// settle fills in what styles have of those above them.
func (s *styles) settle() {
	for key := range s.byName {
		s.inherit(key, 0)
	}
}

func (s *styles) inherit(key string, steps int) *style {
	const most = 32
	st := s.byName[key]
	if st == nil || st.done || steps > most {
		return st
	}
	st.done = true // before the one above, so that a circle ends
	family, _, _ := strings.Cut(key, " ")
	above := s.inherit(family+" "+st.parent, steps+1)
	if st.parent == "" || above == nil {
		if st.purpose == ordinary {
			// Documents may leave out the styles that every program has.
			st.purpose, st.level = purposeOf(strings.ReplaceAll(st.parent, "_20_", " "))
		}
		return st
	}
	for _, p := range [][2]*onOff{{&st.bold, &above.bold}, {&st.italic, &above.italic}, {&st.struck, &above.struck}, {&st.raised, &above.raised},
		{&st.lowered, &above.lowered}, {&st.hidden, &above.hidden}, {&st.fixed, &above.fixed}} {
		*p[0] = p[0].or(*p[1])
	}
	if st.signs == "" {
		st.signs = above.signs
	}
	if st.purpose == ordinary && !onlyLooks(key) {
		st.purpose, st.level = above.purpose, above.level
	}
	return st
}

// onlyLooks says that paragraphs of a style may look like a title and are none.
func onlyLooks(key string) bool {
	switch key {
	case "paragraph Subtitle", "paragraph Author", "paragraph Date", "paragraph Abstract":
		return true
	}
	return false
}

// paragraph is the style of a paragraph; never nil.
func (s *styles) paragraph(name string) *style {
	if st := s.byName["paragraph "+name]; st != nil {
		return st
	}
	st := &style{}
	st.purpose, st.level = purposeOf(strings.ReplaceAll(name, "_20_", " "))
	return st
}

// over is the look of words in a span of this style.
func (l look) over(st *style) look {
	if st == nil {
		return l
	}
	for _, p := range []struct {
		is    onOff
		style prose.Style
	}{{st.bold, prose.Bold}, {st.italic, prose.Italic}, {st.struck, prose.Struck}, {st.raised, prose.Raised}, {st.lowered, prose.Lowered}, {st.fixed, prose.Code}} {
		switch p.is {
		case on:
			l.style |= p.style
		case off:
			l.style &^= p.style
		}
	}
	if st.fixed != unsaid || st.signs != "" {
		l.signs = st.signs
	}
	switch st.hidden {
	case on:
		l.hidden = true
	case off:
		l.hidden = false
	}
	return l
}
