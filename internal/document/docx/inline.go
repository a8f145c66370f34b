package docx

import (
	"strings"

	"github.com/wayleave/wayleave/internal/document/formula"
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
	"github.com/wayleave/wayleave/internal/markdown/address"
)

// field is a field that is open: its code, then its result.
type field struct {
	code     strings.Builder
	result   bool
	link     string
	hidden   bool   // its result is no text of the document: a mark for an index
	contents bool   // it is a table of contents
	checked  bool   // of a box
	choice   string // of a list to choose from
	before   int    // pieces of the paragraph when its result began
	shown    string // what it shows where it has no result
}

const (
	maxFields = 64   // open at once
	maxCode   = 4096 // bytes of a field's code that are looked at
)

// inline reads one element of a paragraph.
func (r *reader) inline(x *pack.XML, name string, p *paragraph, link string) error {
	switch name {
	case "r":
		return r.run(x, p, link)
	case "hyperlink":
		if to, ok := r.rels.ByID(relation(x, "id")); ok {
			link = address.Elsewhere(to.Target)
			if anchor := x.Attr("anchor"); anchor != "" && link != "" && !strings.Contains(link, "#") {
				link += "#" + anchor
			}
		}
		return r.inlines(x, p, link)
	case "fldSimple":
		f := readCode(x.Attr("instr"))
		if f.hidden {
			return nil
		}
		if f.link != "" {
			link = f.link
		}
		return r.inlines(x, p, link)
	case "ins", "moveTo", "smartTag", "customXml", "sdt", "sdtContent", "dir", "bdo":
		return r.inlines(x, p, link)
	case "AlternateContent":
		return r.choose(x, p, link, r.inline)
	case "oMath", "oMathPara":
		return r.formula(x, p, name == "oMathPara")
	}
	return nil // del, moveFrom, properties, marks of places
}

func (r *reader) inlines(x *pack.XML, p *paragraph, link string) error {
	return x.Children(func(name string) error { return r.inline(x, name, p, link) })
}

// choose reads what a document has in two forms: the first that says something.
func (r *reader) choose(x *pack.XML, p *paragraph, link string, read func(*pack.XML, string, *paragraph, string) error) error {
	done := false
	return x.Children(func(name string) error {
		if done || name != "Choice" && name != "Fallback" {
			return nil
		}
		p.flush()
		before := len(p.runs) + len(p.after)
		err := x.Children(func(name string) error { return read(x, name, p, link) })
		p.flush()
		done = len(p.runs)+len(p.after) > before
		return err
	})
}

