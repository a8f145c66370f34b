package rtf

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/costtest"
	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/prose"
)

func read(t testing.TB, body string, limits document.Limits) string {
	t.Helper()
	w := prose.New(context.Background(), limits)
	_ = Read(t.Context(), []byte(body), w, w.Block) // ErrFull: what fits is shown
	text, _ := w.Finish()
	return text
}

func TestWhatRTFBecomes(t *testing.T) {
	for body, want := range map[string]string{
		`{\rtf1\ansi one\par two\par}`:                           "one\n\ntwo",
		"{\\rtf1 one\r\n two\\\nthree}":                          "one two\n\nthree",
		`{\rtf1 a {\b bold} and {\i it}\b\i  both\b0\i0  plain}`: "a **bold** and *it* ***both*** plain",
		`{\rtf1{\fonttbl{\f0\fswiss Arial;}}{\colortbl;\red0;}{\stylesheet{\s1 Heading;}}{\info{\title T}}text}`: "text",
		`{\rtf1 \{a\} \\ b\~c\_d\-e}`:                                                  `{a} \\ b c‑de`,
		`{\rtf1\ansi\ansicpg1252 Gr\'f6\'dfe \'80}`:                                    "Größe €",
		`{\rtf1\ansi\ansicpg1251 \'cc\'e5\'eb\'fc}`:                                    "Мель",
		`{\rtf1{\fonttbl{\f0 A;}{\f1\fcharset204 B;}}\f1\'cc\'e5\'eb\'fc\f0  caf\'e9}`: "Мель café",
		`{\rtf1{\fonttbl{\f0\fcharset128 A;}}\f0\'90\'85\'8e\'d4}`:                     "水車",
		`{\rtf1 \uc1\u8364? \u-10179?\u-8704? {\uc2\u1052 xxM}\u1053 N}`:               "€ 😀 МMН",
		`{\rtf1 \ldblquote a\rdblquote\emdash b\bullet}`:                               "“a”—b•",
		`{\rtf1\pard\outlinelevel1 Head\par\pard text\par}`:                            "## Head\n\ntext",
		`{\rtf1\pard\ilvl0\outlinelevel0\b{\listtext\tab}Head\par{\listtext 1.1\tab}\outlinelevel1 Part\par\pard\b0 a{\super\chftn{\*\footnote\chftn\pard note}}}`: "# Head\n\n## 1.1 Part\n\na (note)",
		`{\rtf1\pard{\listtext 1.\tab}\ilvl0 one\par{\listtext\'b7\tab}\ilvl1 deep\par\pard after}`:                                                                "1. one\n   - deep\n\nafter",
		`{\rtf1\trowd\intbl A\cell B\cell\row\trowd\pard\intbl 1\cell 2\par 3\cell\row\pard after}`:                                                                "| A | B |\n| --- | --- |\n| 1 | 2<br>3 |\n\nafter",
		`{\rtf1 a{\v hidden}b{\deleted gone}c\v no\v0 d}`:                                                                                                          "abcd",
		`{\rtf1 see {\field{\*\fldinst HYPERLINK "http://harbour.example"}{\fldrslt the page}}.}`:                                                                  "see the page.",
		`{\rtf1 a{\pict\wmetafile8 0102ff}b{\*\shppict{\pict 00}}{\nonshppict{\pict 00}}c{\*\unknown no}d}`:                                                        "abcd",
		`{\rtf1 a{\shp{\*\shpinst{\sp{\sn x}{\sv y}}{\shptxt in a box\par}}{\shprslt in a box}}b}`:                                                                 "ain a box\n\nb",
		`{\rtf1 a{\super 2}\sub 3\nosupersub{\footnote\pard\plain \chftn  a note\par of two}b}`:                                                                    "a^2_3 ( a note of two)b",
		`{\rtf1{\header top}{\footer bottom}text{\*\bkmkstart x}{\upr{ansi}{\*\ud{unicode}}}}`:                                                                     "textansi",
		`{\rtf1 a\bin4 }{}{b}after`:               "ab",
		`{\rtf1 cut off {\b he`:                   "cut off **he**",
		`{\rtf1 a}}}}} b`:                         "a",
		`{\rtf1 x\'`:                              "x",
		`{\rtf1 x\'zz y\u99999999999999999999 z\`: "x yz",
		``: "",
	} {
		if got := read(t, body, document.Limits{}); got != want {
			t.Errorf("%s\n%q, want\n%q", body, got, want)
		}
	}
}

func TestIs(t *testing.T) {
	for body, want := range map[string]bool{`{\rtf1 x}`: true, `{\rtf`: true, `{\rt`: false, ``: false, `x{\rtf1`: false} {
		if Is([]byte(body)) != want {
			t.Errorf("%q", body)
		}
	}
}

func TestHostileRTF(t *testing.T) {
	many := strings.Repeat
	for name, c := range map[string]struct{ body, has string }{
		"deep":          {`{\rtf1 a` + many("{", 1_000_000) + "b" + many("}", 1_000_000) + "c}", "abc"},
		"deep and open": {`{\rtf1 a` + many(`{\b `, 400_000) + "b", "b"},
		"many fonts":    {`{\rtf1{\fonttbl` + many(`{\f1\fcharset204;}`, 100_000) + "}a}", "a"},
		"many runs":     {`{\rtf1 ` + many(`\b x\b0 y`, 200_000) + "}", "x"},
		"many cells":    {`{\rtf1 ` + many(`\intbl x\cell`, 150_000) + `\row}`, "x"},
		"many rows":     {`{\rtf1 ` + many(`\intbl x\cell\row`, 100_000) + `}`, "x"},
		"much to skip":  {`{\rtf1 \uc99999999\u8364 ` + many("x", Most) + "}", "€"},
		"long":          {`{\rtf1 ` + many("word ", Most/4) + "}", "word"},
		"bin":           {`{\rtf1 a\bin999999999999 b}`, "a"},
	} {
		costtest.Within(t, name, 10*time.Second, func() {
			if got := read(t, c.body, document.Limits{}); !strings.Contains(got, c.has) {
				t.Errorf("%s: %d bytes", name, len(got))
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Read(ctx, []byte(`{\rtf1 x}`), prose.New(t.Context(), document.Limits{}), func(*prose.Block) error { return nil }); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

// FuzzRead: any bytes are read without a fault, and what is written is text.
func FuzzRead(f *testing.F) {
	f.Add(`{\rtf1\ansi{\fonttbl{\f0\fcharset204 A;}}\f0 \'cc{\b x}\par\intbl a\cell\row{\listtext 1.}b}`)
	f.Add(`{\rtf1{\footnote x{\*\shpinst{\shptxt y}}}\u-1?\uc3\u55 abc\bin2 }}`)
	f.Fuzz(func(t *testing.T, body string) {
		if got := read(t, body, document.Limits{Text: 1 << 16, Cells: 1000}); strings.ToValidUTF8(got, "") != got {
			t.Errorf("%q", got)
		}
	})
}
