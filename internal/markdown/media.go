// Pictures, frames, films and sounds: their alternative text and an address to go on with.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// How sure it is that an address is the picture's own.
const (
	noAddress   = iota
	blankImage  // a placeholder by its name, or bytes in the page
	maybeLazy   // the picture may be put in its place later
	realAddress // taken for the picture's
)

// lastImage is the image that was written last.
type lastImage struct {
	start, end           int // in out
	leafStart, lineStart int
	alt, src             string
	quality              int
	noScript             bool
}

// image writes img: its alternative text and its address, the real one where a placeholder stands in for it.
func (r *renderer) image(n *html.Node, t *traits) {
	alt, hasAlt := attribute(n, "alt")
	alt = strings.Join(strings.Fields(alt), " ")
	if tex, ok := imageTeX(n, alt, t); ok && r.formula(tex, r.display || t.is(mathDisplay)) {
		return
	}
	src, quality := r.imageSource(n)
	if tiny(n, t) || hasAlt && alt == "" && src != "" && !inFigure(n) {
		return // a tracking pixel, or decoration by the page's own word
	}
	if alt == "" {
		alt = t.label
	}
	if src == "" || t.is(emoji) && alt != "" && len(alt) <= 24 {
		if alt != "" && !r.twice(alt, src, quality) {
			r.ready()
			start := len(r.out)
			r.text(alt)
			r.remember(start, alt, src, quality)
		}
		return
	}
	if r.twice(alt, src, quality) {
		return
	}
	r.ready()
	r.breakAddress()
	start := len(r.out)
	r.out = append(r.out, '!', '[')
	r.alternative(alt)
	r.out = append(r.out, ']', '(')
	r.out = appendDestination(r.out, src, r.flat == inCell)
	r.out = append(r.out, ')')
	r.imageEnd, r.textFrom = len(r.out), len(r.out)
	r.remember(start, alt, src, quality)
}

func (r *renderer) remember(start int, alt, src string, quality int) {
	r.images = lastImage{start, len(r.out), r.leafStart, r.lineStart, alt, src, quality, r.noScript}
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

// alternative writes an image's alternative text, in which brackets would end it.
func (r *renderer) alternative(alt string) {
	outer, within, waiting := r.leaf, r.inLink, r.waiting
	r.inLink, r.waiting = true, false
	r.lineStart = len(r.out)
	if r.flat == inBlock {
		r.flat = inWords
	}
	r.text(alt)
	r.leaf, r.inLink, r.waiting = outer, within, waiting
}

// twice says that a picture was just written in another form, for readers with or without scripts, and that this one
// is not needed. Where this one is the better one, it takes the other one out.
func (r *renderer) twice(alt, src string, quality int) bool {
	last := &r.images
	if last.end != len(r.out) || last.end == 0 || last.noScript == r.noScript {
		return false
	}
	if last.src == src && src != "" {
		return true
	}
	same := last.alt == alt && alt != ""
	if last.noScript {
		return same && quality <= maybeLazy
	}
	if !same && last.quality > maybeLazy || src == "" || len(r.marks) > 0 && r.marks[len(r.marks)-1].at > last.start {
		return false
	}
	r.out = r.out[:last.start]
	if !r.open {
		r.open, r.leafStart, r.lineStart, r.gap = true, last.leafStart, last.lineStart, 0
	}
	return false
}

// imageSource is the absolute address of an image, and how sure it is to be its own. Addresses that scripts are to
// put in place later win.
func (r *renderer) imageSource(n *html.Node) (src string, quality int) {
	own, lazy, set := "", "", ""
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "src":
			own = strings.TrimSpace(a.Val)
		case "data-src", "data-lazy-src", "data-original", "data-lazy", "data-original-src", "data-actualsrc", "data-image-src",
			"data-full-src", "data-hi-res-src", "data-delayed-url", "data-url", "data-img-src", "data-echo":
			if v := strings.TrimSpace(a.Val); lazy == "" && plausible(v) {
				lazy = v
			}
		case "data-srcset", "data-lazy-srcset", "srcset":
			if set == "" {
				set = firstSource(a.Val)
			}
		}
	}
	if lazy != "" {
		return r.imageAddress(lazy), realAddress
	}
	if own = r.imageAddress(own); own != "" && !blankName(own) {
		if lazyClass(n) {
			return own, maybeLazy
		}
		return own, realAddress
	}
	if set = r.imageAddress(set); set != "" {
		return set, realAddress
	}
	if own == "" {
		return "", noAddress
	}
	return own, blankImage
}

func (r *renderer) imageAddress(v string) string {
	if v != "" {
		if url := r.base.resolve(v); !inert(url) {
			return url
		}
	}
	return ""
}

// plausible says that a data attribute holds an address rather than a template or settings.
func plausible(v string) bool {
	return v != "" && !strings.ContainsAny(v, "{}<>\"") && strings.ContainsAny(v, "/.") && !strings.HasPrefix(v, "data:")
}

