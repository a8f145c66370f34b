package main

import (
	"fmt"
	"strings"
)

type result struct {
	tool   string
	apart  bool // shown for the articles alone
	scores map[string]score
}

const articles = "The 60 articles"

// kinds are the seven of the benchmark, in the order of the report.
var kinds = []string{"article", "documentation", "forum", "product", "listing", "collection", "service"}

func report(pages []*page, results []result) string {
	var b strings.Builder
	counts, empty := map[string]int{}, 0
	for _, p := range pages {
		if p.Text == "" {
			empty++
			continue
		}
		counts[p.group()]++
	}
	b.WriteString(`# Figures of reading

Written by ` + "`make figures CORPUS=DIR`" + `; do not edit. Word F1 compares the words of the output with those of the true text as
bags (addresses of links are no words; in scripts without blanks each character is a word); shingles are runs of four words; tokens are o200k's, of the Markdown
as a model gets it. Pages: 60 articles of scrapinghub/article-extraction-benchmark (MIT) and a 131-page sample of WCXB: Web Content
Extraction Benchmark, Murrough Foley, CC-BY-4.0 (dev split, seven kinds). `)
	fmt.Fprintf(&b, "%d pages have no true text and count in no mean.\n", empty)
	table := func(title string, cell func(r result, group string) string, groups []string, last string, total func(r result) string) {
		fmt.Fprintf(&b, "\n## %s\n\n|", title)
		for _, g := range groups {
			fmt.Fprintf(&b, " | %s", g)
		}
		if last != "" {
			b.WriteString(" | " + last)
		}
		b.WriteString(" |\n|" + strings.Repeat("---|", len(groups)+1))
		if last != "" {
			b.WriteString("---|")
		}
		for _, r := range results {
			if r.apart && title != articles {
				continue
			}
			b.WriteString("\n| " + r.tool)
			for _, g := range groups {
				b.WriteString(" | " + cell(r, g))
			}
			if last != "" {
				b.WriteString(" | " + total(r))
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	of := func(r result, group string, keep func(*page) bool, value func(score) float64) (mean float64, n int) {
		for _, p := range pages {
			if p.group() == group && p.Text != "" && (keep == nil || keep(p)) {
				mean += value(r.scores[p.id])
				n++
			}
		}
		if n > 0 {
			mean /= float64(n)
		}
		return mean, n
	}
	word := func(s score) float64 { return s.f1 }
	for _, part := range []struct {
		title string
		keep  func(*page) bool
	}{
		{"Word F1 by kind of page", nil},
		{"Word F1, pages of hosts that were never learned from", (*page).held},
		{"Word F1, pages of hosts that were learned from", func(p *page) bool { return !p.held() }},
	} {
		var groups []string
		for _, k := range kinds {
			_, n := of(results[0], k, part.keep, word)
			groups = append(groups, fmt.Sprintf("%s (%d)", k, n))
		}
		table(part.title, func(r result, g string) string {
			m, _ := of(r, strings.Fields(g)[0], part.keep, word)
			return fmt.Sprintf("%.3f", m)
		}, groups, "mean of kinds", func(r result) string {
			sum := 0.0
			for _, k := range kinds {
				m, _ := of(r, k, part.keep, word)
				sum += m
			}
			return fmt.Sprintf("%.3f", sum/float64(len(kinds)))
		})
	}
	table(articles, func(r result, g string) string {
		switch g {
		case "word F1":
			m, _ := of(r, "articles (60)", nil, word)
			return fmt.Sprintf("%.3f", m)
		}
		m, _ := of(r, "articles (60)", nil, func(s score) float64 { return s.shingles })
		return fmt.Sprintf("%.3f", m)
	}, []string{"word F1", "shingle F1"}, "", nil)
	table("Snippets and tokens", func(r result, g string) string {
		var with, without, hasWith, hasWithout, got, want int
		ratio, n := 0.0, 0
		for _, p := range pages {
			s := r.scores[p.id]
			with, without = with+s.with, without+s.without
			hasWith, hasWithout = hasWith+len(p.With), hasWithout+len(p.Without)
			if p.Text != "" {
				got, want = got+s.tokens, want+p.tokens
				ratio += float64(s.tokens) / float64(p.tokens)
				n++
			}
		}
		switch g {
		case "snippets kept":
			return fmt.Sprintf("%.1f %%", 100*float64(with)/float64(hasWith))
		case "snippets left out":
			return fmt.Sprintf("%.1f %%", 100-100*float64(without)/float64(hasWithout))
		case "tokens ÷ true tokens":
			return fmt.Sprintf("%.2f", float64(got)/float64(want))
		}
		return fmt.Sprintf("%.2f", ratio/float64(n))
	}, []string{"snippets kept", "snippets left out", "tokens ÷ true tokens", "the same, mean of pages"}, "", nil)
	return b.String()
}
