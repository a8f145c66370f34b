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

// running writes text in which a script typesets formulas.
func (r *renderer) running(text string) {
	for _, p := range tex.Pieces(text, r.typeset) {
		if !p.Formula || !r.formula(p.Text, p.Display) {
			r.w.Text(p.Text)
		}
	}
}

// codedFormula writes a code element that holds TeX for a script to typeset; false for any other.
func (r *renderer) codedFormula(n *html.Node, t *facts.Traits) bool {
	style, styled := facts.Attribute(n, "data-math-style")
	if !styled && !t.Is(facts.MathInline) || !styled && !t.Is(facts.MathSource) {
		return false
	}
	return r.formula(facts.PlainText(n), style == "display")
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

// drawn writes an element that holds a formula as source, as drawn or both; false where it is an ordinary element.
func (r *renderer) drawn(n *html.Node, t *facts.Traits) bool {
	const look = 4000 // nodes; drawn formulas are large
	switch {
	case t.Is(facts.MathDisplay) && !t.Is(facts.MathDrawn) && (facts.Find(n, atom.Math, look) != nil || tex.Script(n) != nil):
		display := r.display
		r.display = true
		r.children(n)
		r.display = display
		return true
	case t.Is(facts.MathDisplay) && !t.Is(facts.MathDrawn|facts.MathSource):
		return false
	case t.Is(facts.MathDrawn) && tex.BesideScript(n):
		return true
	case t.Is(facts.MathDrawn):
		if math := facts.Find(n, atom.Math, look); math != nil {
			r.mathML(math, r.display || t.Is(facts.MathDisplay))
			return true
		}
		return tex.BesideMath(n)
	}
	if c := n.FirstChild; c != nil && c.Type == html.TextNode && c.NextSibling == nil {
		if pieces := tex.Pieces(strings.TrimSpace(c.Data), tex.Dollars); len(pieces) == 1 && pieces[0].Formula {
			return r.formula(pieces[0].Text, pieces[0].Display)
		} else if len(pieces) == 1 && t.Is(facts.MathInline|facts.MathDisplay) {
			return r.formula(c.Data, t.Is(facts.MathDisplay))
		}
	}
	// A preview stands before the script that replaces it.
	return tex.BesideScript(n)
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
