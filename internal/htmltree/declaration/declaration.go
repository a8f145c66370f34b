// Package declaration reads what begins with "<!": where a comment ends, and what a doctype means for a page's tree.
package declaration

import "strings"

// CommentEnd is the offset after the comment whose text begins at offset i.
func CommentEnd(src string, i int) int {
	rest := src[i:]
	if strings.HasPrefix(rest, ">") {
		return i + 1
	}
	if strings.HasPrefix(rest, "->") {
		return i + 2
	}
	for {
		j := strings.Index(src[i:], "--")
		if j < 0 {
			return len(src)
		}
		i += j + 2
		for i < len(src) && src[i] == '-' {
			i++
		}
		switch rest := src[i:]; {
		case strings.HasPrefix(rest, ">"):
			return i + 1
		case strings.HasPrefix(rest, "!>"):
			return i + 2
		}
	}
}

// Quirks says that a page is in quirks mode, by what stands between the word and the bracket of its doctype.
func Quirks(s string) bool {
	s = strings.ToLower(strings.TrimSpace(strings.TrimSuffix(s, ">")))
	name, rest := s, ""
	if i := strings.IndexAny(s, " \t\n\f"); i >= 0 {
		name, rest = s[:i], strings.TrimSpace(s[i:])
	}
	return name != "html" || old(rest)
}

// old says that what follows the name in a doctype, in lower case, belongs to the pages that browsers lay out
// as they did before standards. For the tree that only means that a table does not close a paragraph.
func old(s string) bool {
	id, ok := strings.CutPrefix(s, "public")
	if !ok {
		return strings.Contains(s, "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd")
	}
	id = strings.TrimLeft(id, " \t\n\f")
	if id == "" || id[0] != '"' && id[0] != '\'' {
		return true
	}
	public, system, closed := strings.Cut(id[1:], id[:1])
	if !closed {
		return true
	}
	switch public {
	case "html", "-/w3c/dtd html 4.0 transitional/en":
		return true
	}
	for _, prefix := range []string{"-//ietf//dtd html", "-//w3c//dtd html 3", "-//w3c//dtd html 4.0 transitional", "-//w3c//dtd html 4.0 frameset",
		"-//w3c//dtd html experimental", "-//w3c//dtd w3 html", "-//w3o//dtd w3 html", "-//microsoft//dtd internet explorer",
		"-//netscape comm. corp.//dtd", "-//sun microsystems corp.//dtd hotjava", "-//softquad", "-//webtechs//dtd mozilla", "-//as//dtd html",
		"-//advasoft ltd//dtd html", "-//o'reilly and associates//dtd html", "-//spyglass//dtd html", "-//sq//dtd html",
		"+//silmaril//dtd html", "-//metrius//dtd"} {
		if strings.HasPrefix(public, prefix) {
			return true
		}
	}
	return !strings.Contains(system, "http") &&
		(strings.HasPrefix(public, "-//w3c//dtd html 4.01 transitional") || strings.HasPrefix(public, "-//w3c//dtd html 4.01 frameset"))
}
