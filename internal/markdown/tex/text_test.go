package tex

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// show writes pieces with the formulas in brackets, those of lines of their own in two.
func show(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		switch {
		case p.Display:
			b.WriteString("[[" + p.Text + "]]")
		case p.Formula:
			b.WriteString("[" + p.Text + "]")
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		by       Typeset
		in, want string
	}{
		{Delimited, `no formula`, `no formula`},
		{Delimited, `a \(x\) b \[y\] c $$z$$`, `a [x] b [[y]] c [[z]]`},
		{Delimited, `\begin{align} a \\ b \end{align}.`, `[[\begin{align} a \\ b \end{align}]].`},
		{Delimited, `\[a \\[2pt] b\]`, `[[a \\[2pt] b]]`},
		{Delimited, `costs $5 or $6`, `costs $5 or $6`},
		{Delimited, `\(open and \[open and \begin{x} and $$`, `\(open and \[open and \begin{x} and $$`},
		{Delimited, `\\(share\\) and \$$`, `\\(share\\) and \$$`},
		{Delimited, `\(\) \( \)`, `\(\) \( \)`},
		{Dollars, `$x$-th and $\$5$, $5 to $6, US$7 and 8$, $ a $`, `[x]-th and [\$5], $5 to $6, US$7 and 8$, $ a $`},
		{Dollars, `$`, `$`},
		{Dollars, `\`, `\`},
	} {
		if got := show(Pieces(c.in, c.by)); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
}

func FuzzPiecesKeepText(f *testing.F) {
	for _, s := range []string{`a \(x\) \[y\] $$z$$ $w$`, `\begin{a}\end{a}`, `\`, `$`, `\begin{`, `$$$$$`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all := ""
		for _, p := range Pieces(s, Dollars) {
			if p.Text == "" {
				t.Error("an empty piece")
			}
			i := strings.Index(s, p.Text)
			if i < 0 {
				t.Fatalf("%q is not in %q", p.Text, s)
			}
			if all, s = all+p.Text, s[i+len(p.Text):]; len(all) > 1<<20 {
				t.Fatal("more text than there was")
			}
		}
		if strings.Trim(s, `\)]$`) != "" {
			t.Errorf("%q is lost", s)
		}
	})
}

func TestTypesetBy(t *testing.T) {
	for src, want := range map[string]Typeset{
		`<script src="/js/MathJax.js?config=TeX">`:                               Delimited,
		`<script src="/katex/auto-render.min.js">`:                               Delimited,
		`<script src="/app.js">`:                                                 Nothing,
		`<script>`:                                                               Nothing,
		`<script>var a = "$";`:                                                   Nothing,
		`<script>MathJax.Hub.Config({})`:                                         Delimited,
		`<script>window.MathJax={tex:{inlineMath:[['$','$']]}}`:                  Dollars,
		`<script>renderMathInElement(document.body,{delimiters:[{left:"$"}]})`:   Dollars,
		`<script>` + strings.Repeat(" ", 30_000) + `MathJax.Hub.Config({a:'$'})`: Nothing,
	} {
		root, err := html.Parse(strings.NewReader(src))
		if err != nil {
			t.Fatal(err)
		}
		if got := TypesetBy(facts.Find(root, atom.Script, 20)); got != want {
			t.Errorf("%.60s: %d, want %d", src, got, want)
		}
	}
}
