package main

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/tiktoken-go/tokenizer"
)

// score is how one tool read one page.
type score struct {
	precision, recall, f1 float64 // of words
	shingles              float64 // F1 of runs of four words
	with, without         int     // snippets that are there; of those that must be, of those that must not
	tokens                int
}

type scorer struct{ codec tokenizer.Codec }

func newScorer() (*scorer, error) {
	c, err := tokenizer.Get(tokenizer.O200kBase)
	return &scorer{c}, err
}

func (s *scorer) tokens(text string) (int, error) {
	ids, _, err := s.codec.Encode(text)
	return len(ids), err
}

func (s *scorer) score(p *page, markdown string) (score, error) {
	text := visible(markdown)
	got, want := words(text), words(p.Text)
	var c score
	c.precision, c.recall, c.f1 = f1(got, want)
	_, _, c.shingles = f1(runs(got), runs(want))
	flat := flatten(text)
	for _, snippet := range p.With {
		if strings.Contains(flat, flatten(snippet)) {
			c.with++
		}
	}
	for _, snippet := range p.Without {
		if strings.Contains(flat, flatten(snippet)) {
			c.without++
		}
	}
	var err error
	c.tokens, err = s.tokens(markdown)
	return c, err
}

var (
	address    = regexp.MustCompile(`\]\((<[^>]*>|[^()\s]*(\([^()]*\)[^()\s]*)*)(\s+"[^"]*")?\)`)
	definition = regexp.MustCompile(`(?m)^\[\d+\]: \S+$`)
	number     = regexp.MustCompile(`\]\[\d+\]`)
	bare       = regexp.MustCompile(`<(https?://|mailto:)[^>\s]*>`)
	escape     = regexp.MustCompile(`\\([[:punct:]])`)
	entity     = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&nbsp;", " ")
)

// visible is the text of Markdown: without the addresses of links and pictures, and without escapes.
func visible(markdown string) string {
	s := definition.ReplaceAllString(markdown, "")
	s = number.ReplaceAllString(s, "] ")
	s = address.ReplaceAllString(s, "] ")
	s = bare.ReplaceAllString(s, " ")
	return entity.Replace(escape.ReplaceAllString(s, "$1"))
}

// words are runs of letters, digits and underscores in lower case; in scripts that write no blanks between words each
// character is one.
func words(s string) []string {
	var out []string
	start := -1
	s = strings.ToLower(s)
	for i, r := range s {
		alone := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
		part := !alone && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
		if !part && start >= 0 {
			out, start = append(out, s[start:i]), -1
		}
		switch {
		case alone:
			out = append(out, string(r))
		case part && start < 0:
			start = i
		}
	}
	if start >= 0 {
		out = append(out, s[start:])
	}
	return out
}

func runs(w []string) []string {
	const n = 4
	if len(w) < n {
		return []string{strings.Join(w, " ")}
	}
	var out []string
	for i := 0; i+n <= len(w); i++ {
		out = append(out, strings.Join(w[i:i+n], " "))
	}
	return out
}

// f1 compares two bags.
func f1(got, want []string) (precision, recall, f float64) {
	left := map[string]int{}
	for _, w := range want {
		left[w]++
	}
	hits := 0.0
	for _, w := range got {
		if left[w] > 0 {
			left[w]--
			hits++
		}
	}
	if hits == 0 {
		if len(got) == 0 && len(want) == 0 {
			return 1, 1, 1
		}
		return 0, 0, 0
	}
	precision, recall = hits/float64(len(got)), hits/float64(len(want))
	return precision, recall, 2 * precision * recall / (precision + recall)
}

// flatten is the letters and digits of s, so that neither markup nor white space hides a snippet.
func flatten(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
