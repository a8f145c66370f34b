package layout

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// bullet is the mark of an item at the start of a line, and what follows it; empty where there is none.
func bullet(s string) (mark, rest string) {
	c, n := utf8.DecodeRuneInString(s)
	switch c {
	case '•', '◦', '▪', '▫', '■', '□', '●', '○', '◆', '◇', '►', '▶', '▸', '▹', '‣', '⁃', '∙', '⦁', '➢', '➤', '✓', '✔', '❖', '☐', '☑', '☒', '🞄':
	case '·', '–', '—', '-', '*', '−', '+', 'o', '»', '>', '‐':
		// Also signs of a text: only where a blank parts them from it.
		if !strings.HasPrefix(s[n:], " ") || len(s) == n+1 {
			return "", s
		}
	default:
		// Symbol fonts without Unicode put their signs into the private area.
		if c < 0xF000 || c > 0xF0FF {
			return "", s
		}
	}
	return s[:n], strings.TrimLeft(s[n:], " ")
}

// enumerator is the number of an item at the start of a line, such as "3.", "b)" or "(iv)", and what follows it; empty
// where there is none.
func enumerator(s string) (number, rest string) {
	i := 0
	open := strings.HasPrefix(s, "(")
	if open {
		i++
	}
	from := i
	for i < len(s) && i-from < 5 && (s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z') {
		i++
	}
	label := s[from:i]
	if label == "" || i >= len(s) || s[i] != '.' && s[i] != ')' || open && s[i] != ')' || !label123(label) && !labelABC(label) && !labelRoman(label) {
		return "", s
	}
	number = s[:i+1]
	after := s[i+1:]
	if after != "" && after[0] != ' ' {
		return "", s
	}
	return number, strings.TrimLeft(after, " ")
}

func label123(s string) bool {
	return len(s) <= 3 && strings.Trim(s, "0123456789") == ""
}

func labelABC(s string) bool { return len(s) == 1 && s[0] > '9' }

func labelRoman(s string) bool {
	return len(s) <= 5 && (strings.Trim(s, "ivxl") == "" || strings.Trim(s, "IVXL") == "")
}

// kindOf tells bullets and numbers of one list from those of another.
func kindOf(mark string) string {
	if mark == "" {
		return ""
	}
	label := strings.Trim(mark, "().")
	switch {
	case label == "":
		return mark
	case label123(label):
		return strings.Replace(mark, label, "1", 1)
	case len(label) == 1 && unicode.IsLower(rune(label[0])) || len(label) > 1 && labelRoman(strings.ToLower(label)) && unicode.IsLower(rune(label[0])):
		return strings.Replace(mark, label, "a", 1)
	case len(label) == 1 && unicode.IsUpper(rune(label[0])) || len(label) > 1 && labelRoman(label):
		return strings.Replace(mark, label, "A", 1)
	}
	return mark
}

// sectionNumber is the depth of a section's number at the start of a text, such as 2 for "3.1 Methods"; 0 for none.
func sectionNumber(s string) int {
	depth, digits, i := 0, 0, 0
	for ; i < len(s) && i < 16; i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			if digits == 0 {
				depth++
			}
			if digits++; digits > 3 {
				return 0
			}
			continue
		case c == '.' && digits > 0:
			digits = 0
			continue
		}
		break
	}
	if depth == 0 || i >= len(s) || s[i] != ' ' || depth > 6 {
		return 0
	}
	c, _ := utf8.DecodeRuneInString(strings.TrimLeft(s[i:], " "))
	if !unicode.IsLetter(c) && !unicode.Is(unicode.Ps, c) && c != '“' && c != '"' {
		return 0
	}
	return depth
}

// bareNumber is the number without a dot that begins an item, set apart from its text, and what follows it: one of
// several below one another that count from 1.
func (g *grouper) bareNumber(lines []textLine, i int, m measures) (mark, rest string) {
	l := &lines[i]
	n := 0
	number := func(l *textLine) (int, string) {
		word, rest, ok := strings.Cut(l.text(), " ")
		n, err := strconv.Atoi(word)
		if !ok || err != nil || n < 1 || n > 99 || word[0] == '0' || word[0] == '+' {
			return 0, ""
		}
		return n, rest
	}
	if l.hang < 0.6*l.size || l.bold || l.size < 0.93*m.size {
		return "", ""
	}
	if n, rest = number(l); n == 0 {
		return "", ""
	}
	open := len(g.lists) > 0 && g.lists[len(g.lists)-1].kind == "1" && abs(g.lists[len(g.lists)-1].x-l.starts()) < l.size
	if !open && n != 1 && i > 2 {
		return "", "" // a list may go on from the page before
	}
	if !open {
		const reach = 12 // lines of an item
		found := false
		for j := i + 1; j < len(lines) && j <= i+reach && !found; j++ {
			next, _ := number(&lines[j])
			found = next == n+1 && abs(lines[j].starts()-l.starts()) < l.size && lines[j].hang >= 0.6*l.size
		}
		if !found {
			return "", ""
		}
	}
	return strconv.Itoa(n), rest
}

// followed says that the item after the one that line i begins is begun by a line not far below.
func followed(lines []textLine, i int, mark string) bool {
	const reach = 40
	for j := i + 1; j < len(lines) && j <= i+reach; j++ {
		if abs(lines[j].starts()-lines[i].starts()) > lines[i].size {
			continue
		}
		if next, _ := enumerator(lines[j].text()); next != "" && next != mark && kindOf(next) == kindOf(mark) {
			return true
		}
	}
	return false
}

// take drops n bytes of text at the start of a line.
func (l *textLine) take(n int) {
	for n > 0 && len(l.spans) > 0 {
		s := &l.spans[0]
		if len(s.text) > n {
			s.text = s.text[n:]
			break
		}
		n -= len(s.text)
		l.spans = l.spans[1:]
	}
	for len(l.spans) > 0 {
		if s := &l.spans[0]; strings.TrimLeft(s.text, " ") != "" {
			s.text = strings.TrimLeft(s.text, " ")
			return
		}
		l.spans = l.spans[1:]
	}
}
