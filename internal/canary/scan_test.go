package canary

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"
)

func escapeEach(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, format, s[i])
		}
		return b.String()
	}
}

// escapeSome escapes every third character.
func escapeSome(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			if i%3 == 0 {
				fmt.Fprintf(&b, format, s[i])
			} else {
				b.WriteByte(s[i])
			}
		}
		return b.String()
	}
}

func wide(big bool) func(string) string {
	return func(s string) string {
		var b []byte
		for _, u := range utf16.Encode([]rune(s)) {
			if big {
				b = append(b, byte(u>>8), byte(u))
			} else {
				b = append(b, byte(u), byte(u>>8))
			}
		}
		return string(b)
	}
}

func asJSON(s string) string { b, _ := json.Marshal(map[string]string{"k": s}); return string(b) }

// leaks are the ways in which a text may have left, written by other code than the search's: by the standard library
// where it has one.
func leaks() map[string]func(string) string {
	return map[string]func(string) string{
		"as it is":            func(s string) string { return s },
		"in a URL's query":    func(s string) string { return url.Values{"q": {s}}.Encode() },
		"in a path":           url.PathEscape,
		"in JSON":             asJSON,
		"JSON in JSON":        func(s string) string { return asJSON(asJSON(s)) },
		"in XML":              func(s string) string { var b bytes.Buffer; _ = xml.EscapeText(&b, []byte(s)); return b.String() },
		"in HTML":             html.EscapeString,
		"quoted by Go":        strconv.Quote,
		"percent":             escapeEach("%%%02x"),
		"percent, upper":      escapeEach("%%%02X"),
		"percent, some":       escapeSome("%%%02x"),
		"percent twice":       func(s string) string { return url.QueryEscape(escapeEach("%%%02X")(s)) },
		"HTML, decimal":       escapeEach("&#%d;"),
		"HTML, zeros":         escapeEach("&#%05d;"),
		"HTML, hex":           escapeEach("&#x%x;"),
		"HTML, hex, no end":   escapeEach("&#X%x"),
		"HTML, some":          escapeSome("&#%d;"),
		"HTML twice":          func(s string) string { return html.EscapeString(escapeEach("&#%d;")(s)) },
		"JSON, all":           escapeEach(`\u%04x`),
		"JSON, all, upper":    escapeEach(`\u%04X`),
		"JSON, some":          escapeSome(`\u%04x`),
		"JSON in a JSON text": func(s string) string { return asJSON(escapeEach(`\u%04x`)(s)) },
		"C, hex":              escapeEach(`\x%02x`),
		"C, octal":            escapeEach(`\%03o`),
		"slashes":             func(s string) string { return strings.ReplaceAll(s, "-", `\-`) },
		"JSON in a URL":       func(s string) string { return escapeEach("%%%02X")(escapeEach(`\u%04x`)(s)) },
		"hex":                 func(s string) string { return hex.EncodeToString([]byte(s)) },
		"hex, upper":          func(s string) string { return fmt.Sprintf("%X", s) },
		"hex, spaced":         func(s string) string { return fmt.Sprintf("% x", s) },
		"hex, spaced, upper":  func(s string) string { return fmt.Sprintf("% X", s) },
		"hex, 0x":             func(s string) string { return fmt.Sprintf("%#v", []byte(s)) },
		"hex dump":            func(s string) string { return hex.Dump([]byte(s)) },
		"bytes by Go":         func(s string) string { return fmt.Sprint([]byte(s)) },
		"bytes as JSON":       func(s string) string { return strings.ReplaceAll(strings.Trim(fmt.Sprint([]byte(s)), "[]"), " ", ",") },
		"base64":              func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64, shifted":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte("x" + s + "yz")) },
		"base64, shifted by 2": func(s string) string {
			return base64.URLEncoding.EncodeToString([]byte("xy" + s + "z"))
		},
		"basic authorization": func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+s)) },
		"PEM": func(s string) string {
			return string(pem.EncodeToMemory(&pem.Block{Type: "X", Bytes: []byte(strings.Repeat("?", 20) + s)}))
		},
		"bytes in JSON": func(s string) string { b, _ := json.Marshal([]byte(s)); return string(b) },
		"UTF-16LE":      wide(false),
		"UTF-16BE":      wide(true),
		"reversed":      func(s string) string { return strings.Join(strings.Split(reversed(s), ""), "") },
		"upper case":    strings.ToUpper,
		"gzip":          func(s string) string { return "before" + gzipped(s) + "after" },
		"zlib":          zlibbed,
		"zstd":          func(s string) string { return "before" + zstded(s) + "after" },
		"zstd in gzip":  func(s string) string { return gzipped(zstded(s)) },
		"gzip in gzip, among text": func(s string) string { // coded bit by bit, so that nothing of the inner one shows
			lines := strings.Repeat("a line of text that is there often\n", 200)
			return gzipped(lines + gzipped(lines+s) + lines)
		},
		"JSON in gzip in zstd": func(s string) string {
			return zstded("head" + gzipped(escapeEach(`\u%04x`)(s)) + "tail")
		},
	}
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

