package xls

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/doctest"
)

func read(body []byte) (document.Text, error) {
	return Read(context.Background(), body, document.Limits{})
}

func TestOwnDocuments(t *testing.T) {
	doctest.Run(t, "../../..", read, ".xls")
}

// raw makes the bytes of records. Numbers are little-endian by their types; strings stand as they are.
func raw(parts ...any) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b.WriteString(p)
		case []byte:
			b.Write(p)
		default:
			if err := binary.Write(&b, binary.LittleEndian, p); err != nil {
				panic(err)
			}
		}
	}
	return b.Bytes()
}

// rec makes one record.
func rec(id int, parts ...any) []byte {
	data := raw(parts...)
	return raw(uint16(id), uint16(len(data)), data)
}

func wide(s string) string {
	return string(raw(utf16.Encode([]rune(s))))
}

// book8 makes a stream of the last version: what the sheets share, and the records of one sheet each.
func book8(shared []byte, sheets ...[]byte) []byte {
	list := 0
	for range sheets {
		list += 4 + 8 + 1
	}
	head := append(rec(recBOF, uint16(0x0600), uint16(5), make([]byte, 12)), shared...)
	at := len(head) + list + 4
	for i, s := range sheets {
		head = append(head, rec(recBoundSheet, uint32(at), byte(0), byte(0), byte(1), byte(0), string(rune('A'+i)))...)
		at += 20 + len(s) + 4
	}
	head = append(head, rec(recEOF)...)
	for _, s := range sheets {
		head = append(head, rec(recBOF, uint16(0x0600), uint16(16), make([]byte, 12))...)
		head = append(head, s...)
		head = append(head, rec(recEOF)...)
	}
	return head
}

func TestRecordsOfCells(t *testing.T) {
	at := func(row, column, style int) []byte { return raw(uint16(row), uint16(column), uint16(style)) }
	shared := raw(
		rec(recFormat, uint16(170), uint16(10), byte(0), "yyyy-mm-dd"),
		rec(recXF, uint16(0), uint16(0), make([]byte, 16)), rec(recXF, uint16(0), uint16(170), make([]byte, 16)), rec(recXF, uint16(0), uint16(4), make([]byte, 16)),
		// Shared strings that go on in another record: within a string, with another width of characters, within what follows them.
		rec(recSST, uint32(5), uint32(5), uint16(5), byte(0), "plain", uint16(6), byte(8), uint16(1), "se"),
		rec(recContinue, byte(1), wide("cönd"), uint16(0), uint16(1), uint16(4), byte(5), uint32(5), wide("港")),
		rec(recContinue, byte(1), wide("湾調査"), byte(0), "xx", "yz"),
		rec(recContinue, uint16(0), byte(0), uint16(2), byte(0), "\xE9!"),
	)
	sheet := raw(
		rec(recRow, uint16(3), uint16(0), uint16(9), uint16(255), uint32(0), uint32(0x20)),
		rec(recColInfo, uint16(5), uint16(5), uint16(2000), uint16(15), uint16(1), uint16(0)),
		rec(recLabelSST, at(0, 0, 0), uint32(0)), rec(recLabelSST, at(0, 1, 0), uint32(1)), rec(recLabelSST, at(0, 2, 0), uint32(2)), rec(recLabelSST, at(0, 3, 0), uint32(99)), rec(recLabelSST, at(0, 4, 0), uint32(4)),
		rec(recNumber, at(1, 0, 1), 47916.0), rec(recRK, at(1, 1, 0), uint32(1234<<2|2)), rec(recRK, at(1, 2, 0), uint32(1234<<2|3)), rec(recRK, at(1, 3, 2), uint32(math.Float64bits(1500)>>32)), rec(recNumber, at(1, 5, 0), 666.0),
		rec(recMulRK, uint16(2), uint16(0), uint16(0), uint32(1<<2|2), uint16(1), uint32(47917<<2|2), uint16(0), uint32(0xFFFFFFFE), uint16(2)),
		rec(recNumber, at(3, 0, 0), 777.0),
		rec(recFormula2, at(4, 0, 0), 2.5, uint16(0), uint32(0)),
		rec(recFormula2, at(4, 1, 0), byte(0), make([]byte, 5), uint16(0xFFFF), uint16(0)), rec(0x04BC, "shared formula"), rec(recString, uint16(4), byte(0), "te"), rec(recContinue, byte(0), "xt"),
		rec(recFormula2, at(4, 2, 0), byte(1), byte(0), byte(1), make([]byte, 3), uint16(0xFFFF)),
		rec(recFormula2, at(4, 3, 0), byte(2), byte(0), byte(0x2A), make([]byte, 3), uint16(0xFFFF)),
		rec(recFormula2, at(4, 4, 0), byte(3), make([]byte, 5), uint16(0xFFFF)),
		rec(recBOF, uint16(0x0600), uint16(0x20), make([]byte, 12)), rec(recNumber, at(9, 9, 0), 888.0), rec(recEOF), // a chart
		rec(recBoolErr, at(5, 0, 0), byte(0), byte(0)), rec(recBoolErr, at(5, 1, 0), byte(7), byte(1)), rec(recLabel, at(5, 2, 0), uint16(2), byte(1), wide("ж|")),
		rec(recMergeCells, uint16(1), uint16(5), uint16(5), uint16(2), uint16(4)), rec(recNumber, at(5, 3, 0), 999.0),
		rec(recHLink, uint16(0), uint16(0), uint16(0), uint16(0), make([]byte, 16), uint32(2), uint32(0x17), uint32(2), wide("a\x00"),
			"\xE0\xC9\xEA\x79\xF9\xBA\xCE\x11\x8C\x82\x00\xAA\x00\x4B\xA9\x0B", uint32(2*25), wide("https://harbour.example/\x00"), make([]byte, 0)),
	)
	text, err := read(book8(shared, sheet))
	want := `## A

| [plain](https://harbour.example/) | secönd | 港湾調査 | | é! |
| --- | --- | --- | --- | --- |
| 2031-03-09 | 1234 | 12.34 | 1,500.00 | |
| 1 | 2031-03-10 | -1 | | |
| 2.5 | text | TRUE | #N/A | |
| FALSE | #DIV/0! | ж\| | | |

*Hidden and left out: 1 row and 1 column.*`
	if err != nil || text.Markdown != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text.Markdown, want)
	}
}

