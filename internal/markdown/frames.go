// Documents within the document: srcdoc frames and shadow trees, shown where they stand.

package markdown

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// maxFrames is how deep srcdoc documents are followed into one another.
const maxFrames = 4

// sourceDocument writes the document that a frame carries as an attribute.
func (r *renderer) sourceDocument(src string) {
	if r.frames >= maxFrames {
		return
	}
	doc, err := htmltree.Parse(r.ctx, src)
	if err != nil {
		if r.ctx.Err() != nil {
			r.err = r.ctx.Err()
		}
		return
	}
	r.frames++
	hosts, depth := r.hosts, r.depth
	r.hosts = nil
	r.w.Break(2)
	r.children(doc)
	r.w.Break(2)
	r.hosts, r.depth = hosts, depth
	r.frames--
}

// shadowHost is an element whose shadow tree is being written: slots in it are filled with its children.
type shadowHost struct {
	host   *html.Node
	outer  *shadowHost
	filled []string // names of the slots that have been filled: a later one of the same name stays empty
}

// maxSlots bounds how many slots of one host are filled; each looks through all its children.
const maxSlots = 64

func shadowRoot(n *html.Node) bool {
	if n.DataAtom != atom.Template || n.Namespace != "" || !facts.HoldsShadow(n.Parent) {
		return false
	}
	mode, ok := facts.Attribute(n, "shadowrootmode")
	if !ok {
		mode, ok = facts.Attribute(n, "shadowroot")
	}
	return ok && (mode == "open" || mode == "closed")
}

// shadowTree writes the shadow tree of n in place of its children; false if it has none.
func (r *renderer) shadowTree(n *html.Node) bool {
	var root *html.Node
	for c := n.FirstChild; c != nil && root == nil; c = c.NextSibling {
		if shadowRoot(c) {
			root = c
		}
	}
	if root == nil {
		return false
	}
	r.w.Break(2)
	r.hosts = &shadowHost{host: n, outer: r.hosts}
	r.children(root)
	r.hosts = r.hosts.outer
	r.w.Break(2)
	return true
}

// slot writes the children of the host that belong here, or what the slot holds for want of any.
func (r *renderer) slot(n *html.Node) {
	h := r.hosts
	if h == nil {
		r.children(n)
		return
	}
	name, _ := facts.Attribute(n, "name")
	for _, taken := range h.filled {
		if taken == name {
			r.children(n)
			return
		}
	}
	if len(h.filled) == maxSlots {
		r.children(n)
		return
	}
	h.filled = append(h.filled, name)
	assigned := false
	r.hosts = h.outer // what fills the slot is outside of the shadow tree
	for c := h.host.FirstChild; c != nil && r.err == nil; c = c.NextSibling {
		if shadowRoot(c) || slotOf(c) != name {
			continue
		}
		assigned = assigned || !facts.Blank(c)
		r.node(c)
	}
	r.hosts = h
	if !assigned {
		r.children(n)
	}
}

func slotOf(n *html.Node) string {
	if n.Type != html.ElementNode {
		return ""
	}
	name, _ := facts.Attribute(n, "slot")
	return name
}
