package charset

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTheFirstThatAppliesDecides(t *testing.T) {
	const meta = `<meta charset="koi8-r">`
	const declaration = `<?xml version="1.0" encoding="koi8-r"?>`
	for _, c := range []struct {
		name     string
		body     string
		header   string
		markup   Markup
		text     string
		encoding string
	}{
		{"nothing", "caf\u00e9", "", None, "caf\u00e9", "utf-8"},
		{"empty", "", "", HTML, "", "utf-8"},
		{"header", "caf\xE9", "latin1", None, "caf\u00e9", "windows-1252"},
		{"header over meta", meta + "\xC1", "windows-1251", HTML, meta + "Б", "windows-1251"},
		{"header over XML declaration", declaration + "\xC1", "windows-1251", XML, declaration + "Б", "windows-1251"},
		{"meta", meta + "\xC1", "", HTML, meta + "а", "koi8-r"},
		{"unknown header, then meta", meta + "\xC1", "x-none-such", HTML, meta + "а", "koi8-r"},
		{"unknown header, then XML declaration", declaration + "\xC1", "x-none-such", XML, declaration + "а", "koi8-r"},
		{"unknown header alone", "\u00e9", "x-none-such", None, "\u00e9", "utf-8"},
		{"meta counts in HTML only", meta + "\xC1", "", None, meta + "\uFFFD", "utf-8"},
		{"meta counts not in XML", meta + "\xC1", "", XML, meta + "\uFFFD", "utf-8"},
		{"XML declaration", declaration + "\xC1", "", XML, declaration + "а", "koi8-r"},
		{"XML declaration in HTML", declaration + "\xC1", "", HTML, declaration + "а", "koi8-r"},
		{"XML declaration in XHTML", declaration + "\xC1", "", XHTML, declaration + "а", "koi8-r"},
		{"XML declaration elsewhere", declaration + "\xC1", "", None, declaration + "\uFFFD", "utf-8"},
		{"UTF-8 mark over all", "\xEF\xBB\xBF" + meta + "é", "latin1", HTML, meta + "é", "utf-8"},
		{"only the first mark goes", "\xEF\xBB\xBF\xEF\xBB\xBFa", "", None, "\uFEFFa", "utf-8"},
		{"UTF-16LE mark", "\xFF\xFEh\x00i\x00", "utf-8", None, "hi", "utf-16le"},
		{"UTF-16BE mark", "\xFE\xFF\x00h\x00i", "", None, "hi", "utf-16be"},
		{"a mark against the header's order", "\xFF\xFEh\x00", "utf-16be", None, "h", "utf-16le"},
		{"UTF-16 by header", "h\x00i\x00", "UTF-16", None, "hi", "utf-16le"},
		{"UTF-16 by its XML declaration", "<\x00?\x00x\x00m\x00l\x00?\x00>\x00", "", XML, "<?xml?>", "utf-16le"},
		{"UTF-16BE by its XML declaration", "\x00<\x00?\x00x\x00m\x00l\x00?\x00>", "", XML, "<?xml?>", "utf-16be"},
		{"UTF-32LE mark", "\xFF\xFE\x00\x00h\x00\x00\x00\x00\xF6\x01\x00", "", None, "h\U0001F600", "utf-32le"},
		{"UTF-32BE mark", "\x00\x00\xFE\xFF\x00\x00\x00h\x00\x11\x00\x00\x00\x00\xD8\x00\x00", "", None, "h\uFFFD\uFFFD\uFFFD", "utf-32be"},
		{"replacement", "hello", "iso-2022-kr", None, "\uFFFD", "replacement"},
		{"replacement of nothing", "", "hz-gb-2312", None, "", "replacement"},
		{"maximal subparts", "\xF0\x9F\x98(\xE2\x82(\xC0\xAF\xED\xA0\x80", "", None, "\uFFFD(\uFFFD(\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD", "utf-8"},
	} {
		text, encoding := Decode([]byte(c.body), c.header, c.markup)
		if text != c.text || encoding != c.encoding {
			t.Errorf("%s: got %q as %s, want %q as %s", c.name, text, encoding, c.text, c.encoding)
		}
	}
}

