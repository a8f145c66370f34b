package webfetch

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/markdown/linklist"
)

// sentOn is what a page without a word of text says that only sends browsers on: a link to where. It is not followed; empty for
// a page that sends nobody on.
func sentOn(root *html.Node, pageURL string) string {
	to := linklist.Refresh(root, pageURL)
	if to == "" {
		return ""
	}
	var b strings.Builder
	b.WriteByte('<')
	for i := range len(to) {
		if c := to[i]; c <= ' ' || c == '<' || c == '>' || c == '\\' || c == '`' || c == 0x7F {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(to[i])
	}
	b.WriteByte('>')
	return b.String()
}
