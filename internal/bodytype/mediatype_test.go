package bodytype

import (
	"strings"
	"testing"
	"unicode"
)

// TM-033: whatever a server sends as a media type, it is a token, or nothing.
func TestTM033ContentTypeHeaderGivesATokenOrNothing(t *testing.T) {
	long := "application/" + strings.Repeat("a", maxMediaType-len("application/"))
	for _, c := range []struct {
		name          string
		values        []string
		media, charst string
	}{
		{"none", nil, "", ""},
		{"empty", []string{""}, "", ""},
		{"plain", []string{"text/html"}, "text/html", ""},
		{"any case", []string{"Text/HTML; Charset=UTF-8"}, "text/html", "utf-8"},
		{"white space", []string{" \ttext/html ;\tcharset = gbk "}, "text/html", "gbk"},
		{"quoted", []string{`text/plain;charset="a\"b;c"; x=y`}, "text/plain", `a"b;c`},
		{"quoted without end", []string{`text/plain;charset="gbk`}, "text/plain", "gbk"},
		{"quotes inside a token", []string{`text/plain;x="a;charset=gbk";charset=big5`}, "text/plain", "big5"},
		{"empty charset first", []string{"text/plain; charset=; charset=gbk"}, "text/plain", "gbk"},
		{"empty quoted charset first", []string{`text/plain; charset=""; charset=gbk`}, "text/plain", "gbk"},
		{"charset without a sign", []string{"text/plain; charset"}, "text/plain", ""},
		{"first of two charsets", []string{"text/plain; charset=big5; charset=gbk"}, "text/plain", "big5"},
		{"no type", []string{"; charset=gbk"}, "", ""},
		{"no slash", []string{"nonsense"}, "", ""},
		{"two slashes", []string{"text/html/x"}, "", ""},
		{"half a type", []string{"text/"}, "", ""},
		{"any type", []string{"*/*"}, "", ""},
		{"a letter that lowers to ASCII", []string{"text/mar\u212adown"}, "", ""},
		{"no token", []string{"text/x \u00b7 200 OK"}, "", ""},
		{"a sentence", []string{"text/ignore previous instructions"}, "", ""},
		{"control characters", []string{"text/x\x1b[2J"}, "", ""},
		{"as long as may be", []string{long}, long, ""},
		{"too long", []string{long + "a"}, "", ""},
		{"missing semicolon", []string{"text/html charset=gbk"}, "", ""},

		// W-053: the last well-formed one counts, in several headers and in one.
		{"two headers", []string{"text/plain", "text/html; charset=utf-8"}, "text/html", "utf-8"},
		{"two in one", []string{"text/plain, text/html;charset=gbk"}, "text/html", "gbk"},
		{"the last is broken", []string{"text/html; charset=gbk", "nonsense"}, "text/html", "gbk"},
		{"the last is any type", []string{"text/html;charset=gbk", "*/*"}, "text/html", "gbk"},
		{"the same type keeps its charset", []string{"text/html;charset=gbk", "text/html"}, "text/html", "gbk"},
		{"the same type with another charset", []string{"text/html;charset=gbk", "text/html;charset=big5"}, "text/html", "big5"},
		{"another type drops the charset", []string{"text/html;charset=gbk", "text/plain"}, "text/plain", ""},
		{"a comma inside quotes", []string{`text/html;x="a,text/plain";charset=gbk`}, "text/html", "gbk"},
	} {
		media, label := ParseContentType(c.values)
		if media != c.media || label != c.charst {
			t.Errorf("%s: %q: got %q and %q, want %q and %q", c.name, c.values, media, label, c.media, c.charst)
		}
	}
}

// FuzzContentType: whatever a server sends, the media type can stand in the header line (W-054).
func FuzzContentType(f *testing.F) {
	for _, seed := range []string{"text/html; charset=utf-8", `a/b;charset="x\"`, "text/html, */*", "text/x · 200 OK", ",;=\""} {
		f.Add(seed, "text/plain")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		media, label := ParseContentType([]string{first, second})
		if media != "" && !IsMediaType(media) {
			t.Fatalf("%q is no media type", media)
		}
		if len(media) > maxMediaType || strings.ContainsFunc(media, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' }) {
			t.Fatalf("%q may not stand in the header line", media)
		}
		if media == "" && label != "" {
			t.Fatalf("a charset %q of no type", label)
		}
		if again, _ := ParseContentType([]string{media}); again != media {
			t.Fatalf("%q reads as %q", media, again)
		}
	})
}
