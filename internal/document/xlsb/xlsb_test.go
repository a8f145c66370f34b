package xlsb

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf16"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/doctest"
)

func read(body []byte) (document.Text, error) {
	return Read(context.Background(), body, document.Limits{})
}

func TestOwnDocuments(t *testing.T) {
	doctest.Run(t, "../../..", read, ".xlsb")
}

// raw makes the bytes of a record: numbers are little-endian by their types, strings have their length before them.
func raw(parts ...any) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			units := utf16.Encode([]rune(p))
			b.Write(raw(uint32(len(units)), units))
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
	head := []byte{byte(id)}
	if id > 127 {
		head = []byte{byte(id) | 0x80, byte(id >> 7)}
	}
	n := len(data)
	for n > 127 {
		head = append(head, byte(n)|0x80)
		n >>= 7
	}
	return append(append(head, byte(n)), data...)
}

const (
	rels = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	kind = `http://schemas.openxmlformats.org/officeDocument/2006/relationships/`
)

// workbook packs a workbook with one sheet of these records, and further parts, which may replace its own.
func workbook(t testing.TB, sheet []byte, parts ...any) []byte {
	t.Helper()
	parts = append(parts,
		"_rels/.rels", rels+`<Relationship Id="rId1" Type="`+kind+`officeDocument" Target="xl/workbook.bin"/></Relationships>`,
		"xl/workbook.bin", append(rec(recWorkbookProperties, uint32(1)), rec(recSheet, uint32(0), uint32(1), "rId1", "S")...),
		"xl/_rels/workbook.bin.rels", rels+`<Relationship Id="rId1" Type="`+kind+`worksheet" Target="worksheets/sheet1.bin"/></Relationships>`,
		"xl/worksheets/_rels/sheet1.bin.rels", rels+`<Relationship Id="rId7" Type="`+kind+`hyperlink" Target="https://harbour.example/" TargetMode="External"/></Relationships>`,
		"xl/styles.bin", bytes.Join([][]byte{rec(recFormat, uint16(170), "yyyy\\-mm\\-dd"), rec(recStyle, uint16(0), uint16(9), make([]byte, 12)), rec(recCellStyles, uint32(2)),
			rec(recStyle, uint16(0), uint16(0), make([]byte, 12)), rec(recStyle, uint16(0), uint16(170), make([]byte, 12)), rec(recCellStylesEnd)}, nil),
		"xl/sharedStrings.bin", append(rec(recString, byte(0), "plain"), rec(recString, byte(1), "rich 港", uint32(1), uint32(0))...),
		"xl/worksheets/sheet1.bin", sheet)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: parts[i].(string)}) // stored, for the fuzz target's speed
		if err != nil {
			t.Fatal(err)
		}
		data, ok := parts[i+1].([]byte)
		if !ok {
			data = []byte(parts[i+1].(string))
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRecordsOfCells(t *testing.T) {
	row := func(n int, flags byte) []byte {
		return rec(recRow, uint32(n), uint32(0), uint16(300), byte(0), flags, byte(0), uint32(0))
	}
	cell := func(column, style int) []byte { return raw(uint32(column), uint32(style)) }
	sheet := bytes.Join([][]byte{
		rec(recColumns, uint32(4), uint32(4), uint32(2304), uint32(0), uint16(1)),
		row(0, 0), rec(recShared, cell(0, 0), uint32(0)), rec(recShortShared, uint32(0), uint32(1)), rec(recText, cell(2, 0), "in line|"), rec(recRichText, cell(3, 0), byte(1), "runs", uint32(0)), rec(recReal, cell(4, 0), 666.0), rec(recShared, cell(5, 0), uint32(77)),
		row(1, 0), rec(recReal, cell(0, 1), 46454.0), rec(recShortRK, uint32(0), uint32(50<<2|2)), rec(recRK, cell(2, 0), uint32(50<<2|3)), rec(recBlank, cell(3, 0)),
		row(2, 0x10), rec(recReal, cell(0, 0), 777.0),
		row(3, 0), rec(recBool, cell(0, 0), byte(1)), rec(recError, cell(1, 0), byte(0x2A)), rec(recFormulaText, cell(2, 0), "sum", uint16(0), uint32(0)), rec(recFormulaNumber, cell(3, 0), 2.5, uint16(0)),
		row(4, 0), rec(recFormulaBool, cell(0, 0), byte(0)), rec(recFormulaError, cell(1, 0), byte(7)), rec(recShortText, uint32(0), "x"), rec(recShortReal, uint32(0), 1.5), rec(recShortBlank, uint32(0)), rec(recShortBool, uint32(0), byte(1)),
		rec(recMerge, uint32(4), uint32(4), uint32(2), uint32(3)),
		rec(recLink, uint32(0), uint32(0), uint32(0), uint32(0), "rId7", "", "", ""),
	}, nil)
	text, err := read(workbook(t, sheet))
	want := `## S

| [plain](https://harbour.example/) | rich 港 | in line\| | runs | |
| --- | --- | --- | --- | --- |
| 2031-03-09 | 50 | 0.5 | | |
| TRUE | #N/A | sum | 2.5 | |
| FALSE | #DIV/0! | x | | TRUE |

*Hidden and left out: 1 row and 1 column.*`
	if err != nil || text.Markdown != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text.Markdown, want)
	}
}

