package mdtext

import (
	"html"
	"strings"

	xhtml "golang.org/x/net/html"
)

const (
	maxTitleChars = 500    // the stored result is meant to be small
	maxTitleReach = 65_536 // characters of HTML source in which its title must end
)

// ClipTitle collapses white space and cuts a title at 500 code points.
func ClipTitle(s string) string {
	// Fields would copy a title of megabytes; no more of it can count than this, unless it is all blanks.
	s = strings.TrimSpace(s)
	s = strings.Join(strings.Fields(clip(s, 16*maxTitleChars)), " ")
	return strings.TrimSpace(clip(s, maxTitleChars))
}

// HTMLTitle is the title of HTML source text that nobody parsed, clipped; "" for none. It is the first title element that
// is closed within the first 65,536 characters and is neither a comment's, a script's nor a drawing's.
func HTMLTitle(src string) string {
	tokens := xhtml.NewTokenizer(strings.NewReader(clip(src, maxTitleReach)))
	drawings := 0 // open svg and math elements, whose titles are labels
	for {
		switch tokens.Next() {
		case xhtml.ErrorToken:
			return ""
		case xhtml.StartTagToken:
			switch name, _ := tokens.TagName(); string(name) {
			case "svg", "math":
				drawings++
			case "title":
				title, closed := titleText(tokens)
				if !closed {
					return ""
				}
				if drawings == 0 {
					return ClipTitle(title)
				}
			}
		case xhtml.EndTagToken:
			switch name, _ := tokens.TagName(); string(name) {
			case "svg", "math":
				drawings = max(0, drawings-1)
			}
		}
	}
}

// titleText reads from the start tag of a title element to its end tag.
func titleText(tokens *xhtml.Tokenizer) (text string, closed bool) {
	kind := tokens.Next()
	if kind == xhtml.TextToken {
		text = string(tokens.Text())
		kind = tokens.Next()
	}
	return text, kind == xhtml.EndTagToken
}

// MarkdownTitle is the first level-one heading of Markdown outside fences and front matter, clipped; "" for none.
func MarkdownTitle(src string) string {
	var code fence
	for line := range strings.Lines(skipFrontMatter(src)) {
		line = strings.TrimRight(line, "\r\n")
		if code.next(line) {
			continue
		}
		if title := headingText(line); title != "" {
			return ClipTitle(html.UnescapeString(clip(title, 16*maxTitleChars)))
		}
	}
	return ""
}

// headingText gives the text of a line that is a level-one heading; "" for any other line.
func headingText(line string) string {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 {
		return "" // indented code
	}
	text, ok := strings.CutPrefix(text, "#")
	if !ok || text == "" || text[0] != ' ' && text[0] != '\t' {
		return ""
	}
	text = strings.TrimSpace(text)
	// Closing marks stand apart: "C#" is a name.
	if bare := strings.TrimRight(text, "#"); bare == "" || strings.TrimRight(bare, " \t") != bare {
		text = strings.TrimSpace(bare)
	}
	return text
}

// skipFrontMatter drops the settings that some tools write before a page: lines between --- and --- (or ...), or between
// +++ and +++. Settings without an end are none.
func skipFrontMatter(src string) string {
	first, rest, ok := strings.Cut(src, "\n")
	mark := strings.TrimRight(first, " \t\r")
	if !ok || mark != "---" && mark != "+++" {
		return src
	}
	for at := 0; at < len(rest); {
		line, _, _ := strings.Cut(rest[at:], "\n")
		at = min(at+len(line)+1, len(rest))
		if end := strings.TrimRight(line, " \t\r"); end == mark || mark == "---" && end == "..." {
			return rest[at:]
		}
	}
	return src
}

// clip cuts s to n characters. A byte that is no UTF-8 is one, so that the result is bounded whatever s is.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
