package odt

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/costtest"
	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/doctest"
)

func TestOwnDocuments(t *testing.T) {
	doctest.Run(t, "../../..", func(body []byte) (document.Text, error) {
		return Read(context.Background(), body, document.Limits{})
	}, ".odt")
}

const spaces = `xmlns:office="o" xmlns:text="t" xmlns:table="ta" xmlns:style="s" xmlns:fo="f" xmlns:draw="d" xmlns:svg="v" xmlns:xlink="x" xmlns:math="m" xmlns:dc="dc" xmlns:meta="me" xmlns:loext="l"`

const styleSheet = `<style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>` +
	`<style:style style:name="I" style:family="text"><style:text-properties fo:font-style="italic"/></style:style>` +
	`<style:style style:name="X" style:family="text"><style:text-properties style:text-line-through-style="solid"/></style:style>` +
	`<style:style style:name="Sup" style:family="text"><style:text-properties style:text-position="33% 58%"/></style:style>` +
	`<style:style style:name="Sub" style:family="text"><style:text-properties style:text-position="sub 58%"/></style:style>` +
	`<style:style style:name="Hid" style:family="text"><style:text-properties text:display="none"/></style:style>` +
	`<style:style style:name="Mono" style:family="text"><style:text-properties style:font-name="Liberation Mono"/></style:style>` +
	`<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/>` +
	`<style:style style:name="P2" style:family="paragraph" style:parent-style-name="Quotations"/>` +
	`<style:style style:name="P3" style:family="paragraph" style:parent-style-name="Title"/>` +
	`<style:style style:name="P4" style:family="paragraph" style:parent-style-name="P5"/><style:style style:name="P5" style:family="paragraph" style:parent-style-name="P4"/>` +
	`<style:style style:name="P6" style:family="paragraph" style:parent-style-name="Contents_20_2"/>` +
	`<text:list-style style:name="LN"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>` +
	`<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>` +
	`<text:list-level-style-number text:level="3" style:num-format="1" style:num-suffix="." text:display-levels="3"/></text:list-style>` +
	`<text:list-style style:name="L7"><text:list-level-style-number text:level="1" loext:num-list-format="§ %1%:" style:num-format="I" style:num-suffix=":" text:start-value="7"/></text:list-style>` +
	`<text:list-style style:name="LB"><text:list-level-style-bullet text:level="1" text:bullet-char="•"/><text:list-level-style-bullet text:level="2" text:bullet-char="◦"/></text:list-style>` +
	`<text:list-style style:name="LE"><text:list-level-style-number text:level="1" style:num-format=""/></text:list-style>`

// flat makes a flat document.
func flat(body string) []byte {
	return []byte(`<?xml version="1.0" encoding="UTF-8"?><office:document ` + spaces + `><office:meta><dc:title> A  title </dc:title></office:meta><office:automatic-styles>` + styleSheet + `</office:automatic-styles><office:body><office:text>` + body + `</office:text></office:body></office:document>`)
}

