// Numbers that are no moments.

package numfmt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// decimal is a number as digits, with as many places after the point as asked for. Like the makers of spreadsheets it knows 15
// digits of a number, and rounds halves away from zero.
func decimal(v float64, places int) (whole, part string) {
	s := strconv.FormatFloat(math.Abs(v), 'e', 14, 64)
	mantissa, e, _ := strings.Cut(s, "e")
	exp, _ := strconv.Atoi(e)
	digits := mantissa[:1] + mantissa[2:]
	point := exp + 1 // digits before the point; may be negative
	keep := point + places
	switch {
	case keep < 0:
		digits, point = "0", 1
	case keep < len(digits):
		up := digits[keep] >= '5'
		digits = digits[:keep]
		if up {
			b := []byte("0" + digits)
			i := len(b) - 1
			for ; b[i] == '9'; i-- {
				b[i] = '0'
			}
			b[i]++
			digits = string(b)
			point++
		}
	}
	if point <= 0 {
		digits = strings.Repeat("0", 1-point) + digits
		point = 1
	}
	if len(digits) < point+places {
		digits += strings.Repeat("0", point+places-len(digits))
	}
	whole = strings.TrimLeft(digits[:point], "0")
	return whole, digits[point : point+places]
}

// General shows a number as the General format does: with at most 11 characters, unless it is whole, or long before the point.
func General(v float64) string {
	if v == 0 {
		return "0"
	}
	sign := ""
	if v < 0 {
		sign = "-"
	}
	a := math.Abs(v)
	const most = 11 // characters
	switch {
	case a >= 1e15:
		return sign + scientific(a)
	case a >= 1e-4:
		places := 9
		for limit := 10.0; a >= limit && places > 0; limit *= 10 {
			places--
		}
		return sign + joined(a, places)
	case a >= 1e-9:
		if s := joined(a, 20); len(s) <= most {
			return sign + s
		}
	}
	return sign + scientific(a)
}

// joined is a number without zeros that say nothing.
func joined(a float64, places int) string {
	whole, part := decimal(a, places)
	if whole == "" {
		whole = "0"
	}
	if part = strings.TrimRight(part, "0"); part != "" {
		return whole + "." + part
	}
	return whole
}

func scientific(a float64) string {
	s := strconv.FormatFloat(a, 'E', 5, 64)
	m, e, _ := strings.Cut(s, "E")
	return strings.TrimRight(strings.TrimRight(m, "0"), ".") + "E" + e
}

// showNumber shows a number by the section's digits.
func (s *section) showNumber(v float64) string {
	var shape shape
	shape.read(s.tokens)
	if !shape.digits && !s.has(general) {
		return s.plainWords()
	}
	sign := ""
	if v < 0 {
		sign = "-"
	}
	a := math.Abs(v)
	for range shape.percents {
		a *= 100
	}
	for range shape.thousands {
		a /= 1000
	}
	if math.IsInf(a, 0) {
		return General(v)
	}
	switch {
	case s.has(general):
		return sign + s.fill(func(token) string { return General(a) })
	case shape.slash >= 0:
		return sign + s.showFraction(a, shape.slash)
	case shape.exponent >= 0:
		return sign + s.showScientific(a, &shape)
	}
	if sign != "" { // what is shown as zero is not negative, other than a fraction: so Excel has it
		if whole, part := decimal(a, min(shape.places, mostPlaces)); whole == "" && strings.Trim(part, "0") == "" {
			sign = ""
		}
	}
	return sign + s.place(a, s.tokens, &shape)
}

// plainWords is a section without digits.
func (s *section) plainWords() string {
	return s.fill(func(token) string { return "" })
}

// fill writes the section's literals, and general as a text.
func (s *section) fill(value func(token) string) string {
	var b strings.Builder
	for _, t := range s.tokens {
		switch t.kind {
		case literal, percent:
			b.WriteString(t.text)
		case general:
			b.WriteString(value(t))
		}
	}
	return b.String()
}

// shape is what the signs of a section mean together.
type shape struct {
	digits              bool
	whole, places       int  // digits before and after the point
	grouped             bool // by thousands
	percents, thousands int  // how often it is multiplied by 100, and divided by 1000
	point               int  // index of the point's token; -1 for none, as with those that follow
	exponent, slash     int
}

