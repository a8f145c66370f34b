// What a page does not show: hidden elements, and the pages that hide all of themselves until a script runs.

package markdown

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// styles are what an inline style says that matters for text.
type styles uint16

const (
	displayNone styles = 1 << iota
	invisible
	visible
	displayBlock
	preserved // white space is kept
	bold
	notBold
	italic
	struck
)

// stylesOf reads an inline style: declarations parted by semicolons, the last of a kind wins.
func stylesOf(style string) (s styles) {
	for style != "" {
		declaration := style
		if i := strings.IndexByte(style, ';'); i >= 0 {
			declaration, style = style[:i], style[i+1:]
		} else {
			style = ""
		}
		name, value, ok := strings.Cut(declaration, ":")
		if !ok {
			continue
		}
		name = strings.TrimSpace(name)
		if len(name) < len("display") || len(name) > len("text-decoration-line") {
			continue
		}
		switch c := name[0] | 0x20; c {
		case 'd', 'v', 'w', 'f', 't':
		default:
			continue
		}
		value, _, _ = strings.Cut(value, "!")
		value = strings.ToLower(strings.TrimSpace(value))
		switch strings.ToLower(name) {
		case "display":
			s &^= displayNone | displayBlock
			switch value {
			case "none":
				s |= displayNone
			case "block", "flex", "grid", "table", "list-item", "flow-root":
				s |= displayBlock
			}
		case "visibility":
			s &^= invisible | visible
			switch value {
			case "hidden", "collapse":
				s |= invisible
			case "visible":
				s |= visible
			}
		case "white-space":
			s &^= preserved
			if strings.HasPrefix(value, "pre") || value == "break-spaces" {
				s |= preserved
			}
		case "font-weight":
			s &^= bold | notBold
			switch value {
			case "bold", "bolder", "600", "700", "800", "900":
				s |= bold
			case "normal", "lighter", "100", "200", "300", "400", "500":
				s |= notBold
			}
		case "font-style":
			s &^= italic
			if value == "italic" || value == "oblique" {
				s |= italic
			}
		case "text-decoration", "text-decoration-line":
			s &^= struck
			if strings.Contains(value, "line-through") {
				s |= struck
			}
		}
	}
	return s
}

// hides says that the page does not show n. Its root elements are always read.
func (r *renderer) hides(n *html.Node, t *traits, s styles) bool {
	if !t.hiddenAttr && s&(displayNone|invisible) == 0 {
		return false
	}
	if n.DataAtom == atom.Body || n.DataAtom == atom.Html || slices.Contains(r.revealed, n) {
		return false
	}
	if len(r.concealed) < maxConcealed && r.revealed == nil {
		r.concealed = append(r.concealed, n)
	}
	if !t.hiddenAttr && s&displayNone == 0 {
		r.visibleWithin(n)
	}
	return true
}

// visibleWithin writes what says of itself that it is visible in an element that is not.
func (r *renderer) visibleWithin(n *html.Node) {
	for m := following(n, n); m != nil && r.err == nil; {
		if style, ok := attribute(m, "style"); ok {
			switch s := stylesOf(style); {
			case s&displayNone != 0:
				m = skipping(n, m)
				continue
			case s&visible != 0:
				r.node(m)
				m = skipping(n, m)
				continue
			}
		}
		m = following(n, m)
	}
}

// maxConcealed bounds how many hidden parts are remembered for reveal.
const maxConcealed = 64

// reveal decides, after a page has been written, whether what it hides is the page itself: when nothing else is
// there, or next to nothing beside a part with a heading. Those parts are then shown.
func (r *renderer) reveal() bool {
	const trace = 48 // bytes: "Loading…"
	if len(r.concealed) == 0 || len(r.out) > trace {
		return false
	}
	for _, n := range r.concealed {
		if words, heading := contentOf(n); len(r.out) == 0 && words > 0 || heading && words >= 4*len(r.out) {
			r.revealed = append(r.revealed, n)
		}
	}
	return len(r.revealed) > 0
}

// contentOf counts the bytes of text below n, and says whether a heading or a main part is among it.
func contentOf(n *html.Node) (words int, heading bool) {
	for m := following(n, n); m != nil; {
		switch {
		case m.Type == html.TextNode:
			words += len(strings.TrimSpace(m.Data))
		case m.DataAtom == atom.Script || m.DataAtom == atom.Style || m.DataAtom == atom.Template || m.DataAtom == atom.Noscript:
			m = skipping(n, m)
			continue
		case m.DataAtom == atom.H1 || m.DataAtom == atom.H2 || m.DataAtom == atom.Main || m.DataAtom == atom.Article:
			heading = true
		}
		m = following(n, m)
	}
	return words, heading || n.DataAtom == atom.Main || n.DataAtom == atom.Article
}
