package webfetch

import "github.com/wayleave/wayleave/internal/charset"

// kind is what a body is, as far as reading it goes; the media type alone decides.
type kind int

const (
	kindBinary   kind = iota // not readable as text: refused
	kindMarkdown             // passed on as decoded
	kindHTML                 // converted
	kindDocument             // PDF, Office, OpenDocument, Numbers: for a document converter
	kindJSON                 // indented
	kindText                 // passed on as decoded
)

// textual tells whether a body of this kind is text, which FormatRaw gives as decoded.
func (k kind) textual() bool { return k != kindBinary && k != kindDocument }

// kindOf classifies a media type (lower case, without parameters; "" is binary).
func kindOf(mediaType string) kind { panic("skeleton") }

// markupOf tells which encoding declarations inside a body of this media type count.
func markupOf(mediaType string) charset.Markup { panic("skeleton") }