func (p *shape) read(tokens []token) {
	p.point, p.exponent, p.slash = -1, -1, -1
	last := -1 // the last digit before the exponent
	for i, t := range tokens {
		switch t.kind {
		case digit:
			p.digits = true
			if p.exponent >= 0 {
				continue
			}
			last = i
			if p.point < 0 {
				p.whole++
			} else {
				p.places++
			}
		case point:
			if p.point < 0 && p.exponent < 0 {
				p.point = i
			}
		case percent:
			p.percents = min(p.percents+1, 5)
		case exponent:
			if p.exponent < 0 && p.digits {
				p.exponent = i
			}
		case slash:
			if p.slash < 0 && p.digits {
				p.slash = i
			}
		}
	}
	if p.slash >= 0 && (p.point >= 0 || !denominator(tokens[p.slash+1:])) {
		p.slash = -1
	}
	for i, t := range tokens {
		if t.kind != comma || last < 0 {
			continue
		}
		lastWhole := last
		if p.point >= 0 {
			for lastWhole = p.point; lastWhole >= 0 && tokens[lastWhole].kind != digit; lastWhole-- {
			}
		}
		switch {
		case i > lastWhole && (p.point < 0 || i < p.point), i > last:
			p.thousands = min(p.thousands+1, 5)
		case i > 0:
			p.grouped = true
		}
	}
}

// denominator says that tokens begin with digits below a fraction's stroke.
func denominator(tokens []token) bool {
	return len(tokens) > 0 && (tokens[0].kind == digit || tokens[0].kind == literal && tokens[0].text != "" && tokens[0].text[0] >= '1' && tokens[0].text[0] <= '9')
}

// mostPlaces is how many places after the point are shown, as Excel has it.
const mostPlaces = 30

// place writes a number into the places of its digits, with whatever stands between them.
func (s *section) place(a float64, tokens []token, p *shape) string {
	whole, part := decimal(a, min(p.places, mostPlaces))
	var left []string // digits by their places, the last first
	at := len(whole)
	written := 0
	end := len(tokens)
	if p.point >= 0 {
		end = p.point
	}
	first := -1
	for i := range tokens[:end] {
		if tokens[i].kind == digit {
			first = i
			break
		}
	}
	put := func(d byte) {
		if p.grouped && written > 0 && written%3 == 0 {
			left = append(left, ",")
		}
		left = append(left, string(d))
		written++
	}
	for i := end - 1; i >= 0; i-- {
		t := tokens[i]
		switch t.kind {
		case literal, percent:
			left = append(left, t.text)
		case slash:
			left = append(left, "/")
		case digit:
			if at > 0 {
				at--
				put(whole[at])
			} else if t.text == "0" {
				put('0')
			}
			if i == first {
				for at > 0 {
					at--
					put(whole[at])
				}
			}
		}
	}
	var b strings.Builder
	for i := len(left) - 1; i >= 0; i-- {
		b.WriteString(left[i])
	}
	if p.point < 0 {
		return b.String()
	}
	if p.whole == 0 && whole != "" { // ".00": the point's place alone
		b.WriteString(whole)
	}
	s.placeRest(&b, tokens[p.point:], part)
	return b.String()
}

// placeRest writes the point and what follows it.
func (s *section) placeRest(b *strings.Builder, tokens []token, part string) {
	needed := 0 // digits up to the last that must stand
	for i, n := 1, 0; i < len(tokens); i++ {
		if tokens[i].kind == digit {
			if n++; n <= len(part) && (tokens[i].text == "0" || strings.Trim(part[n-1:], "0") != "") {
				needed = n
			}
		}
	}
	if needed > 0 {
		b.WriteByte('.')
	}
	n := 0
	for _, t := range tokens[1:] {
		switch t.kind {
		case literal, percent, slash:
			b.WriteString(t.text)
		case digit:
			if n < needed {
				b.WriteByte(part[n])
			}
			n++
		}
	}
}

