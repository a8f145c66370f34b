package ods

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/doctest"
)

func read(body []byte) (document.Text, error) {
	return Read(context.Background(), body, document.Limits{})
}

func TestOwnDocuments(t *testing.T) {
	doctest.Run(t, "../../..", read, ".ods")
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

// content is a part with one sheet.
func content(table string) string {
	return `<office:document-content><office:automatic-styles><style:style style:name="off" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles>` +
		`<office:body><office:spreadsheet><table:table table:name="S">` + table + `</table:table></office:spreadsheet></office:body></office:document-content>`
}

func cell(attributes, inner string) string {
	return `<table:table-cell ` + attributes + `>` + inner + `</table:table-cell>`
}

func row(attributes string, cells ...string) string {
	return `<table:table-row ` + attributes + `>` + strings.Join(cells, "") + `</table:table-row>`
}

func TestCells(t *testing.T) {
	text := func(s string) string { return cell(`office:value-type="string"`, "<text:p>"+s+"</text:p>") }
	number := func(s string) string {
		return cell(`office:value-type="float" office:value="`+s+`"`, "<text:p>"+s+"</text:p>")
	}
	for name, c := range map[string]struct{ table, want string }{
		"values": {row("",
			cell(`office:value-type="float" office:value="0.5"`, `<text:p>0,50</text:p>`), cell(`office:value-type="float" office:value="0.25"`, ``), cell(`office:value-type="percentage" office:value="0.375"`, ``),
			cell(`office:value-type="date" office:date-value="2031-03-09"`, `<text:p>9. März 31</text:p>`), cell(`office:value-type="date" office:date-value="2031-03-09T14:30:00"`, `<text:p>9.3. 14:30</text:p>`), cell(`office:value-type="date" office:date-value="2031-03-09T14:30:00"`, `<text:p>9.3.</text:p>`),
			cell(`office:value-type="time" office:time-value="PT14H30M00S"`, `<text:p>02:30 PM</text:p>`), cell(`office:value-type="time" office:time-value="PT255H10M10S"`, ``), cell(`office:value-type="boolean" office:boolean-value="true"`, `<text:p>WAHR</text:p>`), cell(`office:value-type="string" office:string-value="kept"`, ``)), `
| 0,50 | 0.25 | 37.5% | 2031-03-09 | 2031-03-09 14:30 | 2031-03-09 | 14:30 | 255:10:10 | TRUE | kept |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |`},
		"moments as far as they are shown": {row("",
			cell(`office:value-type="date" office:date-value="2031-03-09T14:30:00"`, `<text:p>14:30</text:p>`), cell(`office:value-type="date" office:date-value="2031-03-09T14:30:05"`, `<text:p>2:30:05 PM</text:p>`), cell(`office:value-type="date" office:date-value="2031-03-09"`, `<text:p>2031</text:p>`),
			cell(`office:value-type="date" office:date-value="2031-03-09"`, `<text:p>Sonntag</text:p>`), cell(`office:value-type="date" office:date-value="2031-03-09T14:30:00"`, `<text:p>9. 14:30</text:p>`), cell(`office:value-type="time" office:time-value="PT296296H17M36S"`, `<text:p>04:17 PM</text:p>`), cell(`office:value-type="time" office:time-value="PT296296H17M36S"`, `<text:p>296296:17</text:p>`)), `
| 14:30 | 14:30:05 | 2031 | Sonntag | 2031-03-09 14:30 | 16:17:36 | 296296:17 |
| --- | --- | --- | --- | --- | --- | --- |`},
		"paragraphs": {row("", cell(`office:value-type="string"`, `<office:annotation><text:p>REMARK</text:p></office:annotation><text:p>one <text:span>two</text:span><text:s text:c="99999999"/>three</text:p><text:p>four<text:line-break/>five<text:ruby><text:ruby-base>base</text:ruby-base><text:ruby-text>RUBY</text:ruby-text></text:ruby></text:p><draw:frame><draw:text-box><text:p>BOX</text:p></draw:text-box></draw:frame>`),
			cell(`office:value-type="string"`, `<text:p><text:a xlink:href="https://harbour.example/">link</text:a></text:p>`)), `
| one two three<br>four<br>fivebase | [link](https://harbour.example/) |
| --- | --- |`},
		"repetition": {row(`table:number-rows-repeated="1000000000"`) + row(``, cell(`table:number-columns-repeated="16000"`, ``), cell(`office:value-type="float" office:value="1" table:number-columns-repeated="2"`, `<text:p>1</text:p>`)) +
			row(`table:number-rows-repeated="2"`, number("2")), `
*This sheet is empty.*

*No visible sheet of this workbook has a cell with content.*`},
		"repeated values": {row(``, text("a"), text("b")) + row(`table:number-rows-repeated="2"`, cell(`office:value-type="float" office:value="1" table:number-columns-repeated="2"`, `<text:p>1</text:p>`)) + row(`table:number-rows-repeated="1048000"`, cell(`table:number-columns-repeated="16384"`, ``)), `
| a | b |
| --- | --- |
| 1 | 1 |
| 1 | 1 |`},
		"hidden": {`<table:table-column/><table:table-column-group><table:table-column table:number-columns-repeated="2" table:visibility="collapse"/></table:table-column-group>` +
			`<table:table-header-rows>` + row(``, text("a"), text("HIDDEN"), text("HIDDEN"), text("b")) + `</table:table-header-rows><table:table-row-group><table:table-rows>` + row(`table:visibility="filter"`, text("HIDDEN")) + row(`table:visibility="collapse" table:number-rows-repeated="500"`) + row(``, number("1")) + `</table:table-rows></table:table-row-group>`, `
| a | b |
| --- | --- |
| 1 | |

*Hidden and left out: 1 row and 2 columns.*`},
		"spans": {row("", cell(`office:value-type="string" table:number-columns-spanned="2" table:number-rows-spanned="1"`, `<text:p>wide</text:p>`), `<table:covered-table-cell office:value-type="string"><text:p>COVERED</text:p></table:covered-table-cell>`, text("x")) + row("", number("1"), number("2"), number("3")), `
| wide | | x |
| --- | --- | --- |
| 1 | 2 | 3 |`},
		"drawings": {row("", cell(``, `<draw:frame><draw:image/></draw:frame>`)), `
*This sheet has drawings, such as charts or pictures, and no cells with content.*

*No visible sheet of this workbook has a cell with content.*`},
		"shapes": {`<table:shapes><draw:frame/></table:shapes>` + row("", text("a")), `
| a |
| --- |`},
		"formulas": {row("", cell(`table:formula="of:=SUM([.A1:.A2])"`, ``), cell(`table:formula="of:=1/0" office:value-type="string" office:string-value=""`, `<text:p>#DIV/0!</text:p>`)), `
| =SUM(\[.A1:.A2]) | #DIV/0! |
| --- | --- |`},
		"changes are no cells": {`<table:shapes><draw:frame><table:table><table:table-row>` + text("SHAPE") + `</table:table-row></table:table></draw:frame></table:shapes>` + row("", text("kept")), `
| kept |
| --- |`},
	} {
		got, err := read(archive(t, "content.xml", content(c.table)))
		want := "## S\n" + strings.ReplaceAll(c.want, `\[`, `[`)
		if err != nil || got.Markdown != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got.Markdown, want)
		}
	}
}

