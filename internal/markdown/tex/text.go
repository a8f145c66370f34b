// Formulas in running text, which a script of the page typesets.

package tex

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Typeset is what a page's scripts take for formulas in its running text.
type Typeset uint8

// What they take: each includes those before it.
const (
	Nothing   Typeset = iota
	Delimited         // \(…\), \[…\], $$…$$ and environments
	Dollars           // $…$ too
)

// TypesetBy says what one script of a page takes for formulas, by its address or by how it sets the usual ones up.
func TypesetBy(script *html.Node) Typeset {
	const look = 20_000 // bytes of a script
	src, has := facts.Attribute(script, "src")
	if has {
		if src = strings.ToLower(src); strings.Contains(src, "mathjax") || strings.Contains(src, "katex") {
			return Delimited
		}
		return Nothing
	}
	c := script.FirstChild
	if c == nil {
		return Nothing
	}
	text := c.Data[:min(len(c.Data), look)]
	if !strings.Contains(text, "MathJax") && !strings.Contains(text, "renderMathInElement") {
		return Nothing
	}
	if strings.Contains(text, `'$'`) || strings.Contains(text, `"$"`) {
		return Dollars
	}
	return Delimited
}

// Piece is a part of running text: words as they stand, or the source of a formula.
type Piece struct {
	Text             string
	Formula, Display bool
}

// Pieces parts running text at its formulas. Their delimiters are no part of them, but an environment's own.
func Pieces(s string, by Typeset) (all []Piece) {
	from := 0
	var missing [4]bool // ends that do not come any more
	for i := 0; i < len(s); {
		if s[i] != '\\' && s[i] != '$' || i+1 == len(s) {
			i++
			continue
		}
		start, end, past := i+2, -1, 2 // of the source, and the length of what closes it
		display, kind := true, 0
		switch {
		case strings.HasPrefix(s[i:], `\(`):
			display, kind = false, 0
			end = closes(s, start, `\)`, &missing[kind])
		case strings.HasPrefix(s[i:], `\[`):
			kind = 1
			end = closes(s, start, `\]`, &missing[kind])
		case strings.HasPrefix(s[i:], `$$`):
			kind = 2
			end = closes(s, start, `$$`, &missing[kind])
		case strings.HasPrefix(s[i:], `\begin{`):
			kind = 3
			if name, _, ok := strings.Cut(s[i+len(`\begin{`):min(len(s), i+40)], "}"); ok {
				shut := `\end{` + name + "}"
				if at := closes(s, start, shut, &missing[kind]); at >= 0 {
					start, end, past = i, at+len(shut), 0
				}
			}
		case s[i] == '$' && by >= Dollars && (i == 0 || !letterOrDigit(s[i-1])): // "US$5" is a price
			display, start, past = false, i+1, 1
			end = dollar(s, start)
		}
		if end < 0 || strings.TrimSpace(s[start:end]) == "" {
			i++
			if s[i-1] == '\\' {
				i++ // what it escapes begins nothing
			}
			continue
		}
		if i > from {
			all = append(all, Piece{Text: s[from:i]})
		}
		all = append(all, Piece{s[start:end], true, display})
		i = end + past
		from = i
	}
	if from < len(s) {
		all = append(all, Piece{Text: s[from:]})
	}
	return all
}

// closes is where a formula that begins at start ends, -1 for nowhere. Line breaks such as \\[2pt] end none.
func closes(s string, start int, sign string, missing *bool) int {
	if *missing {
		return -1
	}
	for i := start; i < len(s); i++ {
		if strings.HasPrefix(s[i:], sign) {
			return i
		}
		if s[i] == '\\' {
			i++
		}
	}
	*missing = true
	return -1
}

func letterOrDigit(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// dollar is where a formula between single dollars ends, -1 for nowhere: prices are none.
func dollar(s string, start int) int {
	const longest = 400 // bytes
	if s[start] <= ' ' || s[start] == '$' {
		return -1
	}
	for i := start; i < len(s) && i < start+longest; i++ {
		switch s[i] {
		case '\\':
			i++
		case '$':
			if s[i-1] <= ' ' || i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
				return -1
			}
			return i
		}
	}
	return -1
}
