// Package bodytype says what bytes that were served are: what their Content-Type means, what the bytes themselves show,
// and which kind of reading a media type asks for.
//
// The one rule: whatever strangers send, as a header or as bytes, the answer is a media type that may be shown, token/token
// of at most 100 characters, or nothing; finding it costs a bounded look, however the body was made.
package bodytype

import (
	"strings"

	"github.com/wayleave/wayleave/internal/charset"
)

// Kind is what a body is, as far as reading it goes; the media type alone decides.
type Kind int

const (
	Binary   Kind = iota // not readable as text: refused
	Markdown             // passed on as decoded
	HTML                 // converted
	Document             // PDF, Office, OpenDocument, Numbers: for a document converter
	JSON                 // indented
	Text                 // passed on as decoded
)

// Textual tells whether a body of this kind is text, which can be given as decoded.
func (k Kind) Textual() bool { return k != Binary && k != Document }

// The media types of documents that are told apart by looking inside.
const (
	TypePDF     = "application/pdf"
	TypeDOCX    = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	TypeXLSX    = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	TypePPTX    = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	TypeXLSM    = "application/vnd.ms-excel.sheet.macroenabled.12"
	TypeXLSB    = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
	TypeXLS     = "application/vnd.ms-excel"
	TypeODS     = "application/vnd.oasis.opendocument.spreadsheet"
	TypeODT     = "application/vnd.oasis.opendocument.text"
	TypeNumbers = "application/vnd.apple.numbers"

	// OpenDocument's texts and spreadsheets as one file of XML.
	typeFlatODT = "application/vnd.oasis.opendocument.text-flat-xml"
	typeFlatODS = "application/vnd.oasis.opendocument.spreadsheet-flat-xml"

	// typeEncrypted is Office's newer documents in the older container, which is how they are encrypted: which one it is
	// cannot be seen.
	typeEncrypted = "application/vnd.openxmlformats-officedocument"
)

// KindOf classifies a media type (lower case, without parameters; "" is binary).
func KindOf(mediaType string) Kind {
	if isMedia(mediaType) {
		return Binary
	}
	switch mediaType {
	case "text/markdown", "text/x-markdown":
		return Markdown
	case "text/html", "application/xhtml+xml":
		return HTML
	case TypePDF, TypeDOCX, TypeXLSX, TypeXLSM, TypeXLSB, TypeXLS, TypeODS, TypeODT, TypeNumbers, typeEncrypted,
		"application/vnd.ms-word.document.macroenabled.12", "application/vnd.ms-word.template.macroenabled.12",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.template",
		"application/vnd.ms-excel.template.macroenabled.12", "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
		"application/vnd.oasis.opendocument.text-template", "application/vnd.oasis.opendocument.text-master", "application/vnd.oasis.opendocument.text-web",
		typeFlatODT, typeFlatODS, "application/vnd.oasis.opendocument.spreadsheet-template":
		return Document
	case "application/json", "text/json":
		return JSON
	}
	switch {
	case strings.HasSuffix(mediaType, "+json"):
		return JSON
	case strings.HasPrefix(mediaType, "text/"), isTextSuffix(mediaType), isTextApplication(mediaType):
		return Text
	}
	return Binary
}

// isMedia tells whether a media type is of a family that is no text whatever its suffix, SVG included.
func isMedia(mediaType string) bool {
	family, _, _ := strings.Cut(mediaType, "/")
	switch family {
	case "image", "audio", "video", "font":
		return true
	}
	return false
}

func isTextSuffix(mediaType string) bool {
	return strings.HasSuffix(mediaType, "+xml") || strings.HasSuffix(mediaType, "+yaml")
}

// isTextApplication lists the application types whose bodies are plain text.
func isTextApplication(mediaType string) bool {
	name, ok := strings.CutPrefix(mediaType, "application/")
	if !ok {
		return false
	}
	switch strings.TrimPrefix(name, "x-") {
	case "xml", "xml-dtd", "xml-external-parsed-entity", // markup
		"json5", "jsonc", "jsonl", "jsonlines", "ndjson", "json-seq", "csv", "tsv", // data
		"yaml", "toml", "ini", "java-properties", // settings
		"javascript", "ecmascript", "typescript", "sql", "graphql", "sparql-query", // code
		"sh", "bash", "csh", "shellscript", "perl", "php", "httpd-php", "python", "ruby", "lua", "tcl",
		"diff", "patch", "tex", "latex", "subrip", "pem-file", "turtle", "n-triples", "n-quads", "trig":
		return true
	}
	return false
}

// MarkupOf tells which encoding declarations inside a body of this media type count.
func MarkupOf(mediaType string) charset.Markup {
	switch {
	case mediaType == "application/xhtml+xml":
		return charset.XHTML
	case KindOf(mediaType) == HTML:
		return charset.HTML
	case mediaType == "application/xml", mediaType == "text/xml", strings.HasSuffix(mediaType, "+xml"):
		return charset.XML
	}
	return charset.None
}
