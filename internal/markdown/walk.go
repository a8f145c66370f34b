// The walk: one visit of each node, in document order, that hands every element to what writes its kind.

package markdown

import (
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/notelabel"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
	"github.com/wayleave/wayleave/internal/markdown/tex"
)

// renderer is the state of one walk. What it sees goes to the scribe, who knows how Markdown spells it.
type renderer struct {
	ctx   context.Context
	err   error // ctx's, once it is done
	steps int   // nodes visited, counted to look at ctx now and then
	depth int   // elements open
	o     Options
	*desk

	list      *listFrame // the list whose items are being written
	closed    listEnd    // the list that ended last
	images    lastImage  // the last image, as long as nothing followed it
	quotes    int        // q elements open
	label     string     // of the note that begins here: its own text need not repeat it
	point     string     // such a label, left out with nothing more of its text; a point may follow in the next
	past      *html.Node // the text that closes the brackets around such a label; the label before it is not written
	rest      string     // what that text says after the bracket
	ruled     int        // where the last rule ended in the output
	termEnd   int        // where the last term or definition ended in the output
	joined    bool       // the definition that comes stands in its term's line
	inHeading bool
	inNote    bool
	noScript  bool // within noscript
	display   bool // within what sets formulas on lines of their own
	typeset   tex.Typeset
	bare      bool // within code that holds no text
	hosts     *shadowHost
	frames    int // srcdoc documents open

	concealed []*html.Node // what the page hides
	revealed  []*html.Node // what of it is shown all the same

	page
}

// maxDepth is how deep the walk goes by recursion; elements below are read as plain text. Trees of htmltree are
// shallower.
const maxDepth = 1200

// walk writes root and all below it.
func (r *renderer) walk(root *html.Node) {
	r.w.Restart(r.ctx, r.size)
	r.w.WriteLinks(r.o.Links)
	r.typeset = r.typesets
	r.node(root)
	if r.err == nil {
		r.err = r.w.Err()
	}
}

// children writes what is below n.
func (r *renderer) children(n *html.Node) {
	for c := n.FirstChild; c != nil && r.err == nil; c = c.NextSibling {
		r.node(c)
	}
}

// dropped says that whoever asked for the conversion wants n left out.
func (r *renderer) dropped(n *html.Node) bool { return r.o.Drop != nil && r.o.Drop(n) }

// leftOut says that an element is dropped or hidden; it is for those that the walk does not come to as a node.
func (r *renderer) leftOut(n *html.Node) bool {
	if r.dropped(n) || len(n.Attr) == 0 {
		return r.dropped(n)
	}
	t := facts.TraitsOf(n)
	return (t.Hidden || t.Styles != 0) && r.hides(n, &t)
}

func (r *renderer) node(n *html.Node) {
	const between = 128 // nodes from one look at ctx to the next
	if r.steps++; r.steps%between == 0 {
		if r.err = r.ctx.Err(); r.err != nil {
			return
		}
	}
	if r.dropped(n) {
		return
	}
	switch n.Type {
	case html.TextNode:
		text := n.Data
		switch {
		case n == r.past:
			text, r.past = r.rest, nil
		case r.past != nil: // the label itself
			return
		case r.point != "":
			text, r.point = notelabel.AfterAlone(r.point, text), ""
		case r.label != "" && r.labelApart(n):
			return
		case r.label != "" && strings.TrimSpace(text) != "":
			var alone bool
			if text, alone = notelabel.Cut(r.label, text); alone {
				r.point = r.label
			}
			r.label = ""
		}
		if r.typeset != tex.Nothing && strings.ContainsAny(text, `\$`) {
			r.running(text)
			return
		}
		r.w.Text(text)
	case html.ElementNode:
		if r.past != nil && !notelabel.Within(r.past, n) || r.label != "" && r.labelElement(n) { // the label itself
			return
		}
		if r.depth >= maxDepth {
			r.flatten(n)
			return
		}
		typeset := r.typeset
		r.depth++
		r.element(n)
		r.depth--
		r.typeset = typeset
	case html.DocumentNode:
		r.children(n)
	}
}

// flatten writes the text below n without its structure: for trees too deep to follow.
func (r *renderer) flatten(n *html.Node) {
	for m := facts.Following(n, n); m != nil && r.err == nil; {
		if r.steps++; r.steps%128 == 0 {
			r.err = r.ctx.Err()
		}
		if m.Type == html.TextNode {
			r.w.Text(m.Data)
		} else if m.Type == html.ElementNode {
			switch m.DataAtom {
			case atom.Script, atom.Style, atom.Template:
				m = facts.Skipping(n, m)
				continue
			}
			if r.leftOut(m) {
				m = facts.Skipping(n, m)
				continue
			}
			r.w.Space()
		}
		m = facts.Following(n, m)
	}
}

