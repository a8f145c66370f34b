package mdtext

import (
	"strings"
	"testing"
)

func TestTidiedMarkdownMeansTheSame(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"nothing to do", "# T\n\ntext\n", "# T\n\ntext\n"},
		{"empty", "", ""},
		{"blank lines", "a\n \n\t\n\nb\n\n\n", "a\n\nb\n"},
		{"blank lines at the start", "\n\n\na", "\na"},
		{"carriage returns", "a \r\n\r\n\r\nb\r\n", "a\n\nb\n"},

		{"hard break", "one  \ntwo", "one\\\ntwo"},
		{"hard break of many blanks", "one     \r\ntwo", "one\\\ntwo"},
		{"one blank is none", "one \ntwo", "one\ntwo"},
		{"none at the end of a paragraph", "one  \n\ntwo", "one\n\ntwo"},
		{"none at the end", "one  ", "one"},
		{"none in a heading", "# one  \ntwo", "# one\ntwo"},
		{"none before a heading", "one  \n# two", "one\n# two"},
		{"none before a list", "one  \n- two\n", "one\n- two\n"},
		{"none before a numbered list", "one  \n1. two", "one\n1. two"},
		{"none before a fence", "one  \n~~~\nx\n~~~", "one\n~~~\nx\n~~~"},
		{"none before an underline", "one  \n===", "one\n==="},
		{"in a list item", "- one  \n  two", "- one\\\n  two"},
		{"in a numbered item", "1. one  \n   two", "1. one\\\n   two"},

		{"table", "| a    | b |\n|:------|----:|\n| `x  y`   |  |", "| a | b |\n|:---|---:|\n| `x  y` | |"},
		{"tabs", "|\ta \t b | `x\ty` |", "| a b | `x\ty` |"},
		{"short dashes", "| a |\n| - |", "| a |\n| - |"},
		{"dashes in a cell", "| ------ x |", "| ------ x |"},

		{"code keeps its blanks", "```\na  \n\n\n\nb\n```\nc  ", "```\na  \n\n\n\nb\n```\nc"},
		{"code in a list", "1. x\n\n    ```go\n    a  \n\n\n    b\n    ```\n\n\ny", "1. x\n\n    ```go\n    a  \n\n\n    b\n    ```\n\ny"},
		{"code in a quote", "> ```\n> a  \n> ```\nb  \n\nc", "> ```\n> a  \n> ```\nb\n\nc"},
		{"code without end", "```\na  ", "```\na  "},
	} {
		if got := Tidy(c.src); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// FuzzTidy: tidying twice is tidying once, and no word is lost.
func FuzzTidy(f *testing.F) {
	for _, seed := range []string{"a  \nb", "| a  | b |\n| ---- | - |", "```\nx  \n```", "\n\n\n", "> ~~~\n> x", "1. a  \n   b"} {
		f.Add(seed)
	}
	words := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \t\r\n\\-", r) {
				return -1
			}
			return r
		}, s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		once := Tidy(src)
		if twice := Tidy(once); twice != once {
			t.Fatalf("%q became %q, then %q", src, once, twice)
		}
		if words(once) != words(src) {
			t.Fatalf("%q became %q", src, once)
		}
	})
}