// blankName knows the usual names of placeholders.
func blankName(src string) bool {
	i := strings.LastIndexByte(src, '/')
	switch strings.ToLower(src[i+1:]) {
	case "blank.gif", "spacer.gif", "transparent.gif", "pixel.gif", "1x1.gif", "placeholder.gif", "placeholder.png", "blank.png",
		"spacer.png", "clear.gif", "transparent.png", "grey.gif", "lazyload.gif", "lazy.gif", "loading.gif", "loader.gif":
		return true
	}
	return false
}

func lazyClass(n *html.Node) bool {
	class, _ := attribute(n, "class")
	return strings.Contains(class, "lazy")
}

// firstSource is the first address of a srcset.
func firstSource(srcset string) string {
	srcset = strings.TrimLeft(srcset, " \t\n\r,")
	if i := strings.IndexAny(srcset, " \t\n\r"); i >= 0 {
		srcset = srcset[:i]
	}
	srcset = strings.TrimRight(srcset, ",")
	if strings.HasPrefix(srcset, "data:") || strings.ContainsAny(srcset, "{}") {
		return ""
	}
	return srcset
}

// tiny says that an image is a pixel that counts readers, or a spacer.
func tiny(n *html.Node, t *traits) bool {
	for i := range n.Attr {
		if key := n.Attr[i].Key; key == "width" || key == "height" {
			if v, ok := number(n, key); ok && v <= 2 && !strings.Contains(n.Attr[i].Val, "%") {
				return true
			}
		}
	}
	for style := t.style; style != ""; {
		var declaration string
		declaration, style, _ = strings.Cut(style, ";")
		name, value, _ := strings.Cut(declaration, ":")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "width", "height":
			switch strings.TrimSpace(value) {
			case "0", "0px", "1px", "2px":
				return true
			}
		}
	}
	return false
}

// picture writes the image of a picture element; its sources serve where the image names none.
func (r *renderer) picture(n *html.Node) {
	const look = 64 // nodes; a picture holds a few sources and an image
	img := find(n, atom.Img, look)
	if img == nil {
		r.children(n)
		return
	}
	if _, quality := r.imageSource(img); quality <= blankImage {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom != atom.Source {
				continue
			}
			if src := r.imageAddress(firstSource(firstAttribute(c, "srcset", "data-srcset"))); src != "" {
				filled := *img // the tree stays as it is
				filled.Attr = append([]html.Attribute{{Key: "data-src", Val: src}}, img.Attr...)
				t := traitsOf(&filled)
				r.image(&filled, &t)
				return
			}
		}
	}
	r.children(n)
}

// address writes a link to what an element embeds, under its title or else a word for its kind.
func (r *renderer) address(n *html.Node, key, kind string) {
	r.addressOf(n, firstAttribute(n, key), kind)
}

func (r *renderer) addressOf(n *html.Node, src, kind string) {
	url := r.base.resolve(src)
	if src == "" || inert(url) {
		return
	}
	name := firstAttribute(n, "title", "aria-label")
	if name == "" {
		name = kind
	}
	r.part()
	r.enter(inline{kind: link, url: url, words: true})
	r.text(name)
	r.leave()
	r.part()
}

// media writes video and audio: a link to the film or the sound. What is in the element is for browsers without.
func (r *renderer) media(n *html.Node) {
	src := firstAttribute(n, "src", "data-src")
	for c := n.FirstChild; c != nil && src == ""; c = c.NextSibling {
		if c.DataAtom == atom.Source {
			src = firstAttribute(c, "src", "data-src")
		}
	}
	if src == "" || inert(r.base.resolve(src)) {
		r.apart(n)
		return
	}
	r.addressOf(n, src, n.Data)
}

// object writes what an object shows where it cannot be drawn, or else its address.
func (r *renderer) object(n *html.Node) {
	from := len(r.out)
	r.part()
	r.children(n)
	r.part()
	if len(r.out) == from {
		r.address(n, "data", "object")
	}
}

// area writes one place of an image map.
func (r *renderer) area(n *html.Node) {
	href := firstAttribute(n, "href")
	alt := firstAttribute(n, "alt", "title")
	url := r.base.resolve(href)
	if href == "" || alt == "" || inert(url) || r.base.samePage(url) || r.inLink {
		return
	}
	r.part()
	r.enter(inline{kind: link, url: url, words: true})
	r.text(alt)
	r.leave()
	r.part()
}

// frame writes a frame: its own document in place if it carries one, else its address.
func (r *renderer) frame(n *html.Node) {
	if doc, ok := attribute(n, "srcdoc"); ok {
		r.sourceDocument(doc)
		return
	}
	if w, ok := number(n, "width"); ok && w <= 1 {
		return
	}
	if h, ok := number(n, "height"); ok && h <= 1 {
		return
	}
	src := firstAttribute(n, "src", "data-src", "data-lazy-src")
	r.breakLeaf(1)
	r.addressOf(n, src, "frame")
	r.breakLeaf(1)
}
