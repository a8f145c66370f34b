package pack

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wayleave/wayleave/internal/document"
)

// peer gives the tokens of a text as encoding/xml has them; false if it takes the text for broken.
func peer(data []byte) (string, bool) {
	d := xml.NewDecoder(bytes.NewReader(data))
	var b strings.Builder
	for {
		t, err := d.RawToken()
		if err != nil {
			return b.String(), errors.Is(err, io.EOF)
		}
		switch t := t.(type) {
		case xml.StartElement:
			fmt.Fprintf(&b, "\n<%s", t.Name.Local)
			for _, a := range t.Attr {
				fmt.Fprintf(&b, " %s:%s=%q", a.Name.Space, a.Name.Local, a.Value)
			}
		case xml.EndElement:
			fmt.Fprintf(&b, "\n/%s", t.Name.Local)
		case xml.CharData:
			fmt.Fprintf(&b, "\n%q", t)
		}
	}
}

// ours is peer for the scanner.
func ours(in *scanner) (string, error) {
	var b strings.Builder
	for {
		kind, name, text, err := in.token()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return b.String(), err
		}
		switch kind {
		case Start:
			fmt.Fprintf(&b, "\n<%s", name)
			for i := range in.attrs {
				a := &in.attrs[i]
				fmt.Fprintf(&b, " %s:%s=%q", a.prefix, a.local, in.value(a))
			}
		case End:
			fmt.Fprintf(&b, "\n/%s", name)
		case Chars:
			fmt.Fprintf(&b, "\n%q", text)
		}
	}
}

// TestTokensAreThoseOfThePeer reads every XML part of our own documents by both, whole and byte by byte.
func TestTokensAreThoseOfThePeer(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/documents/harbour.*")
	if err != nil || len(files) < 5 {
		t.Fatal(err, files)
	}
	compared := 0
	for _, file := range files {
		z, err := zip.OpenReader(file)
		if err != nil {
			continue // no archive
		}
		for _, f := range z.File {
			if !strings.HasSuffix(f.Name, ".xml") && !strings.HasSuffix(f.Name, ".rels") {
				continue
			}
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			want, ok := peer(data)
			if !ok {
				t.Fatalf("%s: %s is broken", file, f.Name)
			}
			if got, err := ours(&scanner{buf: data, end: len(data)}); err != nil || got != want {
				t.Errorf("%s: %s: %v", file, f.Name, err)
			}
			if got, err := ours(&scanner{in: iotest.OneByteReader(bytes.NewReader(data))}); err != nil || got != want {
				t.Errorf("%s: %s byte by byte: %v", file, f.Name, err)
			}
			compared++
		}
		z.Close()
	}
	if compared < 20 {
		t.Errorf("only %d parts", compared)
	}
}

func TestScanning(t *testing.T) {
	utf16 := func(s string, big bool) string {
		var b []byte
		for _, c := range s {
			if big {
				b = append(b, byte(c>>8), byte(c))
			} else {
				b = append(b, byte(c), byte(c>>8))
			}
		}
		return string(b)
	}
	for text, want := range map[string]string{
		"\xEF\xBB\xBF<a>x</a>":                                 "\n<a\n\"x\"\n/a",
		"\xFF\xFE" + utf16("<a>ä</a>", false):                  "\n<a\n\"ä\"\n/a",
		"\xFE\xFF" + utf16("<a>ä</a>", true):                   "\n<a\n\"ä\"\n/a",
		utf16(`<?xml version="1.0"?><a/>`, false):              "\n<a\n/a",
		"<?xml version='1.0' encoding = 'latin1'?><a>\xe4</a>": "\n<a\n\"ä\"\n/a",
		"<a b='&lt;&#65;&#x42;&amp;amp;' c=\">\"/>":            "\n<a :b=\"<AB&amp;\" :c=\">\"\n/a",
		"<a b='?x=1&y=2&' c='&lt;&;&amp'/>":                    "\n<a :b=\"?x=1&y=2&\" :c=\"<&;&amp\"\n/a",
		"<a><![CDATA[<&\r\n\r]]]></a>":                         "\n<a\n\"<&\\n\\n]\"\n/a",
		"<a>1\r\n2\r3&#13;</a>":                                "\n<a\n\"1\\n2\\n3\\r\"\n/a",
		"<!DOCTYPE a [<!ELEMENT a (#PCDATA)>]><a/>":            "\n<a\n/a",
		"<a><!-- <b> -- > --><?php ?>x</a>":                    "\n<a\n\"x\"\n/a",
		"<a>\x01&#0;&#xD800;</a>":                              "\n<a\n\"\\x01\uFFFD\uFFFD\"\n/a",
		"<_ü:ö xmlns:_ü='u'/>":                                 "\n<ö xmlns:_ü=\"u\"\n/ö",
	} {
		for _, in := range []*scanner{{buf: []byte(text), end: len(text)}, {in: iotest.HalfReader(strings.NewReader(text))}} {
			if got, err := ours(in); err != nil || got != want {
				t.Errorf("%q: %q, %v, want %q", text, got, err, want)
			}
		}
	}
	for _, text := range []string{"<", "<a", "<a b", "<a b=", "<a b=c>", "<a b='c>", "</a", "</>", "< a>", "<1>", "<a>&b", "<a>&b;</a>", "<a>& b;</a>", "<!-- ", "<![CDATA[ ]]", "<?xml ", "<!DOCTYPE ", "<a>\xff</a>", "<a b='\xff'/>", "<a b='&x;'/>", "<![CDATA[\xff]]>", "<a <b>"} {
		if got, err := ours(&scanner{buf: []byte(text), end: len(text)}); err == nil {
			t.Errorf("%q passes as %q", text, got)
		}
	}
}

