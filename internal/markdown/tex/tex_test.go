package tex

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

func TestTeXFitsOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"a_b + c_d":                   "a_b + c_d",
		" x\n\n + y ":                 "x + y",
		`\(x^2\)`:                     "x^2",
		`\[x^2\]`:                     "x^2",
		"$$x$$":                       "x",
		"$x$":                         "x",
		`{\displaystyle E=mc^{2}}`:    "E=mc^{2}",
		"a<b":                         "a< b",
		"a < b":                       "a < b",
		"a<\x1ab\u200b\x00":           "a< b",
		"x % note\n+ y":               "x + y",
		`50\% % note` + "\n" + `of x`: `50\% of x`,
		`\text{$y$}`:                  `\text{y}`,
		"":                            "",
		`\(`:                          `\(`,
	} {
		if got := Tidy(in); got != want {
			t.Errorf("Tidy(%q) = %q, want %q", in, got, want)
		}
	}
}

func math(t *testing.T, src string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader("<math>" + src + "</math>"))
	if err != nil {
		t.Fatal(err)
	}
	return facts.Find(root, atom.Math, 20)
}

func TestMathMLKeepsRootsFractionsAndPowersApart(t *testing.T) {
	for src, want := range map[string]string{
		"<msqrt><mi>x</mi></msqrt><mo>+</mo><mfrac><mi>a</mi><mi>b</mi></mfrac>":                         `\sqrt{x}+\frac{a}{b}`,
		"<msup><mi>c</mi><mn>2</mn></msup>":                                                              "c^{2}",
		"<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>":                                              "x_{i}^{2}",
		"<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover>":                                        "∑_{i}^{n}",
		"<mroot><mi>x</mi><mn>3</mn></mroot>":                                                            `\sqrt[3]{x}`,
		"<mi>f</mi><mo>\u2061</mo><mfenced><mi>x</mi></mfenced>":                                         "f(x)",
		"<mtext>if </mtext><mi>x</mi>":                                                                   `\text{if}x`,
		"<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>":                         `\begin{matrix}1 & 2 \\ \end{matrix}`,
		"<mfrac><mi>a</mi></mfrac><msup></msup><mroot></mroot>":                                          `\frac{a}{}\sqrt[]{}`,
		"<mi>sin</mi><mi>x</mi>":                                                                         `\sin x`,
		"<mi>rate</mi><mi>π</mi>":                                                                        `\mathrm{rate}π`,
		"<mover><mi>v</mi><mo>→</mo></mover><mover><mo>=</mo><mi>d</mi></mover>":                         `\vec{v}=^{d}`,
		"<mfenced open='[' close='}' separators=';,'><mi>a</mi><mi>b</mi><mi>c</mi><mi>d</mi></mfenced>": `[a;b,c,d\}`,
		"<mo>{</mo><mo>%</mo>":                                                                           `\{\%`,
	} {
		if got := FromMathML(math(t, src)); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

func TestTheAnnotationIsTakenWhereThereIsOne(t *testing.T) {
	src := `<semantics><mi>x</mi><annotation encoding="MathType">no</annotation><annotation encoding="application/x-tex">x_1</annotation></semantics>`
	if got := Annotation(math(t, src)); got != "x_1" {
		t.Errorf("got %q", got)
	}
	if got := Annotation(math(t, "<mi>x</mi>")); got != "" {
		t.Errorf("got %q", got)
	}
}