func TestWideIsUTF16AndUTF32(t *testing.T) {
	for _, c := range []struct {
		body, header string
		markup       Markup
		want         bool
	}{
		{"\xFF\xFEa\x00", "", None, true},
		{"\x00\x00\xFE\xFF", "", None, true},
		{"a\x00", "utf-16le", None, true},
		{"<\x00?\x00x\x00", "", XML, true},
		{"<\x00?\x00x\x00", "", None, false},
		{"a\x00", "", None, false},
		{"\xEF\xBB\xBFa\x00", "utf-16", None, false},
	} {
		if got := Wide([]byte(c.body), c.header, c.markup); got != c.want {
			t.Errorf("Wide(%q, %q, %d) = %v", c.body, c.header, c.markup, got)
		}
	}
}

func TestTextIsAtMostThreeTimesAsLong(t *testing.T) {
	body := bytes.Repeat([]byte{0xFF, 0x81, 0x00}, 1000)
	for encoding := range loadStandard(t).Labels {
		if got := len(decoderOf(encoding)(nil, body)); got > 3*len(body) {
			t.Errorf("%s: %d bytes of text from %d", encoding, got, len(body))
		}
	}
}

func TestDeclarationsCountInTheFirst1024Bytes(t *testing.T) {
	for _, c := range []struct {
		name  string
		start int // where the meta element begins
		want  string
	}{
		{"ends at the last byte", 1024 - len(`<meta charset=gbk>`), "gbk"},
		{"one byte too far", 1024 - len(`<meta charset=gbk>`) + 1, "utf-8"},
		{"beyond", 1100, "utf-8"},
	} {
		body := strings.Repeat(" ", c.start) + "<meta charset=gbk>"
		if _, got := Decode([]byte(body), "", HTML); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for encoding, vectors := range loadStandard(f).Vectors {
		body, err := hex.DecodeString(vectors[0][0])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, encoding, 0)
	}
	f.Add([]byte("<meta charset=shift_jis>\x81<p>"), "", 1)
	f.Add([]byte("<?xml version='1.0' encoding='euc-jp'?>\x8f\xa1<"), "", 2)
	f.Add([]byte("\xff\xfe\x00\xd8a"), "", 3)
	f.Fuzz(func(t *testing.T, body []byte, header string, markup int) {
		text, encoding := Decode(body, header, Markup(markup&3))
		if !utf8.ValidString(text) {
			t.Fatalf("%s: not valid UTF-8: %q", encoding, text)
		}
		if len(text) > 3*len(body) {
			t.Fatalf("%s: %d bytes of text from %d", encoding, len(text), len(body))
		}
		switch encoding {
		case "utf-16le", "utf-16be", "utf-32le", "utf-32be", "iso-2022-jp", "replacement":
			return
		}
		// No decoder makes or loses a sign that opens or closes markup.
		for _, sign := range []byte("<>\"'&") {
			if want, got := bytes.Count(body, []byte{sign}), strings.Count(text, string(sign)); want != got {
				t.Fatalf("%s: %d of %q in the body, %d in the text", encoding, want, sign, got)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct{ name, header, unit string }{
		{"ascii", "", "The harbour is open from six to ten. "},
		{"utf-8", "", "北京今天多云，最高气温二十八度 and then "},
		{"utf-8 broken", "", "caf\xE9 and 北京 "},
		{"gbk", "gbk", "\xB1\xB1\xBE\xA9\xBD\xF1\xCC\xEC\xB6\xE0\xD4\xC6\xA3\xAC\xD7\xEE\xB8\xDF "},
		{"shift_jis", "shift_jis", "\x93\x8C\x8B\x9E\x82\xCC\x93V\x8BC\x82\xCD\x90\xB0\x82\xEA "},
		{"windows-1251", "windows-1251", "\xD6\xE5\xED\xE0 \xEC\xEE\xEB\xEE\xEA\xE0 "},
		{"utf-16le", "utf-16le", "a\x00b\x00\x17S\xACN"},
	} {
		body := bytes.Repeat([]byte(c.unit), 1<<20/len(c.unit))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				Decode(body, c.header, None)
			}
		})
	}
}