// readCode reads a field's code.
func readCode(code string) field {
	var f field
	words := strings.Fields(code)
	if len(words) == 0 {
		return f
	}
	switch strings.ToUpper(words[0]) {
	case "HYPERLINK":
		_, rest, _ := strings.Cut(strings.TrimSpace(code), words[0])
		rest = strings.TrimSpace(rest)
		to, after, quoted := cutQuoted(rest)
		if !quoted {
			if strings.HasPrefix(rest, `\`) {
				return f // to a place in the document
			}
			to, after, _ = strings.Cut(rest, " ")
		}
		f.link = address.Elsewhere(to)
		if _, place, ok := strings.Cut(after, `\l`); ok && f.link != "" && !strings.Contains(f.link, "#") {
			if anchor, _, ok := cutQuoted(strings.TrimSpace(place)); ok {
				f.link += "#" + anchor
			}
		}
	case "XE", "TC", "RD":
		f.hidden = true
	case "TOC":
		f.contents = true
	case "MACROBUTTON", "GOTOBUTTON":
		_, rest, _ := strings.Cut(strings.TrimSpace(code), words[0])
		_, f.shown, _ = strings.Cut(strings.TrimSpace(rest), " ")
		f.shown = strings.TrimSpace(f.shown)
	case "EQ":
		_, rest, _ := strings.Cut(strings.TrimSpace(code), words[0])
		f.shown = formula.Field(rest)
	}
	return f
}

// ends gives what a field shows for itself: a box, a choice, or what its code says where nothing came of it.
func (f *field) ends(wrote bool) string {
	switch strings.ToUpper(strings.TrimSpace(f.code.String())) {
	case "FORMCHECKBOX":
		if f.checked {
			return "☒"
		}
		return "☐"
	case "FORMDROPDOWN":
		if !wrote {
			return f.choice
		}
	}
	if wrote {
		return ""
	}
	return f.shown
}

// cutQuoted takes a text in quotation marks off the start of s. A backslash before one or before another makes it a part
// of the text.
func cutQuoted(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), "", true
}

// fieldChar begins a field, goes from its code to its result, or ends it.
func (r *reader) fieldChar(x *pack.XML, p *paragraph, style prose.Style) error {
	kind := x.Attr("fldCharType")
	switch kind {
	case "begin":
		if len(r.fields) >= maxFields {
			r.fields = r.fields[1:]
		}
		r.fields = append(r.fields, field{})
		return readForm(x, &r.fields[len(r.fields)-1])
	case "separate", "end":
		if len(r.fields) == 0 {
			return nil
		}
		f := &r.fields[len(r.fields)-1]
		pieces := len(p.runs) + len(p.text)
		if !f.result {
			read := readCode(f.code.String())
			f.link, f.hidden, f.contents, f.shown = read.link, read.hidden, read.contents, read.shown
			f.result, f.before = true, pieces
			r.contents = r.contents || f.contents
		}
		if kind == "end" {
			shown := f.ends(pieces != f.before)
			r.fields = r.fields[:len(r.fields)-1]
			link, visible := r.within("")
			if shown != "" && visible {
				return r.add(p, prose.Run{Text: shown, Style: style, Link: link})
			}
		}
	}
	return nil
}

// readForm reads what a field of a form holds: whether its box is checked, or what is chosen of its list.
func readForm(x *pack.XML, f *field) error {
	return x.Children(func(name string) error {
		if name != "ffData" {
			return nil
		}
		return x.Children(func(name string) error {
			switch name {
			case "checkBox":
				return x.Children(func(name string) error {
					switch name {
					case "default", "checked":
						f.checked = truth(x.Attr("val")) == on
					}
					return nil
				})
			case "ddList":
				chosen, entries := 0, 0
				return x.Children(func(name string) error {
					switch name {
					case "default", "result":
						chosen = number(x.Attr("val"), 0)
					case "listEntry":
						if entries == chosen {
							f.choice = x.Attr("val")
						}
						entries++
					}
					return nil
				})
			}
			return nil
		})
	})
}

// inContents tells that a table of contents is open.
func (r *reader) inContents() bool {
	for i := range r.fields {
		if r.fields[i].contents {
			return true
		}
	}
	return false
}

// endFields ends the fields whose code goes past a paragraph: what follows is text, whatever became of their ends.
func (r *reader) endFields() {
	kept := r.fields[:0]
	for i := range r.fields {
		if f := &r.fields[i]; f.result {
			kept = append(kept, field{result: true, link: f.link, hidden: f.hidden, contents: f.contents, before: -1})
		}
	}
	r.fields = kept
}

// within tells what the open fields make of text: nothing, or a link.
func (r *reader) within(link string) (string, bool) {
	for i := range r.fields {
		f := &r.fields[i]
		if !f.result || f.hidden {
			return "", false
		}
		if f.link != "" {
			link = f.link
		}
	}
	return link, true
}

// run reads w:r.
func (r *reader) run(x *pack.XML, p *paragraph, link string) error {
	style, l := r.styles.words(looks{}, p.styleOr(r))
	marked := false // a note's own sign follows, in place of which there is a number
	return x.Children(func(name string) error {
		switch name {
		case "rPr":
			own, err := readLooks(x)
			style, l = r.styles.words(own, p.styleOr(r))
			return err
		case "footnoteReference", "endnoteReference":
			marked = x.Has("customMarkFollows") && truth(x.Attr("customMarkFollows")) == on
		case "t", "sym":
			if marked {
				return nil
			}
		}
		return r.content(x, name, p, link, style, l)
	})
}

func (p *paragraph) styleOr(r *reader) *style {
	if p.style == nil {
		p.style = r.styles.paragraph("")
	}
	return p.style
}

// content reads one element of a run.
func (r *reader) content(x *pack.XML, name string, p *paragraph, link string, style prose.Style, l looks) error {
	switch name {
	case "fldChar":
		return r.fieldChar(x, p, style)
	case "instrText":
		text, err := x.AllText()
		if n := len(r.fields); n > 0 && !r.fields[n-1].result {
			if f := &r.fields[n-1]; f.code.Len() < maxCode {
				f.code.WriteString(text[:min(len(text), maxCode)])
			}
		}
		return err
	}
	link, shown := r.within(link)
	if !shown || l.hidden == on || l.webHidden == on && p.style.purpose == contents {
		return nil
	}
	text := ""
	switch name {
	case "t":
		var err error
		if text, err = x.AllText(); err != nil {
			return err
		}
		text = prose.PlainSigns(l.symbols, text)
	case "tab", "ptab":
		text = "\t"
	case "br":
		if kind := x.Attr("type"); kind == "page" || kind == "column" {
			text = " "
			break
		}
		return r.add(p, prose.Run{Kind: prose.Break})
	case "cr":
		return r.add(p, prose.Run{Kind: prose.Break})
	case "noBreakHyphen":
		text = "-"
	case "sym":
		text = prose.Sign(x.Attr("font"), x.Attr("char"))
	case "footnoteReference", "endnoteReference":
		return r.reference(p, strings.TrimSuffix(name, "Reference"), x.Attr("id"))
	case "ruby":
		return r.ruby(x, p, link)
	case "drawing", "pict", "object":
		return r.picture(x, p, link)
	case "AlternateContent":
		return r.choose(x, p, link, func(x *pack.XML, name string, p *paragraph, link string) error {
			return r.content(x, name, p, link, style, l)
		})
	}
	if text == "" {
		return nil
	}
	return r.add(p, prose.Run{Text: text, Style: style, Link: link})
}

// ruby writes the reading of ruby text in brackets after it.
func (r *reader) ruby(x *pack.XML, p *paragraph, link string) error {
	reading, base := &paragraph{style: p.style}, &paragraph{style: p.style}
	err := x.Children(func(name string) error {
		switch name {
		case "rt":
			return r.inlines(x, reading, "")
		case "rubyBase":
			return r.inlines(x, base, link)
		}
		return nil
	})
	if err != nil {
		return err
	}
	base.flush()
	reading.flush()
	for _, run := range base.runs {
		if err := r.add(p, run); err != nil {
			return err
		}
	}
	if len(reading.runs) > 0 {
		return r.add(p, prose.Run{Text: "(" + (&prose.Block{Runs: reading.runs}).PlainText() + ")", Link: link})
	}
	return nil
}

// formula reads m:oMath and m:oMathPara as TeX.
func (r *reader) formula(x *pack.XML, p *paragraph, display bool) error {
	if _, shown := r.within(""); !shown {
		return nil
	}
	if display {
		return x.Children(func(name string) error {
			if name != "oMath" {
				return nil
			}
			return r.oneFormula(x, p, true)
		})
	}
	return r.oneFormula(x, p, false)
}

func (r *reader) oneFormula(x *pack.XML, p *paragraph, display bool) error {
	source, err := formula.Read(x)
	if err != nil || source == "" {
		return err
	}
	return r.add(p, prose.Run{Kind: prose.Formula, Text: source, Display: display})
}
