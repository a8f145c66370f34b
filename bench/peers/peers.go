// Package peers is what other libraries make of a page, for figures beside ours.
package peers

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"
)

// Readability is the main content by go-readability, as Markdown by html-to-markdown.
func Readability(page, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	a, err := readability.FromReader(strings.NewReader(page), u)
	if err != nil {
		return "", err
	}
	if a.Node == nil {
		return "", fmt.Errorf("go-readability found nothing")
	}
	return fromNode(a.Node)
}

// Trafilatura is the main content by go-trafilatura with its fallbacks, as Markdown by html-to-markdown.
func Trafilatura(page, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	r, err := trafilatura.Extract(strings.NewReader(page), trafilatura.Options{OriginalURL: u, EnableFallback: true})
	if err != nil {
		return "", err
	}
	if r == nil || r.ContentNode == nil {
		return "", fmt.Errorf("go-trafilatura found nothing")
	}
	return fromNode(r.ContentNode)
}

// Whole makes a converter of whole pages: html-to-markdown with its base, commonmark and table plugins.
func Whole() func(page, address string) (string, error) {
	c := newConverter()
	return func(page, address string) (string, error) {
		return c.ConvertString(page, converter.WithDomain(address))
	}
}

func newConverter() *converter.Converter {
	return converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
}

func fromNode(n *html.Node) (string, error) {
	var b bytes.Buffer
	if err := html.Render(&b, n); err != nil {
		return "", err
	}
	return newConverter().ConvertString(b.String())
}
