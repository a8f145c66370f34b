// Package layout makes Markdown of what stands where on a document's pages: characters with their places and fonts,
// lines that are drawn, images, links. It knows no file and no engine.
//
// Nothing in a page file says what is a word, a line, a column or a heading, so all of it is evidence: gaps, sizes,
// indents, what repeats. Where the evidence is thin the text stays in the order of the page, and nothing is lost.
package layout

// Page is what stands on one page. Places are in points from the upper left corner as the page is shown, y downwards.
type Page struct {
	Number int     // from 1
	Width  float64 // of what is shown
	Height float64
	Glyphs []Glyph // in the order of the file
	Styles []Style
	Rules  []Rule // lines that are drawn
	Images []Rect
	Fills  []Rect // shapes that are filled with more than a breath of colour
	Dots   []Dot  // small shapes, such as the marks of items
	Links  []Link
	Drawn  int // how many shapes are drawn, lines included
}

// Rect is an upright rectangle: X0 ≤ X1, Y0 ≤ Y1.
type Rect struct{ X0, Y0, X1, Y1 float32 }

// Glyph is one character.
type Glyph struct {
	Rect         // of its ink
	Base float32 // of the line that it stands on: y, or x where it is turned by a quarter
	X    float32 // where it begins on that line, in the direction of its text
	Rune rune
	// Style is an index into the page's.
	Style uint16
	Turn  Turn
	Blank Blank // before it in the file's order
}

// Blank says whether a blank stands between two characters.
type Blank uint8

// Kinds of blanks.
const (
	NoBlank Blank = iota
	Guessed       // none is written; by the gap the engine takes it that there is one
	Written       // the file has one
)

// Turn is the direction in which a text goes.
type Turn uint8

// Turns, clockwise as shown.
const (
	Upright  Turn = iota
	Down          // 90°
	Over          // 180°
	Up            // 270°
	Slanting      // none of them
)

// Style is how characters look, and what the file says they are.
type Style struct {
	Font     string // without the tag of a subset
	Size     float32
	Bold     bool
	Italic   bool
	Mono     bool
	Unseen   bool  // drawn with no ink, as text behind a scan is
	Pale     bool  // as good as white, or with almost no ink
	Level    uint8 // 1 to 6 for a heading by the file's own structure; 0 for none
	Cell     Cell  // of a table, by the file's own structure
	Artifact bool  // a running line, by the file's own structure
}

// Cell is a cell of a table: all from 1, 0 for none.
type Cell struct{ Table, Row, Column uint16 }

// Rule is a straight line along an axis.
type Rule struct {
	Rect
	Upright bool // along y
}

// Dot is a small shape that is drawn and not written.
type Dot struct {
	Rect
	Hollow, Square bool
}

// Link is a place that leads to an address.
type Link struct {
	Rect
	URL string
}

// Bookmark is an entry of the document's outline.
type Bookmark struct {
	Title string
	Level int // from 1
	Page  int // from 1; 0 for none
}
