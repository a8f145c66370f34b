// Stability: Markdown that is read and converted again is the Markdown that it was.

package markdown

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/structurecheck"
)

// stable checks that the Markdown of a page says what we meant by it: read by a Markdown parser, written as HTML and
// converted again, it is the same Markdown, byte for byte, and once more the same after that. A mark that a parser
// reads otherwise than it was meant, an escape too few, a block that runs into the next, all come out as a difference.
//
// Three things cannot come back, and are taken out of the comparison; the outline, which is the text, the blocks and the
// marks on them as a parser sees them, has to be the same all the same:
//   - escapes. Where one text ends and another begins in a page is not in its Markdown, and a sign that may go on with
//     what the next text holds is escaped; an address in a text that holds such signs is written in angle brackets or
//     kept from being one. So Markdown is compared without these, and what was converted twice with them;
//   - the line between a term and its definitions. Markdown has no definition lists: they come back as a paragraph and a
//     list, which a blank line parts;
//   - dollars. Whether $5 and $6 holds a formula is the parser's choice, which it makes for all of a document while we
//     escape dollars only in blocks with formulas. One of both readings has to be stable.
func stable(t *testing.T, page string) {
	t.Helper()
	first := convert(t, page)
	why := ""
	for _, r := range []structurecheck.Reading{{}, {Math: true}} {
		if r.Math && !strings.Contains(first, "$") {
			break
		}
		if why = unstable(t, page, first, r); why == "" {
			return
		}
	}
	t.Errorf("page:\n%s\n%q\nfirst:\n%s\n%s", page, page, first, why)
}

func unstable(t *testing.T, page, first string, r structurecheck.Reading) string {
	t.Helper()
	second := convert(t, structurecheck.Page(first, r))
	if a, b := structurecheck.Outline(first, r), structurecheck.Outline(second, r); a != b {
		return "second:\n" + second + "\noutline:\n" + a + "then:\n" + b
	}
	a, b := bare(first), bare(second)
	if definitions.MatchString(page) {
		a, b = strings.ReplaceAll(a, "\n\n", "\n"), strings.ReplaceAll(b, "\n\n", "\n")
	}
	if a != b {
		return "second:\n" + second
	}
	if third := convert(t, structurecheck.Page(second, r)); third != second {
		return "second:\n" + second + "\nthird:\n" + third
	}
	return ""
}

var (
	escapes     = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
	brackets    = regexp.MustCompile(`(?i)<(https?://[^\s<>]*)>`)
	definitions = regexp.MustCompile(`(?i)<d[td]`)
)

// bare is Markdown without the backslashes of its escapes and the brackets around addresses.
func bare(markdown string) string {
	return brackets.ReplaceAllString(escapes.ReplaceAllString(markdown, "$1"), "$1")
}

func TestStructureCasesAreStable(t *testing.T) {
	for _, c := range structureCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			if len(c.HTML) < 200_000 {
				stable(t, c.HTML)
			}
		})
	}
}

func TestRandomPagesAreStable(t *testing.T) {
	pages := uint64(1500)
	if os.Getenv("WAYLEAVE_SOAK") != "" {
		pages = 300_000
	}
	for seed := range pages {
		a := &author{Rand: rand.New(rand.NewPCG(seed, 13))}
		for range 1 + a.IntN(3) {
			a.block(2)
		}
		if stable(t, a.page.String()); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzStability(f *testing.F) {
	for _, c := range structureCases(f) {
		if len(c.HTML) < 4000 {
			f.Add(c.HTML)
		}
	}
	for seed := range uint64(20) {
		a := &author{Rand: rand.New(rand.NewPCG(seed, 17))}
		a.block(2)
		f.Add(a.page.String())
	}
	f.Fuzz(func(t *testing.T, page string) {
		if len(page) <= 8000 {
			stable(t, page)
		}
	})
}
