package scribe

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func paragraph(t *testing.T, pieces ...string) string {
	t.Helper()
	w := New(t.Context(), 0)
	for _, p := range pieces {
		w.Text(p)
	}
	return w.String()
}

func TestProseHasNoBackslashes(t *testing.T) {
	for _, s := range []string{
		"AT&T, Q&A and R&D; a < b, c > d, 1 <2", "snake_case_name and 2 * 3 * 4", "Price $5 and $10, 50% off, a^b, a=b, x:y ! ? {z}",
		"[1] see [x], (y) and [z] [w]", "C# and F# #hash #1", "-5 degrees, +49 30, --flag", "3.14 is 1.5, version 1.2.3", "~5 km", "a|b",
		"https://docs.example/a_b?c=d&e=f#g", "it's “quoted” — really…", "5*", "mail a_b@docs.example", `C:\dir`, "=x", "12345678901. no item",
	} {
		got := paragraph(t, s)
		if want := strings.ReplaceAll(s, "5*", `5\*`); got != want {
			t.Errorf("%q is written %q", s, got)
		}
	}
}

func TestWhatCouldBeMarkupIsEscaped(t *testing.T) {
	for in, want := range map[string]string{
		"# a":                     `\# a`,
		"####### a":               "####### a",
		"- a":                     `\- a`,
		"---":                     `\---`,
		"+ a":                     `\+ a`,
		"* a":                     `\* a`,
		"> a":                     `\> a`,
		"1. a":                    `1\. a`,
		"2) a":                    `2\) a`,
		"[ ] a":                   `\[ ] a`,
		"[x] a":                   `\[x] a`,
		"*a*":                     `\*a\*`,
		"_a_":                     `\_a\_`,
		"__init__":                `\_\_init\_\_`,
		"~~a~~":                   `\~\~a\~\~`,
		"a~b~c":                   `a\~b\~c`,
		"`a`":                     "\\`a\\`",
		"[a](b)":                  `[a]\(b)`,
		"![a](b)":                 `![a]\(b)`,
		"[a]: b":                  `[a]\: b`,
		"[^1]":                    `[\^1]`,
		"<b>":                     `\<b>`,
		"</b>":                    `\</b>`,
		"<!-- x":                  `\<!-- x`,
		"&amp;":                   `\&amp;`,
		"&#65;":                   `\&#65;`,
		`\*`:                      `\\\*`,
		`a\`:                      `a\\`,
		"https://a.example/*b*":   "<https://a.example/*b*>",
		"https://a.example/~b":    "<https://a.example/~b>",
		"(https://a.example/*)":   "(<https://a.example/*>)",
		"https://a.example/*&lt;": `https\://a.example/\*\&lt;`,
		"www.a.example/*b*":       `www\.a.example/\*b\*`,
	} {
		if got := paragraph(t, in); got != want {
			t.Errorf("%q is written %q, want %q", in, got, want)
		}
	}
}

func TestWhatCannotBeSeenIsLeftOut(t *testing.T) {
	got := paragraph(t, "super\u00adlong\u200bword\ufeff a\u00a0\u2009b\u3000 c\x00\x1b[31m\u0085d", " \n\t e")
	if want := "superlongword a b c[31md e"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := string(AppendVisible(nil, "a\u00a0b\n\tc\u200b\r\x00d")); got != "a b\n\tcd" {
		t.Errorf("code is %q", got)
	}
}

func TestMarksStandWhereParsersReadThem(t *testing.T) {
	mark := func(kind Mark, before, text, after string) string {
		w := New(t.Context(), 0)
		w.Text(before)
		w.EnterMark(kind)
		w.Text(text)
		w.Leave()
		w.Text(after)
		return w.String()
	}
	for _, c := range []struct {
		kind                      Mark
		before, text, after, want string
	}{
		{Strong, "a ", "b", " c", "a **b** c"},
		{Em, "un", "believ", "able", "un*believ*able"},
		{Strong, "left", " spaced ", "right", "left **spaced** right"},
		{Strong, "", "bold:", "text", "**bold**:text"},
		{Strong, "", `"quoted"`, "word", `"**quoted**"word`},
		{Strong, "日本語", "強調「あ」", "文字", "日本語**強調「あ**」文字"},
		{Em, "a", "...", "b", "a<em>...</em>b"},
		{Strong, "x", "(y)", "z", "x<strong>(y)</strong>z"},
		{Del, "", "old", "", "~~old~~"},
		{Del, "", "~x", "", `~~\~x~~`},
		{Del, "", "x~", "", `<del>x\~</del>`},
		{Em, "a", "", "b", "ab"},
		{Em, "a", " ", "b", "a b"},
	} {
		if got := mark(c.kind, c.before, c.text, c.after); got != c.want {
			t.Errorf("%q, %q, %q: %q, want %q", c.before, c.text, c.after, got, c.want)
		}
	}
}

