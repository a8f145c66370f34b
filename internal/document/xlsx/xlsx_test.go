package xlsx

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/doctest"
)

func read(body []byte) (document.Text, error) {
	return Read(context.Background(), body, document.Limits{})
}

func TestOwnDocuments(t *testing.T) {
	doctest.Run(t, "../../..", read, ".xlsx", ".xlsm")
}

// archive packs parts: names and texts by turns.
func archive(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: parts[i]}) // stored, for the fuzz target's speed
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, parts[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const (
	rels = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	kind = `http://schemas.openxmlformats.org/officeDocument/2006/relationships/`
)

// workbook packs a workbook with one sheet, whose content is given, and further parts, which may replace its own.
func workbook(t testing.TB, sheet string, parts ...string) []byte {
	t.Helper()
	return archive(t, append(parts,
		"_rels/.rels", rels+`<Relationship Id="rId1" Type="`+kind+`officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml", `<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", rels+`<Relationship Id="rId1" Type="`+kind+`worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml", `<worksheet xmlns:r="r">`+sheet+`</worksheet>`)...)
}

func TestCells(t *testing.T) {
	const styles = `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="yyyy\-mm\-dd;@"/><numFmt numFmtId="171" formatCode="@&quot; kg&quot;"/><numFmt numFmtId="172" formatCode=";;;"/></numFmts>` +
		`<cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="4"/><xf numFmtId="171"/><xf numFmtId="9"/><xf numFmtId="172"/></cellXfs></styleSheet>`
	const shared = `<sst><si><t>plain</t></si><si><r><rPr><b/></rPr><t xml:space="preserve">rich </t></r><r><t>text</t></r><rPh sb="0" eb="1"><t>SOUND</t></rPh><phoneticPr fontId="1"/></si>` +
		`<si><t>two_x000a_lines_x005F_x000D__x0041</t></si><si/></sst>`
	for name, c := range map[string]struct{ sheet, want string }{
		"values": {`<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>3</v></c><c r="E1" t="s"><v>99</v></c></row>` +
			`<row r="2"><c r="A2" t="inlineStr"><is><t>in</t><r><t>line</t></r></is></c><c r="B2" t="b"><v>1</v></c><c r="C2" t="e"><v>#N/A</v></c></row>` +
			`<row r="3"><c r="A3" t="str"><f>A1&amp;"x"</f><v>plainx</v></c><c r="B3"><f>1+1</f><v>2</v></c><c r="C3" t="b"><v>0</v></c></row></sheetData>`, `
| plain | rich text | two<br>lines_x000D__x0041 |
| --- | --- | --- |
| inline | TRUE | #N/A |
| plainx | 2 | FALSE |`},
		"formats": {`<sheetData><row><c s="1"><v>47916</v></c><c s="2"><v>1234.5</v></c><c s="3" t="s"><v>0</v></c><c s="4"><v>0.5</v></c><c s="5"><v>3</v></c><c s="77"><v>1.5</v></c><c t="d"><v>2031-03-09T00:00:00</v></c><c t="n"><v>odd</v></c></row></sheetData>`, `
| 2031-03-09 | 1,234.50 | plain kg | 50% | 1.5 | 2031-03-09 | odd |
| --- | --- | --- | --- | --- | --- | --- |`},
		"places": {`<sheetData><row><c><v>1</v></c><c r="C1"><v>3</v></c><c><v>4</v></c></row><row><c><v>5</v></c></row><row r="7"><c r="$B$7"><v>6</v></c><c r="nonsense"><v>7</v></c></row></sheetData>`, `
| | | |
| --- | --- | --- |
| 1 | 3 | 4 |
| 5 | | |

| 6 | 7 |
| --- | --- |`},
		"the last cell there is": {`<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row><row r="9999999999"><c r="ZZZZ1"><v>2</v></c></row></sheetData>`, `
| 1 |
| --- |`},
		"hidden rows and columns": {`<cols><col min="2" max="2" width="9" hidden="1"/><col min="5" max="16384" hidden="true"/></cols><sheetData><row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>66</v></c><c r="C1"><v>2</v></c></row><row r="2" hidden="1"><c r="A2"><v>77</v></c></row><row r="3"><c r="A3"><v>3</v></c></row></sheetData>`, `
| | |
| --- | --- |
| 1 | 2 |
| 3 | |

*Hidden and left out: 1 row and 1 column.*`},
		"merges": {`<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>66</v></c><c r="C1" t="s"><v>0</v></c></row><row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c><c r="C2"><v>3</v></c></row></sheetData><mergeCells><mergeCell ref="A1:B1"/><mergeCell ref="bad"/></mergeCells>`, `
| plain | | plain |
| --- | --- | --- |
| 1 | 2 | 3 |`},
		"formulas without values": {`<sheetData><row><c><f>SUM(A1:A3)</f></c><c><f t="shared" si="0"/></c><c t="str"><f>""</f><v></v></c><c><f>1</f><v/></c></row></sheetData>`, `
| =SUM(A1:A3) | =1 |
| --- | --- |`},
		"links": {`<sheetData><row><c r="A1" t="s"><v>0</v></c><c r="B1" t="str"><f>HYPERLINK("https://harbour.example/b","B")</f><v>B</v></c><c r="C1" t="str"><f>HYPERLINK("https://harbour.example/"&amp;A1)</f><v>C</v></c><c r="D1" t="s"><v>0</v></c></row></sheetData><hyperlinks><hyperlink ref="A1" r:id="rId1"/><hyperlink ref="D1" location="Other!A1"/></hyperlinks>`, `
| [plain](https://harbour.example/a?x=1&y=2) | [B](https://harbour.example/b) | C | plain |
| --- | --- | --- | --- |`},
		"prefixes": {`<x:sheetData xmlns:x="strict"><x:row x:r="2"><x:c t="s"><x:v> 0 </x:v></x:c></x:row></x:sheetData>`, `
| plain |
| --- |`},
		"nothing": {`<sheetData/>`, `
*This sheet is empty.*

*No visible sheet of this workbook has a cell with content.*`},
	} {
		text, err := read(workbook(t, c.sheet, "xl/styles.xml", styles, "xl/sharedStrings.xml", shared,
			"xl/worksheets/_rels/sheet1.xml.rels", rels+`<Relationship Id="rId1" Type="`+kind+`hyperlink" Target="https://harbour.example/a?x=1&amp;y=2" TargetMode="External"/></Relationships>`))
		if want := "## S\n" + c.want; err != nil || text.Markdown != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, text.Markdown, want)
		}
	}
}

// strict is how the standard's strict form names its relations.
const strict = `http://purl.oclc.org/ooxml/officeDocument/relationships/`

func TestWorkbooks(t *testing.T) {
	cell := func(text string) string {
		return `<worksheet><sheetData><row><c t="inlineStr"><is><t>` + text + `</t></is></c></row></sheetData></worksheet>`
	}
	body := archive(t,
		"_rels/.rels", rels+`<Relationship Id="a" Type="`+strict+`officeDocument" Target="/book/main.xml"/><Relationship Id="b" Type="x/core-properties" Target="docProps/core.xml"/></Relationships>`,
		"docProps/core.xml", `<coreProperties><title> The   book </title></coreProperties>`,
		"book/main.xml", `<workbook xmlns:q="r"><workbookPr date1904="true"/><sheets><sheet name="B" sheetId="2" q:id="two"/><sheet name="Gone" state="veryHidden" q:id="three"/><sheet name="A" sheetId="1" q:id="one"/><sheet name="Plot" q:id="four"/><sheet name="Day" q:id="five"/></sheets></workbook>`,
		"book/_rels/main.xml.rels", rels+`<Relationship Id="one" Type="`+strict+`worksheet" Target="a.xml"/><Relationship Id="two" Type="`+strict+`worksheet" Target="/book/b.xml"/><Relationship Id="three" Type="`+strict+`worksheet" Target="c.xml"/>`+
			`<Relationship Id="four" Type="`+strict+`chartsheet" Target="d.xml"/><Relationship Id="five" Type="`+strict+`worksheet" Target="..\book\e.xml"/><Relationship Id="six" Type="`+strict+`styles" Target="look.xml"/></Relationships>`,
		"book/look.xml", `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
		"book/a.xml", cell("first"), "book/b.xml", cell("second"), "book/c.xml", cell("SECRET"), "book/d.xml", `<chartsheet/>`,
		"book/e.xml", `<worksheet><sheetData><row><c s="1"><v>46454</v></c></row></sheetData></worksheet>`)
	text, err := read(body)
	want := "## B\n\n| second |\n| --- |\n\n## A\n\n| first |\n| --- |\n\n## Plot\n\n*This sheet is a chart.*\n\n## Day\n\n| 2031-03-09 |\n| --- |\n\n*Hidden and left out: Gone.*"
	if err != nil || text.Markdown != want || text.Title != "The book" || len(text.Notes) != 1 {
		t.Errorf("%v %q %v\n%s", err, text.Title, text.Notes, text.Markdown)
	}
}

func TestRefusals(t *testing.T) {
	good := workbook(t, `<sheetData/>`)
	for name, c := range map[string]struct {
		body []byte
		want document.Reason
	}{
		"nothing":     {nil, document.Damaged},
		"no archive":  {[]byte("<html>"), document.Damaged},
		"cut off":     {good[:len(good)-30], document.Damaged},
		"no workbook": {archive(t, "a.xml", "<a/>"), document.Damaged},
		"no sheet":    {archive(t, "xl/workbook.xml", `<workbook><sheets><sheet name="a" id="b"/></sheets></workbook>`), document.Damaged},
		"a text":      {archive(t, "xl/workbook.xml", `<document/>`), document.Unsupported},
		"entities":    {workbook(t, `<sheetData/>`, "xl/styles.xml", `<!DOCTYPE a [<!ENTITY b "c">]><styleSheet/>`), document.Entities},
		"broken":      {workbook(t, `<sheetData><row><c>`), document.Damaged},
		"deep":        {workbook(t, strings.Repeat("<a>", 300)), document.TooDeep},
	} {
		text, err := read(c.body)
		var e *document.Error
		if !errors.As(err, &e) || e.Reason != c.want || text.Markdown != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Read(ctx, good, document.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// TestDrawings: a sheet with a drawing alone is not called empty; one whose drawing has nothing in it is.
func TestDrawings(t *testing.T) {
	const sheet = `<sheetData/><drawing r:id="rId1"/>`
	link := rels + `<Relationship Id="rId1" Type="` + kind + `drawing" Target="../drawings/drawing1.xml"/></Relationships>`
	for drawing, want := range map[string]string{
		`<wsDr><twoCellAnchor/></wsDr>`: "*This sheet has drawings, such as charts or pictures, and no cells with content.*",
		`<wsDr/>`:                       "*This sheet is empty.*",
		`<wsDr>`:                        "*This sheet is empty.*",
	} {
		text, err := read(workbook(t, sheet, "xl/worksheets/_rels/sheet1.xml.rels", link, "xl/drawings/drawing1.xml", drawing))
		if err != nil || !strings.Contains(text.Markdown, want) {
			t.Errorf("%s: %v\n%s", drawing, err, text.Markdown)
		}
	}
	text, err := read(workbook(t, sheet))
	if err != nil || !strings.Contains(text.Markdown, "*This sheet is empty.*") {
		t.Errorf("no relation: %v\n%s", err, text.Markdown)
	}
}

// TestMomentsInWords: moments that are spelled out are shown as far as the format shows them.
func TestMomentsInWords(t *testing.T) {
	text, err := read(workbook(t, `<sheetData><row><c t="d" s="1"><v>2031-03-09T14:30:05.25Z</v></c><c t="d"><v>2031-03-09T14:30:05</v></c></row></sheetData>`,
		"xl/styles.xml", `<styleSheet><cellXfs><xf/><xf numFmtId="14"/></cellXfs></styleSheet>`))
	if err != nil || !strings.Contains(text.Markdown, "| 2031-03-09 | 2031-03-09 14:30:05 |") {
		t.Errorf("%v\n%s", err, text.Markdown)
	}
}

// TestValuesOfToday: what a person sees of values that old programs show as #VALUE!.
func TestValuesOfToday(t *testing.T) {
	cells := func(numbers ...int) string {
		row := ""
		for _, n := range numbers {
			row += fmt.Sprintf(`<c t="e" vm="%d"><v>#VALUE!</v></c>`, n)
		}
		return "<sheetData><row>" + row + `<c t="e" vm="1"><v>#N/A</v></c><c><v>1</v></c></row></sheetData>`
	}
	values, held := "", ""
	for i, value := range []int{0, 2, 3, 4, 5, 6, 99, 7} {
		values += fmt.Sprintf(`<bk><extLst><ext><xlrd:rvb i="%d"/></ext></extLst></bk>`, value)
		held += fmt.Sprintf(`<bk><rc t="2" v="%d"/></bk>`, i)
	}
	parts := []string{
		"xl/_rels/workbook.xml.rels", rels + `<Relationship Id="rId1" Type="` + kind + `worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="a" Type="` + kind + `sheetMetadata" Target="metadata.xml"/>` +
			`<Relationship Id="b" Type="x/rdRichValue" Target="richData/values.xml"/><Relationship Id="c" Type="x/rdRichValueStructure" Target="richData/shapes.xml"/></Relationships>`,
		"xl/metadata.xml", `<metadata><metadataTypes><metadataType name="XLDAPR"/><metadataType name="XLRICHVALUE"/></metadataTypes><futureMetadata name="XLDAPR"><bk/></futureMetadata>` +
			`<futureMetadata name="XLRICHVALUE">` + values + `</futureMetadata><valueMetadata>` + held + `<bk><rc t="1" v="0"/></bk></valueMetadata></metadata>`,
		"xl/richData/shapes.xml", `<rvStructures><s t="_linkedentity2"><k n="%EntityId" t="s"/><k n="_DisplayString" t="s"/></s><s t="_linkedentity"><k n="%cvi" t="r"/></s>` +
			`<s t="_error"><k n="colOffset" t="i"/><k n="errorType" t="i"/></s><s t="_localImage"><k n="id" t="i"/><k n="Text" t="s"/></s></rvStructures>`,
		"xl/richData/values.xml", `<rvData><rv s="0"><v>7</v><v>Canada</v></rv><rv s="9"/><rv s="1"><v>0</v></rv><rv s="2"><v>1</v><v>8</v></rv><rv s="2"><v>1</v><v>77</v></rv>` +
			`<rv s="3"><v>0</v><v>A buoy</v></rv><rv s="3"><v>0</v></rv><rv s="1"><v>7</v></rv></rvData>`,
	}
	text, err := read(workbook(t, cells(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0), parts...))
	want := "| Canada | Canada | #SPILL! | #VALUE! | A buoy | #VALUE! | #VALUE! | #VALUE! | #VALUE! | #VALUE! | #N/A | 1 |"
	if err != nil || !strings.Contains(text.Markdown, want) {
		t.Errorf("%v\n%s", err, text.Markdown)
	}
	parts[7] = parts[7][:40]
	if text, err = read(workbook(t, cells(1), parts...)); err != nil || !strings.Contains(text.Markdown, "| #VALUE! | #N/A | 1 |") {
		t.Errorf("a cut part: %v\n%s", err, text.Markdown)
	}
}

