package docx

import (
	"strings"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
	"github.com/wayleave/wayleave/internal/markdown/address"
)

// field is a field that is open: its code, then its result.
type field struct {
	code   strings.Builder
	result bool
	link   string
	hidden bool // its result is no text of the document: a page number
	box    string
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
		if to, ok := r.rels.ByID(x.AttrIn("r", "id")); ok {
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
	case "PAGEREF", "XE", "TC", "RD":
		f.hidden = true
	case "FORMCHECKBOX":
		f.box = "☐"
	}
	return f
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
		checked := false
		err := x.Children(func(name string) error {
			if name != "ffData" {
				return nil
			}
			return x.Children(func(name string) error {
				if name != "checkBox" {
					return nil
				}
				return x.Children(func(name string) error {
					switch name {
					case "default", "checked":
						checked = truth(x.Attr("val")) == on
					}
					return nil
				})
			})
		})
		if checked {
			r.fields[len(r.fields)-1].box = "☒"
		}
		return err
	case "separate", "end":
		if len(r.fields) == 0 {
			return nil
		}
		f := &r.fields[len(r.fields)-1]
		if !f.result {
			read := readCode(f.code.String())
			f.link, f.hidden, f.result = read.link, read.hidden, true
			if read.box != "" && f.box == "" {
				f.box = read.box
			}
			if read.box == "" {
				f.box = ""
			}
		}
		if kind == "end" {
			box := f.box
			r.fields = r.fields[:len(r.fields)-1]
			if box != "" {
				return r.add(p, prose.Run{Text: box, Style: style})
			}
		}
	}
	return nil
}

// endFields ends the fields whose code goes past a paragraph: what follows is text, whatever became of their ends.
func (r *reader) endFields() {
	kept := r.fields[:0]
	for i := range r.fields {
		if r.fields[i].result {
			kept = append(kept, field{result: true, link: r.fields[i].link, hidden: r.fields[i].hidden})
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
	return x.Children(func(name string) error {
		if name == "rPr" {
			own, err := readLooks(x)
			style, l = r.styles.words(own, p.styleOr(r))
			return err
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
		text = plainSigns(l.symbols, text)
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
		text = sign(x.Attr("font"), x.Attr("char"))
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