// showScientific writes a mantissa and its exponent.
func (s *section) showScientific(a float64, p *shape) string {
	exp := 0
	if a != 0 {
		exp, _ = strconv.Atoi(strings.Split(strconv.FormatFloat(a, 'e', 14, 64), "e")[1])
	}
	step := max(p.whole, 1)
	if step > 1 { // by threes, and the like
		exp = int(math.Floor(float64(exp)/float64(step))) * step
	}
	m := scaled(a, -exp)
	if whole, _ := decimal(m, min(p.places, 30)); len(whole) > step {
		exp += step
		m = scaled(a, -exp)
	}
	head := *p
	head.exponent = -1
	var b strings.Builder
	b.WriteString(s.place(m, s.tokens[:p.exponent], &head))
	b.WriteByte('E')
	switch {
	case exp < 0:
		b.WriteByte('-')
	case s.tokens[p.exponent].text == "+":
		b.WriteByte('+')
	}
	digits := 0
	var after strings.Builder
	for _, t := range s.tokens[p.exponent+1:] {
		switch t.kind {
		case digit:
			digits++
		case literal, percent:
			after.WriteString(t.text)
		}
	}
	fmt.Fprintf(&b, "%0*d", min(digits, 3), max(exp, -exp))
	return b.String() + after.String()
}

// scaled is a times ten to the power of exp, without leaving the range of numbers on the way.
func scaled(a float64, exp int) float64 {
	m, err := strconv.ParseFloat(strconv.FormatFloat(a, 'e', 14, 64)+"", 64)
	if err != nil || m == 0 {
		return m
	}
	mantissa, e, _ := strings.Cut(strconv.FormatFloat(a, 'e', 14, 64), "e")
	n, _ := strconv.Atoi(e)
	m, _ = strconv.ParseFloat(mantissa+"e"+strconv.Itoa(n+exp), 64)
	return m
}

// showFraction writes a number as a whole and a fraction; stroke is the index of its stroke.
func (s *section) showFraction(a float64, stroke int) string {
	// Digits before the stroke: those next to it are the numerator's, those before a gap the whole's.
	numerator := stroke
	for numerator > 0 && s.tokens[numerator-1].kind == digit {
		numerator--
	}
	hasWhole := false
	for _, t := range s.tokens[:numerator] {
		hasWhole = hasWhole || t.kind == digit
	}
	below := 0 // digits of the denominator
	fixed := ""
	end := stroke + 1
	for ; end < len(s.tokens); end++ {
		t := s.tokens[end]
		if t.kind == digit {
			if t.text == "0" && fixed != "" {
				fixed += "0"
			}
			below++
		} else if t.kind == literal && below == 0 && fixed == "" {
			fixed = t.text[:len(t.text)-len(strings.TrimLeft(t.text, "0123456789"))]
			if fixed == "" {
				break
			}
		} else {
			break
		}
	}
	whole := 0.0
	rest := a
	if hasWhole {
		whole = math.Floor(a)
		rest = a - whole
	}
	var n, d float64
	if v, err := strconv.Atoi(fixed); err == nil && v > 0 {
		d = float64(v)
		n = math.Round(rest * d)
	} else {
		n, d = nearest(rest, math.Pow10(min(max(below, 1), 7))-1)
	}
	if hasWhole && n >= d {
		whole, n = whole+1, 0
	}
	text := strconv.FormatFloat(n, 'f', 0, 64) + "/" + strconv.FormatFloat(d, 'f', 0, 64)
	if hasWhole {
		switch {
		case n == 0:
			text = strconv.FormatFloat(whole, 'f', 0, 64)
		case whole > 0:
			text = strconv.FormatFloat(whole, 'f', 0, 64) + " " + text
		}
	}
	var before, after strings.Builder
	for i, t := range s.tokens {
		if t.kind != literal {
			continue
		}
		if i < stroke && !hasDigit(s.tokens[:i]) {
			before.WriteString(t.text)
		} else if i >= end {
			after.WriteString(t.text)
		}
	}
	return before.String() + text + after.String()
}

func hasDigit(tokens []token) bool {
	for _, t := range tokens {
		if t.kind == digit {
			return true
		}
	}
	return false
}

// nearest is a fraction close to a number whose denominator is not above most: the last that fits of its continued fraction, as
// Excel has it.
func nearest(v, most float64) (n, d float64) {
	h0, h1, k0, k1 := 0.0, 1.0, 1.0, 0.0
	x := v
	for range 64 {
		whole := math.Floor(x)
		h2, k2 := whole*h1+h0, whole*k1+k0
		if k2 > most {
			return h1, k1
		}
		h0, h1, k0, k1 = h1, h2, k1, k2
		if x-whole < 1e-9 {
			break
		}
		x = 1 / (x - whole)
	}
	return h1, k1
}
