// Formulas: TeX between dollars, from wherever a page keeps it. Where a formula stands there twice, as source and as
// drawn, it is written once.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// formula writes TeX; false if there is none.
func (r *renderer) formula(tex string, display bool) bool {
	tex = tidyTeX(tex)
	if tex == "" {
		return false
	}
	if display && r.flat == inBlock {
		r.breakLeaf(2)
		r.newLine()
		for i, line := range [...]string{"$$", tex, "$$"} {
			if i > 0 {
				r.out = append(r.out, '\n')
				r.out = append(r.out, r.prefix...)
			}
			r.out = append(r.out, line...)
		}
		r.gap = 2
		return true
	}
	r.ready()
	r.breakAddress()
	r.dollars(tex, "$")
	return true
}

func (r *renderer) dollars(tex, sign string) {
	r.out = append(r.out, sign...)
	for i := range len(tex) {
		if tex[i] == '|' && r.flat == inCell {
			r.out = append(r.out, '\\')
		}
		r.out = append(r.out, tex[i])
	}
	r.out = append(r.out, sign...)
	r.textFrom = len(r.out)
}

// tidyTeX is TeX on one line that a Markdown parser without math cannot take for a tag, and without the frame that
// wikis put around it.
func tidyTeX(tex string) string {
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
	tex = strings.Join(strings.Fields(tex), " ")
	if strings.IndexByte(tex, '$') >= 0 {
		tex = strings.ReplaceAll(strings.ReplaceAll(tex, `\$`, `\text{\textdollar}`), "$", "")
	}
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

// script writes a formula that MathJax keeps in a script; other scripts are no content.
func (r *renderer) script(n *html.Node) {
	kind, _ := attribute(n, "type")
	if !strings.HasPrefix(kind, "math/") {
		return
	}
	switch strings.TrimSpace(strings.Split(kind, ";")[0]) {
	case "math/tex":
		r.formula(plainText(n), strings.Contains(kind, "mode=display") || strings.Contains(kind, "mode=\"display\""))
	}
}

// imageTeX is the source of a formula that a page shows as a picture.
func imageTeX(n *html.Node, alt string, t *traits) (string, bool) {
	if t.tex != "" {
		return t.tex, true
	}
	if alt == "" {
		return "", false
	}
	if t.is(mathFallback|mathSource) || strings.HasPrefix(alt, `{\displaystyle`) || strings.HasPrefix(alt, `{\textstyle`) {
		return alt, true
	}
	return "", false
}

// drawn writes an element that holds a formula as source, as drawn or both; false where it is an ordinary element.
func (r *renderer) drawn(n *html.Node, t *traits) bool {
	const look = 4000 // nodes; drawn formulas are large
	switch {
	case t.is(mathDisplay) && !t.is(mathDrawn|mathSource):
		if find(n, atom.Math, look) == nil && findScript(n) == nil {
			return false
		}
		display := r.display
		r.display = true
		r.children(n)
		r.display = display
		return true
	case t.is(mathDrawn):
		if math := find(n, atom.Math, look); math != nil {
			r.mathML(math, r.display || t.is(mathDisplay))
			return true
		}
		return besideMath(n)
	}
	if c := n.FirstChild; c != nil && c.Type == html.TextNode && c.NextSibling == nil {
		tex := strings.TrimSpace(c.Data)
		display := strings.HasPrefix(tex, `\[`) && strings.HasSuffix(tex, `\]`) || strings.HasPrefix(tex, "$$") && strings.HasSuffix(tex, "$$")
		if display || strings.HasPrefix(tex, `\(`) && strings.HasSuffix(tex, `\)`) {
			return r.formula(tex, display)
		}
	}
	// A preview stands before the script that replaces it.
	return besideScript(n)
}

func findScript(n *html.Node) *html.Node {
	s := find(n, atom.Script, 64)
	if s == nil {
		return nil
	}
	if kind, _ := attribute(s, "type"); strings.HasPrefix(kind, "math/") {
		return s
	}
	return nil
}

// besideMath says that n stands next to MathML or a formula's script, so that it is the formula as drawn.
func besideMath(n *html.Node) bool {
	const look = 8
	for _, m := range []*html.Node{n.PrevSibling, n.NextSibling} {
		for m != nil && blankNode(m) {
			if m == n.PrevSibling || m.PrevSibling != n {
				m = m.PrevSibling
			} else {
				m = m.NextSibling
			}
		}
		if m != nil && m.Type == html.ElementNode && (m.DataAtom == atom.Math || find(m, atom.Math, look) != nil) {
			return true
		}
	}
	return besideScript(n)
}

// besideScript says that a formula's script follows n.
func besideScript(n *html.Node) bool {
	const far = 4
	for m, i := n.NextSibling, 0; m != nil && i < far; m, i = m.NextSibling, i+1 {
		if m.DataAtom == atom.Script {
			kind, _ := attribute(m, "type")
			return strings.HasPrefix(kind, "math/")
		}
	}
	return false
}

// mathML writes a math element.
func (r *renderer) mathML(n *html.Node, display bool) {
	if v, _ := attribute(n, "display"); v == "block" {
		display = true
	}
	tex := annotation(n)
	if tex == "" {
		tex, _ = attribute(n, "alttext")
	}
	if tex == "" {
		w := texWriter{}
		w.row(n)
		tex = w.b.String()
	}
	r.formula(tex, display)
}

// annotation is the TeX that MathML carries beside its own tree.
func annotation(n *html.Node) string {
	for m := following(n, n); m != nil; m = following(n, m) {
		if m.Type != html.ElementNode || m.Data != "annotation" {
			continue
		}
		encoding, _ := attribute(m, "encoding")
		switch strings.ToLower(encoding) {
		case "application/x-tex", "application/x-latex", "tex", "latex", "text/tex", "text/latex", "application/tex":
			return plainText(m)
		}
	}
	return ""
}
