// Bare addresses in text. GFM reads them as links, each parser with rules of its own for where they end and what in
// them is still markup, so that one which holds such signs is written in angle brackets, or so that nobody reads it as
// a link.

package markdown

import (
	"bytes"
	"slices"
	"strings"
)

// bareAddress writes the rest of a web address, of which s holds "://" and what follows; 0 if it is to be written like
// other text.
func (r *renderer) bareAddress(s string) int {
	if r.inLink || !strings.HasPrefix(s, "://") {
		return 0
	}
	scheme := r.schemeBefore()
	if scheme == 0 {
		return 0
	}
	end := len("://")
	for end < len(s) && s[end] > ' ' && s[end] != '<' && s[end] != '>' && !ends(s, end) {
		end++
	}
	// Punctuation at its end is the sentence's.
	for end > 0 && strings.IndexByte(".,:;!?\"')]}", s[end-1]) >= 0 && s[end-1] != '/' {
		end--
	}
	address := s[:end]
	if end <= len("://") || !signs(address) {
		return 0
	}
	before := len(r.out) - scheme - 1
	if i := strings.IndexByte(address, '&'); i >= 0 && looksLikeReference(address[i:]) || strings.IndexByte(address, '|') >= 0 ||
		before >= r.lineStart && (r.out[before] == '\\' || r.out[before] == '<') {
		r.escaped(':')
		return 1
	}
	r.insertByte(len(r.out)-scheme, '<')
	r.out = append(r.out, address...)
	r.out = append(r.out, '>')
	r.textFrom = len(r.out)
	return end
}

// signs says that an address holds what is markup in text.
func signs(address string) bool {
	for i := 1; i < len(address); i++ {
		switch c := address[i]; c {
		case '*', '`', '~', '\\', '|':
			return true
		case '_':
			if i+1 == len(address) || !wordByte(address[i-1]) || !wordByte(address[i+1]) {
				return true
			}
		case '&':
			if looksLikeReference(address[i:]) {
				return true
			}
		}
	}
	return false
}

func wordByte(c byte) bool { return letter(c) || digit(c) }

// schemeBefore is the length of "http" or "https" as the last word of the line; 0 if that is another one.
func (r *renderer) schemeBefore() int {
	line := r.out[r.lineStart:]
	for _, scheme := range []string{"https", "http"} {
		n := len(line) - len(scheme)
		if n >= 0 && bytes.EqualFold(line[n:], []byte(scheme)) {
			if n > 0 && wordByte(line[n-1]) && !r.markWithin(len(scheme)+1) || r.markWithin(len(scheme)) {
				return 0
			}
			return len(scheme)
		}
	}
	return 0
}

// markWithin says that an emphasis mark stands within the last n bytes.
func (r *renderer) markWithin(n int) bool {
	return len(r.marks) > 0 && r.marks[len(r.marks)-1].at > len(r.out)-n
}

// breakAddress keeps the word that is being written from being read as a link by a "www." or "http://" in it: an
// escape within a link would show, and markup right after it would be a part of it.
func (r *renderer) breakAddress() {
	const (
		longest = 256             // looked back
		sign    = len("https://") // may have been incomplete when the word was looked through
	)
	from := max(r.lineStart, min(r.textFrom, len(r.out)), min(r.looked, len(r.out))-sign)
	r.looked = len(r.out)
	line := r.out[from:]
	if r.inLink {
		return
	}
	for i := len(line) - 1; i >= 0 && line[i] > ' ' && len(line)-i < longest; i-- {
		if c := line[i] | 0x20; c != 'w' && c != 'h' {
			continue
		}
		if n := addressAt(line, i); n > 0 {
			r.insertByte(from+i+n, '\\')
			return
		}
	}
}

// addressAt says how far into the word at offset i of a line a backslash unmakes the address that it is; 0 if it is
// none.
func addressAt(line []byte, i int) int {
	if i > 0 && (wordByte(line[i-1]) || line[i-1] == '\\') {
		return 0
	}
	for _, sign := range []string{"www.", "http://", "https://"} {
		if len(line)-i >= len(sign) && bytes.EqualFold(line[i:i+len(sign)], []byte(sign)) {
			return strings.IndexAny(sign, ".:")
		}
	}
	return 0
}

// insertByte puts a byte into text already written.
func (r *renderer) insertByte(at int, c byte) {
	r.out = slices.Insert(r.out, at, c)
	r.moved(at, 1)
}

// moved keeps what is remembered by its place in the output right, when what comes after offset at has moved.
func (r *renderer) moved(at, by int) {
	for i := len(r.marks) - 1; i >= 0 && r.marks[i].at > at; i-- {
		r.marks[i].at += by
	}
	for i := range r.opens {
		if e := &r.opens[i]; e.kind == link && e.live && e.at > at {
			e.at += by
		}
	}
	for _, place := range []*int{&r.imageEnd, &r.images.start, &r.images.end, &r.codeEnd.start, &r.codeEnd.end, &r.textFrom} {
		if *place > at {
			*place += by
		}
	}
}
