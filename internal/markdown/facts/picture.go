// Pictures: where their address stands, and whether they are any.

package facts

import (
	"strings"

	"golang.org/x/net/html"
)

// Quality is how sure it is that an address is the picture's own.
type Quality int

// The qualities.
const (
	NoAddress   Quality = iota
	BlankImage          // a placeholder by its name, or bytes in the page
	MaybeLazy           // the picture may be put in its place later
	RealAddress         // taken for the picture's
)

// ImageSource is the address of an image as resolve answers it, empty for none, and how sure it is to be its own.
// Addresses that scripts are to put in place later win.
func ImageSource(n *html.Node, resolve func(string) string) (src string, q Quality) {
	own, lazy, set := "", "", ""
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "src":
			own = strings.TrimSpace(a.Val)
		case "data-src", "data-lazy-src", "data-original", "data-lazy", "data-original-src", "data-actualsrc", "data-image-src",
			"data-full-src", "data-hi-res-src", "data-delayed-url", "data-url", "data-img-src", "data-echo":
			if v := strings.TrimSpace(a.Val); lazy == "" && plausible(v) {
				lazy = v
			}
		case "data-srcset", "data-lazy-srcset", "srcset":
			if set == "" {
				set = FirstSource(a.Val)
			}
		}
	}
	if lazy != "" {
		return resolve(lazy), RealAddress
	}
	if own = resolve(own); own != "" && !blankName(own) {
		if lazyClass(n) {
			return own, MaybeLazy
		}
		return own, RealAddress
	}
	if set = resolve(set); set != "" {
		return set, RealAddress
	}
	if own == "" {
		return "", NoAddress
	}
	return own, BlankImage
}

// plausible says that a data attribute holds an address rather than a template or settings.
func plausible(v string) bool {
	return v != "" && !strings.ContainsAny(v, "{}<>\"") && strings.ContainsAny(v, "/.") && !strings.HasPrefix(v, "data:")
}

// blankName knows the usual names of placeholders.
func blankName(src string) bool {
	i := strings.LastIndexByte(src, '/')
	switch strings.ToLower(src[i+1:]) {
	case "blank.gif", "spacer.gif", "transparent.gif", "pixel.gif", "1x1.gif", "placeholder.gif", "placeholder.png", "blank.png",
		"spacer.png", "clear.gif", "transparent.png", "grey.gif", "lazyload.gif", "lazy.gif", "loading.gif", "loader.gif":
		return true
	}
	return false
}

func lazyClass(n *html.Node) bool {
	class, _ := Attribute(n, "class")
	return strings.Contains(class, "lazy")
}

// FirstSource is the first address of a srcset.
func FirstSource(srcset string) string {
	srcset = strings.TrimLeft(srcset, " \t\n\r,")
	if i := strings.IndexAny(srcset, " \t\n\r"); i >= 0 {
		srcset = srcset[:i]
	}
	srcset = strings.TrimRight(srcset, ",")
	if strings.HasPrefix(srcset, "data:") || strings.ContainsAny(srcset, "{}") {
		return ""
	}
	return srcset
}

// CountsReaders says that an image comes from one of the usual services that count a page's readers, by its address.
func CountsReaders(src string) bool {
	_, rest, ok := strings.Cut(src, "//")
	if !ok {
		return false
	}
	host, path, _ := strings.Cut(rest, "/")
	switch {
	case strings.HasPrefix(path, "matomo.php?"), strings.HasPrefix(path, "piwik.php?"), strings.HasPrefix(path, "b/ss/"):
		return true
	case strings.HasSuffix(host, "facebook.com"):
		return strings.HasPrefix(path, "tr?")
	case strings.HasSuffix(host, ".vgwort.de"):
		return strings.HasPrefix(path, "na/")
	case host == "mc.yandex.ru":
		return strings.HasPrefix(path, "watch/")
	}
	for _, service := range []string{"scorecardresearch.com", "google-analytics.com", "quantserve.com", "pixel.wp.com", "stats.wp.com", "px.ads.linkedin.com",
		"bat.bing.com", "ioam.de", "counter.yadro.ru", "doubleclick.net", "statcounter.com"} {
		if strings.HasSuffix(host, service) {
			return true
		}
	}
	return false
}

// Tiny says that an image is a pixel that counts readers, or a spacer.
func Tiny(n *html.Node, t *Traits) bool {
	if _, ratio := Attribute(n, "layout"); ratio {
		return false // width and height are the shape of a picture that fills its place
	}
	for i := range n.Attr {
		if key := n.Attr[i].Key; key == "width" || key == "height" {
			if v, ok := Number(n, key); ok && v <= 2 && !strings.Contains(n.Attr[i].Val, "%") {
				return true
			}
		}
	}
	for style := t.Style; style != ""; {
		var declaration string
		declaration, style, _ = strings.Cut(style, ";")
		name, value, _ := strings.Cut(declaration, ":")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "width", "height":
			switch strings.TrimSpace(value) {
			case "0", "0px", "1px", "2px":
				return true
			}
		}
	}
	return false
}
