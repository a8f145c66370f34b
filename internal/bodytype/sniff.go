package bodytype

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/wayleave/wayleave/internal/charset"
)

const (
	// sniffBytes is how much of a body tells text from binary.
	sniffBytes = 1024
	// maxPreamble is how far into a body comments are skipped in search of the first tag; licence texts are that long.
	maxPreamble = 64 << 10
	// maxControls is the share of control characters, in percent, up to which bytes are text.
	maxControls = 5

	typeText  = "text/plain"
	typeOctet = "application/octet-stream"
	typeXML   = "application/xml"
	typeHTML  = "text/html"
	typeXHTML = "application/xhtml+xml"
)

// Sniff gives the media type by which a body is read. served and label are what ParseContentType gave. A served type is
// believed, with five exceptions: none and the types that only say "a download" are decided by the bytes; a type that
// cannot be read as text gives way to the document that is inside; an old spreadsheet that is none gives way to the text that it
// is; a text/* body with a NUL is binary, but for a page that
// is served as HTML and begins as one: HTML says what a stray NUL in it means, which is nothing; what is served as HTML and begins as
// a feed or a map of a site is that, as browsers have it (MIME Sniffing Standard, 8.2). It is never "".
func Sniff(body []byte, served, label string) string {
	switch {
	case served == "" || isDownload(served):
		return sniffBytesOnly(body, label)
	case strings.HasPrefix(served, "text/"):
		if hasNUL(body) && !charset.Wide(body, label, MarkupOf(served)) && !(served == typeHTML && opensAsHTML(body)) {
			return typeOfBinary(body)
		}
		if served == typeHTML {
			if start := string(body[:min(len(body), sniffBytes)]); hasPrefixFold(start, "<!doctype html") || hasPrefixFold(start, "<html") {
				return served // as nearly all are
			}
			start, _ := charset.Decode(body[:min(len(body), maxPreamble)], label, MarkupOf(served))
			return feedType(start)
		}
	case !isMedia(served) && !KindOf(served).Textual():
		inside := documentType(body)
		if inside != "" && (inside != typeEncrypted || KindOf(served) != Document) {
			return inside
		}
		if served == TypeXLS {
			return notASheet(body, label)
		}
	}
	return served
}

// notASheet gives the type of a body that is served as an old spreadsheet and is none that is known: many a "file for
// Excel" is a page, XML or lines of text. Bytes that are no text stay what they are called.
func notASheet(body []byte, label string) string {
	inside := sniffBytesOnly(body, label)
	if KindOf(inside).Textual() && (inside != typeText || bytes.IndexByte(body, '\n') >= 0) {
		return inside
	}
	return TypeXLS
}

// opensAsHTML tells a page with a stray NUL from binary bytes under the name of one.
func opensAsHTML(body []byte) bool {
	head := strings.ReplaceAll(string(body[:min(len(body), sniffBytes)]), "\x00", "")
	start := strings.TrimLeftFunc(head, unicode.IsSpace)
	return !isBinary(head) && (hasPrefixFold(start, "<!doctype html") || hasPrefixFold(start, "<html"))
}

// feedType gives the type of what is served as HTML: by its root element, past white space, comments, processing instructions and
// a doctype, where that is of a feed, a site map or an outline, none of which HTML has.
func feedType(s string) string {
	for {
		s = strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
		end := ""
		switch {
		case strings.HasPrefix(s, "<!--"):
			end = "-->"
		case strings.HasPrefix(s, "<?"):
			end = "?>"
		case strings.HasPrefix(s, "<!"):
			end = ">"
		}
		if end == "" {
			break
		}
		_, rest, ok := strings.Cut(s, end)
		if !ok {
			return typeHTML
		}
		s = rest
	}
	name, ok := strings.CutPrefix(s, "<")
	if i := strings.IndexAny(name, " \t\r\n>"); ok && i > 0 {
		switch name[:i] {
		case "rss", "rdf:RDF":
			return "application/rss+xml"
		case "feed":
			return "application/atom+xml"
		case "urlset", "sitemapindex", "opml":
			return typeXML
		}
	}
	return typeHTML
}

