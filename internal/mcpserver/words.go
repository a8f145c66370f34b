// This file makes what a client chose fit to be printed: in a log line, in an error.
package mcpserver

import (
	"crypto/rand"
	"strconv"
	"strings"
	"unicode"
)

// maxClientName bounds what a client calls itself (TM-053), in characters.
const maxClientName = 200

// clean cuts text to n characters and drops what is not shown: control and format characters, bidi marks, tags.
func clean(text string, n int) string {
	var b strings.Builder
	for _, r := range text {
		if n == 0 {
			break
		}
		if r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) {
			continue
		}
		b.WriteRune(r)
		n--
	}
	return b.String()
}

// printable quotes a name that a client chose, at most n characters of it.
func printable(name string, n int) string { return strconv.QuoteToGraphic(clean(name, n)) }

// newRequestID names one HTTP request in logs and errors.
func newRequestID() string { return "req_" + strings.ToLower(rand.Text()) }
