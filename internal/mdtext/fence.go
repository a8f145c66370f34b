// Package mdtext knows what can be told of Markdown line by line, and of a page's source without parsing it: the title,
// and the blanks that a converter wrote for nothing.
//
// The one rule: what stands in code is code: no line of it is a heading, and none of it is tidied.
package mdtext

import "strings"

// fence follows the fenced code of Markdown line by line. The zero value stands outside of any.
type fence struct {
	mark string // the marks that opened the block that is open; empty outside
}

// next takes the next line, without its line feed, and tells whether it belongs to fenced code, its fences included.
func (f *fence) next(line string) bool {
	indented := strings.TrimLeft(line, " ")
	if len(line)-len(indented) > 3 {
		return f.mark != ""
	}
	mark := fenceMark(indented)
	rest := indented[len(mark):]
	switch {
	case f.mark == "":
		// A back tick in the info string makes it inline code.
		if mark == "" || mark[0] == '`' && strings.Contains(rest, "`") {
			return false
		}
		f.mark = mark
	case mark != "" && mark[0] == f.mark[0] && len(mark) >= len(f.mark) && strings.Trim(rest, " \t\r") == "":
		f.mark = ""
	}
	return true
}

// fenceMark gives the run of three or more back ticks or tildes that s begins with.
func fenceMark(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if n < 3 {
		return ""
	}
	return s[:n]
}