func zlibbed(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

func zstded(s string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return string(w.EncodeAll([]byte(s), nil))
}

// noise is text that is no canary: words, ids and bytes.
func noise(n int) string {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var b strings.Builder
	for b.Len() < n {
		switch r.IntN(4) {
		case 0:
			b.WriteString("the quick brown fox %20 &amp; \\n jumps over ")
		case 1:
			for range 26 {
				b.WriteByte(alphabet[r.IntN(32)])
			}
		case 2:
			for range 30 {
				b.WriteByte(byte(r.Uint32()))
			}
		default:
			fmt.Fprintf(&b, `{"id":"call_%x","n":%d}`, r.Uint64(), r.Uint32())
		}
	}
	return b.String()
}

func TestCanaryIsFoundInEveryForm(t *testing.T) {
	for name, leak := range leaks() {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				c, other := New("K3-agent-token"), New("K4")
				s := NewScanner(other, c)
				for _, around := range []string{"", noise(300)} {
					hits := s.Find([]byte(around+leak(c.String())+around), false)
					if len(hits) == 0 {
						t.Fatalf("not found in %q", leak(c.String()))
					}
					for _, h := range hits {
						if h.Canary != c {
							t.Fatalf("found %v, which was not there", h)
						}
					}
				}
			}
		})
	}
}

// TestPieceOfACanaryIsFoundInEveryForm: any eight characters of the random part are enough, wherever they stand.
func TestPieceOfACanaryIsFoundInEveryForm(t *testing.T) {
	wrapped := map[string]bool{"PEM": true, "hex dump": true} // lines may part eight characters
	for name, leak := range leaks() {
		if wrapped[name] {
			continue
		}
		c := New("K1")
		s := NewScanner(c)
		for start := range randomLen - window + 1 {
			piece := c.random[start : start+window]
			for before := range 3 {
				text := leak("ABC"[:before] + piece + "Z")
				if len(s.Find([]byte(text), false)) == 0 {
					t.Errorf("%s: %q was not found in %q", name, piece, text)
				}
			}
		}
	}
}

func TestPartSaysHowMuchWasThere(t *testing.T) {
	c := New("K1")
	s := NewScanner(c)
	for text, want := range map[string]string{
		c.String(): "whole", c.random: "whole", c.random[:13]: "first half", c.random[13:]: "last half", c.random[5:13]: "part", c.random[:25]: "first half",
	} {
		hits := s.Find([]byte("x "+text), false)
		if len(hits) != 1 || hits[0].Part != want || hits[0].Form != "plain" {
			t.Errorf("%q: %+v, expected %s", text, hits, want)
		}
	}
	if hits := s.Find([]byte("12345"+c.random), false); len(hits) != 1 || hits[0].At != 5 {
		t.Errorf("%+v", hits)
	}
	hits := s.Find([]byte("123"+gzipped("1234567"+c.random)), false)
	if len(hits) != 1 || hits[0].Inside != "gzip at 3" || hits[0].At != 7 {
		t.Errorf("%+v", hits)
	}
	// The compressed member stands in the other as it is, and so is found twice.
	hits = s.Find([]byte(zstded("12"+gzipped("1234567"+c.random))), false)
	if len(hits) != 2 || hits[1].Inside != "zstd at 0, gzip at 2" {
		t.Errorf("%+v", hits)
	}
}

func TestEndsCountInSmallAnswersWhereTheyStandAlone(t *testing.T) {
	c := New("K1")
	s := NewScanner(c)
	first, last := c.random[:4], c.random[22:]
	for text, want := range map[string]bool{
		"key …" + last:           true,
		"key ****" + last + ".":  true,
		`{"key":"` + first + `…`: true,
		"cnry-K1-" + first + "…": true,
		"x" + last:               false,
		last + "9":               false,
		first + last[:1]:         false,
		"…" + c.random[5:9]:      false,
		"…" + c.random[:3]:       false,
		"%2e" + last:             true,
	} {
		if got := len(s.Find([]byte(text), true)) > 0; got != want {
			t.Errorf("%q: %v", text, got)
		}
		if len(s.Find([]byte(text), false)) > 0 {
			t.Errorf("%q: found in a place that is not small", text)
		}
	}
}