// isDownload lists the types that servers use for "save this", whatever it is.
func isDownload(mediaType string) bool {
	switch mediaType {
	case typeOctet, "binary/octet-stream", "application/octetstream", "application/x-octet-stream",
		"application/binary", "application/x-binary", "application/download", "application/x-download",
		"application/force-download", "application/x-force-download", "application/unknown", "unknown/unknown":
		return true
	}
	return false
}

func hasNUL(body []byte) bool {
	return bytes.IndexByte(body[:min(len(body), sniffBytes)], 0) >= 0
}

// sniffBytesOnly decides by the bytes alone: documents, UTF-16 and UTF-32 with a mark, signatures that no text begins
// with, then NULs and control characters, then markup. The rest is plain text.
func sniffBytesOnly(body []byte, label string) string {
	if inside := documentType(body); inside != "" {
		return inside
	}
	head := body[:min(len(body), sniffBytes)]
	if charset.Wide(body, label, charset.None) {
		text, _ := charset.Decode(head, label, charset.None)
		if isBinary(text) {
			return typeOctet
		}
		start, _ := charset.Decode(body[:min(len(body), 2*maxPreamble)], label, charset.None)
		return markupType(start)
	}
	if signed := signedType(body, true); signed != "" {
		return signed
	}
	if isBinary(string(head)) {
		return typeOfBinary(body)
	}
	start, _ := charset.Decode(body[:min(len(body), maxPreamble)], "", charset.None)
	return markupType(start)
}

// typeOfBinary names what is known to be no text.
func typeOfBinary(body []byte) string {
	if signed := signedType(body, false); signed != "" {
		return signed
	}
	return typeOctet
}

// isBinary tells whether s has a NUL or more control characters than text has. Escape counts as text: terminal output.
func isBinary(s string) bool {
	controls := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == 0:
			return true
		case c < ' ' && c != '\t' && c != '\n' && c != '\f' && c != '\r' && c != 0x1B:
			controls++
		}
	}
	return controls*100 > len(s)*maxControls
}

// markupType tells HTML and XML from plain text by how the text begins, past an XML declaration and comments. A comment
// with no tag after it is text: Markdown files begin so.
func markupType(s string) string {
	declared, commented := false, false
	for {
		s = strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
		switch {
		case !declared && hasPrefixFold(s, "<?xml") && len(s) > 5 && unicode.IsSpace(rune(s[5])):
			_, rest, ok := strings.Cut(s, "?>")
			if !ok {
				return typeXML
			}
			s, declared = rest, true
		case strings.HasPrefix(s, "<!--"):
			_, rest, ok := strings.Cut(s[len("<!"):], "-->")
			if !ok && declared {
				return typeXML
			} else if !ok {
				return typeText
			}
			s, commented = rest, true
		case hasPrefixFold(s, "<!doctype html"), hasPrefixFold(s, "<html"):
			if declared {
				return typeXHTML
			}
			return typeHTML
		case declared:
			return typeXML
		case opensHTML(s), commented && opensTag(s):
			return typeHTML
		default:
			return typeText
		}
	}
}

// opensHTML tells whether s begins with a tag of the list of the MIME Sniffing Standard, or the meta element that many
// a short page begins with.
func opensHTML(s string) bool {
	if !opensTag(s) {
		return false
	}
	end := strings.IndexAny(s, " \t\n\f\r>")
	if end < 0 || end > len("<iframe") {
		return false
	}
	switch strings.ToLower(s[1:end]) {
	case "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title", "b", "body", "br", "p", "meta":
		return true
	}
	return false
}

func opensTag(s string) bool {
	return len(s) > 1 && s[0] == '<' && 'a' <= s[1]|0x20 && s[1]|0x20 <= 'z'
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
