package webfetch

import (
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/bodytype"
	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/internal/pagetext"
	"github.com/wayleave/wayleave/internal/untrusted"
)

// Addresses are cut: in the header and in errors, which a model reads, and in structured content.
const (
	shownURLChars = 200
	hostURLChars  = 500
)

// Render is the text that a model reads: one header line, a line for each note, and the window inside the wrapper,
// escaped. The same window always gives the same text; nothing is cut here.
func Render(w *Window) string { return strings.Join(lines(w), "\n") }

// lines are what Render joins by line feeds; the window is one of them.
func lines(w *Window) []string {
	all := make([]string, 0, len(w.Notes)+4)
	all = append(all, header(w))
	for _, n := range w.Notes {
		all = append(all, noteLine(n))
	}
	return append(all, untrusted.OpenTag, untrusted.Escape(w.Content), untrusted.CloseTag)
}

// textBytes is the length of what Render gives.
func textBytes(w *Window) int {
	n := -1
	for _, line := range lines(w) {
		n += len(line) + 1
	}
	return n
}

const separator = " · "

// header says where the text comes from, how it was read, and which part of it this is.
func header(w *Window) string {
	address := w.FinalURL
	if address == "" { // a provider that cannot know it
		address, _, _ = strings.Cut(w.RequestedURL, "#")
	}
	mediaType := showMediaType(w.ContentType)
	if mediaType == "" {
		mediaType = "unknown"
	}
	head := "web_fetch: " + untrusted.URL(address, shownURLChars) + separator + statusText(w.Status) +
		separator + mediaType + " → " + label(w.Via) + separator
	total := strconv.Itoa(w.TotalChars)
	if w.Offset > 0 && w.Offset >= w.TotalChars {
		return head + "offset=" + strconv.Itoa(w.Offset) + " is past the end of " + total + " chars"
	}
	head += "chars " + strconv.Itoa(w.Offset) + "–" + strconv.Itoa(w.Offset+pagetext.Count(w.Content)) + " of " + total
	if w.NextOffset != nil {
		head += separator + "continue with offset=" + strconv.Itoa(*w.NextOffset)
	}
	return head
}

func noteLine(n Note) string { return untrusted.Line("note: " + n.Kind + separator + n.Fact) }

// showMediaType gives a media type only if it is one, which a Source need not have checked; else "".
func showMediaType(s string) string {
	if s = strings.ToLower(s); bodytype.IsMediaType(s) && untrusted.Escape(s) == s {
		return s
	}
	return ""
}

// label is the word for how a text came about.
func label(v Via) string {
	switch v {
	case ViaMarkdown, ViaConverted:
		return "markdown"
	case ViaRendered:
		return "rendered markdown"
	case ViaJSON, ViaText, ViaRaw:
		return string(v)
	}
	return "text" // a Source that gives a way of its own
}

// statusText is the status with the phrase of an error, so that no reader takes an error page for the page.
func statusText(status int) string {
	if status == 0 {
		return "unknown"
	}
	if phrase := hop.StatusPhrase(status); phrase != "" {
		return strconv.Itoa(status) + " " + phrase
	}
	return strconv.Itoa(status)
}
