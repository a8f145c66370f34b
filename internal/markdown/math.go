// Formulas: TeX between dollars, from wherever a page keeps it. Where a formula stands there twice, as source and as
// drawn, it is written once.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/tex"
)

// formula writes TeX; false if there is none.
func (r *renderer) formula(source string, display bool) bool {
	text := tex.Tidy(source)
	if text == "" {
		return false
	}
	r.w.Formula(text, display)
	return true
}

// script writes a formula that MathJax keeps in a script; other scripts are no content.
func (r *renderer) script(n *html.Node) {
	kind, _ := facts.Attribute(n, "type")
	if !strings.HasPrefix(kind, "math/") {
		return
	}
	switch strings.TrimSpace(strings.Split(kind, ";")[0]) {
	case "math/tex":
		r.formula(facts.PlainText(n), strings.Contains(kind, "mode=display") || strings.Contains(kind, "mode=\"display\""))
	}
}

// imageTeX is the source of a formula that a page shows as a picture.
func imageTeX(alt string, t *facts.Traits) (string, bool) {
	if t.TeX != "" {
		return t.TeX, true
	}
	if alt == "" {
		return "", false
	}
	if t.Is(facts.MathFallback|facts.MathSource) || strings.HasPrefix(alt, `{\displaystyle`) || strings.HasPrefix(alt, `{\textstyle`) {
		return alt, true
	}
	return "", false
}

// drawn writes an element that holds a formula as source, as drawn or both; false where it is an ordinary element.
func (r *renderer) drawn(n *html.Node, t *facts.Traits) bool {
	const look = 4000 // nodes; drawn formulas are large
	switch {
	case t.Is(facts.MathDisplay) && !t.Is(facts.MathDrawn|facts.MathSource):
		if facts.Find(n, atom.Math, look) == nil && findScript(n) == nil {
			return false
		}
		display := r.display
		r.display = true
		r.children(n)
		r.display = display
		return true
	case t.Is(facts.MathDrawn) && besideScript(n):
		return true
	case t.Is(facts.MathDrawn):
		if math := facts.Find(n, atom.Math, look); math != nil {
			r.mathML(math, r.display || t.Is(facts.MathDisplay))
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
	s := facts.Find(n, atom.Script, 64)
	if s == nil {
		return nil
	}
	if kind, _ := facts.Attribute(s, "type"); strings.HasPrefix(kind, "math/") {
		return s
	}
	return nil
}

// besideMath says that n stands next to MathML or a formula's script, so that it is the formula as drawn.
func besideMath(n *html.Node) bool {
	const look = 8
	for _, m := range []*html.Node{n.PrevSibling, n.NextSibling} {
		for m != nil && facts.Blank(m) {
			if m == n.PrevSibling || m.PrevSibling != n {
				m = m.PrevSibling
			} else {
				m = m.NextSibling
			}
		}
		if m != nil && m.Type == html.ElementNode && (m.DataAtom == atom.Math || facts.Find(m, atom.Math, look) != nil) {
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
			kind, _ := facts.Attribute(m, "type")
			return strings.HasPrefix(kind, "math/")
		}
	}
	return false
}

// mathML writes a math element.
func (r *renderer) mathML(n *html.Node, display bool) {
	if v, _ := facts.Attribute(n, "display"); v == "block" {
		display = true
	}
	source := tex.Annotation(n)
	if source == "" {
		source, _ = facts.Attribute(n, "alttext")
	}
	if source == "" {
		source = tex.FromMathML(n)
	}
	r.formula(source, display)
}
