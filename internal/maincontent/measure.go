package maincontent

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// measure counts the visible text below top, children before parents, without recursion: a hostile page may be as deep
// as it is long.
func (f *finder) measure(top *html.Node) {
	n := top
	for {
		if n.Type == html.ElementNode && f.marks[n] == nil {
			f.marks[n] = &mark{}
		}
		if n.FirstChild != nil && !unseen(n) {
			n = n.FirstChild
			continue
		}
		for {
			f.leave(n, top)
			if n == top {
				return
			}
			if n.NextSibling != nil {
				n = n.NextSibling
				break
			}
			n = n.Parent
		}
	}
}

// leave adds what n holds to its parent.
func (f *finder) leave(n, top *html.Node) {
	switch n.Type {
	case html.TextNode:
		if p := f.marks[n.Parent]; p != nil {
			p.text += visible(n.Data)
		}
	case html.ElementNode:
		m := f.marks[n]
		f.order = append(f.order, n)
		switch n.DataAtom {
		case atom.A:
			m.links = m.text
		case atom.H1:
			m.h1++
		case atom.Button, atom.Input:
			m.controls++
		}
		if p := f.marks[n.Parent]; p != nil && n != top {
			p.text += m.text
			p.links += m.links
			p.h1 += m.h1
			p.controls += m.controls
		}
	}
}

// remeasure counts again what is kept, after elements were dropped. f.order has children before parents, so one pass does.
func (f *finder) remeasure(top *html.Node) {
	for _, n := range f.order {
		m := f.marks[n]
		m.kept, m.prose = 0, 0
	}
	for _, n := range f.order {
		m := f.marks[n]
		if f.dropped[n] {
			m.kept, m.prose = 0, 0
			continue
		}
		own := 0
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.TextNode {
				own += visible(c.Data)
			}
		}
		if unseen(n) {
			own = 0
		}
		m.kept += own
		if n.DataAtom == atom.A {
			m.prose = 0
		} else {
			m.prose += own
		}
		if p := f.marks[n.Parent]; p != nil && n != top {
			p.kept += m.kept
			p.prose += m.prose
		}
	}
}

// descend tells each element what it stands in, parents before children.
func (f *finder) descend(top, chosen *html.Node) {
	for i := len(f.order) - 1; i >= 0; i-- {
		n := f.order[i]
		m := f.marks[n]
		m.gone, m.inArticle, m.ofPost, m.under = f.dropped[n], false, false, false
		p := f.marks[n.Parent]
		if n == top || p == nil {
			continue
		}
		m.gone = m.gone || p.gone
		m.inArticle = p.inArticle || n.Parent.DataAtom == atom.Article
		m.ofPost = p.ofPost || hasOwnHeader(n.Parent)
		m.under = p.under || n.Parent == chosen
	}
}

func hasOwnHeader(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Article, atom.Section, atom.Blockquote, atom.Main, atom.Li, atom.Td, atom.Figure:
		return true
	}
	return false
}

// unseen are the elements whose text nobody reads.
func unseen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Head, atom.Iframe, atom.Object, atom.Svg, atom.Title, atom.Select, atom.Textarea:
		return true
	}
	return false
}

// visible counts the characters of s other than white space.
func visible(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c > ' ' {
				n++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsSpace(r) {
			n++
		}
		i += size
	}
	return n
}