func TestLongSheet(t *testing.T) {
	var b strings.Builder
	b.WriteString("<sheetData>")
	for r := range 5000 {
		fmt.Fprintf(&b, `<row r="%d"><c r="A%d"><v>%d</v></c><c r="B%d" t="inlineStr"><is><t>x</t></is></c></row>`, r+1, r+1, r, r+1)
	}
	b.WriteString("</sheetData>")
	body := workbook(t, b.String())
	if text, err := read(body); err != nil || !strings.HasSuffix(text.Markdown, "| 4999 | x |") {
		t.Errorf("not whole: %v", err)
	}
	text, err := Read(context.Background(), body, document.Limits{Rows: 2000})
	if err != nil || !strings.Contains(text.Markdown, "| 1999 | x |") || strings.Contains(text.Markdown, "| 2000 | x |") || !strings.HasSuffix(text.Markdown, "*Shown are 2,000 of 5,000 rows with content.*") {
		t.Errorf("%v: …%s", err, text.Markdown[max(0, len(text.Markdown)-200):])
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"harbour.xlsx", "harbour.xlsm"} {
		body, err := os.ReadFile("../../../testdata/documents/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, "")
	}
	f.Add([]byte(nil), `<cols><col min="1" max="3" hidden="1"/></cols><sheetData><row r="1"><c r="D1" t="s"><v>0</v></c><c r="E1" s="1"><v>47916</v></c></row></sheetData><mergeCells><mergeCell ref="D1:F9"/></mergeCells><hyperlinks><hyperlink ref="A1:Z9" id="rId1"/></hyperlinks>`)
	f.Fuzz(func(t *testing.T, body []byte, sheet string) {
		if sheet != "" {
			body = workbook(t, sheet, "xl/sharedStrings.xml", `<sst><si><t>a</t></si></sst>`, "xl/styles.xml", `<styleSheet><cellXfs><xf/><xf numFmtId="14"/></cellXfs></styleSheet>`)
		}
		doctest.Sound(t, read, body)
	})
}
