// Inline styles: what they say that matters for text.

package facts

import "strings"

// Styles are what an inline style says that matters for text, as bits.
type Styles uint16

// The styles.
const (
	DisplayNone Styles = 1 << iota
	Invisible
	Visible // although an element around it is not
	DisplayBlock
	Preserved // white space is kept
	Bold
	NotBold // although its name says so
	Italic
	Struck
)

// StylesOf reads an inline style: declarations parted by semicolons, the last of a kind wins.
func StylesOf(style string) (s Styles) {
	for style != "" {
		declaration := style
		if i := strings.IndexByte(style, ';'); i >= 0 {
			declaration, style = style[:i], style[i+1:]
		} else {
			style = ""
		}
		name, value, ok := strings.Cut(declaration, ":")
		if !ok {
			continue
		}
		name = strings.TrimSpace(name)
		if len(name) < len("display") || len(name) > len("text-decoration-line") {
			continue
		}
		switch c := name[0] | 0x20; c {
		case 'd', 'v', 'w', 'f', 't':
		default:
			continue
		}
		value, _, _ = strings.Cut(value, "!")
		value = strings.ToLower(strings.TrimSpace(value))
		switch strings.ToLower(name) {
		case "display":
			s &^= DisplayNone | DisplayBlock
			switch value {
			case "none":
				s |= DisplayNone
			case "block", "flex", "grid", "table", "list-item", "flow-root":
				s |= DisplayBlock
			}
		case "visibility":
			s &^= Invisible | Visible
			switch value {
			case "hidden", "collapse":
				s |= Invisible
			case "visible":
				s |= Visible
			}
		case "white-space":
			s &^= Preserved
			if strings.HasPrefix(value, "pre") || value == "break-spaces" {
				s |= Preserved
			}
		case "font-weight":
			s &^= Bold | NotBold
			switch value {
			case "bold", "bolder", "600", "700", "800", "900":
				s |= Bold
			case "normal", "lighter", "100", "200", "300", "400", "500":
				s |= NotBold
			}
		case "font-style":
			s &^= Italic
			if value == "italic" || value == "oblique" {
				s |= Italic
			}
		case "text-decoration", "text-decoration-line":
			s &^= Struck
			if strings.Contains(value, "line-through") {
				s |= Struck
			}
		}
	}
	return s
}
