// Frames: documents that the page itself holds, as the text of an attribute.

package maincontent

import (
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// maxFrames is how deep documents of frames are followed into one another, as the conversion follows them.
const maxFrames = 4

// framed counts the text of the document that a frame holds; nothing for a frame that holds none. It is one block,
// whatever is in it: a frame is kept or left out as a whole.
func framed(n *html.Node) tally {
	var t tally
	if src, holds := facts.Attribute(n, "srcdoc"); holds {
		t.document(src, maxFrames)
	}
	return t
}

// document adds a document's text. Its tags are read without a tree, which would be made only to be counted.
func (t *tally) document(src string, depth int) {
	if depth == 0 {
		return
	}
	z := html.NewTokenizer(strings.NewReader(src))
	link, silent := false, atom.Atom(0) // within a link; within an element whose text nobody reads
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF { // nothing else is known to happen to a string
				*t = tally{}
			}
			return
		case html.TextToken:
			if silent == 0 {
				t.add(string(z.Text()), link)
			}
		case html.StartTagToken:
			name, more := z.TagName()
			switch a := atom.Lookup(name); a {
			case atom.A:
				link = true
			case atom.Script, atom.Style, atom.Title, atom.Noscript, atom.Template, atom.Svg:
				if silent == 0 {
					silent = a
				}
			case atom.Iframe:
				for more {
					var key, value []byte
					if key, value, more = z.TagAttr(); string(key) == "srcdoc" && silent == 0 {
						t.document(string(value), depth-1)
					}
				}
				if silent == 0 {
					silent = a
				}
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			switch a := atom.Lookup(name); {
			case a == atom.A:
				link = false
			case a == silent:
				silent = 0
			}
		}
	}
}

// ruleFrames keeps the document of a frame that is most of the page, whatever the trees make of so strange a block, and
// one between running text, which is a part of it. Not one that is furniture or an advertisement, or asks for consent.
func (f *finder) ruleFrames(scores []float32, standings []standing) {
	const least = 60 // letters of one within the text
	for i := range f.blocks {
		b := &f.blocks[i]
		owner := &f.elements[b.owner]
		if owner.node.DataAtom != atom.Iframe || b.letters == 0 || b.links*2 > b.letters || standings[b.owner].gone || f.named(b.owner, 0, wordConsent|nameAd|tagDialog) {
			continue
		}
		text := func(j int) bool { return j >= 0 && j < len(scores) && scores[j] >= 0.5 && running(&f.blocks[j]) }
		if b.letters*2 >= f.page.letters || b.letters >= least && text(i-1) && text(i+1) {
			scores[i] = max(scores[i], 0.6)
		}
	}
}