// TestRepetitionCostsWhatIsShown: rows that stand for millions of values end soon, and say how many there are.
func TestRepetitionCostsWhatIsShown(t *testing.T) {
	one := cell(`office:value-type="float" office:value="7" table:number-columns-repeated="16384"`, `<text:p>7</text:p>`)
	var table strings.Builder
	for range 200 {
		table.WriteString(row(`table:number-rows-repeated="1048576"`, one, one))
	}
	text, err := read([]byte(content(table.String())))
	if err != nil || len(text.Markdown) > 1<<20 || !strings.Contains(text.Markdown, "Shown are ") {
		t.Errorf("%v, %d bytes", err, len(text.Markdown))
	}
}

func TestBooks(t *testing.T) {
	flat := `<?xml version="1.0"?><office:document><office:meta><dc:title>The  book</dc:title></office:meta><office:automatic-styles><style:style style:name="off" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles><office:body><office:spreadsheet>` +
		`<table:table table:name="A">` + row("", cell(`office:value-type="string"`, `<text:p>a</text:p>`)) + `</table:table>` +
		`<table:table table:name="Plans" table:style-name="off">` + row("", cell(`office:value-type="string"`, `<text:p>HIDDEN</text:p>`)) + `</table:table>` +
		`<table:table table:name="'file:///elsewhere'#$Sheet1" table:style-name="ta_extref"/><table:dde-links><table:dde-link><table:table table:name="DDE"/></table:dde-link></table:dde-links></office:spreadsheet></office:body></office:document>`
	text, err := read([]byte(flat))
	if want := "## A\n\n| a |\n| --- |\n\n*Hidden and left out: Plans.*"; err != nil || text.Markdown != want || text.Title != "The book" || len(text.Notes) != 1 {
		t.Errorf("%v %q %v\n%s", err, text.Title, text.Notes, text.Markdown)
	}
	text, err = read(archive(t, "meta.xml", `<office:document-meta><office:meta><dc:title>Other</dc:title>`, "content.xml", content(row("", cell(`office:value-type="string"`, `<text:p>b</text:p>`)))))
	if err != nil || !strings.Contains(text.Markdown, "| b |") {
		t.Errorf("a broken title: %v %s", err, text.Markdown)
	}
}

