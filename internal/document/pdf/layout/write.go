package layout

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

// writer writes blocks as Markdown.
type writer struct {
	*Builder
	w    *scribe.Writer
	page int             // of the last block
	done map[*block]bool // written with one before
}

// write writes all blocks; cut says that some did not fit.
//
// A page's marker is a rule and, on the next line, the page's number in italics: the only rules in the text, since
// nothing of a page is written as one, so that no words of a page can be taken for a marker. It stands before the
// first block that begins on its page; what goes on from the page before is not torn.
func (b *Builder) write(ctx context.Context) (text string, cut bool, err error) {
	w := writer{Builder: b, done: map[*block]bool{}, w: scribe.New(ctx, min(b.bytes+b.bytes/8, b.limit)+64)}
	if len(b.blocks) == 0 {
		w.w.EnterMark(scribe.Em)
		if b.added == 1 {
			w.w.Text("1 page without a text layer")
		} else {
			w.w.Text(fmt.Sprintf("%d pages without a text layer", b.added))
		}
		w.w.Leave()
		return w.w.String(), false, nil
	}
	w.page = b.blocks[0].page
	whole := 0 // bytes of the blocks that fit
	for i := 0; i < len(b.blocks); i++ {
		if ctx.Err() != nil {
			return "", false, expired(ctx)
		}
		if w.w.Len() > b.limit {
			cut = true
			break
		}
		k := &b.blocks[i]
		if w.done[k] {
			continue
		}
		if k.page != w.page {
			w.marker(k.page)
		}
		i += w.block(i)
		if n := w.w.Len(); n <= b.limit {
			whole = n
		}
	}
	out := w.w.String()
	if w.w.Err() != nil {
		return "", false, expired(ctx)
	}
	if len(out) > b.limit {
		cut = true
		if whole == 0 {
			whole = b.limit // not even the first does
		}
		out = strings.ToValidUTF8(strings.TrimRight(out[:whole], "\n"), "")
	}
	return out, cut, nil
}

func expired(ctx context.Context) error {
	if ctx.Err() == context.Canceled {
		return ctx.Err()
	}
	return document.Fail(document.TooCostly, "%v", ctx.Err())
}

// marker writes where a page begins.
func (w *writer) marker(page int) {
	w.page = page
	w.w.Break(2)
	w.w.Rule()
	w.w.SetGap(1)
	w.w.EnterMark(scribe.Em)
	w.w.Text(fmt.Sprintf("Page %d", page))
	w.w.Leave()
	w.w.Break(2)
}

// block writes the block at i and answers how many after it went with it.
func (w *writer) block(i int) int {
	k := &w.blocks[i]
	switch {
	case k.note != "":
		w.note(k)
	case k.kind == code:
		w.code(k)
	case k.kind == tabular2D:
		w.table(k)
	case k.kind == item:
		return w.item(i)
	case k.lines[0].level > 0:
		if w.w.BeginHeading(int(k.lines[0].level)) {
			w.spans(w.join([]*block{k}, true), true)
			w.w.EndHeading()
		}
	default:
		run := w.run(i)
		w.w.Break(2)
		w.spans(w.join(run, false), false)
		w.w.Break(2)
	}
	return 0
}

// note writes a note that something refers to.
func (w *writer) note(k *block) {
	w.w.Break(2)
	top := w.w.Depth()
	more, first := scribe.NoteMarker(k.note)
	w.w.Push(more, first)
	w.spans(w.join([]*block{k}, false), false)
	w.w.Break(2)
	w.w.Pop(top)
}

