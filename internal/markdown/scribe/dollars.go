// Dollars of text, which a parser that knows formulas takes for those around one. They are escaped where a document has
// formulas, and stay as they are, prices mostly, where it has none.

package scribe

import "bytes"

// stretch is a piece of the output.
type stretch struct{ from, end int }

// noteDollars remembers the block that is about to end if its dollars could be read as those of a formula: several, in a
// block without one. Only the end of the document knows whether it has formulas.
func (w *Writer) noteDollars() {
	if w.math {
		return // they are escaped
	}
	if text := w.out[w.leafStart:]; bytes.Count(text, []byte{'$'}) > 1 {
		w.dollars = append(w.dollars, stretch{w.leafStart, len(w.out)})
	}
}

// escapeDollars escapes the dollars of the blocks that were remembered, if the document has formulas.
func (w *Writer) escapeDollars() {
	if !w.formulas || len(w.dollars) == 0 {
		return
	}
	out, done := make([]byte, 0, len(w.out)+len(w.out)/64+64), 0
	for _, s := range w.dollars {
		block := w.out[s.from:s.end]
		first := textDollar(block, 0)
		if first < 0 || textDollar(block, first+1) < 0 {
			continue // one alone is none of a formula
		}
		for i := first; i >= 0; i = textDollar(block, i+1) {
			out = append(append(out, w.out[done:s.from+i]...), '\\')
			done = s.from + i
		}
	}
	w.out = append(out, w.out[done:]...)
}

// guardDollars escapes the dollars that stand before the first formula of a block, which would pair with its own.
func (w *Writer) guardDollars() {
	if w.math {
		return
	}
	w.math = true
	const most = 64 // each moves what comes after it
	for i, n := textDollar(w.out[w.leafStart:], 0), 0; i >= 0 && n < most; n++ {
		w.insertByte(w.leafStart+i, '\\')
		i = textDollar(w.out[w.leafStart:], i+2)
	}
}

// textDollar is the place of the next dollar of a block's text from a place on, -1 for none. Those that are escaped, and
// those in code, addresses and tags, are none of the text.
func textDollar(block []byte, i int) int {
	for ; i < len(block); i++ {
		switch block[i] {
		case '$':
			return i
		case '\\':
			i++
		case '`':
			fence := block[i : i+run(string(block[i:min(len(block), i+maxPrefix)]), '`')]
			i += len(fence) - 1
			if end := bytes.Index(block[i+1:], fence); end >= 0 {
				i += end + len(fence)
			}
		case '<':
			if i+1 < len(block) && (letter(block[i+1]) || block[i+1] == '/') { // else it would be escaped
				if end := bytes.IndexByte(block[i:], '>'); end >= 0 {
					i += end
				}
			}
		case '(':
			if i > 0 && block[i-1] == ']' {
				i = addressEnd(block, i)
			}
		}
	}
	return -1
}

// addressEnd is the place of the bracket that closes the one at i, which begins a link's address.
func addressEnd(block []byte, i int) int {
	for depth := 0; i < len(block); i++ {
		switch block[i] {
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
	return i
}
