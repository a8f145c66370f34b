// The parts of a format between semicolons.

package numfmt

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// section is a format for some numbers, or for texts.
type section struct {
	condition string // <, <=, >, >=, = or <>; empty for none
	bound     float64
	tokens    []token
	moment    bool
}

type token struct {
	kind  kind
	text  string // of literals; of a digit: 0, # or ?
	count int    // of letters of a date's part
}

type kind uint8

const (
	literal kind = iota
	digit
	point
	comma
	percent
	exponent // text is the sign: + or -
	slash
	general
	at
	yearPart
	monthPart
	dayPart
	weekdayPart
	hourPart
	minutePart
	secondPart
	fraction // of a second; count digits
	noon     // AM/PM
	elapsedHours
	elapsedMinutes
	elapsedSeconds
)

func (s *section) has(k kind) bool {
	for _, t := range s.tokens {
		if t.kind == k {
			return true
		}
	}
	return false
}

func (s *section) literal(text string) {
	if n := len(s.tokens); n > 0 && s.tokens[n-1].kind == literal {
		s.tokens[n-1].text += text
		return
	}
	s.tokens = append(s.tokens, token{kind: literal, text: text})
}

func parseSection(code string) section {
	var s section
	for i := 0; i < len(code); {
		c := code[i]
		switch {
		case c == '"':
			end := strings.IndexByte(code[i+1:], '"')
			if end < 0 {
				s.literal(code[i+1:])
				i = len(code)
				continue
			}
			s.literal(code[i+1 : i+1+end])
			i += end + 2
		case c == '\\' && i+1 < len(code):
			_, n := utf8.DecodeRuneInString(code[i+1:])
			s.literal(code[i+1 : i+1+n])
			i += 1 + n
		case (c == '_' || c == '*') && i+1 < len(code): // room as wide as a character, or filled with it
			_, n := utf8.DecodeRuneInString(code[i+1:])
			if c == '_' {
				s.literal(" ")
			}
			i += 1 + n
		case c == '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				s.literal(code[i:])
				i = len(code)
				continue
			}
			s.bracket(code[i+1 : i+end])
			i += end + 1
		default:
			i += s.plain(code[i:])
		}
	}
	s.settle()
	return s
}

// bracket reads what stands in brackets: a condition, a span's unit, a currency; colours and languages say nothing here.
func (s *section) bracket(in string) {
	switch {
	case in == "":
	case in[0] == '<' || in[0] == '>' || in[0] == '=':
		op := in[:1]
		if len(in) > 1 && (in[1] == '=' || in[1] == '>') {
			op = in[:2]
		}
		if v, err := strconv.ParseFloat(strings.TrimSpace(in[len(op):]), 64); err == nil {
			s.condition, s.bound = op, v
		}
	case in[0] == '$':
		symbol, _, _ := strings.Cut(in[1:], "-")
		if symbol != "" {
			s.literal(symbol)
		}
	default:
		lower := strings.ToLower(in)
		for letter, k := range map[byte]kind{'h': elapsedHours, 'm': elapsedMinutes, 's': elapsedSeconds} {
			if lower[0] == letter && strings.Trim(lower, lower[:1]) == "" {
				s.tokens = append(s.tokens, token{kind: k, count: len(in)})
			}
		}
	}
}

// plain reads what stands at the start of a code without quotes or brackets, and tells how long it is.
func (s *section) plain(code string) int {
	c := code[0] | 0x20 // letters in lower case
	switch code[0] {
	case '0', '#', '?':
		s.tokens = append(s.tokens, token{kind: digit, text: code[:1]})
		return 1
	case '.':
		s.tokens = append(s.tokens, token{kind: point, text: "."})
		return 1
	case ',':
		s.tokens = append(s.tokens, token{kind: comma, text: ","})
		return 1
	case '%':
		s.tokens = append(s.tokens, token{kind: percent, text: "%"})
		return 1
	case '/':
		s.tokens = append(s.tokens, token{kind: slash, text: "/"})
		return 1
	case '@':
		s.tokens = append(s.tokens, token{kind: at})
		return 1
	}
	for _, word := range []string{"general", "standard"} {
		if len(code) >= len(word) && strings.EqualFold(code[:len(word)], word) {
			s.tokens = append(s.tokens, token{kind: general})
			return len(word)
		}
	}
	for _, mark := range []string{"am/pm", "a/p", "上午/下午", "午前/午後", "오전/오후"} {
		if len(code) >= len(mark) && strings.EqualFold(code[:len(mark)], mark) {
			s.tokens = append(s.tokens, token{kind: noon})
			return len(mark)
		}
	}
	if c == 'e' && len(code) > 1 && (code[1] == '+' || code[1] == '-') {
		s.tokens = append(s.tokens, token{kind: exponent, text: code[1:2]})
		return 2
	}
	n := 1
	for n < len(code) && code[n]|0x20 == c {
		n++
	}
	var k kind
	switch c {
	case 'y', 'e', 'b':
		k = yearPart
	case 'm':
		k = monthPart // or minutes: settle tells
	case 'd':
		if k = dayPart; n >= 3 {
			k = weekdayPart
		}
	case 'a':
		if n < 3 {
			s.literal(code[:n])
			return n
		}
		k = weekdayPart
	case 'h':
		k = hourPart
	case 's':
		k = secondPart
	case 'g': // the name of an era
		return n
	default:
		_, size := utf8.DecodeRuneInString(code)
		s.literal(code[:size])
		return size
	}
	s.tokens = append(s.tokens, token{kind: k, count: n})
	return n
}

// settle tells minutes from months, and finds out whether the section is for moments.
func (s *section) settle() {
	last := literal // the last part of a date
	for i := range s.tokens {
		t := &s.tokens[i]
		if t.kind < yearPart {
			continue
		}
		if t.kind == monthPart && (last == hourPart || last == elapsedHours || s.next(i) == secondPart || s.next(i) == elapsedSeconds) && t.count <= 2 {
			t.kind = minutePart
		}
		last = t.kind
		s.moment = true
	}
	if !s.moment {
		return
	}
	// A point and digits after seconds are their fraction; other signs of numbers are literals in a date.
	out := s.tokens[:0]
	for i := 0; i < len(s.tokens); i++ {
		t := s.tokens[i]
		if t.kind == point && len(out) > 0 && (out[len(out)-1].kind == secondPart || out[len(out)-1].kind == elapsedSeconds) {
			n := 0
			for i+1+n < len(s.tokens) && s.tokens[i+1+n].kind == digit && s.tokens[i+1+n].text == "0" {
				n++
			}
			if n > 0 {
				out = append(out, token{kind: fraction, count: min(n, 3)})
				i += n
				continue
			}
		}
		if t.kind == digit || t.kind == point || t.kind == comma || t.kind == percent || t.kind == slash || t.kind == exponent {
			t = token{kind: literal, text: t.text}
		}
		out = append(out, t)
	}
	s.tokens = out
}

// next is the part of a date that follows token i.
func (s *section) next(i int) kind {
	for _, t := range s.tokens[i+1:] {
		if t.kind >= yearPart {
			return t.kind
		}
	}
	return literal
}