// run is the block at i with those after it that go on with its sentence in another column or on another page.
func (w *writer) run(i int) []*block {
	const maxFloats = 4
	run := []*block{&w.blocks[i]}
	skipped := 0
	for j := i + 1; j < len(w.blocks) && !run[0].foot && !run[0].contents; j++ {
		a, b := run[len(run)-1], &w.blocks[j]
		if b.foot {
			continue
		}
		if b.floats() && !a.floats() && skipped < maxFloats && !ended(&a.lines[len(a.lines)-1]) && (b.start || skipped > 0) {
			skipped++ // a table or a picture's words between two parts of a sentence
			continue
		}
		if skipped > 0 && (b.kind != paragraph || b.lines[0].level > 0 || !lowerFirst(&b.lines[0]) || !w.continues(a, b)) {
			break
		}
		if skipped > 0 {
			run = append(run, b)
			w.done[b] = true
			skipped = 0
			continue
		}
		if b.kind != paragraph || !b.start || b.lines[0].level > 0 || !w.continues(a, b) {
			break
		}
		run = append(run, b)
		w.done[b] = true
	}
	return run
}

// floats says that a block is a table, or the words that belong to one or to a picture, which stand where there is room.
func (k *block) floats() bool {
	if k.kind == tabular2D {
		return true
	}
	if k.kind != paragraph || len(k.lines) == 0 {
		return false
	}
	word, rest, _ := strings.Cut(k.lines[0].text(), " ")
	switch strings.ToLower(word) {
	case "table", "figure", "fig.", "tab.", "tabelle", "abbildung", "abb.", "tableau", "tabla", "figura", "рис.", "таблица":
		c, _ := utf8.DecodeRuneInString(rest)
		return c >= '0' && c <= '9' || c == 'I' || c == 'V' || c == 'X'
	}
	return false
}

// continues says that paragraph b, the first of its region, goes on with a's last sentence.
func (w *writer) continues(a, b *block) bool {
	last, first := &a.lines[len(a.lines)-1], &b.lines[0]
	if !similar(last.size, first.size) || last.backwards != first.backwards || ended(last) || b.page > a.page+1 || allBold(a) != allBold(b) {
		return false
	}
	before, after := strings.TrimRight(last.text(), " "), first.text()
	c, _ := utf8.DecodeRuneInString(after)
	end, _ := utf8.DecodeLastRuneInString(before)
	if end == '-' || end == 0xAD {
		return true
	}
	if a.lines[0].letters+a.lines[len(a.lines)-1].letters < 25 {
		return false
	}
	return lower(c) || end == ',' || wide(c) && wide(end) || strength(c) < 0 && strength(end) < 0 || a.kind == paragraph && full(a)
}

// full says that the last line of a block ends where its lines do, so that its text may go on.
func full(k *block) bool {
	end := float32(0)
	for i := range k.lines[:len(k.lines)-1] {
		end = max(end, k.lines[i].X1)
	}
	last := &k.lines[len(k.lines)-1]
	return len(k.lines) > 1 && last.X1 > end-0.5*last.size && last.letters > 30
}

func lower(c rune) bool { return c != 0 && strings.ToUpper(string(c)) != string(c) }

// join makes one text of the lines of blocks: line ends are blanks or nothing, hyphens at them healed. flat makes
// blanks of the breaks within a block, too.
func (w *writer) join(run []*block, flat bool) []span {
	var out []span
	for n, k := range run {
		for i := range k.lines {
			l := &k.lines[i]
			if len(out) == 0 || len(l.spans) == 0 {
				out = append(out, l.spans...)
				continue
			}
			if l.hard && !flat && !(n > 0 && i == 0) {
				out = append(out, span{text: "\n", link: -1})
				out = append(out, l.spans...)
				continue
			}
			prev := &out[len(out)-1]
			drop, between := w.words.seam(strings.TrimRight(prev.text, " "), strings.TrimLeft(l.spans[0].text, " "))
			if drop > 0 {
				prev = clone(&out)
				text := strings.TrimRight(prev.text, " ")
				prev.text = text[:len(text)-drop]
			} else if between != "" {
				if same(*prev, l.spans[0]) {
					prev = clone(&out)
					prev.text += between
				} else {
					out = append(out, span{text: between, link: -1})
				}
			}
			out = append(out, l.spans...)
		}
	}
	return out
}

