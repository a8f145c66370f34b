package webfetch

import (
	"strings"

	"github.com/wayleave/wayleave/internal/charset"
)

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

// The media types of documents that are told apart by looking inside.
const (
	typePDF     = "application/pdf"
	typeDOCX    = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	typeXLSX    = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	typePPTX    = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	typeXLSM    = "application/vnd.ms-excel.sheet.macroenabled.12"
	typeXLSB    = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
	typeXLS     = "application/vnd.ms-excel"
	typeODS     = "application/vnd.oasis.opendocument.spreadsheet"
	typeODT     = "application/vnd.oasis.opendocument.text"
	typeNumbers = "application/vnd.apple.numbers"
)

// kindOf classifies a media type (lower case, without parameters; "" is binary).
func kindOf(mediaType string) kind {
	if isMedia(mediaType) {
		return kindBinary
	}
	switch mediaType {
	case "text/markdown", "text/x-markdown":
		return kindMarkdown
	case "text/html", "application/xhtml+xml":
		return kindHTML
	case typePDF, typeDOCX, typeXLSX, typeXLSM, typeXLSB, typeXLS, typeODS, typeODT, typeNumbers:
		return kindDocument
	case "application/json", "text/json":
		return kindJSON
	}
	switch {
	case strings.HasSuffix(mediaType, "+json"):
		return kindJSON
	case strings.HasPrefix(mediaType, "text/"), isTextSuffix(mediaType), isTextApplication(mediaType):
		return kindText
	}
	return kindBinary
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

// markupOf tells which encoding declarations inside a body of this media type count.
func markupOf(mediaType string) charset.Markup {
	switch {
	case mediaType == "application/xhtml+xml":
		return charset.XHTML
	case kindOf(mediaType) == kindHTML:
		return charset.HTML
	case mediaType == "application/xml", mediaType == "text/xml", strings.HasSuffix(mediaType, "+xml"):
		return charset.XML
	}
	return charset.None
}
