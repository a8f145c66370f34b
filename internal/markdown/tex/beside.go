// Where a page keeps a formula: in a script, in a picture, as MathML beside what is drawn of it.

package tex

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// OfImage is the source of a formula that a page shows as a picture.
func OfImage(alt string, t *facts.Traits) (string, bool) {
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

// Script is the script below n that holds a formula; nil for none.
func Script(n *html.Node) *html.Node {
	s := facts.Find(n, atom.Script, 64)
	if s == nil {
		return nil
	}
	if kind, _ := facts.Attribute(s, "type"); strings.HasPrefix(kind, "math/") {
		return s
	}
	return nil
}

// BesideMath says that n stands next to MathML or a formula's script, so that it is the formula as drawn.
func BesideMath(n *html.Node) bool {
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
	return BesideScript(n)
}

// BesideScript says that a formula's script follows n.
func BesideScript(n *html.Node) bool {
	const far = 4
	for m, i := n.NextSibling, 0; m != nil && i < far; m, i = m.NextSibling, i+1 {
		if m.DataAtom == atom.Script {
			kind, _ := facts.Attribute(m, "type")
			return strings.HasPrefix(kind, "math/")
		}
	}
	return false
}