// element writes one element.
func (r *renderer) element(n *html.Node) {
	var t facts.Traits
	if len(n.Attr) > 0 {
		t = facts.TraitsOf(n)
		if (t.Hidden || t.Styles != 0) && r.hides(n, &t) {
			return
		}
	}
	if n.Namespace != "" {
		r.foreign(n, &t)
		return
	}
	if t.Is(facts.MathSource) {
		r.typeset = max(r.typeset, tex.Delimited)
	}
	if r.shadows && r.shadowTree(n) {
		return
	}
	switch n.DataAtom {
	case atom.Script:
		r.script(n)
	case atom.Style, atom.Template, atom.Head, atom.Title, atom.Meta, atom.Link, atom.Base, atom.Param, atom.Source,
		atom.Track, atom.Datalist, atom.Noframes, atom.Rp, atom.Col, atom.Colgroup:
		// Nothing of these is shown, or not here.
	case atom.P, atom.Address, atom.Figcaption, atom.Summary, atom.Legend, atom.Center, atom.Fieldset, atom.Form,
		atom.Article, atom.Aside, atom.Details, atom.Figure, atom.Footer, atom.Header, atom.Hgroup, atom.Main, atom.Nav,
		atom.Search, atom.Section, atom.Caption, atom.Optgroup, atom.Div, atom.Body, atom.Html:
		r.block(n, &t)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.heading(n, facts.HeadingLevel(n))
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		r.listElement(n)
	case atom.Li:
		r.item(n)
	case atom.Dl:
		r.block(n, &t)
	case atom.Dt:
		r.term(n)
	case atom.Dd:
		r.definition(n)
	case atom.Blockquote:
		r.quote(n)
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		r.codeBlock(n)
	case atom.Table:
		r.table(n, &t)
	case atom.Hr:
		if r.o.Drop != nil && r.ruled == r.w.Len() {
			return // what stood between two rules is left out
		}
		r.w.Rule()
		r.ruled = r.w.Len()
	case atom.Dialog:
		if _, open := facts.Attribute(n, "open"); open {
			r.block(n, &t)
		}
	case atom.Br:
		r.w.LineBreak()
	default:
		r.inlineElement(n, &t)
	}
}

// inlineElement writes elements that stand in a line.
func (r *renderer) inlineElement(n *html.Node, t *facts.Traits) {
	if r.w.Open() && !r.w.SpaceDue() && facts.Melts(n) {
		r.w.Space()
	}
	if t.Is(facts.Unseen) {
		r.unseen(n)
		return
	}
	switch n.DataAtom {
	case atom.A:
		r.anchor(n, t)
	case atom.B, atom.Strong:
		if t.Styles&facts.NotBold != 0 {
			r.children(n)
			return
		}
		r.marked(n, scribe.Strong)
	case atom.I, atom.Em:
		r.marked(n, scribe.Em)
	case atom.S, atom.Strike, atom.Del:
		r.marked(n, scribe.Del)
	case atom.Code, atom.Samp, atom.Kbd, atom.Tt:
		r.code(n, t)
	case atom.Sup:
		r.raised(n, t)
	case atom.Sub:
		r.lowered(n)
	case atom.Q:
		r.quotation(n)
	case atom.Rt:
		r.ruby(n)
	case atom.Img, atom.Image:
		r.image(n, t)
	case atom.Picture:
		r.picture(n)
	case atom.Iframe, atom.Frame:
		r.frame(n)
	case atom.Video, atom.Audio:
		r.media(n)
	case atom.Object:
		r.object(n)
	case atom.Embed:
		r.address(n, "src", "embedded")
	case atom.Area:
		r.area(n)
	case atom.Input:
		r.input(n)
	case atom.Select:
		r.choice(n)
	case atom.Textarea:
		r.textarea(n)
	case atom.Button:
		r.button(n, t)
	case atom.Label, atom.Option, atom.Output, atom.Meter, atom.Progress, atom.Td, atom.Th, atom.Canvas, atom.Marquee:
		r.apart(n)
	case atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot, atom.Frameset:
		r.block(n, t)
	case atom.Noscript:
		r.noscript(n)
	case atom.Slot:
		r.slot(n)
	case atom.Wbr:
	default:
		r.generic(n, t)
	}
}
