// Package tex makes the source of formulas fit for one line of Markdown, from wherever a page keeps it.
package tex

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Tidy is TeX on one line that a Markdown parser without math cannot take for a tag, and without the frame that
// wikis put around it.
func Tidy(tex string) string {
	tex = strings.TrimSpace(tex)
	for _, frame := range [][2]string{{`\(`, `\)`}, {`\[`, `\]`}, {"$$", "$$"}, {"$", "$"}, {`{\displaystyle`, "}"}, {`{\textstyle`, "}"}} {
		if inner, ok := strings.CutPrefix(tex, frame[0]); ok && len(inner) >= len(frame[1]) {
			if inner, ok = strings.CutSuffix(inner, frame[1]); ok {
				tex = strings.TrimSpace(inner)
				break
			}
		}
	}
	if strings.IndexByte(tex, '%') >= 0 && strings.IndexByte(tex, '\n') >= 0 {
		tex = withoutComments(tex)
	}
	if strings.IndexByte(tex, '$') >= 0 {
		tex = strings.ReplaceAll(strings.ReplaceAll(tex, `\$`, `\text{\textdollar}`), "$", "")
	}
	tex = strings.Join(strings.Fields(facts.Seen(tex)), " ")
	if strings.IndexByte(tex, '<') < 0 {
		return tex
	}
	var b strings.Builder
	for i := range len(tex) {
		b.WriteByte(tex[i])
		if tex[i] == '<' && i+1 < len(tex) && tex[i+1] != ' ' {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// withoutComments takes TeX's comments away, which would swallow the rest once the lines are one.
func withoutComments(tex string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(tex, "\n") {
		for i := range len(line) {
			if line[i] == '%' && (i == 0 || line[i-1] != '\\') {
				line = line[:i]
				break
			}
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// Annotation is the TeX that MathML carries beside its own tree.
func Annotation(n *html.Node) string {
	for m := facts.Following(n, n); m != nil; m = facts.Following(n, m) {
		if m.Type != html.ElementNode || m.Data != "annotation" {
			continue
		}
		encoding, _ := facts.Attribute(m, "encoding")
		switch strings.ToLower(encoding) {
		case "application/x-tex", "application/x-latex", "tex", "latex", "text/tex", "text/latex", "application/tex":
			return facts.PlainText(m)
		}
	}
	return ""
}
