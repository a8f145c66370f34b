package robots

import "strings"

// pattern is the path of a rule: parts that stand in this order, anything between them.
//
// Octets are compared decoded, which is what RFC 9309 (2.2.2) comes to: both sides have octets outside of ASCII and
// reserved ones encoded, and the others not, before they are compared. Only a star that is written as itself stands for
// anything; encoded, it is a star.
type pattern struct {
	parts  []string // between stars; one more than there are stars
	ends   bool     // the path has nothing behind the last part
	length int      // in octets, by which the most specific pattern is known
}

// compile reads a pattern. A dollar sign ends it where nothing stands behind it, and is one elsewhere.
func compile(text string) pattern {
	var p pattern
	if rest, ends := strings.CutSuffix(text, "$"); ends {
		p.ends, p.length, text = true, 1, rest
	}
	for i, part := range strings.Split(text, "*") {
		part = decoded(part)
		if i > 1 && p.parts[len(p.parts)-1] == "" { // stars in a row are one
			p.parts[len(p.parts)-1] = part
			p.length += len(part)
			continue
		}
		p.parts = append(p.parts, part)
		p.length += len(part)
	}
	p.length += len(p.parts) - 1
	return p
}

// matches says whether a decoded path begins with the pattern, or is it where the pattern has an end. It takes the first
// place for each part, which leaves most to those behind it, so nothing is tried twice.
func (p *pattern) matches(path string) bool {
	rest, begins := strings.CutPrefix(path, p.parts[0])
	if !begins {
		return false
	}
	if len(p.parts) == 1 {
		return !p.ends || rest == ""
	}
	last := len(p.parts) - 1
	for i, part := range p.parts[1:] {
		if i+1 == last && p.ends {
			return strings.HasSuffix(rest, part)
		}
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return true
}

// decoded has every encoded octet as itself; a percent sign that encodes nothing stays.
func decoded(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			high, low := hex(s[i+1]), hex(s[i+2])
			if high < 16 && low < 16 {
				b.WriteByte(high<<4 | low)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// hex is the value of a digit, 16 for what is none.
func hex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}
