package markdown

import (
	"strings"
	"testing"
)

// TestANoteDoesNotRepeatItsLabel, whatever elements its page has the label in.
func TestANoteDoesNotRepeatItsLabel(t *testing.T) {
	for own, want := range map[string]string{
		`<sup>[<a href="#from">1</a>]</sup> Words`:           "Words",
		`[<a href="#elsewhere">1</a>] Words`:                 "Words",
		`( <a href="#elsewhere">1</a> ) Words`:               "Words",
		`<a href="#elsewhere">[1]</a> Words`:                 "Words",
		`<a href="#elsewhere">1</a>. Words`:                  "Words",
		`<b>1</b>) Words`:                                    "Words",
		`<b>1.</b> Words`:                                    "Words",
		`[<b>1</b>] Words`:                                   "Words",
		`1. Words`:                                           "Words",
		`[<a href="https://x.example/">1</a>] Words`:         `\[[1](https://x.example/)] Words`,
		`[<b>2</b>] Words`:                                   `\[**2**] Words`,
		`[<b>1</b> Words]`:                                   `\[**1** Words]`,
		`<b>1</b>.5 metres`:                                  "1.5 metres",
		`[<a href="#elsewhere">1</a>] Words [<i>1</i>] more`: `Words [*1*] more`,
	} {
		got := convert(t, `<p>As shown<sup><a href="#note" id="from">1</a></sup> here.<hr><div class="footnotes"><div class="footnote" id="note"><p>`+own+`</p></div></div>`)
		_, note, _ := strings.Cut(got, "[^1]: ")
		if strings.TrimSpace(note) != want {
			t.Errorf("%s: %q, want %q", own, note, want)
		}
	}
}