// clone lets the last span be changed without changing the line that it came from.
func clone(spans *[]span) *span {
	last := (*spans)[len(*spans)-1]
	*spans = append((*spans)[:len(*spans)-1:len(*spans)-1], last)
	return &(*spans)[len(*spans)-1]
}

func same(a, b span) bool {
	a.text, b.text = "", ""
	return a == b
}

// spans writes pieces of text with their looks. In a heading bold type says nothing.
func (w *writer) spans(spans []span, heading bool) {
	allItalic := true
	for _, s := range spans {
		if strings.TrimSpace(s.text) != "" {
			allItalic = allItalic && s.italic
		}
	}
	for i := 0; i < len(spans); {
		// One link goes as far as its address is the same, whatever looks are in it.
		j := i + 1
		link := spans[i].link
		for j < len(spans) && (spans[j].link == link || spans[j].text == " " && j+1 < len(spans) && spans[j+1].link == link) {
			j++
		}
		linked := link >= 0 && int(link) < len(w.links)
		if linked {
			w.w.EnterLink(scribe.Link{URL: w.links[link], Words: true})
		}
		w.looks(spans[i:j], heading, allItalic)
		if linked {
			w.w.Leave()
		}
		i = j
	}
}

// looks writes pieces of text, each with its look.
func (w *writer) looks(spans []span, heading, allItalic bool) {
	for i := 0; i < len(spans); {
		s := spans[i]
		if s.text == "\n" {
			w.w.LineBreak()
			i++
			continue
		}
		text := s.text
		j := i + 1
		for j < len(spans) && spans[j].text != "\n" && (same(spans[j], s) || spans[j].text == " " && j+1 < len(spans) && same(spans[j+1], s)) {
			text += spans[j].text
			j++
		}
		i = j
		marks := 0
		if s.bold && !heading && !s.mono {
			w.w.EnterMark(scribe.Strong)
			marks++
		}
		if s.italic && !(heading && allItalic) && !s.mono {
			w.w.EnterMark(scribe.Em)
			marks++
		}
		w.piece(s, text)
		for range marks {
			w.w.Leave()
		}
	}
}

// piece writes a text of one look.
func (w *writer) piece(s span, text string) {
	switch {
	case s.note != "":
		w.w.NoteReference(s.note)
		if strings.HasSuffix(text, " ") {
			w.w.Space()
		}
	case s.raise > 0 && strings.TrimSpace(text) != "" && w.w.Open():
		w.raised("^", strings.TrimSpace(text))
		if strings.HasSuffix(text, " ") {
			w.w.Space()
		}
	case s.raise < 0 && strings.TrimSpace(text) != "" && w.w.Open() && !formulaDigits(w.w.Line(), text):
		w.raised("_", strings.TrimSpace(text))
		if strings.HasSuffix(text, " ") {
			w.w.Space()
		}
	case s.mono && s.link < 0 && strings.TrimSpace(text) != "" && !strings.ContainsAny(text, "\n"):
		trimmed := strings.TrimSpace(text)
		if strings.HasPrefix(text, " ") {
			w.w.Space()
		}
		w.w.Span(string(scribe.AppendVisible(nil, trimmed)))
		if strings.HasSuffix(text, " ") {
			w.w.Space()
		}
	default:
		w.w.Text(text)
	}
}

// raised writes raised or lowered text so that it can be told from what it stands beside.
func (w *writer) raised(sign, text string) {
	if w.w.SpaceDue() || typographic(text) {
		w.w.Text(text)
		return
	}
	simple := len(text) <= 16
	for i, c := range text {
		if c == ' ' || c < 0x80 && !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || i == 0 && (c == '-' || c == '+')) {
			simple = false
		}
	}
	if simple {
		w.w.Raw(sign)
		w.w.Text(text)
		return
	}
	w.w.Raw(sign + "(")
	w.w.Text(text)
	w.w.Attach(")")
}

// typographic says that raised text is only a way of setting it: 1st, a mark of a note that stands apart by itself.
func typographic(s string) bool {
	switch s {
	case "st", "nd", "rd", "th", "er", "re", "e", "o", "a", "TM", "®", "©", "™", "*", "†", "‡", "**", "***", "°", "º", "ª", ",", ".", "’", "”", "“", "'", "\"":
		return true
	}
	return s[0] == '[' || s[0] == '('
}