func TestLongTextComesInPieces(t *testing.T) {
	long := strings.Repeat("ä&amp;", 1<<20)
	x := NewXML("p", []byte("<a>"+long+"</a>"), document.Limits{})
	if err := x.Root(); err != nil {
		t.Fatal(err)
	}
	got, err := x.AllText()
	if err != nil || got != strings.Repeat("ä&", 1<<20) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestPartsAreUnpackedAsTheyAreRead(t *testing.T) {
	body := archive(t, [2]string{"a", "<a>" + strings.Repeat("<b/>", 100_000) + "</a>"}, [2]string{"c", "<c/>"})
	a, err := Open(body, document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := a.XML("a", document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Root(); err != nil || a.left < 64<<20-200_000 {
		t.Errorf("%v; %d bytes are left", err, a.left)
	}
	n := 0
	if err := x.Children(func(string) error { n++; return nil }); err != nil || n != 100_000 {
		t.Errorf("%d, %v", n, err)
	}
	if small, err := Open(body, document.Limits{Unpacked: 300_000}); err != nil {
		t.Error(err)
	} else if _, err := small.XML("a", document.Limits{}); reason(err) != document.TooLarge {
		t.Errorf("a part that says it is too large: %v", err)
	}
	lying := bytes.Clone(body)
	at := bytes.LastIndex(lying, []byte("PK\x01\x02\x14\x00\x14\x00"))
	at = bytes.Index(lying, lying[at:at+8])
	lying[at+24], lying[at+25], lying[at+26] = 16, 0, 0 // the size in the directory
	a, err = Open(lying, document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read("a"); reason(err) != document.Damaged {
		t.Errorf("a part that is longer than it says: %v", err)
	}
}

func FuzzXML(f *testing.F) {
	for _, text := range []string{`<?xml version="1.0"?><a b="c" d:e='f'>g<h/>&amp;</a>`, "<![CDATA[x]]><!-- y --><!DOCTYPE z [<!ELEMENT q>]>", "<a>\r\n</a>"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ours(&scanner{buf: data, end: len(data)})
		stream, err2 := ours(&scanner{in: iotest.OneByteReader(bytes.NewReader(data))})
		if (err == nil) != (err2 == nil) || err == nil && got != stream {
			t.Errorf("whole: %v %q\nin pieces: %v %q", err, got, err2, stream)
		}
		plain := bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("<!--"), nil), []byte("<![CDATA["), nil)
		if bytes.Contains(data, []byte("<?")) || bytes.Contains(plain, []byte("<!")) || bytes.ContainsAny(data, "\x00\xEF\xFE\xFF") {
			return // encodings and directives, where the two differ on purpose
		}
		if want, ok := peer(data); ok && (err != nil || got != want) {
			t.Errorf("%q, %v\nthe peer has %q", got, err, want)
		}
	})
}

func BenchmarkXML(b *testing.B) {
	var sheet strings.Builder
	sheet.WriteString("<sheetData>")
	for r := range 2000 {
		fmt.Fprintf(&sheet, `<row r="%d" spans="1:3"><c r="A%d" s="1" t="s"><v>%d</v></c><c r="B%d"><v>3.25</v></c></row>`, r, r, r, r)
	}
	sheet.WriteString("</sheetData>")
	data := []byte(sheet.String())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		x := NewXML("p", data, document.Limits{})
		for {
			if err := x.Next(); err != nil {
				if !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
				break
			}
		}
	}
}
