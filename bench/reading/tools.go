package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/wayleave/wayleave/bench/peers"
	"github.com/wayleave/wayleave/webfetch"
)

// tool turns a page into Markdown. A page that it refuses has no text.
type tool struct {
	name  string
	peer  bool
	read  func(p *page) string
	apart bool // shown beside the peers for the articles alone
}

func tools() []tool {
	return []tool{
		{name: "ours, main", read: func(p *page) string { return ours(p, webfetch.Options{Content: webfetch.PartMain}) }},
		{name: "ours, main, all addresses", read: func(p *page) string {
			return ours(p, webfetch.Options{Content: webfetch.PartMain, Links: webfetch.LinksInline})
		}},
		{name: "ours, main, addresses at the end", read: func(p *page) string {
			return ours(p, webfetch.Options{Content: webfetch.PartMain, Links: webfetch.LinksReferences})
		}},
		{name: "ours, main, no addresses", read: func(p *page) string {
			return ours(p, webfetch.Options{Content: webfetch.PartMain, Links: webfetch.LinksNone})
		}},
		{name: "ours, whole page", read: func(p *page) string { return ours(p, webfetch.Options{}) }},
		{name: "ours, main, without its headline", apart: true, read: func(p *page) string {
			return withoutHeadline(ours(p, webfetch.Options{Content: webfetch.PartMain}))
		}},
		{name: "go-trafilatura + fallback", peer: true, read: orNothing(peers.Trafilatura)},
		{name: "go-readability", peer: true, read: orNothing(peers.Readability)},
	}
}

// withoutHeadline is Markdown without its first heading of the first level: the articles' true texts begin below it, and
// the peers give it apart.
func withoutHeadline(markdown string) string {
	before, after, ok := strings.Cut("\n"+markdown, "\n# ")
	if !ok {
		return markdown
	}
	_, rest, _ := strings.Cut(after, "\n")
	return before + "\n" + rest
}

func (t tool) texts(pages []*page, keep string) (map[string]string, error) {
	file := filepath.Join(keep, strings.ReplaceAll(t.name, " ", "-")+".json")
	texts := map[string]string{}
	if t.peer {
		if raw, err := os.ReadFile(file); err == nil && json.Unmarshal(raw, &texts) == nil && len(texts) == len(pages) {
			return texts, nil
		}
	}
	for _, p := range pages {
		texts[p.id] = t.read(p)
	}
	if !t.peer {
		return texts, nil
	}
	raw, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(keep, 0o755); err != nil {
		return nil, err
	}
	return texts, os.WriteFile(file, raw, 0o644)
}

func ours(p *page, o webfetch.Options) string {
	got, err := webfetch.Convert(context.Background(), []byte(p.html), []string{"text/html; charset=utf-8"}, p.URL, o)
	if err != nil {
		return ""
	}
	return got.Content
}

// orNothing is the text of a peer; a page that it refuses has none.
func orNothing(read func(page, address string) (string, error)) func(p *page) string {
	return func(p *page) string {
		text, err := read(p.html, p.URL)
		if err != nil {
			return ""
		}
		return text
	}
}
