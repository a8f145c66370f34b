// Package facts reads what an element says of itself: its attributes, what its classes and Styles mean, the language of
// code, the text below it. It looks and changes nothing, and looks only so far that a hostile page cannot make it dear.
package facts

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// Traits are what an element's common attributes say, read in one pass.
type Traits struct {
	Role, Label string // role and aria-label
	TeX         string // source of a formula, from a data attribute
	Style       string // the inline style as it is written
	Styles      Styles // and what of it matters
	Hidden      bool   // the hidden attribute; what a search in the page may reveal is not hidden
	AriaHidden  bool
	Flags       Flags
}

// Is says that the element has one of these flags.
func (t *Traits) Is(f Flags) bool { return t.Flags&f != 0 }

// TraitsOf reads an element's attributes.
func TraitsOf(n *html.Node) (t Traits) {
	labelled := false
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "class":
			t.Flags = ClassFlags(a.Val)
		case "style":
			t.Style = a.Val
			t.Styles = StylesOf(a.Val)
		case "data-tex", "data-latex", "data-formula", "data-math", "data-katex":
			t.TeX = a.Val
		case "role":
			t.Role = a.Val
		case "hidden":
			t.Hidden = !strings.EqualFold(a.Val, "until-found")
		case "aria-hidden":
			t.AriaHidden = a.Val == "true"
		case "aria-label":
			t.Label = a.Val
		case "aria-labelledby":
			labelled = a.Val != ""
		}
	}
	if (t.Hidden || t.Styles&DisplayNone != 0) && (panel(t.Role, labelled) || disclosed(n, t.Role)) {
		t.Hidden, t.Styles = false, t.Styles&^(DisplayNone|Invisible)
	}
	return t
}

// panel says that an element which is not shown now is the content of a tab, or the part below a heading that opens it:
// one press of its reader away, as what a closed details element holds.
func panel(role string, labelled bool) bool {
	return role == "tabpanel" || role == "region" && labelled
}

// Concealed says that an element is not there for a reader, and takes no room.
func Concealed(n *html.Node) bool {
	if len(n.Attr) == 0 {
		return false
	}
	t := TraitsOf(n)
	return t.Hidden || t.Styles&DisplayNone != 0
}

// Attribute is the value of an attribute, and whether it is there.
func Attribute(n *html.Node, key string) (string, bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

// FirstAttribute is the value of the first of these attributes that is there and not blank.
func FirstAttribute(n *html.Node, keys ...string) string {
	for _, key := range keys {
		if v, ok := Attribute(n, key); ok {
			if v = strings.TrimSpace(v); v != "" {
				return v
			}
		}
	}
	return ""
}

// Number is an attribute's value as HTML reads integers: blanks, a sign, digits, and whatever follows ignored.
func Number(n *html.Node, key string) (int, bool) {
	v, ok := Attribute(n, key)
	if !ok {
		return 0, false
	}
	v = strings.TrimLeft(v, " \t\n\f\r")
	end := 0
	if end < len(v) && (v[end] == '-' || v[end] == '+') {
		end++
	}
	for end < len(v) && end < 10 && v[end] >= '0' && v[end] <= '9' {
		end++
	}
	i, err := strconv.Atoi(v[:end])
	return i, err == nil
}
