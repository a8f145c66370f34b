// Package document holds the words that all readers of documents share: what a document says, how much of it may be read,
// and why one cannot be.
package document

import (
	"fmt"
)

// Text is what a document says.
type Text struct {
	Markdown string
	Title    string // empty for none
	Facts    []Fact // reasons to distrust the text
	Notes    []Fact // what was left out, and what a reader could not see otherwise
}

// Fact is one statement of ours about a document. Words never holds what the document chose.
type Fact struct {
	Kind  string         // of the closed lists of thin kinds (Text.Facts) and of notes (Text.Notes)
	Words string         // one line, such as "2 sheets are hidden and left out"
	Data  map[string]any // the fact's numbers for hosts; may be nil
}

// Kinds of facts.
const (
	ThinNoTextLayer = "no_text_layer" // no page has text: a scan

	NoteHiddenSheets = "hidden_sheets" // sheets that are hidden and left out; data: sheets
	NoteNoTextPages  = "no_text_pages" // pages without text in a document that has some; data: pages
	NoteAttachments  = "attachments"   // files in a document that are left out; data: files
	NoteDynamicForm  = "dynamic_form"  // a form that a program in the document draws; what is filled in is not read
	NoteCut          = "cut"           // rows, columns, sheets or pages that were left out for their number
)

// Limits bound what one document may cost. The zero value of a field means its default.
type Limits struct {
	Unpacked int64 // bytes that all parts of a container together may have unpacked; default 64 MiB. Of an xlsb workbook twice as many
	Text     int   // bytes of Markdown; default 4 MiB
	Pages    int   // of a PDF, which are read; default 2000
	Rows     int   // of a sheet, which are shown; default 10,000
	Columns  int   // of a sheet, which are shown; default 256
	Cells    int   // with a value, which are kept of one book; default 500,000
	Depth    int   // of nested elements and of nested lists and tables; default 256
}

// WithDefaults gives the limits with every zero replaced.
func (l Limits) WithDefaults() Limits {
	if l.Unpacked == 0 {
		l.Unpacked = 64 << 20
	}
	for _, f := range []struct {
		field *int
		value int
	}{{&l.Text, 4 << 20}, {&l.Pages, 2000}, {&l.Rows, 10_000}, {&l.Columns, 256}, {&l.Cells, 500_000}, {&l.Depth, 256}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return l
}

// Reason says why a document cannot be read.
type Reason string

// The reasons. Their texts end the sentence "the document cannot be read: …".
const (
	Encrypted   Reason = "it is encrypted, and opens with a password only"
	Damaged     Reason = "it is damaged or cut off"
	TooLarge    Reason = "it unpacks to more than is read of a document"
	Entities    Reason = "it declares entities of its own, which no document needs"
	TooDeep     Reason = "its parts are nested too deeply"
	Unsupported Reason = "it is of a kind, or a version, that is not read"
	TooCostly   Reason = "reading it took more time or memory than a document may"
	Empty       Reason = "it has no text"
	Failed      Reason = "its reader failed on it"
	WebPage     Reason = "it is a web page under a document's type, such as a login or an error in its place"
)

// Reasons are all of them.
func Reasons() []Reason {
	return []Reason{Encrypted, Damaged, TooLarge, Entities, TooDeep, Unsupported, TooCostly, Empty, Failed, WebPage}
}

// Error says that a document cannot be read.
type Error struct {
	Reason Reason
	Detail string // for a log: which part, which offset; it may hold the document's own words
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return string(e.Reason)
	}
	return fmt.Sprintf("%s (%s)", e.Reason, e.Detail)
}

// Is makes errors.Is(err, &Error{Reason: r}) true for every error of that reason.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason && t.Detail == ""
}

// Fail makes an error of a reason; the detail is for logs.
func Fail(r Reason, format string, args ...any) *Error {
	return &Error{Reason: r, Detail: fmt.Sprintf(format, args...)}
}
