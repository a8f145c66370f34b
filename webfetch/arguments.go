package webfetch

import "encoding/json"

// Arguments are the arguments of one web_fetch call, checked and with their defaults filled in.
type Arguments struct {
	// URL is trimmed and not blank. Nothing else of it is checked: that is the Source's, which judges whole URLs.
	URL string
	// Offset is where to go on, in code points; 0 or more.
	Offset int
	// MaxBytes bounds the window, 1 to MaxWindowBytes; DefaultWindowBytes where the model gave none.
	MaxBytes int
	// Find is the text to go to, trimmed, 1 to 200 code points; empty for none.
	Find string
	// Content is the part of the page to show: PartMain by default where Abilities.MainContent, else PartFull.
	Content Part
	// Links asks for the page's links.
	Links bool
	// Format is FormatAuto or FormatRaw.
	Format Format
}

// Request is what a Source is asked for.
func (a Arguments) Request() Request { return Request{URL: a.URL, Format: a.Format} }

// The model's window: at most MaxWindowBytes of UTF-8 before escaping, DefaultWindowBytes where it does not say.
const (
	DefaultWindowBytes = 12_000
	MaxWindowBytes     = 20_000
)

// ParseArguments reads the arguments of one call: one JSON object, or nothing for none. The error is an *Error with
// CodeInvalidInput that names the first bad member in Field.
func ParseArguments(raw json.RawMessage, able Abilities) (Arguments, error) { panic("skeleton") }