// TestNothingIsFoundWhereNothingIs: sixty canaries, and many megabytes of what they might be mistaken for.
func TestNothingIsFoundWhereNothingIs(t *testing.T) {
	var all []Canary
	for n := range 60 {
		all = append(all, New(fmt.Sprintf("K%d", n)))
	}
	s := NewScanner(all...)
	for _, text := range []string{noise(2 << 20), gzipped(noise(1 << 20)), strings.Repeat("a", 1<<20), strings.Repeat("cnry-K1-", 1<<16), strings.Repeat("\x00", 1<<20)} {
		if hits := s.Find([]byte(text), false); len(hits) > 0 {
			t.Errorf("%+v", hits)
		}
	}
	if hits := s.Find(nil, true); hits != nil {
		t.Errorf("%+v", hits)
	}
}

func TestCutAndDamagedMembersAreLookedAtAsFarAsTheyOpen(t *testing.T) {
	c := New("K1")
	s := NewScanner(c)
	text := c.String() + noise(200_000)
	for name, whole := range map[string]string{"gzip": gzipped(text), "zlib": zlibbed(text)} {
		if len(s.Find([]byte(whole[:len(whole)/2]), false)) == 0 {
			t.Errorf("%s, cut: not found", name)
		}
		damaged := []byte(whole)
		damaged[len(damaged)-6] ^= 0xff
		if len(s.Find(damaged, false)) == 0 {
			t.Errorf("%s, damaged: not found", name)
		}
	}
	two := gzipped("first") + gzipped("second "+c.String())
	if len(s.Find([]byte(two), false)) == 0 {
		t.Error("second member: not found")
	}
	bomb := gzipped(strings.Repeat("\x00", 8<<20) + c.String())
	if len(s.Find([]byte(bomb), false)) == 0 {
		t.Error("behind eight megabytes of zeros: not found")
	}
}

func TestSecretsThatAreNotTextAreFound(t *testing.T) {
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(250 - 7*i)
	}
	c, err := Of("K5", string(key))
	if err != nil {
		t.Fatal(err)
	}
	s := NewScanner(c)
	for name, text := range map[string]string{
		"raw": string(key), "hex": hex.EncodeToString(key), "base64": base64.StdEncoding.EncodeToString(key), "URL": url.QueryEscape(string(key)),
		"Go": fmt.Sprint(key), "quoted": fmt.Sprintf("%+q", key), "gzip": gzipped(string(key)), "C": escapeEach(`\x%02x`)(string(key)),
	} {
		if len(s.Find([]byte("text "+text+" text"), false)) == 0 {
			t.Errorf("%s: not found in %q", name, text)
		}
	}
	if _, err := Of("K5", "short"); err == nil {
		t.Error("a short secret is no canary")
	}
}

func TestNamesOfPlacesArePlain(t *testing.T) {
	for _, bad := range []string{"", "a b", "a/b", "ä"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was taken", bad)
				}
			}()
			New(bad)
		}()
	}
	if one, other := New("x"), New("x"); one == other {
		t.Errorf("twice %q", one)
	}
	if c := New("K18-db"); len(c.String()) != len("cnry-K18-db-")+26 || c.Code() != c.String()[12:] || c.Place() != "K18-db" {
		t.Errorf("%q", c.String())
	}
}

func FuzzFind(f *testing.F) {
	c := New("K1")
	s := NewScanner(c)
	f.Add([]byte("%"), uint8(0), uint8(0))
	f.Add([]byte(gzipped("x")), uint8(3), uint8(5))
	f.Add([]byte(`&#x&#;\u00\x\1`), uint8(1), uint8(9))
	f.Fuzz(func(t *testing.T, around []byte, at, start uint8) {
		if len(s.Find(around, true)) > 0 {
			t.Fatal("found where it is not")
		}
		i, from := int(at)%(len(around)+1), int(start)%(randomLen-window+1)
		text := append(append(bytes.Clone(around[:i]), c.random[from:from+window]...), around[i:]...)
		if len(s.Find(text, false)) == 0 {
			t.Fatalf("not found in %q", text)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	var all []Canary
	for n := range 60 {
		all = append(all, New(fmt.Sprintf("K%d", n)))
	}
	s := NewScanner(all...)
	text := []byte(noise(8 << 20))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Find(text, false)
	}
}
