// For the learner of bench/learn, which makes the trees of forest.

package maincontent

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Lesson is a page as the learner sees it: its blocks of text in document order, and what they are judged by.
type Lesson struct{ f *finder }

// NewLesson reads a page.
func NewLesson(root *html.Node) Lesson { return Lesson{newFinder(root, new(desk))} }

// Page is what the kind of the page is judged by.
func (l Lesson) Page() []float32 {
	return append([]float32(nil), l.f.pageFeatures(l.f.page, &l.f.says)[:]...)
}

// Kinds names the kinds in the order of SetKinds.
func Kinds() []string {
	return []string{"article", "collection", "documentation", "forum", "listing", "product", "service"}
}

// SetKinds says how likely the page is of each kind, before [Lesson.Features] is asked.
func (l Lesson) SetKinds(kinds []float32) { copy(l.f.page.kinds[:], kinds) }

// Texts are the words of each block.
func (l Lesson) Texts() []string {
	out := make([]string, len(l.f.blocks))
	for i := range out {
		b := &l.f.blocks[i]
		var text []byte
		for _, n := range l.f.leaves[b.from:b.to] {
			if n.Type == html.TextNode {
				text = append(append(text, n.Data...), ' ')
			}
		}
		out[i] = string(text)
	}
	return out
}

// Features are what each block is judged by: first of all, where scores is nil, and with the scores of that judging.
func (l Lesson) Features(scores []float32) [][]float32 {
	out := make([][]float32, len(l.f.blocks))
	var x [countSecond]float32
	var c *context
	n := countFeats
	if scores != nil {
		c, n = newContext(&l.f.outline, scores), countSecond
	}
	for i := range out {
		l.f.features(i, x[:countFeats], l.f.page)
		if c != nil {
			c.features(i, x[countFeats:])
		}
		out[i] = append([]float32(nil), x[:n]...)
	}
	return out
}

// Cut is the score from which blocks are kept.
func (l Lesson) Cut(scores []float32) float32 { return l.f.cut(scores) }

// Scores are what each block gets in the end, and which blocks are kept.
func (l Lesson) Scores() ([]float32, []bool) {
	scores := l.f.scores()
	kept := l.f.decide(scores)
	return scores, kept
}

// Decide changes scores where a rule is surer, and says which blocks are kept.
func (l Lesson) Decide(scores []float32) []bool {
	l.f.seen, l.f.ruled = 0, false
	return l.f.decide(scores)
}

// Path names the elements around a block, the innermost first, with their classes.
func (l Lesson) Path(i int) string {
	var b strings.Builder
	at := l.f.blocks[i].owner
	for range 7 {
		if at < 0 {
			break
		}
		n := l.f.elements[at].node
		b.WriteString(n.Data)
		if class, _ := facts.Attribute(n, "class"); class != "" {
			b.WriteString("." + strings.Join(strings.Fields(class[:min(len(class), 50)]), "."))
		}
		b.WriteString(" < ")
		at = l.f.elements[at].parent
	}
	return b.String()
}
