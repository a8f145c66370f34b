// Package prose writes what text documents are made of, headings, paragraphs, items, tables and notes, as Markdown. The
// readers of each format say what a document holds; how Markdown is spelled is the scribe's.
//
// The one rule: what is given is written at once, so that of a document only the block that is being read, one table and
// the notes are ever held, and what is written stops at the limit.
package prose

// Style is how words look. Emphasis that a whole paragraph has by its style is none.
type Style uint8

// The styles.
const (
	Bold Style = 1 << iota
	Italic
	Struck
	Code
	Raised
	Lowered
)

// Kind tells what a run is.
type Kind uint8

// Kinds of runs.
const (
	Words   Kind = iota
	Break        // of a line
	Picture      // Text is what it shows, in words
	Mark         // of a note; Text is the note's label
	Formula      // Text is TeX
)

// Run is a piece of a paragraph.
type Run struct {
	Kind    Kind
	Style   Style
	Display bool   // a formula on a line of its own
	Text    string // white space in words counts as one blank
	Link    string // absolute address that the run leads to; empty for none
}

// Form tells what a block is.
type Form uint8

// Forms of blocks.
const (
	Paragraph Form = iota
	Heading
	Lines // of code: paragraphs of it that follow one another are one block
	Table
)

// Block is a piece of a document.
type Block struct {
	Form  Form
	Quote bool
	Level int    // of a heading, from 1; below the sixth all are the sixth
	Label string // of a heading: its number as the document shows it
	Item  *Item  // nil outside of lists
	Runs  []Run
	Rows  []Row // of a table
}

// Item says where in lists a block stands.
type Item struct {
	Level int    // 0 for the outermost list
	Label string // as the document shows it, "3." or "b)"; empty for a bullet
	Task  Task   // what its bullet shows
	More  bool   // the block goes on with the item before it
}

// Task is what the bullet of a task shows.
type Task uint8

// A bullet is that of no task, of one to be done, or of one that is done.
const (
	NoTask Task = iota
	ToDo
	Done
)

// TaskOf is what a sign in place of a bullet shows.
func TaskOf(sign string) Task {
	switch sign {
	case "☐", "□", "❏", "❑", "❒":
		return ToDo
	case "☒", "☑", "✓", "✔", "✗", "✘":
		return Done
	}
	return NoTask
}

// Row is a row of a table. Cells that a cell of the same row reaches over are not among its cells, those that one of a
// row above reaches over are.
type Row struct {
	Header bool
	Cells  []Cell
}

// Cell is a cell of a table.
type Cell struct {
	Blocks []Block
	Span   int  // columns; 0 counts as 1
	Below  bool // a part of the cell above
}

// Under makes a block one that goes on with an item, where it is in no list itself and the item is not nil.
func (b *Block) Under(i *Item) {
	if i != nil && b.Item == nil && b.Form != Heading {
		b.Item = &Item{Level: i.Level, More: true}
	}
}

// blank says that a block shows nothing.
func (b *Block) blank() bool {
	for i := range b.Runs {
		if r := &b.Runs[i]; r.Kind != Break && (r.Kind != Words || visible(r.Text)) {
			return false
		}
	}
	for i := range b.Rows {
		if !b.Rows[i].blank() {
			return false
		}
	}
	return true
}

func (r *Row) blank() bool {
	for i := range r.Cells {
		if !r.Cells[i].blank() {
			return false
		}
	}
	return true
}

func (c *Cell) blank() bool {
	for i := range c.Blocks {
		if !c.Blocks[i].blank() {
			return false
		}
	}
	return true
}

// PlainText is the words of a block.
func (b *Block) PlainText() string {
	var text []byte
	for i := range b.Runs {
		switch r := &b.Runs[i]; r.Kind {
		case Words:
			text = append(text, r.Text...)
		case Break:
			text = append(text, ' ')
		}
	}
	return string(text)
}
