// Every check kind, with Markdown that it has to accept and Markdown that it has to refuse.

package structurecheck

import (
	"encoding/json"
	"testing"
)

// verdict is one check with outputs on both sides.
type verdict struct {
	check string
	right []string
	wrong []string
}

func judgeOne(t *testing.T, check string, o Output) []string {
	t.Helper()
	var c Check
	if err := json.Unmarshal([]byte(check), &c); err != nil {
		t.Fatalf("%s: %v", check, err)
	}
	return Case{ID: "x", Checks: []Check{c}}.Judge(o)
}

func (v verdict) test(t *testing.T) {
	for _, md := range v.right {
		if failures := judgeOne(t, v.check, Output{Markdown: md}); len(failures) != 0 {
			t.Errorf("refused %q: %s", md, failures)
		}
	}
	for _, md := range v.wrong {
		if failures := judgeOne(t, v.check, Output{Markdown: md}); len(failures) != 1 {
			t.Errorf("accepted %q by %s", md, v.check)
		}
	}
}

func TestChecksOnText(t *testing.T) {
	for _, v := range []verdict{
		{`{"text_in_order": ["a b", "c", "d"]}`,
			[]string{"a b c d", "a\nb\n\nc\n\n- d", "**a** b [c](/x) `d`", "a\u00a0b c ![d](x.png)", "x a b y c z d"},
			[]string{"", "a b d c", "ab c d", "a b c", "a b c [x](d)", "a b c <d>"}},
		{`{"text_in_order": ["a", "a"]}`, []string{"a a"}, []string{"a"}},
		{`{"text": "x & y * z"}`,
			[]string{"x & y * z", `x \& y \* z`, "x &amp; y &#42; z", "**x** & *y* * z", "x\u200b & y * z", "# x\n\n& y * z"},
			[]string{"x & y z", "x & y * z!", "x &amp;amp; y * z", "<i>a</i>x & y * z"}},
		{`{"text": "a b"}`, []string{`a\` + "\nb", "a<br>b", "a\n\nb", "a <span>b</span>"}, []string{"ab", "a\u00a0\u00a0b c", "a\u00adb"}},
		{`{"absent": ["secret", "](x"]}`, []string{"open", "[a](x)"}, []string{"a secret", "sec**ret**", "\\[a](x)", "![secret](x)", "`secret`"}},
		{`{"once": ["mc"]}`, []string{"E = mc^2"}, []string{"mc mc", "m c", "mc\n\nmc"}},
		{`{"source_has": ["**a"]}`, []string{"**a**"}, []string{"__a__", "a"}},
		{`{"source_lacks": ["  \n"]}`, []string{"a\\\nb"}, []string{"a  \nb"}},
		{`{"max_chars": 3}`, []string{"äöü", ""}, []string{"äöüx"}},
		{`{"min_chars": 3}`, []string{"äöü"}, []string{"äö"}},
		{`{"any_of": [[{"text": "a"}, {"max_chars": 1}], [{"text": "b"}]]}`, []string{"a", "b", "**b**"}, []string{"**a**", "c"}},
	} {
		v.test(t)
	}
}

func TestRoundtripTakesNoMarkup(t *testing.T) {
	for _, v := range []verdict{
		{`{"roundtrip": "# a"}`, []string{`\# a`, "&#35; a"}, []string{"# a", "#\u200b a\n===", `\\# a`}},
		{`{"roundtrip": "- a * b"}`, []string{`\- a * b`, `\- a \* b`}, []string{"- a * b"}},
		{`{"roundtrip": "1. a"}`, []string{`1\. a`}, []string{"1. a", "1) a"}},
		{`{"roundtrip": "a_b_c *d*"}`, []string{`a_b_c \*d\*`}, []string{"a_b_c *d*", "a_b_c **d**"}},
		{`{"roundtrip": "<b>x</b>"}`, []string{`\<b>x\</b>`, "&lt;b&gt;x&lt;/b&gt;"}, []string{"<b>x</b>", "`<b>x</b>`"}},
		{`{"roundtrip": "see http://a.example/x"}`, []string{"see http://a.example/x", "see <http://a.example/x>"},
			[]string{"see [http://a.example/x](http://a.example/x)", "see `http://a.example/x`"}},
		{`{"roundtrip": "[^1] note [^1]: not a note"}`, []string{"\\[^1] note\n\n\\[^1]: not a note"}, []string{"[^1] note\n\n[^1]: not a note"}},
		{`{"roundtrip": "[ref][1] [1]: http://b.example/"}`, []string{"\\[ref][1]\n\n\\[1]: http://b.example/"}, []string{"[ref][1]\n\n[1]: http://b.example/"}},
		{`{"roundtrip": "| x | |---|"}`, []string{"\\| x |\\\n\\|---|"}, []string{"| x |\n|---|"}},
		{`{"roundtrip": "http://a.example/*x*"}`, []string{`http\://a.example/\*x\*`}, []string{"http://a.example/*x*", `http://a.example/\*x\*`, `http://a.example/&#42;x&#42;`}},
		{`{"roundtrip": "a === b"}`, []string{"a\n\n\\===\n\nb", "a\\\n\\===\\\nb"}, []string{"a\n===\nb"}},
		{`{"roundtrip": "~~~ x"}`, []string{"\\~~~\n\nx"}, []string{"~~~\nx"}},
		{`{"roundtrip": "four spaces"}`, []string{"four spaces"}, []string{"    four spaces"}},
	} {
		v.test(t)
	}
}

func TestChecksOnHeadings(t *testing.T) {
	for _, v := range []verdict{
		{`{"heading": [2, "A b"]}`, []string{"## A b", "A b\n---", "# x\n\n## *A* [b](/x)", "> ## A b", "## A b ##"},
			[]string{"# A b", "### A b", "A b", "## A b c", "\\## A b", "##A b"}},
		{`{"heading": ["*", "A"]}`, []string{"# A", "###### A"}, []string{"A", "**A**"}},
		{`{"headings": [[1, "A"], [2, "B"]]}`, []string{"# A\n\ntext\n\n## B"}, []string{"# A", "## B\n\n# A", "# A\n\n## B\n\n## C", "# A\n\n# B"}},
		{`{"headings": []}`, []string{"a"}, []string{"# a", "a\n---"}},
	} {
		v.test(t)
	}
}

func TestChecksOnTables(t *testing.T) {
	for _, v := range []verdict{
		{`{"table": {"header": ["A", "B"], "rows": [["1", "2"], ["3", ""]]}}`,
			[]string{"|A|B|\n|-|-|\n|1|2|\n|3| |", "A | B\n--|--\n1 | **2**\n3 | |", "> |A|B|\n> |-|-|\n> |1|2|\n> |3| |"},
			[]string{"|A|B|\n|-|-|\n|1|2|", "|A|B|\n|-|-|\n|1|2|\n|3|", "|A|B|\n|-|-|\n|1|2|\n|3|4|", "|A|B|\n|-|-|\n|1|2|\n|3||\n|5||", "A B\n1 2\n3", "|B|A|\n|-|-|\n|1|2|\n|3| |",
				"|A|B| |\n|-|-|-|\n|1|2| |\n|3| | |", "| | |\n|-|-|\n|A|B|\n|1|2|\n|3| |", "|A|B|\n|-|\n|1|2|\n|3| |"}},
		{`{"table": {"header": null, "rows": [["1", "2"], ["3", "4"]]}}`,
			[]string{"|1|2|\n|-|-|\n|3|4|", "| | |\n|-|-|\n|1|2|\n|3|4|"},
			[]string{"|x|y|\n|-|-|\n|1|2|\n|3|4|", "|1|2|\n|-|-|\n|1|2|\n|3|4|", "| | |\n|-|-|\n|3|4|", "|3|4|\n|-|-|\n|1|2|"}},
		{`{"table": {"header": ["A", {"covered": "A"}], "rows": []}}`, []string{"|A|A|\n|-|-|", "|A| |\n|-|-|"}, []string{"|A|B|\n|-|-|", "| |A|\n|-|-|", "|A|\n|-|"}},
		{`{"table": {"header": [{"any": ["x y", "xy"]}, {"has_text": ["p", "q"]}], "rows": []}}`,
			[]string{"|x<br>y|q p|\n|-|-|", "|xy|p, q|\n|-|-|"}, []string{"|x|p q|\n|-|-|", "|xy|p|\n|-|-|"}},
		{`{"table": {"header": [{"text": "a || b", "has": [{"inline_code": "a || b"}]}], "rows": []}}`,
			[]string{"|`a \\|\\| b`|\n|-|"}, []string{"|a \\|\\| b|\n|-|", "|`a || b`|\n|-|", "|`a` \\|\\| b|\n|-|\n\n`a || b`"}},
		{`{"count": {"table": 0}}`, []string{"a | b"}, []string{"|a|\n|-|"}},
	} {
		v.test(t)
	}
}

func TestChecksOnLists(t *testing.T) {
	for _, v := range []verdict{
		{`{"list": {"ordered": false, "items": ["a", "b"]}}`, []string{"- a\n- b", "* a\n\n* b", "> - a\n> - b"},
			[]string{"1. a\n2. b", "- a", "- a\n- b\n- c", "- b\n- a", "a\nb", "- a\n* b", "- a\n\n  x\n- b"}},
		{`{"list": {"ordered": true, "start": 7, "items": ["a", "b"]}}`, []string{"7. a\n8. b", "7) a\n8) b"}, []string{"1. a\n2. b", "- a\n- b", "7. a\n\nx\n\n8. b"}},
		{`{"list": {"items": [{"text": "a", "list": {"ordered": false, "items": ["b"]}}, "c"]}}`, []string{"- a\n  - b\n- c"},
			[]string{"- a\n- b\n- c", "- a\n  1. b\n- c", "- a\n  - b\n  - c", "- a b\n- c", "- a\n  - b\n\n  * x\n- c"}},
		{`{"list": {"items": [{"text": "a", "lists": [{"items": ["b"]}, {"items": ["c"]}]}]}}`, []string{"- a\n  - b\n\n  * c"}, []string{"- a\n  - b\n  - c", "- a\n  - b"}},
		{`{"list": {"items": [{"checked": true, "text": "a"}, {"checked": false, "text": "b"}]}}`, []string{"- [x] a\n- [ ] b"},
			[]string{"- [ ] a\n- [ ] b", "- a\n- b", "- \\[x] a\n- \\[ ] b", "- [x] a\n- b"}},
		{`{"list": {"items": [{"paras": ["a", "b"]}, "c"]}}`, []string{"- a\n\n  b\n- c"}, []string{"- a b\n- c", "- a\n\nb\n\n- c", "- a\n\n  b\n\n  x\n- c", "- a\\\n  b\n- c"}},
		{`{"list": {"items": [{"text": "a", "code": {"lang": "sh", "text": "x\ny"}}, {"starts": "b"}]}}`, []string{"1. a\n   ```sh\n   x\n   y\n   ```\n2. b c"},
			[]string{"1. a\n\n```sh\nx\ny\n```\n\n2. b", "1. a\n   ```\n   x\n   y\n   ```\n2. b", "1. a\n   ```sh\n   x y\n   ```\n2. b", "1. a\n   ```sh\n   x\n   y\n   ```\n2. c b"}},
		{`{"list": {"items": [{"text": "a", "has": [{"emphasis": {"kind": "em", "text": "a"}}]}, {}]}}`, []string{"- *a*\n- b"}, []string{"- a\n- *a*"}},
		{`{"deflist": [["t", "d one"], ["u", "e", "f"]]}`,
			[]string{"**t**\n\nd one\n\n**u**\n\ne\n\nf", "t: d one\n\nu: e\\\nf", "- **t** d one\n- u\n  - e\n  - f", "t\\\n: d one\n\nu\\\n: e\\\n: f"},
			[]string{"td one\n\nu\n\ne\n\nf", "u\n\ne\n\nf\n\nt\n\nd one", "t\n\nd one\n\nu\n\ne f", "t\n\nx\n\nd one\n\nu\n\ne\n\nf", "t d one u e f"}},
	} {
		v.test(t)
	}
}

func TestChecksOnCodeAndQuotes(t *testing.T) {
	for _, v := range []verdict{
		{`{"code": {"lang": ["sh", "bash"], "text": " a\n\nb"}}`, []string{"```sh\n a\n\nb\n```", "~~~bash x\n\n a\n\nb\n\n~~~", "> ```sh\n>  a\n>\n> b\n> ```"},
			[]string{"```\n a\n\nb\n```", "```sh\na\n\nb\n```", "```sh\n a\nb\n```", "     a\n\n    b", "`a b`", "```sh\n a\n\nb\n\nc"}},
		{`{"code": {"text": "a"}}`, []string{"    a", "```go\na\n```"}, []string{"`a`", "a", "```\na \n```"}},
		{`{"inline_code": "a` + "`" + `b"}`, []string{"``a`b``", "`` a`b ``"}, []string{"`a`b`", "a\\`b", "```\na`b\n```"}},
		{`{"quote": {"depth": 1, "text": "a c"}}`, []string{"> a\n>\n> > b\n>\n> c"}, []string{"> a\n>\n> b\n>\n> c", "a c", "> > a c", "> a\n\n> c"}},
		{`{"quote": {"depth": 2, "text": "b"}}`, []string{"> a\n>\n> > b", "> > b"}, []string{"> b", "> a\n>\n> b"}},
		{`{"quote": {"has": [{"code": {"text": "x"}}]}}`, []string{"> ```\n> x\n> ```"}, []string{"> a\n\n```\nx\n```", "```\nx\n```"}},
		{`{"lines": ["a", "b"]}`, []string{"a\\\nb", "a  \nb", "a\n\nb", "- a\n- b", "x\n\na<br>b"}, []string{"a\nb", "a b", "b\\\na", "a\\\nx\\\nb", "a\\\nbc"}},
		{`{"paras": ["a", "b"]}`, []string{"a\n\nb", "# a\n\nb", "- a\n- b", "a\n\n---\n\nb"}, []string{"a\\\nb", "a\n\nx\n\nb", "a b", "b\n\na"}},
		{`{"hr": 1}`, []string{"a\n\n---\n\nb", "***"}, []string{"a\n---\nb", "a", "---\n\n---"}},
		{`{"count": {"image": [1, 2], "code": 0}}`, []string{"![](a)", "![](a) ![](b)"}, []string{"a", "![](a) ![](b) ![](c)", "![](a)\n\n    x"}},
	} {
		v.test(t)
	}
}