// TestDrawings: a sheet with a drawing alone is not called empty; one whose drawing has nothing in it is.
func TestDrawings(t *testing.T) {
	link := rels + `<Relationship Id="rId1" Type="` + kind + `drawing" Target="../drawings/drawing1.xml"/></Relationships>`
	for drawing, want := range map[string]string{
		`<wsDr><twoCellAnchor/></wsDr>`: "## S\n\n*This sheet has drawings, such as charts or pictures, and no cells with content.*",
		`<wsDr/>`:                       "## S\n\n*This sheet is empty.*",
	} {
		text, err := read(workbook(t, rec(recDrawing, "rId1"), "xl/worksheets/_rels/sheet1.bin.rels", link, "xl/drawings/drawing1.xml", drawing))
		if err != nil || !bytes.HasPrefix([]byte(text.Markdown), []byte(want)) {
			t.Errorf("%s: %v\n%s", drawing, err, text.Markdown)
		}
	}
}

// TestUnpackedBytesAreBounded: twice as many as of other documents, and no more.
func TestUnpackedBytesAreBounded(t *testing.T) {
	sheet := bytes.Repeat(rec(recBlank, uint32(0), uint32(0), make([]byte, 1000)), 1500)
	limits := document.Limits{Unpacked: 1 << 20}
	if _, err := Read(context.Background(), workbook(t, sheet), limits); err != nil {
		t.Errorf("%d bytes: %v", len(sheet), err)
	}
	if _, err := Read(context.Background(), workbook(t, append(sheet, sheet...)), limits); !errors.Is(err, &document.Error{Reason: document.TooLarge}) {
		t.Errorf("%d bytes: %v", 2*len(sheet), err)
	}
}

func TestRefusals(t *testing.T) {
	good := workbook(t, nil)
	for name, c := range map[string]struct {
		body []byte
		want document.Reason
	}{
		"nothing":          {nil, document.Damaged},
		"cut off":          {good[:len(good)-30], document.Damaged},
		"a cut record":     {workbook(t, []byte{recText, 100, 1}), document.Damaged},
		"an endless size":  {workbook(t, []byte{recText, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}), document.Damaged},
		"no sheets":        {workbook(t, nil, "xl/workbook.bin", ""), document.Damaged},
		"no part":          {workbook(t, nil, "xl/workbook.bin", rec(recSheet, uint32(0), uint32(1), "rId9", "T"), "xl/_rels/workbook.bin.rels", rels+`<Relationship Id="rId9" Type="`+kind+`worksheet" Target="none.bin"/></Relationships>`, "xl/worksheets/sheet1.bin", "\x01"), document.Damaged},
		"one part of two":  {workbook(t, nil, "xl/workbook.bin", append(rec(recSheet, uint32(0), uint32(1), "rId1", "S"), rec(recSheet, uint32(0), uint32(1), "rId9", "T")...)), ""},
		"declared strings": {workbook(t, rec(recText, uint32(0), uint32(0), uint32(1<<31))), ""},
	} {
		text, err := read(c.body)
		var e *document.Error
		errors.As(err, &e)
		if c.want == "" && err == nil {
			continue
		}
		if e == nil || e.Reason != c.want || text.Markdown != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/documents/*.xlsb")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, []byte(nil))
	}
	f.Add([]byte(nil), bytes.Join([][]byte{rec(recRow, uint32(0), make([]byte, 13)), rec(recShared, uint32(0), uint32(1), uint32(0)), rec(recText, uint32(1), uint32(0), "ab"), rec(recMerge, uint32(0), uint32(9), uint32(0), uint32(9))}, nil))
	f.Fuzz(func(t *testing.T, body, sheet []byte) {
		if len(sheet) > 0 {
			body = workbook(t, sheet)
		}
		doctest.Sound(t, read, body)
	})
}
