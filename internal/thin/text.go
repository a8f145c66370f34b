// What a text without a tree says of itself: plain text and Markdown, as a site or a converter gave them.

package thin

import (
	"regexp"
	"strings"
	"sync"
)

// Text is Facts for a page of which only the text is there: plain text, or Markdown with its headings. It knows fewer
// kinds, since most walls show in their markup alone, and a text that is long is none of them.
func Text(text string, p Page) []Fact {
	if p.Status == 402 {
		return Facts(nil, p)
	}
	// What stands behind the bound makes it no shorter.
	if len(text) > mostText {
		return nil
	}
	r := readText(text)
	if p.Title != "" {
		r.title = fold(cut(p.Title, mostHeading))
	}
	for _, rule := range []func(*reading, Page) (Fact, bool){edgeError, challenge, loginWall, soft404, demandOfScripts} {
		if fact, found := rule(r, p); found {
			return []Fact{fact}
		}
	}
	return nil
}

// Data is Facts for a body that programs read, such as JSON: a challenge's maker stands in the addresses of its answer.
func Data(body string, p Page) []Fact {
	if p.Status == 402 {
		return Facts(nil, p)
	}
	if p.Status < 400 || len(body) > mostText {
		return nil
	}
	body = strings.ToLower(body)
	for _, m := range makers {
		if containsAny(body, m.sure) {
			return []Fact{{BotChallenge, "marks of a challenge by " + m.name + " in the answer's data"}}
		}
	}
	return nil
}

// readText takes all of a text for prose, but for what stands in fences and tables: that explains something.
func readText(text string) *reading {
	r := &reading{}
	var headings, all strings.Builder
	fence := ""
	for line := range strings.SplitSeq(linkless(text), "\n") {
		line = strings.TrimSpace(line)
		mark := ""
		for _, m := range []string{"```", "~~~"} {
			if strings.HasPrefix(line, m) {
				mark = m
			}
		}
		switch {
		case fence == "" && mark != "":
			fence = mark
			r.technical++
			continue
		case fence != "":
			if mark == fence {
				fence = ""
			}
			continue
		case strings.HasPrefix(line, "|"):
			r.technical++
		}
		count := countWords(line)
		r.all += count
		if name := strings.TrimLeft(line, "#"); name != line && strings.HasPrefix(name, " ") {
			headings.WriteString(name + "\n")
			all.WriteString(name + "\n")
			r.main += count
			continue
		}
		r.prose += count
		r.outside += count
		r.main += count
		all.WriteString(line + "\n")
	}
	r.text, r.headings = strings.TrimSpace(fold(all.String())), strings.TrimSpace(fold(headings.String()))
	r.firstLine, _, _ = strings.Cut(r.text, "\n")
	return r
}

// edge is how Cloudflare refuses whoever does not ask for HTML: one line of plain text.
var edge = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^error code: 10(?:0[5-9]|10|12|15|20)$`)
})

func edgeError(r *reading, p Page) (Fact, bool) {
	if p.Status >= 400 && edge().MatchString(r.text) {
		return Fact{BotChallenge, "a block page by Cloudflare; nothing but an error code"}, true
	}
	return Fact{}, false
}

// demandOfScripts is a shell of which somebody's converter left nothing but its noscript.
func demandOfScripts(r *reading, p Page) (Fact, bool) {
	if !p.Plain && r.main > 0 && r.main <= askingText && r.technical == 0 && r.headings == "" && scriptDemand().MatchString(r.text) {
		return Fact{JSShell, counted(r.main, "word") + " of text, which asks for scripts"}, true
	}
	return Fact{}, false
}
