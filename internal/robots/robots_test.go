package robots

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// judged is what a file says to a product of targets: those that it disallows.
func judged(file, product string, targets ...string) (refused []string) {
	rules := Parse([]byte(file), product)
	for _, target := range targets {
		if !rules.Judge(target).Allowed {
			refused = append(refused, target)
		}
	}
	return refused
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name, file, product string
		refused             []string // of /a /b /c
	}{
		{"nothing", "", "wayleave", nil},
		{"for everybody", "User-agent: *\nDisallow: /a", "wayleave", []string{"/a"}},
		{"by name, whatever the case", "User-agent: WayLeave\nDisallow: /a", "Wayleave", []string{"/a"}},
		{"by name before everybody", "User-agent: *\nDisallow: /a\n\nUser-agent: wayleave\nDisallow: /b", "wayleave", []string{"/b"}},
		{"by name, and it may everything", "User-agent: *\nDisallow: /\nUser-agent: wayleave\nDisallow:", "wayleave", nil},
		{"by name without a rule", "User-agent: *\nDisallow: /\nUser-agent: wayleave", "wayleave", nil},
		{"groups of one name count together", "User-agent: wayleave\nDisallow: /a\nUser-agent: other\nDisallow: /b\nUser-agent: Wayleave\nDisallow: /c", "wayleave", []string{"/a", "/c"}},
		{"groups for everybody count together", "User-agent: *\nDisallow: /a\nUser-agent: other\nDisallow: /b\nUser-agent: *\nDisallow: /c", "wayleave", []string{"/a", "/c"}},
		{"several names over one group", "User-agent: other\nUser-agent: wayleave\nUser-agent: third\nDisallow: /a\nDisallow: /b", "wayleave", []string{"/a", "/b"}},
		{"a name and everybody over one group", "User-agent: wayleave\nUser-agent: *\nDisallow: /a\nUser-agent: wayleave\nDisallow: /b", "wayleave", []string{"/a", "/b"}},
		{"blank lines part nothing", "User-agent: wayleave\n\n\nDisallow: /a\n\nDisallow: /b", "wayleave", []string{"/a", "/b"}},
		{"other lines part nothing", "User-agent: other\nCrawl-delay: 5\nSitemap: https://e.example/s.xml\nUser-agent: wayleave\nDisallow: /a\nCrawl-delay: 1\nDisallow: /b", "wayleave", []string{"/a", "/b"}},
		{"a rule parts groups, an empty one too", "User-agent: wayleave\nDisallow:\nUser-agent: other\nDisallow: /a", "wayleave", nil},
		{"rules before any name", "Disallow: /a\nUser-agent: *\nDisallow: /b", "wayleave", []string{"/b"}},
		{"a longer name is another's", "User-agent: wayleave-images\nDisallow: /\nUser-agent: *\nDisallow: /c", "wayleave", []string{"/c"}},
		{"a shorter name is another's", "User-agent: way\nDisallow: /\nUser-agent: *\nDisallow: /c", "wayleave", []string{"/c"}},
		{"a version behind the name", "User-agent: wayleave/1.0\nDisallow: /a", "wayleave", []string{"/a"}},
		{"words behind the star", "User-agent: * # all\nDisallow: /a", "wayleave", []string{"/a"}},
		{"a star with more is no star", "User-agent: *bot\nDisallow: /a", "wayleave", nil},
		{"an empty name is nobody's", "User-agent:\nDisallow: /a", "wayleave", nil},
		{"no product: everybody's alone", "User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b", "", []string{"/a"}},
		{"byte-order mark", "\xef\xbb\xbfUser-agent: *\nDisallow: /a", "wayleave", []string{"/a"}},
		{"CR alone, and CRLF", "User-agent: *\rDisallow: /a\r\nDisallow: /b\r\r\nDisallow: /c", "wayleave", []string{"/a", "/b", "/c"}},
		{"no line end at the end, blanks everywhere", " \t user-AGENT \t:  *  \n  DISALLOW\t:\t/a  ", "wayleave", []string{"/a"}},
		{"comments", "# Disallow: /\nUser-agent: *#x\nDisallow: /a#b\n#Disallow: /b\nDisallow: #/c", "wayleave", []string{"/a"}},
		{"lines that are none", "User-agent *\nhello\n: x\nUser-agent: *\nDisallow /b\n<html>\x00\nDisallow: /a", "wayleave", []string{"/a"}},
		{"a page in its place", "<!doctype html><html><head><title>Not here</title></head><body>User-agent: *<br>Disallow: /</body></html>", "wayleave", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := judged(c.file, c.product, "/a", "/b", "/c"); !slices.Equal(got, c.refused) {
				t.Errorf("refused %v, want %v", got, c.refused)
			}
		})
	}
}

