package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

// open is what is open around the run that is being written, outermost first.
type open struct {
	link  string
	marks [3]bool // strong, em, del
}

func (o open) depth() int {
	n := 0
	if o.link != "" {
		n++
	}
	for _, m := range o.marks {
		if m {
			n++
		}
	}
	return n
}

// runs writes the runs of a paragraph, a heading or a cell.
func (w *Writer) runs(runs []Run) {
	var now open
	at := w.w.Len() // bytes of the document, which the writer counts when the paragraph ends
	for i := 0; i < len(runs) && w.w.Err() == nil; {
		r := &runs[i]
		blank := r.Kind == Break || r.Kind == Words && !visible(r.Text)
		next := open{link: r.Link, marks: [3]bool{r.Style&Bold != 0, r.Style&Italic != 0, r.Style&Struck != 0}}
		if r.Kind == Mark || r.Kind == Formula {
			next.marks = [3]bool{}
		}
		if blank && (r.Link == "" || r.Link == now.link) {
			next = now // emphasis of blanks is none, and they part nothing
		}
		if max(at, w.w.Len()) > w.limits.Text {
			w.over = true
			break
		}
		w.reopen(now, next, runs[i:])
		now = next
		n := w.run(runs[i:], blank, at)
		for _, written := range runs[i : i+n] {
			at += len(written.Text)
		}
		at += 4 * next.depth() // marks
		i += n
	}
	w.reopen(now, open{}, nil)
}

// reopen closes and opens what has changed from one run to the next.
func (w *Writer) reopen(from, to open, runs []Run) {
	if from == to {
		return
	}
	// What is common, from the outside inwards, stays open.
	same := from.link == to.link
	keep := 0
	if same && to.link != "" {
		keep++
	}
	for i := 0; same && i < len(to.marks); i++ {
		if same = from.marks[i] == to.marks[i]; same && to.marks[i] {
			keep++
		}
	}
	for n := from.depth(); n > keep; n-- {
		w.w.Leave()
	}
	n := 0
	if to.link != "" {
		if n++; n > keep {
			w.w.EnterLink(scribe.Link{URL: to.link, Words: linkWords(runs)})
		}
	}
	for i, kind := range []scribe.Mark{scribe.Strong, scribe.Em, scribe.Del} {
		if to.marks[i] {
			if n++; n > keep {
				w.w.EnterMark(kind)
			}
		}
	}
}

// linkWords says that the link which the runs begin with holds words.
func linkWords(runs []Run) bool {
	for i := range runs {
		if runs[i].Link != runs[0].Link {
			break
		}
		if runs[i].Kind == Words && visible(runs[i].Text) {
			return true
		}
	}
	return false
}

// run writes the first of runs, and those after it that are one with it, and answers how many. At is how many bytes there are.
func (w *Writer) run(runs []Run, blank bool, at int) int {
	r := &runs[0]
	switch r.Kind {
	case Break:
		w.w.LineBreak()
	case Picture:
		w.w.Image(r.Text, "")
	case Mark:
		w.w.NoteReference(r.Text)
	case Formula:
		w.w.Formula(r.Text, r.Display)
	case Words:
		const special = Raised | Lowered | Code
		style := r.Style & special
		if style == 0 || blank {
			w.w.Text(w.fitting(r.Text, at))
			return 1
		}
		n, text := 1, r.Text
		for n < len(runs) && runs[n].Kind == Words && runs[n].Link == r.Link && runs[n].Style&special == style {
			n++
		}
		if n > 1 {
			var b strings.Builder
			for i := range runs[:n] {
				b.WriteString(runs[i].Text)
			}
			text = b.String()
		}
		w.special(w.fitting(text, at), style)
		return n
	}
	return 1
}