// file makes an archive; parts are name and content by turns.
func file(parts ...string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func p(text string) string { return `<text:p>` + text + `</text:p>` }
func li(inner ...string) string {
	return `<text:list-item>` + strings.Join(inner, "") + `</text:list-item>`
}
func list(attributes string, items ...string) string {
	return `<text:list ` + attributes + `>` + strings.Join(items, "") + `</text:list>`
}
func td(text string) string { return `<table:table-cell>` + p(text) + `</table:table-cell>` }

func TestWhatBodiesBecome(t *testing.T) {
	const row, end = `<table:table-row>`, `</table:table-row>`
	numbers, bullets := `text:style-name="LN"`, `text:style-name="LB"`
	for name, c := range map[string]struct{ body, want string }{
		"paragraphs":      {p("One\n two") + p("") + p("three"), "One two\n\nthree"},
		"headings":        {`<text:h text:outline-level="2">Two</text:h><text:h>One</text:h><text:h text:outline-level="9">Nine</text:h>`, "## Two\n\n# One\n\n###### Nine"},
		"title":           {`<text:p text:style-name="P3">Title</text:p>`, "# Title"},
		"emphasis":        {p(`<text:span text:style-name="B">bold <text:span text:style-name="I">both</text:span></text:span> and <text:span text:style-name="X">struck</text:span>`), "**bold *both*** and ~~struck~~"},
		"raised":          {p(`m<text:span text:style-name="Sup">2</text:span>, H<text:span text:style-name="Sub">2</text:span>O`), "m^2, H2O"},
		"code":            {p(`run <text:span text:style-name="Mono">go test</text:span> now`), "run `go test` now"},
		"code lines":      {`<text:p text:style-name="P1">a:</text:p><text:p text:style-name="P1"><text:s text:c="4"/>b</text:p>` + p("c"), "```\na:\n    b\n```\n\nc"},
		"quotation":       {`<text:p text:style-name="P2">One</text:p>` + p("two"), "> One\n\ntwo"},
		"hidden":          {p(`seen<text:span text:style-name="Hid"> not</text:span>`) + `<text:section text:display="none">` + p("hidden") + `</text:section>`, "seen"},
		"circle":          {`<text:p text:style-name="P4">text</text:p>`, "text"},
		"blanks":          {p(`a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d`), "a b c\\\nd"},
		"bullets":         {list(bullets, li(p("a"), list("", li(p("b")))), li(p("c"))) + p("end"), "- a\n  - b\n- c\n\nend"},
		"numbers":         {list(numbers, li(p("a"), list("", li(p("b")), li(p("c"), list("", li(p("d")))))), li(p("e"), list("", li(p("f"))))), "1. a\n   - a) b\n   - b) c\n     - 1.b.1. d\n2. e\n   - a) f"},
		"two paragraphs":  {list(numbers, li(p("a"), p("more")), li(p("b"))), "1. a\n\n   more\n2. b"},
		"goes on":         {list(numbers, li(p("a"))) + p("between") + list(numbers+` text:continue-numbering="true"`, li(p("b"))), "1. a\n\nbetween\n\n2. b"},
		"goes on by name": {list(numbers+` xml:id="l1"`, li(p("a"))) + list(bullets, li(p("x"))) + list(numbers+` text:continue-list="l1"`, li(p("b"))), "1. a\n\n- x\n\n2. b"},
		"starts anew":     {list(numbers, li(p("a"))) + list(numbers, li(p("b"))), "1. a\n\n1) b"},
		"item's number":   {list(numbers, li(p("a")), `<text:list-item text:start-value="9">`+p("b")+`</text:list-item>`), "1. a\n\n9) b"},
		"other labels":    {list(`text:style-name="L7"`, li(p("a")), li(p("b"))), "- § VII: a\n- § VIII: b"},
		"no labels":       {list(`text:style-name="LE"`, li(p("a"))), "a"},
		"list header":     {list(numbers, `<text:list-header>`+p("head")+`</text:list-header>`, li(p("a"))), "head\n\n1. a"},
		"skipped level":   {list(bullets, li(list("", li(p("deep"))))), "- deep"},
		"heading in list": {list(numbers, li(`<text:h text:outline-level="1">Scope</text:h>`)) + list(numbers+` text:continue-numbering="true"`, li(`<text:h text:outline-level="1">Next</text:h>`)), "# 1. Scope\n\n# 2. Next"},
		"table":           {`<table:table><table:table-column table:number-columns-repeated="2"/><table:table-header-rows>` + row + td("A") + td("B") + end + `</table:table-header-rows>` + row + td("1") + td("2|3") + end + `</table:table>`, "| A | B |\n| --- | --- |\n| 1 | 2\\|3 |"},
		"spans":           {`<table:table>` + row + `<table:table-cell table:number-columns-spanned="2">` + p("AB") + `</table:table-cell><table:covered-table-cell/>` + td("C") + end + row + td("1") + td("2") + `<table:covered-table-cell/>` + end + `</table:table>`, "| AB | | C |\n| --- | --- | --- |\n| 1 | 2 | |"},
		"repeated":        {`<table:table>` + row + td("A") + `<table:table-cell table:number-columns-repeated="2">` + p("x") + `</table:table-cell>` + end + `<table:table-row table:number-rows-repeated="2">` + td("1") + end + `<table:table-row table:number-rows-repeated="1048576">` + `<table:table-cell table:number-columns-repeated="16384"/>` + end + `</table:table>`, "| A | x | x |" + strings.Repeat(" |", 253) + "\n|" + strings.Repeat(" --- |", 256) + "\n| 1 | |" + strings.Repeat(" |", 254) + "\n| 1 | |" + strings.Repeat(" |", 254)},
		"table in a list": {list(bullets, li(p("a"), `<table:table>`+row+td("A")+td("B")+end+row+td("1")+td("2")+end+`</table:table>`)), "- a\n\n  | A | B |\n  | --- | --- |\n  | 1 | 2 |"},
		"nested table":    {`<table:table>` + row + td("A") + td("B") + end + row + td("x") + `<table:table-cell><table:table table:is-sub-table="true">` + row + td("1") + td("2") + end + `</table:table></table:table-cell>` + end + `</table:table>`, "| A | B |\n| --- | --- |\n| x | 1, 2 |"},
		"notes":           {p(`a<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>`+p("First.")+`</text:note-body></text:note> b<text:note text:note-class="endnote"><text:note-citation>i</text:note-citation><text:note-body>`+p("At the end.")+list(bullets, li(p("x")))+`</text:note-body></text:note>`) + p("c"), "a[^1] b[^2]\n\nc\n\n[^1]: First.\n\n[^2]: At the end.\n\n    - x"},
		"links":           {p(`<text:a xlink:href="https://harbour.example/?a=1&amp;b=2">notices</text:a> <text:a xlink:href="#place">place</text:a> <text:a xlink:href="../x.odt">file</text:a>`), "[notices](https://harbour.example/?a=1&b=2) place file"},
		"pictures":        {p(`<draw:frame draw:name="Image1"><draw:image xlink:href="Pictures/1.png"/><svg:title>Pier</svg:title><svg:desc>A pier at low tide</svg:desc></draw:frame>`) + p(`<draw:frame draw:name="Image2"><draw:image xlink:href="https://elsewhere.example/p.png"/></draw:frame>`), "![A pier at low tide]()"},
		"box":             {p(`by<draw:frame><draw:text-box>` + p("boxed") + `</draw:text-box></draw:frame>`), "by\n\nboxed"},
		"shape":           {p(`<draw:custom-shape>` + p("in a shape") + `<draw:enhanced-geometry/></draw:custom-shape>`), "in a shape"},
		"changes":         {`<text:tracked-changes><text:changed-region><text:deletion>` + p("deleted") + `</text:deletion></text:changed-region></text:tracked-changes>` + p(`a<text:change text:change-id="1"/><text:change-start/> new<text:change-end/>`), "a new"},
		"annotations":     {p(`a<office:annotation><dc:creator>x</dc:creator>` + p("remark") + `</office:annotation>b<office:annotation-end/>`), "ab"},
		"fields":          {p(`<text:date>3 May 2031</text:date>, page <text:page-number>4</text:page-number><text:bookmark text:name="x"/>`), "3 May 2031, page 4"},
		"contents":        {`<text:table-of-content><text:table-of-content-source/><text:index-body><text:index-title>` + p("Contents") + `</text:index-title><text:p text:style-name="P6"><text:a xlink:href="#x">Scope<text:tab/>12</text:a></text:p></text:index-body></text:table-of-content>`, "Contents\n\n- Scope"},
		"formula":         {p(`<draw:frame><draw:object><math:math><math:semantics><math:mrow><math:msup><math:mi>x</math:mi><math:mn>2</math:mn></math:msup><math:mo>=</math:mo><math:mfrac><math:mn>1</math:mn><math:mi>y</math:mi></math:mfrac></math:mrow><math:annotation math:encoding="StarMath 5.0">x</math:annotation></math:semantics></math:math></draw:object></draw:frame>`), `$x^{2}=\frac{1}{y}$`},
		"ruby":            {p(`<text:ruby><text:ruby-base>港</text:ruby-base><text:ruby-text>みなと</text:ruby-text></text:ruby>`), "港(みなと)"},
		"markup":          {p("# no") + p("*a* &lt;b&gt;"), "\\# no\n\n\\*a\\* \\<b>"},
		"page's frames":   {`<text:sequence-decls><text:sequence-decl text:name="T"/></text:sequence-decls><draw:frame text:anchor-type="page"><draw:text-box>` + p("first") + `</draw:text-box></draw:frame>` + p("then"), "first\n\nthen"},
	} {
		got, err := Read(context.Background(), flat(c.body), document.Limits{})
		if err != nil || got.Markdown != c.want || got.Title != "A title" {
			t.Errorf("%s: %v %q\n%s\nwant\n%s", name, err, got.Title, got.Markdown, c.want)
		}
	}
}

func TestNumberedHeadings(t *testing.T) {
	outline := `<office:document-styles ` + spaces + `><office:styles><text:outline-style><text:outline-level-style text:level="1" style:num-format="I"/><text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style></office:styles></office:document-styles>`
	content := `<office:document-content ` + spaces + `><office:body><office:text><text:h>Scope</text:h><text:h text:outline-level="2">Berths</text:h><text:h text:is-list-header="true">Aside</text:h><text:h>End</text:h></office:text></office:body></office:document-content>`
	got, err := Read(context.Background(), file("mimetype", "x", "styles.xml", outline, "content.xml", content), document.Limits{})
	if want := "# I Scope\n\n## I.1 Berths\n\n# Aside\n\n# II End"; err != nil || got.Markdown != want || got.Title != "Scope" {
		t.Errorf("%v %q\n%s", err, got.Title, got.Markdown)
	}
}

func TestObjectsOfTheArchive(t *testing.T) {
	frame := func(object string) string {
		return p(`<draw:frame><draw:object xlink:href="./` + object + `"/><draw:image xlink:href="./ObjectReplacements/1"/><svg:desc>said in words</svg:desc></draw:frame>`)
	}
	content := `<office:document-content ` + spaces + `><office:body><office:text>` + frame("Object 1") + frame("Object 2") + frame("none") + `</office:text></office:body></office:document-content>`
	chart := `<office:document-content ` + spaces + ` xmlns:chart="c"><office:body><office:chart><chart:chart><chart:title>` + p("Depths") + `</chart:title><table:table table:name="local-table"><table:table-rows><table:table-row>` + td("North") + td("8.2") + `</table:table-row><table:table-row>` + td("South") + td("6.9") + `</table:table-row></table:table-rows></table:table></chart:chart></office:chart></office:body></office:document-content>`
	got, err := Read(context.Background(), file("content.xml", content, "Object 1/content.xml", `<math><msqrt><mi>a</mi></msqrt></math>`, "Object 2/content.xml", chart), document.Limits{})
	if want := "$\\sqrt{a}$\n\n![said in words]()\n\n| North | 8.2 |\n| --- | --- |\n| South | 6.9 |\n\n![said in words]()"; err != nil || got.Markdown != want {
		t.Errorf("%v\n%s", err, got.Markdown)
	}
}

func TestRefusals(t *testing.T) {
	content := `<office:document-content ` + spaces + `><office:body><office:text>` + p("x") + `</office:text></office:body></office:document-content>`
	for name, c := range map[string]struct {
		body []byte
		want document.Reason
	}{
		"encrypted": {file("META-INF/manifest.xml", `<manifest:manifest><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data manifest:checksum="x"/></manifest:file-entry></manifest:manifest>`, "content.xml", "\x01\x02"), document.Encrypted},
		"empty":     {file("mimetype", "x"), document.Damaged},
		"no text":   {[]byte(`<office:document ` + spaces + `><office:body><office:spreadsheet/></office:body></office:document>`), document.Damaged},
		"another":   {[]byte(`<html/>`), document.Unsupported},
		"cut":       {file("content.xml", content[:len(content)-40]), document.Damaged},
		"entities":  {[]byte(`<!DOCTYPE a [<!ENTITY b "x">]>` + content), document.Entities},
		"deep":      {flat(strings.Repeat("<text:section>", 300)), document.TooDeep},
		"nothing":   {nil, document.Damaged},
	} {
		text, err := Read(context.Background(), c.body, document.Limits{})
		var e *document.Error
		if errors.As(err, &e); e == nil || e.Reason != c.want || text.Markdown != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHostileDocumentsAreRead(t *testing.T) {
	many := strings.Repeat
	for name, body := range map[string]string{
		"repeated cells": `<table:table>` + many(`<table:table-row table:number-rows-repeated="1000000">`+`<table:table-cell table:number-columns-repeated="1000000">`+p("x")+`</table:table-cell></table:table-row>`, 50) + `</table:table>`,
		"wide spans":     `<table:table>` + many(`<table:table-row><table:table-cell table:number-columns-spanned="1000000">`+p("x")+`</table:table-cell><table:table-cell/></table:table-row>`, 20_000) + `</table:table>`,
		"many notes":     p(many(`<text:note><text:note-body>`+p("n")+`</text:note-body></text:note>`, 20_000)),
		"many blanks":    p("a" + many(`<text:s text:c="1000000"/>`, 10_000) + "b"),
		"many spans":     p(many(`<text:span text:style-name="B">a</text:span>b`, 60_000)),
		"many lists":     many(list(`text:style-name="LN" xml:id="x"`, li(p("a"))), 20_000),
		"a big formula":  p(`<draw:frame><draw:object><math:math>` + many(`<math:mi>x</math:mi>`, 100_000) + `</math:math></draw:object></draw:frame>`),
	} {
		var text document.Text
		var err error
		costtest.Within(t, name, 10*time.Second, func() { text, err = Read(context.Background(), flat(body), document.Limits{}) })
		if err != nil || text.Markdown == "" {
			t.Errorf("%s: %v, %d bytes", name, err, len(text.Markdown))
		}
	}
}

func FuzzODT(f *testing.F) {
	body, err := os.ReadFile("../../../testdata/documents/harbour.odt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add(flat(p("text") + list(`text:style-name="LN"`, li(p("a")))))
	f.Fuzz(func(t *testing.T, body []byte) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		text, err := Read(ctx, body, document.Limits{Unpacked: 4 << 20})
		if err != nil && text.Markdown != "" {
			t.Error("an error and a text")
		}
	})
}

// FuzzBody tries what stands in a body, which few changes of packed bytes would reach.
func FuzzBody(f *testing.F) {
	f.Add(p(`<text:span text:style-name="B">a</text:span>`) + list(`text:style-name="LN"`, li(p("a"), list("", li(p("b"))))) + `<table:table><table:table-row>` + td("x") + `</table:table-row></table:table>`)
	f.Fuzz(func(t *testing.T, body string) {
		text, err := Read(context.Background(), flat(body), document.Limits{Unpacked: 4 << 20})
		if err != nil && text.Markdown != "" {
			t.Error("an error and a text")
		}
	})
}
