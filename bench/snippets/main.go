// Command snippets judges main content by the pages that go-trafilatura is developed on, with their snippets of text that is to be
// in and of text that is to be out, for ours and the peers:
//
//	cd bench && go run ./snippets
//
// The pages and the snippets are read where the module is kept; none is in this repository, and none was learned from.
package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/bench/peers"
	"github.com/wayleave/wayleave/webfetch"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "snippets:", err)
		os.Exit(1)
	}
}

// page is a page of the comparison.
type page struct {
	url, file     string
	with, without []string
}

func run() error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/markusmobius/go-trafilatura").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	module := strings.TrimSpace(string(out))
	pages, err := read(filepath.Join(module, "scripts", "comparison", "data.go"))
	if err != nil {
		return err
	}
	tools := []struct {
		name string
		read func(html, url string) (string, error)
	}{
		{"ours, main", func(html, url string) (string, error) { return ours(html, url, webfetch.PartMain) }},
		{"ours, whole page", func(html, url string) (string, error) { return ours(html, url, webfetch.PartFull) }},
		{"go-trafilatura + fallback", peers.Trafilatura},
		{"go-readability", peers.Readability},
	}
	counts := make([]count, len(tools))
	judged := 0
	for _, p := range pages {
		html, err := os.ReadFile(filepath.Join(module, "test-files", "comparison", p.file))
		if err != nil {
			continue // some entries name files that the module does not hold
		}
		judged++
		for i, t := range tools {
			text, err := t.read(string(html), p.url)
			if err != nil {
				text = "" // a page that a tool refuses has no text
			}
			counts[i].add(flat(text), p)
		}
	}
	fmt.Printf("| %d pages | precision | recall | F1 |\n|---|---|---|---|\n", judged)
	for i, t := range tools {
		precision, recall := counts[i].shares()
		fmt.Printf("| %s | %.3f | %.3f | %.3f |\n", t.name, precision, recall, 2*precision*recall/(precision+recall))
	}
	return nil
}

func ours(html, url string, part webfetch.Part) (string, error) {
	p, err := webfetch.Convert(context.Background(), []byte(html), []string{"text/html"}, url, webfetch.Options{Content: part})
	if err != nil {
		return "", err
	}
	return p.Content, nil
}

// count is how many snippets of each sort a tool has in its texts.
type count struct{ in, lost, wrong int }

func (c *count) add(text string, p page) {
	for _, s := range p.with {
		if strings.Contains(text, flat(s)) {
			c.in++
		} else {
			c.lost++
		}
	}
	for _, s := range p.without {
		if strings.Contains(text, flat(s)) {
			c.wrong++
		}
	}
}

func (c *count) shares() (precision, recall float64) {
	return float64(c.in) / float64(max(c.in+c.wrong, 1)), float64(c.in) / float64(max(c.in+c.lost, 1))
}

// flat is a text without what Markdown adds to it, blanks and what is not seen, so that snippets of text are found in Markdown:
// addresses of links go, and the signs of marks, escapes and tables.
func flat(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == ']' && i+1 < len(s) && s[i+1] == '(' {
			if end := addressEnd(s, i+1); end > 0 {
				i = end
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return strings.NewReplacer("<br>", "", "\u00ad", "", "\u200b", "", "\u00a0", "", "*", "", "_", "", "[", "", "]", "", "|", "", "#", "", "`", "", `\`, "", " ", "", "\n", "", "\t", "",
		"&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(b.String())
}

// addressEnd is the place of the bracket that closes the one at i; 0 for none before a blank.
func addressEnd(s string, i int) int {
	for depth := 0; i < len(s) && s[i] != ' ' && s[i] != '\n'; i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

// read is the comparison's table: a map from addresses to what is known of each page.
func read(file string) ([]page, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return nil, fmt.Errorf("read the comparison: %w", err)
	}
	var pages []page
	ast.Inspect(parsed, func(n ast.Node) bool {
		entry, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		url, fields := text(entry.Key), entry.Value
		known, ok := fields.(*ast.CompositeLit)
		if url == "" || !ok {
			return true
		}
		p := page{url: url}
		for _, e := range known.Elts {
			field, ok := e.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			switch name, _ := field.Key.(*ast.Ident); {
			case name == nil:
			case name.Name == "File":
				p.file = text(field.Value)
			case name.Name == "With":
				p.with = texts(field.Value)
			case name.Name == "Without":
				p.without = texts(field.Value)
			}
		}
		if p.file != "" {
			pages = append(pages, p)
		}
		return false
	})
	if len(pages) == 0 {
		return nil, fmt.Errorf("%s has no pages", file)
	}
	slices.SortFunc(pages, func(a, b page) int { return strings.Compare(a.url, b.url) })
	return pages, nil
}

func texts(e ast.Expr) (list []string) {
	if l, ok := e.(*ast.CompositeLit); ok {
		for _, s := range l.Elts {
			list = append(list, text(s))
		}
	}
	return list
}

// text is a string as the source writes it; empty for anything else.
func text(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		return ""
	}
	return s
}