func (w *Writer) special(text string, style Style) {
	if startsBlank(text) {
		w.w.Space()
	}
	trimmed := strings.TrimSpace(text)
	switch {
	case style&Raised != 0:
		w.raised(trimmed)
	case style&Lowered != 0:
		w.lowered(trimmed)
	case w.withinWord(trimmed):
		w.w.Text(trimmed) // a letter in another font is no code
	default:
		if code := strings.Join(strings.Fields(string(scribe.AppendVisible(nil, trimmed))), " "); code != "" {
			w.w.Span(code)
		}
	}
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsSpace(last) {
		w.w.Space()
	}
}

// withinWord says that text goes on with the word that is being written.
func (w *Writer) withinWord(text string) bool {
	last, _ := utf8.DecodeLastRune(w.w.Line())
	first, _ := utf8.DecodeRuneInString(text)
	return !w.w.SpaceDue() && (unicode.IsLetter(last) || unicode.IsDigit(last)) && (unicode.IsLetter(first) || unicode.IsDigit(first))
}

func startsBlank(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsSpace(first)
}

// raised writes a power so that it stays one: without its mark it would be another number.
func (w *Writer) raised(text string) {
	switch {
	case bracketed(text) || ordinal(text) || !w.w.Open() && !w.w.Flat() || w.w.SpaceDue():
		w.w.Text(text)
	case onePiece(text):
		w.w.Raw("^")
		w.w.Text(text)
	default:
		w.w.Raw("^(")
		w.w.Text(text)
		w.w.Attach(")")
	}
}

// lowered writes an index: bare in a chemical formula, else after a low line.
func (w *Writer) lowered(text string) {
	last, size := utf8.DecodeLastRune(w.w.Line())
	within := !w.w.SpaceDue() && (unicode.IsLetter(last) || unicode.IsDigit(last))
	before, _ := utf8.DecodeLastRune(w.w.Line()[:len(w.w.Line())-size])
	element := unicode.IsUpper(last) || unicode.IsLower(last) && unicode.IsUpper(before)
	switch {
	case !within || bracketed(text) || element && digits(text):
		w.w.Text(text)
	case onePiece(text):
		w.w.Raw("_")
		w.w.Text(text)
	default:
		w.w.Raw("_(")
		w.w.Text(text)
		w.w.Attach(")")
	}
}

func bracketed(s string) bool {
	return s != "" && (s[0] == '[' && s[len(s)-1] == ']' || s[0] == '(' && s[len(s)-1] == ')')
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// ordinal says that raised text is only typography: 1st, 2e, N°, a trade mark, a sign of reference.
func ordinal(s string) bool {
	switch s {
	case "st", "nd", "rd", "th", "er", "re", "ère", "e", "ème", "è", "o", "a", "os", "as", "ª", "º", "°", "TM", "tm", "SM", "®", "(R)", "©", "™", "℠":
		return true
	}
	return s != "" && strings.Trim(s, "*†‡§") == ""
}

// onePiece says that text needs no brackets to be told as one.
func onePiece(s string) bool {
	const longest = 16
	for i, c := range s {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && (i > 0 || c != '-' && c != '+' && c != '−') {
			return false
		}
	}
	return len(s) <= longest
}

// EndsInPageNumber says that a line ends in a number after a tab.
func EndsInPageNumber(runs []Run) bool {
	for n := len(runs); n > 0 && runs[n-1].Kind == Words; n-- {
		text := runs[n-1].Text
		i := strings.LastIndexByte(text, '\t')
		if strings.Trim(text[i+1:], pageNumber) != "" {
			break
		}
		if i >= 0 {
			return true
		}
	}
	return false
}

const pageNumber = "0123456789ivxlcIVXLC "

// WithoutPageNumber takes the number after the last tab off a line of contents: there are no pages here.
func WithoutPageNumber(runs []Run) []Run {
	for n := len(runs); n > 0; n-- {
		last := &runs[n-1]
		if last.Kind != Words {
			break
		}
		i := strings.LastIndexByte(last.Text, '\t')
		if strings.Trim(last.Text[i+1:], pageNumber) != "" {
			break
		}
		if i >= 0 {
			last.Text = last.Text[:i]
			return runs[:n]
		}
	}
	return runs
}
