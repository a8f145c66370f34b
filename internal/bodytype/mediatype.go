package bodytype

import "strings"

// maxMediaType bounds a media type, which is shown outside the wrapper; the longest registered ones have about 80.
const maxMediaType = 100

// ParseContentType reads the Content-Type headers of a response, in the order they came. Like browsers it reads several
// headers as one list, in which the last well-formed one counts and takes over the charset of an earlier one of the same
// media type. mediaType is lower case, token/token of at most 100 characters, or "" where none is usable; charset is the
// label of its first non-empty charset parameter, lower case, unquoted, or "".
func ParseContentType(values []string) (mediaType, charset string) {
	for _, value := range splitQuoted(strings.Join(values, ","), ',') {
		parts := splitQuoted(value, ';')
		essence := strings.Trim(parts[0], headerSpace)
		if !IsMediaType(essence) || essence == "*/*" {
			continue
		}
		essence = strings.ToLower(essence)
		label := charsetParameter(parts[1:])
		if label == "" && essence == mediaType {
			label = charset
		}
		mediaType, charset = essence, label
	}
	return mediaType, charset
}

const headerSpace = " \t\r\n"

// IsMediaType tells whether s is token/token of a bearable length: nothing else may stand outside the wrapper, since a
// server chooses it.
func IsMediaType(s string) bool {
	first, second, ok := strings.Cut(s, "/")
	return ok && len(s) <= maxMediaType && isToken(first) && isToken(second)
}

// isToken tells whether s is a token of RFC 9110 section 5.6.2.
func isToken(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for i := range len(s) {
		c := s[i]
		letterOrDigit := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if !letterOrDigit && strings.IndexByte(marks, c) < 0 {
			return false
		}
	}
	return s != ""
}

// charsetParameter gives the first charset parameter that is not empty.
func charsetParameter(parameters []string) string {
	for _, parameter := range parameters {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.Trim(name, headerSpace), "charset") {
			continue
		}
		value = strings.Trim(unquote(strings.Trim(value, headerSpace)), headerSpace)
		if value != "" {
			return strings.ToLower(value)
		}
	}
	return ""
}

// unquote takes the quotes off a quoted string; what follows it is dropped, a missing end is forgiven.
func unquote(s string) string {
	s, quoted := strings.CutPrefix(s, `"`)
	if !quoted {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s) && s[i] != '"'; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// splitQuoted cuts s at each separator that stands outside quotes.
func splitQuoted(s string, separator byte) []string {
	var parts []string
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '\\' && quoted:
			i++
		case s[i] == separator && !quoted:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}
