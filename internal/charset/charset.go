// Package charset decodes bodies as the Encoding Standard says. (Skeleton.)
package charset

// Decode gives the text of body and the name of the encoding that was used. header is the charset parameter of
// Content-Type ("" for none), markup says where a declaration inside the body may stand.
func Decode(body []byte, header string, markup Markup) (text string, encoding string) {
	panic("skeleton")
}

// Markup tells which declarations inside the body count.
type Markup int

// The kinds of body.
const (
	None Markup = iota
	HTML
	XML
)
