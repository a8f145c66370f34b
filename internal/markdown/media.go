// Pictures, frames, films and sounds: their alternative text and an address to go on with.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
	"github.com/wayleave/wayleave/internal/markdown/tex"
)

// lastImage is the image that was written last.
type lastImage struct {
	place    scribe.Place // where it begins
	end      int          // length of the output after it
	alt, src string
	quality  facts.Quality
	noScript bool
}

// image writes img: its alternative text and its address, the real one where a placeholder stands in for it.
func (r *renderer) image(n *html.Node, t *facts.Traits) {
	alt, hasAlt := facts.Attribute(n, "alt")
	alt = facts.Seen(alt)
	alt = strings.Join(strings.Fields(alt), " ")
	if source, ok := tex.OfImage(alt, t); ok && r.formula(source, r.display || t.Is(facts.MathDisplay)) {
		return
	}
	src, quality := facts.ImageSource(n, r.imageAddress)
	if facts.Tiny(n, t) || facts.CountsReaders(src) || hasAlt && alt == "" && src != "" && !inFigure(n) {
		return // a tracking pixel, or decoration by the page's own word
	}
	if alt == "" {
		alt = t.Label
	}
	isText := src == "" || t.Is(facts.Emoji) && alt != "" && len(alt) <= 24
	if isText && alt == "" || r.twice(alt, src, quality) {
		return
	}
	var place scribe.Place
	if isText {
		place = r.w.Start()
		r.w.Text(alt)
	} else {
		place = r.w.Image(alt, src)
	}
	r.images = lastImage{place, r.w.Len(), alt, src, quality, r.noScript}
}

// inFigure says that an image is a figure's, where an empty alternative text means that the caption describes it.
func inFigure(n *html.Node) bool {
	const far = 4
	for p, i := n.Parent, 0; p != nil && i < far; p, i = p.Parent, i+1 {
		if p.DataAtom == atom.Figure {
			return true
		}
	}
	return false
}

// twice says that a picture was just written in another form, for readers with or without scripts, and that this one
// is not needed. Where this one is the better one, it takes the other one out.
func (r *renderer) twice(alt, src string, quality facts.Quality) bool {
	last := &r.images
	if last.end != r.w.Len() || last.end == 0 || last.noScript == r.noScript {
		return false
	}
	if last.src == src && src != "" {
		return true
	}
	same := last.alt == alt && alt != ""
	if last.noScript {
		return same && quality <= facts.MaybeLazy
	}
	if (same || last.quality <= facts.MaybeLazy) && src != "" {
		r.w.BackTo(last.place)
	}
	return false
}

// picture writes the image of a picture element; its sources serve where the image names none.
func (r *renderer) picture(n *html.Node) {
	const look = 64 // nodes; a picture holds a few sources and an image
	img := facts.Find(n, atom.Img, look)
	if img == nil {
		r.children(n)
		return
	}
	if _, quality := facts.ImageSource(img, r.imageAddress); quality <= facts.BlankImage {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom != atom.Source {
				continue
			}
			if src := r.imageAddress(facts.FirstSource(facts.FirstAttribute(c, "srcset", "data-srcset"))); src != "" {
				filled := *img // the tree stays as it is
				filled.Attr = append([]html.Attribute{{Key: "data-src", Val: src}}, img.Attr...)
				t := facts.TraitsOf(&filled)
				r.image(&filled, &t)
				return
			}
		}
	}
	r.children(n)
}

// address writes a link to what an element embeds, under its title or else a word for its kind.
func (r *renderer) address(n *html.Node, key, kind string) {
	r.addressOf(n, facts.FirstAttribute(n, key), kind)
}

func (r *renderer) addressOf(n *html.Node, src, kind string) {
	url := r.base.Resolve(src)
	if src == "" || address.Inert(url) || r.base.SamePage(url) { // a page within itself
		return
	}
	name := facts.FirstAttribute(n, "title", "aria-label")
	if name == "" {
		name = kind
	}
	r.w.Space()
	r.w.EnterLink(scribe.Link{URL: url, Words: true})
	r.w.Text(name)
	r.w.Leave()
	r.w.Space()
}

// media writes video and audio: a link to the film or the sound. What is in the element is for browsers without.
func (r *renderer) media(n *html.Node) {
	src := facts.FirstAttribute(n, "src", "data-src")
	for c := n.FirstChild; c != nil && src == ""; c = c.NextSibling {
		if c.DataAtom == atom.Source {
			src = facts.FirstAttribute(c, "src", "data-src")
		}
	}
	if src == "" || address.Inert(r.base.Resolve(src)) {
		r.apart(n)
		return
	}
	r.addressOf(n, src, strings.TrimPrefix(n.Data, "amp-"))
}

// object writes what an object shows where it cannot be drawn, or else its address.
func (r *renderer) object(n *html.Node) {
	from := r.w.Len()
	r.w.Space()
	r.children(n)
	r.w.Space()
	if r.w.Len() == from {
		r.address(n, "data", "object")
	}
}

// area writes one place of an image map.
func (r *renderer) area(n *html.Node) {
	href := facts.FirstAttribute(n, "href")
	alt := facts.FirstAttribute(n, "alt", "title")
	url := r.base.Resolve(href)
	if href == "" || alt == "" || address.Inert(url) || r.base.SamePage(url) || r.w.InLink() {
		return
	}
	r.w.Space()
	r.w.EnterLink(scribe.Link{URL: url, Words: true})
	r.w.Text(alt)
	r.w.Leave()
	r.w.Space()
}

// frame writes a frame: its own document in place if it carries one, else its address.
func (r *renderer) frame(n *html.Node) {
	if doc, ok := facts.Attribute(n, "srcdoc"); ok {
		r.sourceDocument(doc)
		return
	}
	if w, ok := facts.Number(n, "width"); ok && w <= 1 {
		return
	}
	if h, ok := facts.Number(n, "height"); ok && h <= 1 {
		return
	}
	src := ""
	for _, key := range []string{"src", "data-src", "data-lazy-src"} { // one that waits for a script shows a blank page
		if src = facts.FirstAttribute(n, key); src != "" && !address.Inert(r.base.Resolve(src)) {
			break
		}
	}
	r.w.Break(2)
	r.addressOf(n, src, "frame")
	r.w.Break(2)
}

// amp writes an element by which an AMP page spells one of HTML's; false for any other element.
func (r *renderer) amp(n *html.Node, t *facts.Traits) bool {
	switch n.Data {
	case "amp-img", "amp-anim":
		r.image(n, t)
		r.children(n) // its noscript is the same picture
	case "amp-iframe":
		r.frame(n)
	case "amp-video", "amp-audio":
		r.media(n)
	default:
		return false
	}
	return true
}

// imageAddress is an absolute address that an image can come from; empty for none.
func (r *renderer) imageAddress(v string) string {
	if v != "" {
		if url := r.base.Resolve(v); !address.Inert(url) && !r.base.SamePage(url) {
			return url
		}
	}
	return ""
}
