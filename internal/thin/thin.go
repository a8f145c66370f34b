// Package thin finds the facts that say that a page is hardly the one that was asked for. (Skeleton.)
package thin

import "golang.org/x/net/html"

// Page is what is known of a page besides its tree.
type Page struct {
	Status   int
	Title    string
	Markdown string
}

// Fact is one thin kind of the closed list, with our words for what shows it.
type Fact struct{ Kind, Text string }

// Facts of a page; empty for an ordinary one.
func Facts(root *html.Node, p Page) []Fact { panic("skeleton") }
