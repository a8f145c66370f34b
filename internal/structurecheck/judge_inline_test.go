// The inline checks, on both sides.

package structurecheck

import "testing"

func TestChecksOnLinksAndImages(t *testing.T) {
	for _, v := range []verdict{
		{`{"link": {"text": "A b", "href": "https://x.example/a%20b(1)"}}`,
			[]string{"[A b](https://x.example/a%20b(1))", "[**A** b](<https://x.example/a b(1)>)", "[A b](https://X.example:443/./a%20b\\(1\\))", "[A b][r]\n\n[r]: https://x.example/a%20b(1)"},
			[]string{"[A b](/a%20b(1))", "[A](https://x.example/a%20b(1))", "[A b](https://x.example/a%20b)", "[A b](http://x.example/a%20b(1))", "\\[A b](https://x.example/a%20b(1))", "`[A b](https://x.example/a%20b(1))`"}},
		{`{"link": {"href": ["#p", "https://x.example/#p"]}}`, []string{"[a](#p)", "[a](https://x.example/#p)"}, []string{"[a](https://x.example/)", "#p"}},
		{`{"link": {"text": "Thumb", "href": "https://x.example/"}}`, []string{"[![Thumb](t.png)](https://x.example/)"}, []string{"![Thumb](https://x.example/)", "[![](t.png)](https://x.example/)"}},
		{`{"link": {"href": "https://x.example/a"}}`, []string{"see https://x.example/a", "<https://x.example/a>"}, []string{"see `https://x.example/a`"}},
		{`{"link": {"href": "mailto:a@b.example"}}`, []string{"<a@b.example>", "[x](mailto:a@b.example)"}, []string{"a at b.example"}},
		{`{"no_link": {"href_has": "script:"}}`, []string{"a", "[a](https://x.example/)"}, []string{"[a](javascript:x)", "[a](<java\tscript:x>)"}},
		{`{"no_link": {"text": "a", "href_has": "x"}}`, []string{"[b](x)", "[a](y)"}, []string{"[a](x)"}},
		{`{"image": {"alt": "A [b]", "src": "https://x.example/i.png"}}`, []string{`![A \[b\]](https://x.example/i.png)`, `[![A [b]](https://x.example/i.png "t")](/y)`},
			[]string{`![A b](https://x.example/i.png)`, `[A \[b\]](https://x.example/i.png)`, `![A \[b\]](/i.png)`}},
		{`{"no_image": {"src_has": "t.gif"}}`, []string{"![](a.png)", "[x](t.gif)"}, []string{"![](https://x.example/t.gif?1)"}},
		{`{"count": {"link": 0}}`, []string{"a", "\\[a](b)"}, []string{"[a](b)", "https://x.example/", "[a](#b)"}},
	} {
		v.test(t)
	}
}

func TestChecksOnEmphasis(t *testing.T) {
	for _, v := range []verdict{
		{`{"emphasis": {"kind": "strong", "text": "a b"}}`, []string{"**a b**", "__a *b*__", "<b>a b</b>", "**a**<b> b</b>", "**a\nb**", "***a b***"},
			[]string{"**a** b", "*a b*", "**a b c**", "** a b **", "\\*\\*a b\\*\\*", "**a** **b**", "**a**\n\n**b**"}},
		{`{"emphasis": {"kind": "em", "text": ["a", "a."]}}`, []string{"*a*", "_a._", "<i>a</i>.", "<em>a.</em>"}, []string{"**a**", "a\\*", "_a_b"}},
		{`{"emphasis": {"kind": "del", "text": "a"}}`, []string{"~~a~~", "<del>a</del>", "<s>a</s>"}, []string{"\\~~a~~", "a", "~~ab~~"}},
		{`{"no_emphasis": {"kind": "em", "text": "a"}}`, []string{"a", "**a**", "*ab*"}, []string{"*a*"}},
		{`{"no_emphasis": {"kind": "strong"}}`, []string{"*a*"}, []string{"**a**", "<b>x</b>"}},
	} {
		v.test(t)
	}
}

