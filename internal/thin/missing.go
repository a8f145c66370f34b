// The rules for missing content: a "not found" with a success status, and a shell that scripts would fill.

package thin

import "strings"

const (
	notFoundText  = 70 // prose of a page that says it does not exist: an apology, a hint, a list of links
	lineOnly      = 40 // the same without a heading: then the page has to be little else
	shellText     = 20 // words beside an empty mounting point: a name, a loading message
	loadingText   = 12 // words of a mounting point that still loads
	scriptless    = 8  // words of a page whose noscript asks for scripts
	askingText    = 25 // words of a page that asks for scripts in its own text
	demandScripts = 60 // words of a noscript that only asks for scripts
	realFallback  = 5  // words of a noscript that is content: it does not speak of scripts
	unseen        = 40 // words that the conversion found beyond what the tree shows
)

func soft404(r *reading, p Page) (Fact, bool) {
	if !success(p.Status) || r.prose > notFoundText || r.technical > 0 || r.passwords > 0 {
		return Fact{}, false
	}
	words := counted(r.prose, "word")
	for _, line := range append(strings.Split(r.headings, "\n"), titleParts(r.title)...) {
		if saysNotFound(line) {
			return Fact{Soft404, "a heading or the title says it was not found, with " + words + " besides, and the status is a success"}, true
		}
	}
	if r.headings == "" && r.main <= lineOnly && saysNotFound(r.firstLine) {
		return Fact{Soft404, "the text says it was not found, " + words + " in all, and the status is a success"}, true
	}
	return Fact{}, false
}

// titleParts are the parts that sites join in a title, and the whole.
func titleParts(title string) []string {
	parts := []string{title}
	for _, sep := range []string{" | ", " - ", " – ", " — ", " · ", ": ", " :: ", " » ", " • "} {
		if strings.Contains(title, sep) {
			parts = append(parts, strings.Split(title, sep)...)
		}
	}
	return parts
}

func shell(r *reading, p Page) (Fact, bool) {
	scripts := max(r.scripts, r.preloads)
	if scripts == 0 || r.fallback > 0 && fallbackIsContent(r) {
		return Fact{}, false
	}
	main, all := r.main, r.all
	if all == 0 {
		// A page that hides all of itself until its script runs is read all the same.
		main, all = r.hidden, r.hidden
	}
	if p.Markdown != "" && countWords(linkless(p.Markdown)) > all+r.fallback+unseen {
		return Fact{}, false
	}
	text := counted(main, "word") + " of text and " + counted(scripts, "script")
	wants := strings.Contains(r.noscript, "javascript") || strings.Contains(r.noscript, "java script")
	// A few words in the mounting point are content, unless something says that they only wait for scripts.
	waits := wants || r.loaders > 0 || loadingLine(r.text)
	emptyMount := r.mounts > 0 && r.mountMedia <= 1 && (r.mounted == 0 || r.mounted <= loadingText && waits)
	switch {
	case emptyMount && main <= shellText && r.fields <= 1:
		return Fact{JSShell, text + ", root element empty"}, true
	case wants && main <= scriptless:
		return Fact{JSShell, text + ", and the page asks for scripts"}, true
	case main <= loadingText && loadingLine(r.text):
		return Fact{JSShell, text + ", which says that it loads"}, true
	case main <= askingText && r.forms == 0 && scriptDemand().MatchString(r.text):
		return Fact{JSShell, text + ", which asks for scripts"}, true
	case main == 0 && r.skeletons > 0 && r.media <= 1 && r.fields == 0: // a logo
		return Fact{JSShell, "placeholders for content that scripts fetch, and " + counted(scripts, "script")}, true
	case all == 0 && r.media == 0 && r.fields == 0:
		return Fact{JSShell, "no text, and " + counted(scripts, "script")}, true
	}
	return Fact{}, false
}

// fallbackIsContent: what stands in noscript is the page itself, not a demand for scripts.
func fallbackIsContent(r *reading) bool {
	asks := strings.Contains(r.noscript, "script")
	return r.fallback > demandScripts || !asks && r.fallback >= realFallback
}

// linkless drops the addresses of Markdown links: they are no words of the page.
func linkless(markdown string) string {
	var b strings.Builder
	rest := cut(markdown, mostMarkup)
	for {
		before, after, found := strings.Cut(rest, "](")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte(' ')
		if _, rest, found = strings.Cut(after, ")"); !found {
			return b.String()
		}
	}
}
