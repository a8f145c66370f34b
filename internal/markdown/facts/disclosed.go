package facts

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// disclosed says that an element which is not shown now comes right after what opens it, such as the question of an answer: a
// button that says so itself, alone or in a heading. Menus are opened alike, and are none.
func disclosed(n *html.Node, role string) bool {
	switch role {
	case "menu", "listbox", "dialog", "tooltip", "navigation", "alert", "status":
		return false
	}
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Menu, atom.Nav, atom.Form, atom.Dialog, atom.Template, atom.Script, atom.Style:
		return false
	}
	before := n.PrevSibling
	for before != nil && before.Type != html.ElementNode {
		if before.Type == html.TextNode && !Blank(before) {
			return false
		}
		before = before.PrevSibling
	}
	if before == nil {
		return false
	}
	const near = 8 // nodes from what stands before to the button in it
	m := before
	for i := 0; m != nil && i < near; i++ {
		if m.Type == html.ElementNode && opens(m) {
			return tells(n)
		}
		m = Following(before, m)
	}
	return false
}

// tells says that what an element holds is text more than links, and nothing to fill in or to press: no menu, and no filter of a
// shop.
func tells(n *html.Node) bool {
	const enough = 60 // nodes
	text, links := 0, 0
	m := Following(n, n)
	for i := 0; m != nil && i < enough; i++ {
		switch {
		case m.Type == html.TextNode:
			text += len(strings.TrimSpace(m.Data))
		case m.DataAtom == atom.Input || m.DataAtom == atom.Select || m.DataAtom == atom.Textarea || m.DataAtom == atom.Button || m.DataAtom == atom.Form:
			return false
		case m.DataAtom == atom.A:
			links += len(ShortText(m))
		}
		m = Following(n, m)
	}
	return 2*links < text
}

// Discloses says that a button opens what comes right after it, or after what it stands in: it reads like a heading of that.
func Discloses(n *html.Node) bool {
	if !opens(n) {
		return false
	}
	const few = 3 // words
	if len(strings.Fields(ShortText(n))) < few {
		return false
	}
	next := n.NextSibling
	for next != nil && next.Type != html.ElementNode {
		next = next.NextSibling
	}
	if next == nil {
		return false
	}
	switch next.DataAtom {
	case atom.Ul, atom.Ol, atom.Menu, atom.Nav, atom.Form, atom.Dialog, atom.Button:
		return false
	}
	return true
}

// opens says that a button shows and hides something that is no menu, by what it says of itself or by how the usual styles name it.
func opens(n *html.Node) bool {
	if role, _ := Attribute(n, "role"); n.DataAtom != atom.Button && role != "button" {
		return false
	}
	_, expands := Attribute(n, "aria-expanded")
	if !expands {
		class, _ := Attribute(n, "class")
		expands = FirstAttribute(n, "data-bs-toggle", "data-toggle") == "collapse" || strings.Contains(class, "accordion") || strings.Contains(class, "collapsible")
	}
	popup, pops := Attribute(n, "aria-haspopup")
	return expands && (!pops || popup == "false")
}