// TestExamplesOfTheStandard are the two files of RFC 9309, section 5, told by what they mean.
func TestExamplesOfTheStandard(t *testing.T) {
	const simple = `User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
`
	targets := []string{"/", "/picture.gif", "/picture.gif?x", "/example/page.html", "/example/allowed.gif", "/publications/x.gif", "/publications/x.html"}
	for product, refused := range map[string][]string{
		"anybot": {"/picture.gif", "/example/page.html", "/example/allowed.gif"}, // of /publications/x.gif the longer rule allows it
		"foobot": {"/", "/picture.gif", "/picture.gif?x", "/publications/x.gif", "/publications/x.html"},
		"barbot": {"/example/page.html"},
		"bazbot": {"/example/page.html"},
		"quxbot": nil,
	} {
		if got := judged(simple, product, targets...); !slices.Equal(got, refused) {
			t.Errorf("%s: refused %v, want %v", product, got, refused)
		}
	}
	const longest = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n"
	if got := judged(longest, "foobot", "/example/page/", "/example/page/disallowed.gif", "/example/page/other.gif"); !slices.Equal(got, []string{"/example/page/disallowed.gif"}) {
		t.Errorf("longest match: refused %v", got)
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern         string
		matches, misses []string
	}{
		{"/", []string{"/", "/x", "/?q"}, nil},
		{"/fish", []string{"/fish", "/fish.html", "/fish/salmon", "/fishheads", "/fish?id=1"}, []string{"/Fish", "/catfish", "/desert/fish"}},
		{"/fish/", []string{"/fish/", "/fish/?id=1", "/fish/salmon"}, []string{"/fish", "/fish.html"}},
		{"/fish*", []string{"/fish", "/fish.html"}, []string{"/Fish", "/cat"}},
		{"/*.php", []string{"/index.php", "/a/b.php5/c", "/index.php?x", "/?p=.php"}, []string{"/", "/windows.PHP"}},
		{"/*.php$", []string{"/a.php", "/a.php/b.php"}, []string{"/a.php?x", "/a.php/", "/php"}},
		{"/fish*.php", []string{"/fish.php", "/fishheads/cat.php?p"}, []string{"/Fish.php"}},
		{"*", []string{"/", "/x"}, nil},
		{"*.gif$", []string{"/a.gif", "/b/c.gif"}, []string{"/a.gif?x"}},
		{"/a**b", []string{"/ab", "/axxb"}, []string{"/a"}},
		{"/a*b*c$", []string{"/abc", "/abxbc", "/a-b-c-b-c"}, []string{"/ac", "/abcb", "/acb"}},
		{"/ab*ab$", []string{"/abab", "/ab-ab"}, []string{"/ab"}}, // the parts may not share octets
		{"/x$", []string{"/x"}, []string{"/x/", "/xy", "/x?"}},
		{"/x$y", []string{"/x$y", "/x$yz", "/x%24y"}, []string{"/x", "/xy"}},
		{"/x$*", []string{"/x$", "/x$y"}, []string{"/x"}},
		{"$", nil, []string{"/", "/$"}},
		{"x", nil, []string{"/x", "/"}},

		// RFC 9309, 2.2.2: the table of paths to compare.
		{"/foo/bar?baz=quz", []string{"/foo/bar?baz=quz"}, []string{"/foo/bar"}},
		{"/foo/bar?baz=https://foo.bar", []string{"/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"}, nil},
		{"/foo/bar/ツ", []string{"/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"}, []string{"/foo/bar/%E3"}},
		{"/foo/bar/%E3%83%84", []string{"/foo/bar/%E3%83%84", "/foo/bar/ツ"}, nil},
		{"/foo/bar/%62%61%7A", []string{"/foo/bar/baz"}, nil},
		{"/foo/bar/baz", []string{"/foo/bar/%62%61%7A"}, nil},
		// RFC 9309, 2.2.3: special characters as themselves.
		{"/path/file-with-a-%2A.html", []string{"/path/file-with-a-*.html", "/path/file-with-a-%2A.html"}, []string{"/path/file-with-a-x.html"}},
		{"/path/foo-%24", []string{"/path/foo-$", "/path/foo-%24", "/path/foo-$x"}, []string{"/path/foo-"}},
		{"/a<d", []string{"/a%3Cd", "/a%3cd"}, nil},
		{"/a%3Cd", []string{"/a<d"}, nil},
		{"/a%", []string{"/a%", "/a%25", "/a%zz"}, []string{"/a"}},
		{"/a%2541", []string{"/a%2541"}, []string{"/aA", "/a%41"}},
		{"/\xff", []string{"/%FF", "/\xff"}, []string{"/y"}},
	} {
		p := compile(c.pattern)
		for _, path := range c.matches {
			if !p.matches(decoded(path)) {
				t.Errorf("%s does not match %s", c.pattern, path)
			}
		}
		for _, path := range c.misses {
			if p.matches(decoded(path)) {
				t.Errorf("%s matches %s", c.pattern, path)
			}
		}
	}
}

