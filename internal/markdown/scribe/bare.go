// Bare addresses in text. GFM reads them as links, each parser with rules of its own for where they end and what in
// them is still markup, so that one which holds such signs is written in angle brackets, or so that nobody reads it as
// a link.

package scribe

import (
	"bytes"
	"strings"
)

// bareAddress writes the rest of a web address, of which s holds "://" and what follows; 0 if it is to be written like
// other text.
func (w *Writer) bareAddress(s string) int {
	if w.inLink || !strings.HasPrefix(s, "://") {
		return 0
	}
	scheme := w.schemeBefore()
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
	before := len(w.out) - scheme - 1
	if i := strings.IndexByte(address, '&'); i >= 0 && looksLikeReference(address[i:]) || strings.IndexByte(address, '|') >= 0 ||
		before >= w.lineStart && (w.out[before] == '\\' || w.out[before] == '<') {
		w.escaped(':')
		return 1
	}
	w.insertByte(len(w.out)-scheme, '<')
	w.out = append(w.out, address...)
	w.out = append(w.out, '>')
	w.textFrom = len(w.out)
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
func (w *Writer) schemeBefore() int {
	line := w.out[w.lineStart:]
	for _, scheme := range []string{"https", "http"} {
		n := len(line) - len(scheme)
		if n >= 0 && bytes.EqualFold(line[n:], []byte(scheme)) {
			if n > 0 && wordByte(line[n-1]) && !w.markWithin(len(scheme)+1) || w.markWithin(len(scheme)) {
				return 0
			}
			return len(scheme)
		}
	}
	return 0
}

// markWithin says that an emphasis mark stands within the last n bytes.
func (w *Writer) markWithin(n int) bool {
	return len(w.marks) > 0 && w.marks[len(w.marks)-1].at > len(w.out)-n
}

// breakAddress keeps the word that is being written from being read as a link by a "www." or "http://" in it: an
// escape within a link would show, and markup right after it would be a part of it.
func (w *Writer) breakAddress() {
	const (
		longest = 256             // looked back
		sign    = len("https://") // may have been incomplete when the word was looked through
	)
	from := max(w.lineStart, min(w.textFrom, len(w.out)), min(w.looked, len(w.out))-sign)
	w.looked = len(w.out)
	line := w.out[from:]
	if w.inLink {
		return
	}
	for i := len(line) - 1; i >= 0 && line[i] > ' ' && len(line)-i < longest; i-- {
		if c := line[i] | 0x20; c != 'w' && c != 'h' {
			continue
		}
		if n := addressAt(line, i); n > 0 {
			w.insertByte(from+i+n, '\\')
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
