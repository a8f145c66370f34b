package formula

import (
	"strings"
	"unicode/utf8"
)

// Field reads the code of an EQ field, in which formulas were set before there were others, as text: a fraction as a/b, a root as
// √(x). What is set over or into another stands after it.
func Field(code string) string {
	e := equationReader{code: strings.TrimSpace(code)}
	return strings.TrimSpace(e.text(0))
}

type equationReader struct {
	code string
	at   int
}

// maxEquationDepth is how deeply the parts of an equation are nested.
const maxEquationDepth = 16

// text reads up to a comma, a semicolon or a bracket that ends a part.
func (e *equationReader) text(depth int) string {
	var b strings.Builder
	open := 0
	for e.at < len(e.code) {
		switch c := e.code[e.at]; {
		case c == '\\' && e.at+1 < len(e.code) && strings.IndexByte(`\,;()`, e.code[e.at+1]) >= 0:
			b.WriteByte(e.code[e.at+1])
			e.at += 2
			continue
		case c == '\\':
			b.WriteString(e.element(depth + 1))
			continue
		case (c == ',' || c == ';') && depth > 0 && open == 0:
			return b.String()
		case c == ')' && depth > 0 && open == 0:
			return b.String()
		case c == '(':
			open++
		case c == ')':
			open--
		}
		b.WriteByte(e.code[e.at])
		e.at++
	}
	return b.String()
}

// element reads a switch with its options and its parts.
func (e *equationReader) element(depth int) string {
	name := ""
	begin, end, moved := "(", ")", ""
	for e.at < len(e.code) && e.code[e.at] == '\\' {
		e.at++
		from := e.at
		for e.at < len(e.code) && (letter(e.code[e.at]) || e.code[e.at] >= '0' && e.code[e.at] <= '9') {
			e.at++
		}
		word := strings.ToLower(e.code[from:e.at])
		switch {
		case name == "" && word != "":
			name = word[:1]
		case strings.HasPrefix(word, "up"):
			moved = "^"
		case strings.HasPrefix(word, "do"):
			moved = "_"
		case word == "bc" && e.at+1 < len(e.code) && e.code[e.at] == '\\':
			_, size := utf8.DecodeRuneInString(e.code[e.at+1:])
			begin = e.code[e.at+1 : e.at+1+size]
			end = closing(begin)
			e.at += 1 + size
		}
		for e.at < len(e.code) && e.code[e.at] == ' ' {
			e.at++
		}
	}
	if e.at >= len(e.code) || e.code[e.at] != '(' || depth > maxEquationDepth {
		return ""
	}
	e.at++
	var parts []string
	for {
		parts = append(parts, strings.TrimSpace(e.text(depth)))
		if e.at >= len(e.code) {
			break
		}
		e.at++
		if e.code[e.at-1] == ')' {
			break
		}
	}
	switch name {
	case "f":
		if len(parts) == 2 {
			return onePart(parts[0]) + "/" + onePart(parts[1])
		}
	case "r":
		root := parts[len(parts)-1]
		if len(parts) == 2 && parts[0] != "" {
			return "root " + parts[0] + " of " + onePart(root)
		}
		return "√" + onePart(root)
	case "b":
		return begin + strings.Join(parts, ", ") + end
	case "s":
		return moved + onePart(strings.Join(parts, " "))
	case "i":
		if len(parts) == 3 {
			return "∫(" + parts[0] + " to " + parts[1] + ") " + parts[2]
		}
	case "o", "d", "x":
		return strings.Join(parts, "")
	}
	return strings.Join(parts, " ")
}

// onePart puts brackets around what is more than a word.
func onePart(s string) string {
	if strings.ContainsAny(s, " +-*/=,") {
		return "(" + s + ")"
	}
	return s
}

func closing(bracket string) string {
	switch bracket {
	case "{":
		return "}"
	case "[":
		return "]"
	case "<":
		return ">"
	case "(":
		return ")"
	}
	return bracket
}
