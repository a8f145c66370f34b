// Package robots reads robots.txt files and judges paths by them, as RFC 9309 says.
//
// The rule: whatever a file holds, reading it takes time and memory in proportion to its size, and ends in rules. A line
// that nobody understands says nothing.
package robots

import (
	"bytes"
	"strings"
)

// MaxBytes is how much of a file is read (RFC 9309, 2.5: at least 500 kibibytes); what stands behind it says nothing.
const MaxBytes = 500 << 10

// Path is where a site has its file.
const Path = "/robots.txt"

// Product is the token under which a file knows us: the letters, hyphens and underscores that a User-Agent value begins
// with. Empty where it begins with none; then only the rules for everybody count.
func Product(userAgent string) string {
	return userAgent[:len(userAgent)-len(strings.TrimLeft(userAgent, tokenBytes))]
}

const tokenBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"

// Rules are what a file says to one product. The zero value allows everything.
type Rules struct {
	rules []rule
	named bool
}

// Verdict is what rules say of one path.
type Verdict struct {
	Allowed bool
	// Line is that of the rule that decides, from 1; 0 where none does, and the path is allowed.
	Line int
	// Rule is its pattern, as the file has it: words of a site.
	Rule string
	// Named says that the rules are for this product by its name, and not those for everybody.
	Named bool
}

type rule struct {
	allow bool
	line  int
	text  string
	pattern
}

// Parse reads a file for a product. Groups for the product by its name count together; where there is none, those for
// everybody (*).
func Parse(file []byte, product string) *Rules {
	if len(file) > MaxBytes { // a line of which only the beginning is read would say something else
		file = file[:bytes.LastIndexAny(file[:MaxBytes], "\r\n")+1]
	}
	file = bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))
	var named, common []rule
	ours, everybodys, isNamed := false, false, false // whom the group at hand is for
	ruled := true                                    // it has rules already, so that the next name begins another
	for at := 1; len(file) > 0; at++ {
		var line string
		line, file = nextLine(file)
		key, value, found := member(line)
		if !found {
			continue
		}
		switch key {
		case "user-agent":
			if ruled {
				ours, everybodys, ruled = false, false, false
			}
			is, all := forUs(value, product)
			ours, everybodys, isNamed = ours || is, everybodys || all, isNamed || is
		case "allow", "disallow":
			ruled = true
			if value == "" || !ours && !everybodys { // an empty pattern matches nothing
				continue
			}
			r := rule{allow: key == "allow", line: at, text: value, pattern: compile(value)}
			if ours {
				named = append(named, r)
			}
			if everybodys {
				common = append(common, r)
			}
		}
	}
	if isNamed {
		return &Rules{named, true}
	}
	return &Rules{common, false}
}

// nextLine takes one line off a file: lines end with CR, LF or both.
func nextLine(file []byte) (line string, rest []byte) {
	i := bytes.IndexAny(file, "\r\n")
	if i < 0 {
		return string(file), nil
	}
	line, rest = string(file[:i]), file[i+1:]
	if file[i] == '\r' && len(rest) > 0 && rest[0] == '\n' {
		rest = rest[1:]
	}
	return line, rest
}

const blanks = " \t\f\v\x00"

// member splits a line into its name, in lower case, and its value. A comment is no part of it.
func member(line string) (key, value string, found bool) {
	line, _, _ = strings.Cut(line, "#")
	key, value, found = strings.Cut(line, ":")
	return strings.ToLower(strings.Trim(key, blanks)), strings.Trim(value, blanks), found
}

// forUs says whether a group's name is the product's, or everybody's.
func forUs(name, product string) (is, all bool) {
	if rest, star := strings.CutPrefix(name, "*"); star {
		return false, rest == "" || strings.ContainsAny(rest[:1], blanks)
	}
	token := Product(name)
	return token != "" && strings.EqualFold(token, product), false
}

// Judge says what the rules say of a target: the path and query of a URL, as they are asked for. The rule with the longest
// pattern that matches decides, and of two as long the one that allows. The file itself is always allowed.
func (r *Rules) Judge(target string) Verdict {
	v := Verdict{Allowed: true, Named: r.named}
	if target == Path || strings.HasPrefix(target, Path+"?") {
		return v
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	target = decoded(target)
	best := 0
	for i := range r.rules {
		p := &r.rules[i]
		if p.length < best || p.length == best && (!p.allow || v.Allowed) || !p.matches(target) {
			continue
		}
		best, v.Allowed, v.Line, v.Rule = p.length, p.allow, p.line, p.text
	}
	return v
}