func TestTheLongestRuleDecides(t *testing.T) {
	for _, c := range []struct {
		rules, target string
		line          int // of the rule that decides, in a file whose first line is a name
		allowed       bool
	}{
		{"Allow: /p\nDisallow: /", "/page", 2, true},
		{"Disallow: /\nAllow: /p", "/page", 3, true},
		{"Allow: /folder\nDisallow: /folder", "/folder/page", 2, true},
		{"Disallow: /folder\nAllow: /folder", "/folder/page", 3, true},
		{"Allow: /page\nDisallow: /*.htm", "/page.htm", 3, false},
		{"Allow: /page\nDisallow: /*.ph", "/page.php5", 2, true}, // as long: the one that allows
		{"Allow: /$\nDisallow: /", "/", 2, true},
		{"Allow: /$\nDisallow: /", "/page.htm", 3, false},
		{"Disallow: /%66%6f%6f\nAllow: /fo", "/foo", 2, false}, // encoded octets are one each
		{"Disallow: /a\nDisallow: /ab", "/abc", 3, false},
		{"Disallow: /x", "/y", 0, true},
		{"Disallow: /", "/robots.txt", 0, true},
		{"Disallow: /", "/robots.txt?v=2", 0, true},
		{"Disallow: /", "/robots.txt.bak", 2, false},
		{"Disallow: /", "", 2, false},
	} {
		v := Parse([]byte("User-agent: *\n"+c.rules), "wayleave").Judge(c.target)
		if v.Allowed != c.allowed || v.Line != c.line {
			t.Errorf("%q, %s: %+v, want line %d, allowed %v", c.rules, c.target, v, c.line, c.allowed)
		}
	}
	v := Parse([]byte("User-agent: wayleave\n\nDisallow: /%66oo # why"), "wayleave").Judge("/foo")
	if v != (Verdict{Line: 3, Rule: "/%66oo", Named: true}) {
		t.Errorf("verdict %+v", v)
	}
}

