package webfetch

// Pointing out a site's llms.txt: an index that is written for models. It is never asked for; what the answer itself says of
// it is enough. Its address is made of the page's own, so that nothing which a page chose is told.

import (
	"net/http"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/untrusted"
	"github.com/wayleave/wayleave/weburl"
)

const llmsName = "llms.txt"

// llmsNote tells of the file; url was made by llmsAt.
func llmsNote(url string) Note {
	return Note{Kind: "llms_txt", Fact: "the site has one, at " + untrusted.URL(url, shownURLChars), Data: map[string]any{"url": untrusted.URL(url, hostURLChars)}}
}

// pointers are the references in an answer's header fields that may lead to the file.
func pointers(header http.Header) (refs []string) {
	for _, value := range header.Values("Link") {
		for rest := value; ; {
			_, after, found := strings.Cut(rest, "<")
			ref, behind, closed := strings.Cut(after, ">")
			if !found || !closed {
				break
			}
			refs, rest = append(refs, ref), behind
		}
	}
	return append(refs, header.Values("X-Llms-Txt")...)
}

// llmsAt is the file that one of the references leads to: at the root of the page's site, or in a folder that the page is in.
// Empty for none, and for a page that is such a file itself.
func llmsAt(page *weburl.URL, refs []string) string {
	path, _, _ := strings.Cut(page.HTTP().RequestURI(), "?")
	if strings.HasSuffix(path, "/"+llmsName) || strings.HasSuffix(path, "/llms-full.txt") {
		return ""
	}
	for _, ref := range refs {
		if !strings.Contains(ref, llmsName) {
			continue
		}
		to, err := page.Resolve(strings.TrimSpace(ref))
		if err != nil || origin(to) != origin(page) {
			continue
		}
		folder, is := strings.CutSuffix(to.HTTP().RequestURI(), llmsName)
		if is && strings.HasSuffix(folder, "/") && strings.HasPrefix(path, folder) {
			return to.String()
		}
	}
	return ""
}

// hrefs are the addresses of a tree's links that may lead to the file, made absolute where the tree has a base of its own.
func hrefs(root *html.Node) (refs []string) {
	const enough = 20
	base := ""
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom != atom.A && n.DataAtom != atom.Link && n.DataAtom != atom.Base {
			continue
		}
		for _, a := range n.Attr {
			switch {
			case a.Key != "href":
			case n.DataAtom == atom.Base && base == "":
				base = a.Val
			case strings.Contains(a.Val, llmsName) && len(refs) < enough:
				refs = append(refs, a.Val)
			}
		}
	}
	if base == "" {
		return refs
	}
	at, err := weburl.Parse(strings.TrimSpace(base))
	if err != nil { // relative: not worth a second reading
		return nil
	}
	for i, ref := range refs {
		refs[i] = ""
		if to, err := at.Resolve(ref); err == nil {
			refs[i] = to.String()
		}
	}
	return refs
}

// mentions is the address of the file of the page's site, where a text has it.
func mentions(page *weburl.URL, text string) []string {
	at := page.Scheme() + "://" + page.Host() + "/" + llmsName
	_, after, found := strings.Cut(text, at)
	after = strings.TrimPrefix(after, ".") // the end of a sentence
	if !found || after != "" && !strings.ContainsAny(after[:1], " \t\r\n)>]\"'`,;") {
		return nil
	}
	return []string{at}
}

// point adds the note where a good answer leads to the file.
func (c *content) point(r *reply, more ...string) {
	if r.url == "" || r.failed() {
		return
	}
	page, err := weburl.Parse(r.url)
	if err != nil {
		return
	}
	refs := append(r.pointers[:len(r.pointers):len(r.pointers)], more...)
	if c.via == ViaMarkdown || c.via == ViaText {
		refs = append(refs, mentions(page, c.text)...)
	}
	if url := llmsAt(page, refs); url != "" {
		c.notes = append(c.notes, llmsNote(url))
	}
}
