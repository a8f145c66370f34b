// Package address makes what a page points to absolute, the way a browser reads it, and says which addresses lead
// nowhere a reader could go. It judges nothing else: who may be asked is weburl's to say.
package address

import (
	"bytes"
	"strings"
)

// Base is the address that relative ones are resolved against, cut once into its parts.
type Base struct {
	scheme string // "https:", lower case; empty for no base
	origin string // "https://host:port"
	path   string // "/guide/page.html"
	dir    string // path up to its last slash, that slash included
	query  string // "?q=1", may be empty
	page   string // the page's own address without fragment
}

// New cuts an address into its parts. One that is not of the web is no base: relative addresses stay as they are.
func New(address string) Base {
	address = cleanAddress(address)
	if i := strings.IndexByte(address, '#'); i >= 0 {
		address = address[:i]
	}
	scheme := schemeOf(address)
	if scheme != "http:" && scheme != "https:" {
		return Base{page: address}
	}
	rest := strings.TrimLeft(address[len(scheme):], `/\`)
	b := Base{scheme: scheme, path: "/"}
	end := strings.IndexAny(rest, `/\?`)
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return Base{page: address} // no host
	}
	b.origin = scheme + "//" + rest[:end]
	rest = rest[end:]
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		b.query, rest = rest[i:], rest[:i]
	}
	if rest != "" {
		b.path = squeezeDots(strings.ReplaceAll(rest, `\`, "/"))
	}
	b.dir = b.path[:strings.LastIndexByte(b.path, '/')+1]
	b.page = b.origin + b.path + b.query
	return b
}

// Rebased is b with the address of a base element; pages name their own address by it only if both agree.
func (b Base) Rebased(href string) Base {
	to := New(b.Resolve(href))
	if to.scheme == "" {
		return b
	}
	to.page = b.page
	return to
}

// Resolve makes an address absolute. What has a scheme of its own stays as written, less the blanks and line breaks
// that browsers drop. An address without meaning is empty.
func (b Base) Resolve(ref string) string {
	ref = cleanAddress(ref)
	if scheme := schemeOf(ref); scheme != "" {
		web := scheme == "http:" || scheme == "https:"
		if !web {
			return ref
		}
		rest := ref[len(scheme):]
		if strings.HasPrefix(rest, "//") {
			if strings.HasPrefix(ref, scheme) && !strings.HasPrefix(rest, "///") && !strings.Contains(rest, `\`) && !hasDots(rest) {
				return ref
			}
		} else if scheme == b.scheme && !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, `\`) {
			return b.Resolve(rest) // "https:page" is relative for a browser
		}
		return absolute(scheme, rest)
	}
	if b.scheme == "" {
		return ref
	}
	switch {
	case ref == "":
		return b.origin + b.path + b.query
	case ref[0] == '#':
		return b.origin + b.path + b.query + ref
	case ref[0] == '?':
		return b.origin + b.path + ref
	case ref[0] == '/' || ref[0] == '\\':
		if len(ref) > 1 && (ref[1] == '/' || ref[1] == '\\') {
			return absolute(b.scheme, ref)
		}
		return b.origin + normalPath(ref)
	}
	return b.origin + normalPath(b.dir+ref)
}

// absolute writes scheme and what follows it as scheme://authority/path.
func absolute(scheme, rest string) string {
	rest = strings.TrimLeft(rest, `/\`)
	end := strings.IndexAny(rest, `/\?#`)
	if end < 0 {
		return scheme + "//" + rest
	}
	return scheme + "//" + rest[:end] + normalPath(rest[end:])
}

// normalPath turns back-slashes of the path into slashes and takes its dot segments out; query and fragment stay.
func normalPath(s string) string {
	end := strings.IndexAny(s, "?#")
	if end < 0 {
		end = len(s)
	}
	path, tail := s[:end], s[end:]
	if strings.Contains(path, `\`) {
		path = strings.ReplaceAll(path, `\`, "/")
	} else if !hasDots(path) {
		return s
	}
	return squeezeDots(path) + tail
}

func hasDots(path string) bool {
	for i := 0; ; {
		j := strings.Index(path[i:], "/.")
		if j < 0 {
			return false
		}
		i += j + 2
		if i == len(path) || strings.IndexByte("/.?#", path[i]) >= 0 {
			return true
		}
	}
}

func squeezeDots(path string) string {
	if !hasDots(path) {
		return path
	}
	out := make([]byte, 0, len(path))
	for rest := path; rest != ""; {
		segment := rest
		if i := strings.IndexByte(rest[1:], '/'); i >= 0 {
			segment = rest[:i+1]
		}
		rest = rest[len(segment):]
		switch segment {
		case "/.":
			if rest == "" {
				out = append(out, '/')
			}
		case "/..":
			out = out[:max(0, bytes.LastIndexByte(out, '/'))]
			if rest == "" {
				out = append(out, '/')
			}
		default:
			out = append(out, segment...)
		}
	}
	if len(out) == 0 {
		return "/"
	}
	return string(out)
}

// schemeOf is the scheme with its colon in lower case, empty for a relative address.
func schemeOf(s string) string {
	for i := 0; i < len(s) && i < 32; i++ {
		c := s[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(s[:i+1])
		default:
			return ""
		}
	}
	return ""
}

// cleanAddress drops what the URL standard drops before it parses: blanks and controls at both ends, tabs and line
// breaks anywhere.
func cleanAddress(s string) string {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	if strings.ContainsAny(s, "\t\n\r") {
		s = strings.Map(func(c rune) rune {
			if c == '\t' || c == '\n' || c == '\r' {
				return -1
			}
			return c
		}, s)
	}
	return s
}

// Elsewhere is an address of a document that a reader elsewhere can follow: with a scheme, and one that leads somewhere. Any
// other is "".
func Elsewhere(to string) string {
	to = strings.TrimSpace(to)
	if to == "" || Inert(to) {
		return ""
	}
	scheme, _, ok := strings.Cut(to, ":")
	if !ok {
		return ""
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto", "ftp", "tel":
		return to
	}
	return ""
}

// Inert says that an address leads nowhere a reader could go: it runs, holds bytes, or belongs to a browser.
func Inert(address string) bool {
	switch scheme := schemeOf(address); scheme {
	case "javascript:", "vbscript:", "data:", "blob:", "about:", "file:", "tel:", "sms:", "x-apple-data-detectors:":
		return true
	default:
		return address == "" || len(scheme) > 1 && scheme[0] == 'j' && strings.Contains(scheme, "script") // misspelt
	}
}

// SamePage says that an address is a place on the page itself, which is no address to go to.
func (b Base) SamePage(address string) bool {
	i := strings.IndexByte(address, '#')
	return i >= 0 && (i == 0 || address[:i] == b.page)
}
