package docx

import (
	"errors"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// levels is how many levels a list has.
const levels = 9

// level is how one level of a list counts.
type level struct {
	start    int
	format   string
	text     string // with %1 … %9 for the numbers of the levels
	restarts int    // the level after which it begins anew, from 1; -1 for the one above, 0 for none
	decimal  bool   // all levels in its text are decimal
	style    string // the paragraph style that stands for it
	font     string // of a bullet, where it shows signs of its own
	picture  bool   // its bullet is a picture
	indent   int    // of its items' text, in twentieths of a point; -1 for unsaid
}

// definition is a list's definition, which several lists may count together.
type definition struct {
	levels [levels]level
	link   string // the list style that it takes its levels from
	named  string // the list style that it is the definition of
	counts [levels]int
	begun  [levels]bool
}

// list is what paragraphs name.
type list struct {
	definition string
	starts     map[int]int   // levels that begin at another number here
	own        map[int]level // levels that are otherwise here
	started    map[int]bool
}

type lists struct {
	definitions map[string]*definition
	byID        map[string]*list
}

func (r *reader) readLists() (*lists, error) {
	l := &lists{map[string]*definition{}, map[string]*list{}}
	part := r.rels.Part("numbering")
	if part == "" || !r.archive.Has(part) {
		return l, nil
	}
	x, err := r.part(part)
	if err != nil {
		return l, err
	}
	err = x.Children(func(name string) error {
		switch name {
		case "abstractNum":
			id := x.Attr("abstractNumId")
			d, err := readDefinition(x)
			if err != nil {
				return err
			}
			l.definitions[id] = d
			return r.w.Spend(levels)
		case "num":
			id := x.Attr("numId")
			n, err := readList(x)
			if err != nil {
				return err
			}
			l.byID[id] = n
			return r.w.Spend(1)
		}
		return nil
	})
	if errors.Is(err, prose.ErrFull) {
		err = nil
	}
	// A definition that only names a list style counts by that style's own.
	named := map[string]*definition{}
	for _, d := range l.definitions {
		if d.named != "" {
			named[d.named] = d
		}
	}
	for _, d := range l.definitions {
		if other := named[d.link]; d.link != "" && other != nil && other != d {
			d.levels = other.levels
		}
	}
	return l, err
}

func readDefinition(x *pack.XML) (*definition, error) {
	d := &definition{}
	for i := range d.levels {
		d.levels[i] = level{restarts: -1, indent: -1}
	}
	err := x.Children(func(name string) error {
		switch name {
		case "numStyleLink":
			d.link = x.Attr("val")
		case "styleLink":
			d.named = x.Attr("val")
		case "lvl":
			i := number(x.Attr("ilvl"), 0)
			l, err := readLevel(x)
			if i >= 0 && i < levels {
				d.levels[i] = l
			}
			return err
		}
		return nil
	})
	return d, err
}

func readLevel(x *pack.XML) (level, error) {
	l := level{restarts: -1, format: "decimal", indent: -1}
	err := x.Children(func(name string) error {
		val := x.Attr("val")
		switch name {
		case "start":
			l.start = number(val, 0)
		case "numFmt":
			l.format = val
		case "AlternateContent":
			return x.Children(func(name string) error {
				if name != "Fallback" {
					return nil
				}
				return x.Children(func(name string) error {
					if name == "numFmt" {
						l.format = x.Attr("val")
					}
					return nil
				})
			})
		case "lvlText":
			l.text = val
		case "lvlRestart":
			l.restarts = number(val, -1)
		case "isLgl":
			l.decimal = truth(val) == on
		case "pStyle":
			l.style = val
		case "lvlPicBulletId":
			l.picture = true
		case "pPr":
			p, err := readProperties(x)
			l.indent = p.indent
			return err
		case "rPr":
			looks, err := readLooks(x)
			l.font = looks.symbols
			return err
		}
		return nil
	})
	return l, err
}

func readList(x *pack.XML) (*list, error) {
	n := &list{}
	err := x.Children(func(name string) error {
		switch name {
		case "abstractNumId":
			n.definition = x.Attr("val")
		case "lvlOverride":
			i := number(x.Attr("ilvl"), -1)
			return x.Children(func(name string) error {
				if i < 0 || i >= levels {
					return nil
				}
				switch name {
				case "startOverride":
					if n.starts == nil {
						n.starts, n.started = map[int]int{}, map[int]bool{}
					}
					n.starts[i] = number(x.Attr("val"), 1)
				case "lvl":
					l, err := readLevel(x)
					if n.own == nil {
						n.own = map[int]level{}
					}
					n.own[i] = l
					return err
				}
				return nil
			})
		}
		return nil
	})
	return n, err
}

// maxCount is the largest number of an item that is believed.
const maxCount = 1_000_000

func number(s string, missing int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n > maxCount || n < -maxCount {
		return missing
	}
	return n
}

// level finds how a level of a list counts; false for no such list.
func (l *lists) level(id string, depth int) (*list, *definition, level, bool) {
	n := l.byID[id]
	if n == nil || depth < 0 || depth >= levels {
		return nil, nil, level{}, false
	}
	d := l.definitions[n.definition]
	if d == nil {
		return nil, nil, level{}, false
	}
	v := d.levels[depth]
	if own, ok := n.own[depth]; ok {
		v = own
	}
	return n, d, v, true
}

// depthOf is the level of a list that stands for a paragraph style; -1 for none.
func (l *lists) depthOf(id, style string) int {
	if style == "" {
		return -1
	}
	for i := range levels {
		if _, _, v, ok := l.level(id, i); ok && v.style == style {
			return i
		}
	}
	return -1
}

// count is what a list makes of a paragraph.
type count struct {
	label  string
	depth  int
	bullet bool // the label is no number but a sign
	blank  bool // its sign is a blank: it goes on with the item before it
	indent int  // of its text; -1 for unsaid
}

// next counts an item; false for one in no list.
func (l *lists) next(id string, depth int) (count, bool) {
	n, d, v, ok := l.level(id, depth)
	if !ok {
		return count{}, false
	}
	c := count{depth: depth, indent: v.indent}
	if v.format == "bullet" && strings.TrimSpace(v.text) == "" && !v.picture {
		c.bullet, c.blank = true, true
		return c, true
	}
	if start, has := n.starts[depth]; has && !n.started[depth] {
		n.started[depth] = true
		d.counts[depth], d.begun[depth] = start, true
	} else if d.begun[depth] {
		d.counts[depth]++
	} else {
		d.counts[depth], d.begun[depth] = v.start, true
	}
	for i := depth + 1; i < levels; i++ {
		_, _, below, _ := l.level(id, i)
		if below.restarts < 0 || below.restarts > depth {
			d.begun[i] = false
			if _, has := n.starts[i]; has && below.restarts < 0 {
				n.started[i] = false // its own start counts after each item above
			}
		}
	}
	if v.format == "bullet" {
		c.label, c.bullet = prose.PlainSigns(v.font, v.text), true
		return c, true
	}
	c.label = l.label(id, depth, d, v)
	return c, true
}

// label spells the number of the item that was counted last.
func (l *lists) label(id string, depth int, d *definition, v level) string {
	if v.format == "none" && !strings.Contains(v.text, "%") {
		return strings.TrimSpace(v.text)
	}
	var b strings.Builder
	for i := 0; i < len(v.text); i++ {
		if v.text[i] != '%' || i+1 == len(v.text) || v.text[i+1] < '1' || v.text[i+1] > '9' {
			b.WriteByte(v.text[i])
			continue
		}
		i++
		at := int(v.text[i] - '1')
		_, _, of, _ := l.level(id, at)
		n := d.counts[at]
		if !d.begun[at] {
			n = of.start
			if at > depth {
				continue
			}
		}
		if of.format == "none" || of.format == "bullet" {
			continue
		}
		if v.decimal {
			of.format = "decimal"
		}
		b.WriteString(spelled(n, of.format))
	}
	return strings.TrimSpace(b.String())
}

// spelled spells a number as a list's format says.
func spelled(n int, format string) string {
	if alphabet := alphabets[format]; alphabet != "" {
		return prose.Letter(n, alphabet)
	}
	if format == "numberInDash" {
		return "- " + strconv.Itoa(n) + " -"
	}
	return prose.Numeral(n, numbering(format))
}

var alphabets = map[string]string{"russianLower": prose.Cyrillic, "russianUpper": prose.CyrillicCaps, "hebrew2": prose.Hebrew, "hebrew1": prose.Hebrew, "arabicAlpha": prose.Arabic,
	"arabicAbjad": prose.Abjad, "aiueo": prose.Kana, "aiueoFullWidth": prose.Kana, "iroha": prose.Iroha, "irohaFullWidth": prose.Iroha, "ganada": prose.Hangul, "chosung": prose.Jamo,
	"ideographTraditional": prose.Stems, "ideographZodiac": prose.Branches, "thaiLetters": prose.Thai, "decimalEnclosedCircle": prose.Circled, "decimalEnclosedCircleChinese": prose.Circled,
	"decimalEnclosedParen": prose.InBrackets, "decimalEnclosedFullstop": prose.WithStop}

func numbering(format string) prose.Numbering {
	switch format {
	case "upperRoman":
		return prose.UpperRoman
	case "lowerRoman":
		return prose.LowerRoman
	case "upperLetter":
		return prose.UpperLetter
	case "lowerLetter":
		return prose.LowerLetter
	case "decimalZero":
		return prose.PaddedDecimal
	case "ordinal":
		return prose.Ordinal
	case "chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCountingThousand", "ideographDigital", "taiwaneseCounting":
		return prose.Ideographs
	}
	return prose.Decimal
}
