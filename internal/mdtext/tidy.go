package mdtext

import "strings"

// Tidy tidies what a document converter wrote: no trailing blanks, one empty line at most in a row, table rows
// without padding, a hard line break as a backslash. Fenced code is untouched. Markdown that a site sends is not tidied.
func Tidy(md string) string {
	var b strings.Builder
	b.Grow(len(md))
	var code fence
	empty := false // the line before is an empty one
	for rest, more := md, true; more; {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		// Lists indent the fences inside them, quotes put their mark before them.
		fenced := code.next(strings.TrimLeft(line, " \t>"))
		if !fenced {
			next, _, _ := strings.Cut(rest, "\n")
			line = tidyLine(line, next)
			if line == "" && empty {
				continue
			}
		}
		if b.Len() > 0 || empty {
			b.WriteByte('\n')
		}
		b.WriteString(line)
		empty = line == "" && !fenced
	}
	return b.String()
}

// tidyLine tidies a line outside code. next is the line that follows it.
func tidyLine(line, next string) string {
	tidy := strings.TrimRight(line, " \t\r")
	switch {
	case isTableRow(tidy):
		return tidyRow(tidy)
	case strings.HasSuffix(strings.TrimSuffix(line, "\r"), "  ") && breaksLine(tidy, next):
		return tidy + `\`
	}
	return tidy
}

// breaksLine tells whether two trailing blanks at the end of line are a hard break: the paragraph must go on.
func breaksLine(line, next string) bool {
	return line != "" && !startsBlock(line, "#|") && strings.TrimSpace(next) != "" && !startsBlock(next, "#|>`~-*+=")
}

// startsBlock tells whether a line begins with one of the marks with which blocks begin, or with a list's number. A
// paragraph may begin so as well; then a break is lost, but none is made up.
func startsBlock(line, marks string) bool {
	line = strings.TrimLeft(line, " \t")
	afterDigits := strings.TrimLeft(line, "0123456789")
	if len(afterDigits) < len(line) && afterDigits != "" && strings.Contains(".)", afterDigits[:1]) && len(marks) > 2 {
		return true
	}
	return line != "" && strings.Contains(marks, line[:1])
}

func isTableRow(line string) bool {
	return len(line) > 1 && line[0] == '|' && line[len(line)-1] == '|'
}

// tidyRow takes the padding out of a table row, and shortens the dashes of a delimiter row to three. Blanks in inline
// code stay.
func tidyRow(row string) string {
	var b strings.Builder
	code, blank := false, false
	for i := range len(row) {
		c := row[i]
		if c == '\t' && !code {
			c = ' '
		}
		if c == ' ' && blank && !code {
			continue
		}
		if c == '`' {
			code = !code
		}
		blank = c == ' '
		b.WriteByte(c)
	}
	if row = b.String(); strings.Trim(row, "|:- ") != "" || !strings.Contains(row, "---") {
		return row
	}
	cells := strings.Split(row, "|")
	for i, cell := range cells {
		if dashes := strings.Trim(cell, " :"); len(dashes) > 3 && strings.Trim(dashes, "-") == "" {
			cells[i] = strings.Replace(cell, dashes, "---", 1)
		}
	}
	return strings.Join(cells, "|")
}
