package layout

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxWords = 200_000 // that are kept as evidence

// vocabulary is the words of the document that stand within lines, in small letters: those with a hyphen, too.
type vocabulary map[string]bool

// learn keeps the words of a line, the last one aside where it may go on in the next line.
func (v vocabulary) learn(text string) {
	for word := range strings.FieldsSeq(text) {
		if len(v) >= maxWords {
			return
		}
		word = strings.ToLower(strings.TrimFunc(word, func(c rune) bool { return !unicode.IsLetter(c) && c != '-' && c != '‐' }))
		if len(word) < 4 || len(word) > 60 || strings.HasSuffix(word, "-") {
			continue
		}
		v[strings.ReplaceAll(word, "‐", "-")] = true
	}
}

// seam says how a line that ends with before goes on with after: what to drop from its end, and what goes between.
func (v vocabulary) seam(before, after string) (drop int, between string) {
	if before == "" || after == "" {
		return 0, ""
	}
	last, size := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case last == ' ':
		return 0, ""
	case last == 0xAD:
		return size, ""
	case wide(last) && wide(next):
		return 0, ""
	case last == '-' || last == '‐':
	case strings.ContainsRune("/=?&_#", last) && address(before), last == '.' && address(before) && (unicode.IsLower(next) || unicode.IsDigit(next)), last == '—' || last == '–' && !strings.HasSuffix(before, " –"):
		return 0, ""
	default:
		return 0, " "
	}
	head := before[:len(before)-size]
	from := strings.LastIndexFunc(head, func(c rune) bool { return unicode.IsSpace(c) || c == '(' || c == '“' || c == '"' }) + 1
	head = head[from:]
	prior, _ := utf8.DecodeLastRuneInString(head)
	if head == "" || !unicode.IsLetter(prior) && !unicode.IsDigit(prior) {
		return 0, " " // a dash of a text
	}
	if !unicode.IsLower(next) || !unicode.IsLetter(prior) || address(before) {
		return 0, ""
	}
	end := strings.IndexFunc(after, func(c rune) bool { return !unicode.IsLetter(c) })
	if end < 0 {
		end = len(after)
	}
	tail := after[:end]
	first, rest := strings.ToLower(strings.TrimFunc(head, func(c rune) bool { return !unicode.IsLetter(c) })), strings.ToLower(tail)
	switch {
	case conjunction(rest):
		return 0, " " // in- and outgoing
	case v[first+rest]:
		return size, ""
	case v[first+"-"+rest]:
		return 0, ""
	case strings.Contains(head, "-") && end < len(after) && after[end] == '-', compound(first, rest):
		return 0, ""
	case end < len(after) && after[end] == '-':
		return 0, "" // state-of-the-
	}
	return size, ""
}

// conjunction says that a word joins two of which the first is cut short, so that its hyphen stays.
func conjunction(word string) bool {
	switch word {
	case "and", "or", "to", "und", "oder", "bzw", "bis", "et", "ou", "y", "e", "o", "en", "of", "och", "og", "eller", "i", "a", "ja", "tai", "és":
		return true
	}
	return false
}

// address says that the last word of a text is a part of an address.
func address(s string) bool {
	word := s[strings.LastIndexByte(s, ' ')+1:]
	return strings.Contains(word, "://") || strings.HasPrefix(word, "www.") || strings.Count(word, "/") > 1
}

// compound says that two words are of those that are often joined by a hyphen.
func compound(first, second string) bool {
	switch first {
	case "well", "self", "non", "ex", "all", "cross", "high", "low", "long", "short", "half", "real", "open", "full", "two", "three", "four", "five",
		"one", "first", "second", "third", "so", "time", "state", "large", "small", "single", "multi", "double", "end", "post", "pre", "mid", "semi", "quasi":
		return len(second) > 3
	}
	switch second {
	case "based", "like", "free", "driven", "specific", "level", "oriented", "aware", "known", "wide", "scale", "class", "term", "time", "year", "old", "dimensional", "of", "to", "the", "in", "and", "by":
		return len(first) > 2
	}
	return false
}