// TestDrawings: a sheet with a drawing alone is not called empty; remarks and arrows of filters are no drawings.
func TestDrawings(t *testing.T) {
	object := func(kind int) []byte {
		return rec(recObject, uint16(0x15), uint16(0x12), uint16(kind), make([]byte, 16))
	}
	text, err := read(book8(nil, object(8), object(0x19), object(0x14)))
	want := "## A\n\n*This sheet has drawings, such as charts or pictures, and no cells with content.*\n\n## B\n\n*This sheet is empty.*\n\n## C\n\n*This sheet is empty.*"
	if err != nil || !strings.HasPrefix(text.Markdown, want) {
		t.Errorf("%v\n%s", err, text.Markdown)
	}
}

func TestOlderVersions(t *testing.T) {
	five := raw(rec(recBOF, uint16(0x0500), uint16(5), make([]byte, 4)), rec(recCodePage, uint16(1251)), rec(recDateMode, uint16(1)))
	list := raw(rec(recXF, uint16(0), uint16(14), make([]byte, 12)))
	at := len(five) + len(list) + 2*(4+7) + len("\xCB\xE8\xF1\xF2") + len("module") + 4
	five = raw(five, list, rec(recBoundSheet, uint32(at), byte(0), byte(0), byte(4), "\xCB\xE8\xF1\xF2"), rec(recBoundSheet, uint32(1), byte(0), byte(6), byte(6), "module"), rec(recEOF),
		rec(recBOF, uint16(0x0500), uint16(16), make([]byte, 4)), rec(recRString, uint16(0), uint16(0), uint16(0), uint16(2), "\xC4\xE0", byte(1), uint16(0)), rec(recNumber, uint16(0), uint16(1), uint16(0), 46454.0), rec(recEOF))
	two := raw(rec(recBOF2, uint16(2), uint16(16)), rec(recFormat2, byte(7), "General"), rec(recFormat2, byte(4), "0.00"), rec(recXF2, byte(0), byte(0), byte(0), byte(0)), rec(recXF2, byte(0), byte(0), byte(1), byte(0)),
		rec(recLabel2, uint16(0), uint16(0), byte(0), byte(0), byte(0), byte(2), "ab"), rec(recInteger2, uint16(1), uint16(0), byte(1), byte(0), byte(0), uint16(7)), rec(recNumber2, uint16(1), uint16(1), byte(0), byte(0), byte(0), 2.5),
		rec(recFormula2, uint16(2), uint16(0), byte(0), byte(0), byte(0), byte(0), make([]byte, 5), uint16(0xFFFF)), rec(recString2, byte(3), "sum"), rec(recBoolErr2, uint16(2), uint16(1), byte(0), byte(0), byte(0), byte(1), byte(0)), rec(recEOF))
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"5": {five, "## Лист\n\n| Да | 2031-03-09 |\n| --- | --- |"},
		"2": {two, "## Sheet1\n\n| | |\n| --- | --- |\n| ab | |\n| 7.00 | 2.5 |\n| sum | TRUE |"},
	} {
		if text, err := read(c.body); err != nil || text.Markdown != c.want {
			t.Errorf("version %s: %v\n%s", name, err, text.Markdown)
		}
	}
}