// formulaDigits says that lowered digits belong to a chemical formula, which reads well without a sign.
func formulaDigits(line []byte, text string) bool {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "0123456789") != "" || len(line) == 0 {
		return false
	}
	c := line[len(line)-1]
	return c >= 'A' && c <= 'Z' || c == ')' || len(line) > 1 && c >= 'a' && c <= 'z' && line[len(line)-2] >= 'A' && line[len(line)-2] <= 'Z'
}

// code writes a fenced block with the indents and blank lines that the page shows.
func (w *writer) code(k *block) {
	left, letters, advance := k.lines[0].X0, -1, float32(0)
	for i := range k.lines {
		left = min(left, k.lines[i].X0)
		if n := len(k.lines[i].pre); n > letters { // it knows best how wide a character is
			letters, advance = n, k.lines[i].advance
		}
	}
	var out []byte
	for i := range k.lines {
		l := &k.lines[i]
		if i > 0 {
			out = append(out, '\n')
			p := &k.lines[i-1]
			if l.base-p.base > 1.75*1.2*l.size || len(k.lines) > 2 && l.base-p.base > 1.7*pitchOf(k) {
				out = append(out, '\n')
			}
		}
		if advance > 0 {
			n := int((l.X0-left)/advance + 0.5)
			for range min(max(n, 0), 200) {
				out = append(out, ' ')
			}
		}
		out = append(out, l.pre...)
	}
	w.w.Code(string(scribe.AppendVisible(nil, string(out))), "")
}

// pitchOf is the least distance between lines of a block.
func pitchOf(k *block) float32 {
	d := float32(0)
	for i := 1; i < len(k.lines); i++ {
		if g := k.lines[i].base - k.lines[i-1].base; g > 0 && (d == 0 || g < d) {
			d = g
		}
	}
	return d
}

// table writes a table, its first row as its head.
func (w *writer) table(k *block) {
	columns := 0
	for _, r := range k.cells {
		columns = max(columns, len(r))
	}
	w.w.Break(2)
	for i, r := range k.cells {
		w.w.BeginRow()
		for j := range columns {
			if j >= len(r) || len(r[j]) == 0 {
				w.w.EmptyCell()
				continue
			}
			w.w.BeginCell()
			w.spans(w.join([]*block{{lines: r[j]}}, true), i == 0)
			w.w.EndCell()
		}
		if i == 0 {
			w.w.DelimiterRow(columns)
		}
	}
	w.w.SetGap(2)
}

// item writes the item at i with the items after it that are in its list.
func (w *writer) item(i int) int {
	w.w.Break(2)
	top := w.w.Depth()
	type open struct{ depth, at int }
	var stack []open
	n := 0
	for ; i+n < len(w.blocks); n++ {
		k := &w.blocks[i+n]
		if w.done[k] {
			continue
		}
		if k.kind != item || n > 0 && k.page != w.page {
			break
		}
		for len(stack) > 0 && stack[len(stack)-1].depth >= k.depth {
			w.w.Pop(stack[len(stack)-1].at)
			stack = stack[:len(stack)-1]
		}
		at := w.w.Depth()
		label := "- "
		text := ""
		if number := strings.TrimRight(k.number, ".)"); k.number != "" {
			if label123(number) && k.number[0] != '(' {
				label = number + k.number[len(number):] + " "
			} else {
				text = k.number + " "
			}
		}
		w.w.Push(strings.Repeat(" ", len(label)), label)
		stack = append(stack, open{k.depth, at})
		spans := w.join(w.run(i+n), false)
		if text != "" {
			spans = append([]span{{text: text, link: -1}}, spans...)
		}
		w.spans(spans, false)
		w.w.Break(1)
	}
	w.w.Pop(top)
	w.w.Break(2)
	w.w.SetGap(2)
	return n - 1
}
