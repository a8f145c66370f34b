// MathML without a source beside it: its tree as TeX, so that roots, fractions and powers can be told.

package tex

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// FromMathML writes a math element as TeX. What nests deeper than maxDepth is left out.
func FromMathML(n *html.Node) string {
	w := writer{}
	w.row(n)
	return w.b.String()
}

const maxDepth = 600

// writer writes TeX.
type writer struct {
	b     strings.Builder
	depth int
}

// row writes the children of n one after the other.
func (w *writer) row(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c)
	}
}

// group writes one node in braces, so that it is one argument.
func (w *writer) group(n *html.Node) {
	w.b.WriteByte('{')
	if n != nil {
		w.node(n)
	}
	w.b.WriteByte('}')
}

func (w *writer) node(n *html.Node) {
	if n.Type == html.TextNode {
		w.b.WriteString(strings.TrimSpace(n.Data))
		return
	}
	if n.Type != html.ElementNode || w.depth >= maxDepth {
		return
	}
	w.depth++
	w.element(n)
	w.depth--
}

func (w *writer) element(n *html.Node) {
	switch n.Data {
	case "annotation", "annotation-xml", "mphantom", "none", "mprescripts":
	case "mtext", "ms":
		if text := strings.TrimSpace(facts.ShortText(n)); text != "" {
			w.b.WriteString(`\text{` + text + "}")
		}
	case "mi":
		w.name(strings.TrimSpace(facts.ShortText(n)))
	case "mo":
		w.operator(strings.TrimSpace(facts.ShortText(n)))
	case "mspace":
		w.b.WriteByte(' ')
	case "mfrac":
		kids := elements(n)
		w.b.WriteString(`\frac`)
		w.group(kids[0])
		w.group(kids[1])
	case "msqrt":
		w.b.WriteString(`\sqrt{`)
		w.row(n)
		w.b.WriteByte('}')
	case "mroot":
		kids := elements(n)
		w.b.WriteString(`\sqrt[`)
		if kids[1] != nil {
			w.node(kids[1])
		}
		w.b.WriteByte(']')
		w.group(kids[0])
	case "mover":
		if kids := elements(n); kids[0] != nil && kids[1] != nil {
			if accent := accents(strings.TrimSpace(facts.ShortText(kids[1]))); accent != "" {
				w.b.WriteString(accent)
				w.group(kids[0])
				return
			}
		}
		w.scripts(n, "^", "")
	case "msup":
		w.scripts(n, "^", "")
	case "msub", "munder":
		w.scripts(n, "_", "")
	case "msubsup", "munderover":
		w.scripts(n, "_", "^")
	case "mfenced":
		w.fenced(n)
	case "mtable":
		w.b.WriteString(`\begin{matrix}`)
		w.row(n)
		w.b.WriteString(`\end{matrix}`)
	case "mtr", "mlabeledtr":
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			w.node(c)
			if c.Type == html.ElementNode && c.NextSibling != nil {
				w.b.WriteString(" & ")
			}
		}
		w.b.WriteString(` \\ `)
	default:
		w.row(n)
	}
}

// fenced writes the children of n between brackets, with signs between them.
func (w *writer) fenced(n *html.Node) {
	open, shut, signs := "(", ")", ","
	for i := range n.Attr {
		switch a := n.Attr[i]; a.Key {
		case "open":
			open = a.Val
		case "close":
			shut = a.Val
		case "separators":
			signs = a.Val
		}
	}
	between := []rune(strings.Join(strings.Fields(signs), ""))
	w.operator(open)
	wrote := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if wrote > 0 && len(between) > 0 {
			w.operator(string(between[min(wrote, len(between))-1]))
		}
		w.node(c)
		wrote++
	}
	w.operator(shut)
}

// name writes an identifier: a letter as it is, a longer one as one word and not as a product of its letters.
func (w *writer) name(s string) {
	ascii := len(s) > 1
	for i := range len(s) {
		ascii = ascii && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z')
	}
	switch s {
	case "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "arcsin", "arccos", "arctan", "log", "ln", "lg", "exp",
		"lim", "max", "min", "sup", "inf", "det", "dim", "ker", "gcd", "deg", "arg", "hom", "Pr":
		w.b.WriteString(`\` + s + " ")
	default:
		if ascii {
			s = `\mathrm{` + s + "}"
		}
		w.b.WriteString(s)
	}
}

// accents is the command for a sign that stands over a letter; empty for what stands there by itself.
func accents(sign string) string {
	switch sign {
	case "¯", "‾", "―", "_":
		return `\overline`
	case "^", "ˆ", "\u0302":
		return `\hat`
	case "~", "˜", "\u0303":
		return `\tilde`
	case "→", "\u20d7":
		return `\vec`
	case "˙", "\u0307":
		return `\dot`
	case "¨", "\u0308":
		return `\ddot`
	}
	return ""
}

// scripts writes a base with what stands below or above it.
func (w *writer) scripts(n *html.Node, first, second string) {
	kids := elements(n)
	if kids[0] != nil {
		w.node(kids[0])
	}
	if kids[1] != nil {
		w.b.WriteString(first)
		w.group(kids[1])
	}
	if second != "" && kids[2] != nil {
		w.b.WriteString(second)
		w.group(kids[2])
	}
}

// operator writes an operator; the invisible ones of MathML are none.
func (w *writer) operator(s string) {
	switch s {
	case "\u2061", "\u2062", "\u2063", "\u2064":
	case "{", "}", "%", "#", "&", "_":
		w.b.WriteString(`\` + s)
	default:
		w.b.WriteString(s)
	}
}

// elements are the first three child elements of n; nil where there are fewer.
func elements(n *html.Node) (kids [3]*html.Node) {
	i := 0
	for c := n.FirstChild; c != nil && i < len(kids); c = c.NextSibling {
		if c.Type == html.ElementNode {
			kids[i] = c
			i++
		}
	}
	return kids
}