func TestRefusals(t *testing.T) {
	good := archive(t, "content.xml", content(""))
	for name, c := range map[string]struct {
		body []byte
		want document.Reason
	}{
		"nothing":                               {nil, document.Damaged},
		"cut off":                               {good[:len(good)-40], document.Damaged},
		"no content":                            {archive(t, "mimetype", "x"), document.Damaged},
		"another text":                          {archive(t, "content.xml", `<office:document-content><office:body><office:text/></office:body></office:document-content>`), document.Damaged},
		"not even that":                         {archive(t, "content.xml", `<html/>`), document.Unsupported},
		"encrypted":                             {archive(t, "META-INF/manifest.xml", `<m:manifest><m:file-entry m:full-path="content.xml"><m:encryption-data/></m:file-entry></m:manifest>`, "content.xml", "\x00\x01"), document.Encrypted},
		"wholly":                                {archive(t, "META-INF/manifest.xml", `<m:manifest/>`, "encrypted-package", "\x00\x01"), document.Encrypted},
		"entities":                              {archive(t, "content.xml", `<!DOCTYPE a [<!ENTITY b "c">]>`+content("")), document.Entities},
		"nested groups":                         {archive(t, "content.xml", content(strings.Repeat("<table:table-row-group>", 300))), document.TooDeep},
		"broken":                                {archive(t, "content.xml", content("")[:150]), document.Damaged},
		"a value in more rows than a sheet has": {[]byte(content(row(`table:number-rows-repeated="999999999"`, cell(`office:value-type="string"`, `<text:p>x</text:p>`)))), document.TooLarge},
		"an empty sheet":                        {good, ""},
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
	files, err := filepath.Glob("../../../testdata/documents/*.ods")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, "")
	}
	f.Add([]byte(nil), row(`table:number-rows-repeated="3"`, cell(`office:value-type="date" office:date-value="2031-03-09" table:number-columns-repeated="2" table:number-rows-spanned="2"`, `<text:p>a<text:s/><text:a xlink:href="https://harbour.example/">b</text:a></text:p>`), cell(`office:value-type="time" office:time-value="PT1H2M3S"`, "")))
	f.Fuzz(func(t *testing.T, body []byte, table string) {
		if table != "" {
			body = []byte(content(table))
		}
		doctest.Sound(t, read, body)
	})
}
