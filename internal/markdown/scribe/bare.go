// Bare addresses in text. GFM reads them as links, each parser with rules of its own for where they end and what in
// them is still markup, so that one which holds such signs is written in angle brackets, or so that nobody reads it as
// a link.

package scribe

import (
	"bytes"
	"strings"
)

// addressRun is a stretch of text that a web address would reach to the end of, and what in it is markup. Every address
// in it ends where it ends, so that it is looked through once. Places are told by how much of the text is left there.
type addressRun struct {
	ends      int // where the stretch ends
	addressTo int // where an address in it ends: punctuation before the end is the sentence's
	lastSign  int // the last sign that is markup in text; 0 for none
	lastBreak int // the last sign that is markup in angle brackets, too; 0 for none
}

// bareAddress writes the rest of a web address, of which s, the rest of a text, holds "://" and what follows; 0 if it is
// to be written like other text.
func (w *Writer) bareAddress(s string) int {
	if w.inLink || !strings.HasPrefix(s, "://") {
		return 0
	}
	scheme := w.schemeBefore()
	if scheme == 0 {
		return 0
	}
	if len(s) <= w.run.ends || len(s) > w.runFrom {
		w.run, w.runFrom = lookThrough(s), len(s)
	}
	end := len(s) - w.run.addressTo
	if end <= len("://") || w.run.lastSign == 0 || len(s)-w.run.lastSign < 1 {
		return 0
	}
	before := len(w.out) - scheme - 1
	if w.run.lastBreak > 0 && len(s)-w.run.lastBreak >= 1 || before >= w.lineStart && (w.out[before] == '\\' || w.out[before] == '<') ||
		bytes.ContainsAny(w.out[before+1:], "HTPS") || !steady(s[:end]) {
		w.escaped(':')
		return 1
	}
	w.insertByte(len(w.out)-scheme, '<')
	w.out = append(w.out, s[:end]...)
	w.out = append(w.out, '>')
	w.textFrom = len(w.out)
	return end
}

// lookThrough finds how far the address in s reaches, and what in it is markup.
func lookThrough(s string) addressRun {
	end := len("://")
	for end < len(s) && s[end] > ' ' && s[end] != '<' && s[end] != '>' && !ends(s, end) {
		end++
	}
	r := addressRun{ends: len(s) - end}
	for end > 0 && strings.IndexByte(".,:;!?\"')]}", s[end-1]) >= 0 && s[end-1] != '/' {
		end--
	}
	r.addressTo = len(s) - end
	for i := 1; i < end; i++ {
		switch c := s[i]; {
		case c == '|', c == '\\', c == '&' && looksLikeReference(s[i:end]), // a back-slash is a slash for browsers
			c == ']' && i+1 < end && s[i+1] == ':': // the end of a definition's label, at the start of a block
			r.lastSign, r.lastBreak = len(s)-i, len(s)-i
		case c == '*', c == '`', c == '~', c == '$', c == '_' && (i+1 == end || !wordByte(s[i-1]) || !wordByte(s[i+1])):
			r.lastSign = len(s) - i
		}
	}
	return r
}

// steady says that an address, from its "://" on, is the one that it leads to: no slash too many, no dots for a path.
func steady(s string) bool {
	return !strings.HasPrefix(s, ":///") && !strings.Contains(s, "/./") && !strings.Contains(s, "/../")
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