func TestChecksOnRaisedTextAndFootnotes(t *testing.T) {
	for _, v := range []verdict{
		{`{"sup": {"base": "10", "text": "6"}}`, []string{"10<sup>6</sup> x", "10^6 x", "10^6^ x", "10^{6} x", "10⁶ x", "10$^6$ x", "10$^{6}$"},
			[]string{"106 x", "10 6 x", "10^67", "10⁶⁷", "210^6", "10<sub>6</sub>", "10"}},
		{`{"sup": {"base": "e", "text": "th"}}`, []string{"e<sup>th</sup>", "e^th"}, []string{"eth", "e<sup>the</sup>"}},
		{`{"footnote": {"after": "hard", "label": 1, "text": "Janka 1360."}}`,
			[]string{"Oak is hard[^1].\n\n[^1]: Janka 1360.", "[^1]: Janka 1360.\n\nOak is **hard**[^1]"},
			[]string{"Oak is hard[^2].\n\n[^2]: Janka 1360.", "Oak[^1] is hard.\n\n[^1]: Janka 1360.", "Oak is hard[^1].", "Oak is hard.\n\n[^1]: Janka 1360.", "Oak is hard[^1].\n\n[^1]: Janka.", "Oak is hard[1].\n\n1. Janka 1360."}},
		{`{"footnote": {"after": "hard", "label": "1", "text": "Janka 1360.", "loose": true}}`,
			[]string{"Oak is hard[^1].\n\n[^1]: Janka 1360.", "hard[1](#n).\n\n1. Janka 1360.", "hard\\[1].\n\n\\[1] Janka 1360.", "hard<sup>1</sup>.\n\n<sup>1</sup> Janka 1360.",
				"hard¹.\n\n¹ Janka 1360. ↩", "hard^1^.\n\n1 Janka 1360.", "hard [\\[1\\]](#n).\n\n1. Janka 1360. [↩](#r)", "hard<sup>[1](#n)</sup>\n\n- Janka 1360."},
			[]string{"hard1.\n\n1. Janka 1360.", "hard 1.\n\n1. Janka 1360.", "hard[1](#n).", "[1](#n) hard.\n\n1. Janka 1360.", "hard\\[1].\n\nJanka 1360. More.", "hard\\[2].\n\n2. Janka 1360.", "hard¹².\n\nJanka 1360."}},
	} {
		v.test(t)
	}
}

func TestChecksOnMath(t *testing.T) {
	for _, v := range []verdict{
		{`{"math": "a_b + c_d"}`, []string{"x $a_b + c_d$ y", "$$a_b+c_d$$", "$$\na_b + c_d\n$$", "**$a_b + c_d$**"},
			[]string{"a_b + c_d", "`$a_b + c_d$`", "\\$a_b + c_d\\$", "$a_b - c_d$", "$x a_b + c_d$", "$a_b + c_d$$"}},
		{`{"math": ["\\sqrt{x}", "\\sqrt x"]}`, []string{`$\sqrt x$`, `$\sqrt{x}$`}, []string{`$sqrt{x}$`}},
		{`{"math": "x^2", "display": true}`, []string{"$$\nx^2\n$$", "a\n\n$$\nx^2\n$$\n\nb", "> $$\n> x^2\n> $$", "- $$\n  x^2\n  $$"}, []string{"$x^2$", "$$x^2$$", "```math\nx^2\n```"}},
		{`{"text": "costs $5 and $6"}`, []string{"costs $5 and $6", `costs \$5 and \$6`}, []string{"costs 5 and 6"}},
	} {
		v.test(t)
	}
}

func TestChecksOnTitleAndThin(t *testing.T) {
	for _, c := range []struct {
		check string
		o     Output
		ok    bool
	}{
		{`{"title": "A & b"}`, Output{Title: " A &\n b "}, true},
		{`{"title": "A & b"}`, Output{Title: "A"}, false},
		{`{"title": ""}`, Output{}, true},
		{`{"title": ""}`, Output{Title: "x"}, false},
		{`{"thin": null}`, Output{}, true},
		{`{"thin": null}`, Output{Thin: []string{}}, true},
		{`{"thin": null}`, Output{Thin: []string{"paywall"}}, false},
		{`{"thin": "javascript_shell"}`, Output{Thin: []string{"js_shell"}}, true},
		{`{"thin": "javascript_shell"}`, Output{Thin: []string{"javascript_shell"}}, false},
		{`{"thin": "paywall"}`, Output{Thin: []string{"paywall"}}, true},
		{`{"thin": "paywall"}`, Output{Thin: []string{"paywall", "login_wall"}}, false},
		{`{"thin": "paywall"}`, Output{}, false},
	} {
		if failures := judgeOne(t, c.check, c.o); (len(failures) == 0) != c.ok {
			t.Errorf("%s of %+v: %q", c.check, c.o, failures)
		}
	}
}