func TestMarksSideBySideGoOn(t *testing.T) {
	w := New(t.Context(), 0)
	for _, s := range []string{"one", "two", " three"} {
		w.EnterMark(Strong)
		w.Text(s)
		w.Leave()
	}
	if got := w.String(); got != "**onetwo three**" {
		t.Errorf("got %q", got)
	}
}

func TestOpenElementsGoOnInTheNextBlock(t *testing.T) {
	w := New(t.Context(), 0)
	w.EnterMark(Strong)
	w.Text("one")
	w.Break(2)
	w.Text("two")
	w.Leave()
	w.Break(2)
	w.EnterLink(Link{URL: "https://a.example/", Words: true})
	w.Text("three")
	w.Break(2)
	w.Text("four")
	w.Leave()
	if got := w.String(); got != "**one**\n\n**two**\n\n[three](https://a.example/)\n\nfour" {
		t.Errorf("got %q", got)
	}
}

func TestPrefixesAndGaps(t *testing.T) {
	w := New(t.Context(), 0)
	w.Text("a")
	w.Break(2)
	w.Push("> ", "> ")
	w.Text("b")
	w.Break(2)
	w.Push("  ", "- ")
	w.Text("c")
	w.LineBreak()
	w.Text("d")
	w.Break(1)
	w.Pop(2)
	w.Push("  ", "- ")
	w.Break(1)
	w.Pop(2) // an item without content
	w.Code("x\n\ny", "go")
	w.Pop(0)
	w.Break(2)
	w.Text("e")
	want := "a\n\n> b\n>\n> - c\\\n>   d\n>\n> ```go\n> x\n>\n> y\n> ```\n\ne"
	if got := w.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPrefixesAreCapped(t *testing.T) {
	w := New(t.Context(), 0)
	pushed := 0
	for range 1000 {
		if w.Push("> ", "> ") {
			pushed++
		}
	}
	w.Text("x")
	if got := w.String(); pushed != maxPrefix/2 || len(got) != maxPrefix+1 {
		t.Errorf("%d pushes, %q", pushed, got)
	}
}

func TestSpansSideBySideDoNotMelt(t *testing.T) {
	w := New(t.Context(), 0)
	w.Span("a")
	w.Span("`b`")
	w.Text(" c")
	w.Span(strings.Repeat("x", 300))
	w.Span("y")
	if got, want := w.String(), "`` a`b` `` c`"+strings.Repeat("x", 300)+"` `y`"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestDestinationsCannotEndTheirLink(t *testing.T) {
	for in, want := range map[string]string{
		"https://a.example/x_(y)":       "https://a.example/x_(y)",
		"https://a.example/)x":          `https://a.example/\)x`,
		"https://a.example/a b<c>|d`\\": "https://a.example/a%20b%3Cc%3E%7Cd%60%5C",
		"https://a.example/?a&copy;&b":  `https://a.example/?a\&copy;&b`,
		"https://a.example/" + strings.Repeat("(", 40) + strings.Repeat(")", 40): "https://a.example/" + strings.Repeat(`\(`, 40) + strings.Repeat(`\)`, 40),
	} {
		if got := string(appendAddress(nil, in, true)); got != want {
			t.Errorf("%q is written %q, want %q", in, got, want)
		}
	}
}

func TestBackToTakesBackNoMoreThanItMay(t *testing.T) {
	w := New(t.Context(), 0)
	w.Text("a ")
	p := w.Start()
	w.Text("b")
	if !w.BackTo(p) {
		t.Error("text cannot be taken back")
	}
	p = w.Here()
	w.EnterMark(Em)
	w.Text("c")
	w.Leave()
	if w.BackTo(p) && w.String() != "a" {
		t.Errorf("got %q", w.String())
	}
	w = New(t.Context(), 0)
	w.Text("a")
	w.EnterMark(Em)
	w.Text("b")
	p = w.Here()
	w.Text("c")
	w.Leave()
	if w.BackTo(p) {
		t.Error("a mark was left behind")
	}
}

func TestALongTextObeysItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := New(ctx, 0)
	cancel()
	w.Text(strings.Repeat("*", 10) + strings.Repeat("a*", 100_000))
	if !errors.Is(w.Err(), context.Canceled) || w.Len() > 10_000 {
		t.Errorf("%d bytes written, %v", w.Len(), w.Err())
	}
}