// TestCodePages: texts of the versions before Unicode, as the workbook's code page has them.
func TestCodePages(t *testing.T) {
	for page, c := range map[int][2]string{1251: {"\xCA\xEB\xFE\xF7", "Ключ"}, 932: {"\x8a\xbf\x8e\x9a", "漢字"}, 10001: {"\x8a\xbf\x8e\x9a", "漢字"}, 10000: {"Gr\x9a\xa7e", "Größe"}, 10008: {"\xba\xba\xd7\xd6", "汉字"},
		20866: {"\xeb\xcc\xc0\xde", "Ключ"}, 28605: {"10 \xa4", "10 €"}, 850: {"Gr\x94\xe1e", "Größe"}, 7: {"10 \x80", "10 €"}} {
		body := raw(rec(recBOF4, uint16(0), uint16(16), uint16(0)), rec(recCodePage, uint16(page)), rec(recLabel, uint16(0), uint16(0), uint16(0), uint16(len(c[0])), c[0]), rec(recEOF))
		if text, err := read(body); err != nil || !strings.Contains(text.Markdown, "| "+c[1]+" |") {
			t.Errorf("%d: %v\n%s", page, err, text.Markdown)
		}
	}
}

func TestRefusals(t *testing.T) {
	good, err := os.ReadFile("../../../testdata/documents/harbour.xls")
	if err != nil {
		t.Fatal(err)
	}
	one := book8(nil, rec(recNumber, uint16(0), uint16(0), uint16(0), 1.0))
	for name, c := range map[string]struct {
		body []byte
		want document.Reason
	}{
		"nothing":          {nil, document.Damaged},
		"no workbook":      {[]byte("<html><table>"), document.Damaged},
		"a header alone":   {good[:512], document.Damaged},
		"half of it":       {good[:len(good)/2], document.Damaged},
		"cut records":      {one[:len(one)-3], document.Damaged},
		"a password":       {book8(rec(recFilePass, uint16(1), make([]byte, 52)), nil), document.Encrypted},
		"no sheets":        {book8(nil), document.Damaged},
		"a sheet nowhere":  {bytes.Replace(one, raw(uint16(recBoundSheet), uint16(9), uint32(len(one)-42)), raw(uint16(recBoundSheet), uint16(9), uint32(1<<30)), 1), document.Damaged},
		"another document": {bytes.ReplaceAll(good, []byte(wide("Workbook")), []byte(wide("Weakbook"))), document.Unsupported},
	} {
		text, err := read(c.body)
		var e *document.Error
		if !errors.As(err, &e) || e.Reason != c.want || text.Markdown != "" {
			t.Errorf("%s: %v %q", name, err, text.Markdown)
		}
	}
	if text, err := read(one); err != nil || !strings.Contains(text.Markdown, "| 1 |") {
		t.Errorf("%v %q", err, text.Markdown)
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/documents/*.xls")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
		if data, err := stream(body); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) { doctest.Sound(t, read, body) })
}
