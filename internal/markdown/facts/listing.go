// What stands in preformatted text beside its characters: lines of their own, and names that were cut.

package facts

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// EndsCodeLine says that an element of code ends its line by what it is.
func EndsCodeLine(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Div, atom.P, atom.Li, atom.Tr, atom.Section, atom.Table, atom.Ol, atom.Ul, atom.Pre:
		return true
	}
	return false
}

// CutName is the name of the file that a link of a server's listing leads to, where what it shows is cut ("harbour-plan-of-th..>");
// empty for other links. The name is all that tells the address there.
func CutName(a *html.Node) string {
	if a.FirstChild == nil || a.FirstChild != a.LastChild || a.FirstChild.Type != html.TextNode {
		return ""
	}
	shown, cut := strings.CutSuffix(strings.TrimSpace(a.FirstChild.Data), "..>")
	href, _ := Attribute(a, "href")
	if !cut || shown == "" || len(href) > 1000 {
		return ""
	}
	folder, file := "", strings.TrimSuffix(href, "/")
	if file != href {
		folder = "/"
	}
	name, err := url.PathUnescape(file[strings.LastIndexByte(file, '/')+1:])
	if err != nil || !strings.HasPrefix(name, shown) || strings.ContainsAny(name, "\n\r") {
		return ""
	}
	return strings.ToValidUTF8(name, "\uFFFD") + folder
}