func TestWhatStandsBehindTheLimitSaysNothing(t *testing.T) {
	head := "User-agent: *\nDisallow: /a\n"
	for _, c := range []struct {
		name    string
		fill    int // bytes between the head and the tail
		refused []string
	}{
		{"within", MaxBytes - len(head) - len("Disallow: /b\n"), []string{"/a", "/b"}},
		{"cut in its line", MaxBytes - len(head) - len("Disallow: /"), []string{"/a"}},
		{"behind", MaxBytes - len(head), []string{"/a"}},
	} {
		file := head + strings.Repeat("#", c.fill-1) + "\n" + "Disallow: /b\n" + strings.Repeat("Disallow: /c\n", 3)
		if got := judged(file, "wayleave", "/a", "/b", "/c", "/d"); !slices.Equal(got, c.refused) {
			t.Errorf("%s: refused %v, want %v", c.name, got, c.refused)
		}
	}
	// One line without an end says nothing at all.
	if got := judged(strings.Repeat("User-agent: *", MaxBytes), "wayleave", "/"); got != nil {
		t.Errorf("refused %v", got)
	}
}

func TestProducts(t *testing.T) {
	for userAgent, want := range map[string]string{
		"Wayleave/0 (+https://github.com/wayleave/wayleave)": "Wayleave", "my_bot-x 1": "my_bot-x", "": "", "1bot": "", "(x)": "", "Größe": "Gr",
	} {
		if got := Product(userAgent); got != want {
			t.Errorf("%q: %q, want %q", userAgent, got, want)
		}
	}
}

// FuzzRobots holds the reading against a plain one: no pattern, file or path may make it panic, and a verdict names a line
// that is one of the file's.
func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /a%2Ab", "wayleave", "/a%2Ab")
	f.Add("\xef\xbb\xbfuser-agent: wayleave\r\rdisallow: *", "wayleave", "")
	f.Add("User-agent: *\nDisallow: /**a*$\nAllow: $\nDisallow: %", "", "/%")
	f.Fuzz(func(t *testing.T, file, product, target string) {
		v := Parse([]byte(file), product).Judge(target)
		lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(file, "\r\n", "\n"), "\r", "\n"), "\n")
		switch {
		case v.Line == 0 && (!v.Allowed || v.Rule != ""):
			t.Fatalf("no rule decides, and it says %+v", v)
		case v.Line > len(lines):
			t.Fatalf("line %d of %d", v.Line, len(lines))
		case v.Line > 0 && !strings.Contains(lines[v.Line-1], v.Rule):
			t.Fatalf("line %d is %q, and the rule %q", v.Line, lines[v.Line-1], v.Rule)
		}
	})
}

// FuzzPattern compares the matching with one that tries everything.
func FuzzPattern(f *testing.F) {
	for _, s := range [][2]string{{"/a*b$", "/axb"}, {"*%2A*$", "/*"}, {"/$*", "/$"}, {"/ab*ab", "/abab"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		if len(text) > 40 || len(path) > 40 || strings.Count(text, "*") > 6 {
			return
		}
		p := compile(text)
		if got, want := p.matches(path), slow(text, path); got != want {
			t.Fatalf("%q on %q: %v, want %v (%s)", text, path, got, want, fmt.Sprint(p))
		}
	})
}

func slow(pattern, path string) bool {
	switch {
	case pattern == "":
		return true
	case pattern == "$":
		return path == ""
	case pattern[0] == '*':
		for i := range len(path) + 1 {
			if slow(pattern[1:], path[i:]) {
				return true
			}
		}
		return false
	}
	octet, width := pattern[:1], 1
	if d := decoded(pattern[:min(3, len(pattern))]); pattern[0] == '%' && len(pattern) > 2 && d != pattern[:3] {
		octet, width = d[:1], 3
	}
	return path != "" && path[:1] == octet && slow(pattern[width:], path[1:])
}
