package docx

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
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
	}, ".docx")
}

const transitional = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
	`xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wp="x" xmlns:a="a" xmlns:v="v" xmlns:wps="wps" xmlns:c="c" xmlns:dgm="d"`

// file makes a Word document. parts are name and content by turns; content of the usual parts is what stands in their
// root elements.
func file(parts ...string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	put := func(name, content string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			panic(err)
		}
	}
	rels := ""
	for i := 0; i < len(parts); i += 2 {
		name, content := parts[i], parts[i+1]
		switch name {
		case "body":
			put("word/document.xml", `<w:document `+transitional+`><w:body>`+content+`</w:body></w:document>`)
			continue
		case "rels":
			rels += content
			continue
		case "core":
			put("docProps/core.xml", `<cp:coreProperties xmlns:cp="c" xmlns:dc="d">`+content+`</cp:coreProperties>`)
			continue
		case "styles", "numbering", "footnotes", "endnotes":
			rels += fmt.Sprintf(`<Relationship Id="own%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s.xml"/>`, i, name, name)
			content = `<w:` + name + " " + transitional + `>` + content + `</w:` + name + `>`
			name = "word/" + name + ".xml"
		}
		put(name, content)
	}
	put("_rels/.rels", `<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>`+
		`<Relationship Id="r2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>`)
	put("word/_rels/document.xml.rels", `<Relationships>`+rels+`</Relationships>`)
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func p(text string) string { return `<w:p>` + r(text) + `</w:p>` }
func r(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }
func rp(props, text string) string {
	return `<w:r><w:rPr>` + props + `</w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
}
func styled(id, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + id + `"/></w:pPr>` + r(text) + `</w:p>`
}
func item(list, depth, text string) string {
	return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + depth + `"/><w:numId w:val="` + list + `"/></w:numPr></w:pPr>` + r(text) + `</w:p>`
}
func tc(props string, blocks ...string) string {
	return `<w:tc><w:tcPr>` + props + `</w:tcPr>` + strings.Join(blocks, "") + `</w:tc>`
}
func tr(cells ...string) string { return `<w:tr>` + strings.Join(cells, "") + `</w:tr>` }

const listSheet = `<w:abstractNum w:abstractNumId="0">` +
	`<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>` +
	`<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%2)"/></w:lvl>` +
	`<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%3."/></w:lvl></w:abstractNum>` +
	`<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="&#xF0B7;"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>` +
	`<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:pStyle w:val="Heading1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/></w:lvl>` +
	`<w:lvl w:ilvl="1"><w:start w:val="1"/><w:pStyle w:val="Heading2"/><w:isLgl/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>` +
	`<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>` +
	`<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>` +
	`<w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num>` +
	`<w:abstractNum w:abstractNumId="3"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="☐"/></w:lvl></w:abstractNum>` +
	`<w:abstractNum w:abstractNumId="4"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="&#xF0FE;"/><w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr></w:lvl></w:abstractNum>` +
	`<w:num w:numId="5"><w:abstractNumId w:val="3"/></w:num><w:num w:numId="6"><w:abstractNumId w:val="4"/></w:num>`

const styleSheet = `<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri"/></w:rPr></w:rPrDefault></w:docDefaults>` +
	`<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Ueberschrift1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:rPr><w:b/></w:rPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="My own"/><w:basedOn w:val="Ueberschrift1"/></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Outlined"><w:name w:val="Section"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Zitat"><w:name w:val="Quote"/></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Pre"><w:name w:val="HTML Preformatted"/></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Secret"><w:name w:val="Secret"/><w:rPr><w:vanish/></w:rPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="TOC2"><w:name w:val="toc 2"/></w:style>` +
	`<w:style w:type="character" w:styleId="Strong"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Circle"><w:name w:val="c"/><w:basedOn w:val="Circle2"/></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Circle2"><w:name w:val="c2"/><w:basedOn w:val="Circle"/></w:style>`

func TestWhatBodiesBecome(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"paragraphs":           {p("One ") + p("") + p("two"), "One\n\ntwo"},
		"runs are one word":    {`<w:p>` + r("Ha") + r("rb") + rp("<w:lang/>", "our") + `</w:p>`, "Harbour"},
		"emphasis":             {`<w:p>` + rp("<w:b/>", "bold") + r(" and ") + rp("<w:i/>", "italic") + r(", ") + rp("<w:strike/>", "struck") + `</w:p>`, "**bold** and *italic*, ~~struck~~"},
		"emphasis off":         {`<w:p>` + rp(`<w:b w:val="0"/>`, "plain") + rp(`<w:rStyle w:val="Strong"/>`, " strong") + rp(`<w:rStyle w:val="Strong"/><w:b w:val="false"/>`, " not") + `</w:p>`, "plain **strong** not"},
		"emphasis across runs": {`<w:p>` + rp("<w:b/>", "bold ") + rp("<w:b/><w:i/>", "both") + rp("<w:b/>", " bold") + `</w:p>`, "**bold *both* bold**"},
		"code":                 {`<w:p>` + r("run ") + rp(`<w:rFonts w:ascii="Courier New"/>`, "go *test*") + r(" now") + `</w:p>`, "run `go *test*` now"},
		"code lines":           {styled("Pre", "a := 1") + styled("Pre", "  b := 2") + p("end"), "```\na := 1\n  b := 2\n```\n\nend"},
		"raised and lowered":   {`<w:p>` + r("m") + rp(`<w:vertAlign w:val="superscript"/>`, "2") + r(" H") + rp(`<w:vertAlign w:val="subscript"/>`, "2") + r("O, 1") + rp(`<w:vertAlign w:val="superscript"/>`, "st") + `</w:p>`, "m^2 H2O, 1st"},
		"moved, not raised":    {`<w:p>` + r("m") + rp(`<w:position w:val="8"/><w:sz w:val="19"/>`, "3") + r(" H") + rp(`<w:position w:val="-2"/><w:sz w:val="19"/>`, "2") + r("O") + rp(`<w:position w:val="6"/>`, " up") + `</w:p>`, "m^3 H2O up"},
		"headings by name":     {styled("Ueberschrift1", "Eins") + styled("Mine", "Zwei"), "# Eins\n\n# Zwei"},
		"headings by outline":  {styled("Outlined", "Three") + `<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr>` + r("Two") + `</w:p>`, "### Three\n\n## Two"},
		"no heading after all": {`<w:p><w:pPr><w:pStyle w:val="Ueberschrift1"/><w:outlineLvl w:val="9"/></w:pPr>` + r("Text") + `</w:p>`, "Text"},
		"title":                {styled("Titel", "The title"), "# The title"},
		"unknown style":        {styled("Heading2", "Two") + styled("Circle", "text"), "## Two\n\ntext"},
		"a bold heading":       {`<w:p><w:pPr><w:pStyle w:val="Ueberschrift1"/></w:pPr>` + rp("<w:b/>", "Bold") + `</w:p>`, "# Bold"},
		"quotation":            {styled("Zitat", "One") + styled("Zitat", "two") + p("three"), "> One\n>\n> two\n\nthree"},
		"bullets":              {item("2", "0", "a") + item("2", "1", "b") + item("2", "0", "c") + p("end"), "- a\n  - b\n- c\n\nend"},
		"numbers":              {item("1", "0", "a") + item("1", "1", "b") + item("1", "1", "c") + item("1", "2", "d") + item("1", "0", "e") + item("1", "1", "f"), "1. a\n   - a) b\n   - b) c\n     - 1.1. d\n2. e\n   - a) f"},
		"a list goes on":       {item("1", "0", "a") + p("between") + item("1", "0", "b"), "1. a\n\nbetween\n\n2. b"},
		"another start":        {item("1", "0", "a") + item("3", "0", "b") + item("3", "0", "c"), "1. a\n\n5) b\n6) c"},
		"out of its list":      {item("0", "0", "a"), "a"},
		"no such list":         {item("77", "0", "a") + item("1", "12", "b"), "a\n\nb"},
		"table": {`<w:tbl><w:tblGrid/>` + tr(tc("", p("A")), tc("", p("B"))) + tr(tc("", p("1")), tc("", p("2 | 3"))) + `</w:tbl>` + p("end"),
			"| A | B |\n| --- | --- |\n| 1 | 2 \\| 3 |\n\nend"},
		"spans": {`<w:tbl>` + tr(tc(`<w:gridSpan w:val="2"/>`, p("AB")), tc(`<w:vMerge w:val="restart"/>`, p("C"))) + tr(tc("", p("1")), tc("", p("2")), tc(`<w:vMerge/>`, p(""))) + `</w:tbl>`,
			"| AB | | C |\n| --- | --- | --- |\n| 1 | 2 | |"},
		"cells of blocks": {`<w:tbl>` + tr(tc("", p("A")), tc("", p("B"))) + tr(tc("", p("x"), p("y")), tc("", item("1", "0", "i"), item("1", "0", "j"))) + `</w:tbl>`,
			"| A | B |\n| --- | --- |\n| x<br>y | 1. i<br>2. j |"},
		"a table in a table": {`<w:tbl>` + tr(tc("", p("A")), tc("", p("B"))) + tr(tc("", p("x")), tc("", `<w:tbl>`+tr(tc("", p("1")), tc("", p("2")))+tr(tc("", p("3")), tc("", p("4")))+`</w:tbl>`, p(""))) + `</w:tbl>`,
			"| A | B |\n| --- | --- |\n| x | 1, 2<br>3, 4 |"},
		"a frame":        {`<w:tbl>` + tr(tc("", styled("Titel", "In a frame"), p("text"))) + `</w:tbl>`, "# In a frame\n\ntext"},
		"bold header":    {`<w:tbl>` + tr(tc("", `<w:p>`+rp("<w:b/>", "A")+`</w:p>`), tc("", `<w:p>`+rp("<w:b/>", "B")+`</w:p>`)) + tr(tc("", p("1")), tc("", `<w:p>`+rp("<w:b/>", "2")+`</w:p>`)) + `</w:tbl>`, "| A | B |\n| --- | --- |\n| 1 | **2** |"},
		"a deleted row":  {`<w:tbl>` + tr(tc("", p("A")), tc("", p("B"))) + `<w:tr><w:trPr><w:del/></w:trPr>` + tc("", p("gone")) + `</w:tr>` + tr(tc("", p("1")), tc("", p("2"))) + `</w:tbl>`, "| A | B |\n| --- | --- |\n| 1 | 2 |"},
		"cells around":   {`<w:tbl>` + tr(tc("", p("A")), tc("", p("B")), tc("", p("C"))) + `<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>` + `<w:sdt><w:sdtContent>` + tc("", p("1")) + `</w:sdtContent></w:sdt>` + `</w:tr></w:tbl>`, "| A | B | C |\n| --- | --- | --- |\n| | 1 | |"},
		"changes":        {`<w:p>` + r("kept") + `<w:ins>` + r(" new") + `</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom>` + r("from") + `</w:moveFrom><w:moveTo>` + r(" to") + `</w:moveTo></w:p>`, "kept new to"},
		"a deleted end":  {`<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>` + r("one ") + `</w:p>` + p("two"), "one two"},
		"a changed look": {`<w:p>` + rp(`<w:rPrChange><w:rPr><w:b/><w:vanish/></w:rPr></w:rPrChange>`, "plain") + `</w:p>`, "plain"},
		"hidden":         {`<w:p>` + r("seen") + rp("<w:vanish/>", "hidden") + `</w:p>` + styled("Secret", "secret"), "seen"},
		"comments":       {`<w:p><w:commentRangeStart w:id="1"/>` + r("text") + `<w:commentRangeEnd w:id="1"/><w:r><w:annotationRef/><w:commentReference w:id="1"/></w:r></w:p>`, "text"},
		"breaks":         {`<w:p><w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t><w:br w:type="page"/><w:t>d</w:t><w:noBreakHyphen/><w:t>e</w:t><w:softHyphen/></w:r></w:p>`, "a\\\nb c d-e"},
		"symbols":        {`<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:t xml:space="preserve"> done </w:t><w:sym w:font="Symbol" w:char="F061"/></w:r>` + rp(`<w:rFonts w:ascii="Symbol"/>`, " b") + `</w:p>`, "✓ done α β"},
		"control":        {`<w:sdt><w:sdtPr><w:alias w:val="no"/></w:sdtPr><w:sdtContent>` + p("in") + `</w:sdtContent></w:sdt><w:p><w:sdt><w:sdtContent>` + r("line") + `</w:sdtContent></w:sdt></w:p>`, "in\n\nline"},
		"a box once": {`<w:p>` + r("by the box") + `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><wps:txbx><w:txbxContent>` + p("boxed") + `</w:txbxContent></wps:txbx></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>` + p("boxed") + `</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`,
			"by the box\n\nboxed"},
		"the other box":  {`<w:p><w:r><mc:AlternateContent><mc:Choice Requires="x"><w:unknown/></mc:Choice><mc:Fallback><w:pict><v:shape alt="a chart"/></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`, "![a chart]()"},
		"picture":        {`<w:p><w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="A pier at low tide"/><a:graphic/></wp:inline></w:drawing></w:r></w:p>`, "![A pier at low tide]()"},
		"field":          {`<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText> DATE \@ "d" </w:instrText><w:fldChar w:fldCharType="separate"/></w:r>` + r("3 May") + `<w:r><w:fldChar w:fldCharType="end"/></w:r>` + r(" 2031") + `</w:p>`, "3 May 2031"},
		"linked field":   {`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "https://harbour.example/a b" \l "x"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>` + r("there") + `<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`, "[there](https://harbour.example/a%20b#x)"},
		"simple field":   {`<w:p><w:fldSimple w:instr=" HYPERLINK &quot;https://harbour.example/&quot; ">` + r("home") + `</w:fldSimple></w:p>`, "[home](https://harbour.example/)"},
		"unended field":  {`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>` + r("x") + `</w:p>` + p("after"), "after"},
		"checkbox":       {`<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="1"/></w:checkBox></w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>` + r(" yes") + `</w:p>`, "☒ yes"},
		"initial":        {`<w:p><w:pPr><w:framePr w:dropCap="drop" w:lines="3"/></w:pPr>` + r("D") + `</w:p>` + p("rop cap"), "Drop cap"},
		"tasks in cells": {`<w:tbl>` + tr(tc("", p("A")), tc("", p("B"))) + tr(tc("", p("1")), tc("", item("5", "0", "to do"), item("6", "0", "done"))) + `</w:tbl>`, "| A | B |\n| --- | --- |\n| 1 | ☐ to do<br>☒ done |"},
		"tasks":          {item("5", "0", "to do") + item("6", "0", "done") + item("2", "0", "none"), "- [ ] to do\n- [x] done\n- none"},
		"blank header":   {`<w:tbl>` + tr(tc("", p("")), tc("", p(""))) + tr(tc("", p("A")), tc("", p("B"))) + tr(tc("", p("1")), tc("", p("2"))) + `</w:tbl>`, "| A | B |\n| --- | --- |\n| 1 | 2 |"},
		"contents":       {`<w:p><w:pPr><w:pStyle w:val="TOC2"/></w:pPr><w:hyperlink w:anchor="_Toc1">` + r("Scope") + `<w:r><w:tab/><w:t>12</w:t></w:r></w:hyperlink></w:p>`, "- Scope"},
		"anchor":         {`<w:p><w:hyperlink w:anchor="here">` + r("see there") + `</w:hyperlink></w:p>`, "see there"},
		"ruby":           {`<w:p><w:r><w:ruby><w:rt>` + r("みなと") + `</w:rt><w:rubyBase>` + r("港") + `</w:rubyBase></w:ruby></w:r></w:p>`, "港(みなと)"},
		"math": {`<w:p>` + r("let ") + `<m:oMath><m:sSup><m:e><m:r><m:t>𝑥</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup><m:r><m:t>=</m:t></m:r><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e><m:r><m:t>π</m:t></m:r></m:e></m:rad></m:den></m:f></m:oMath></w:p>`,
			`let $x^2=\frac{a}{\sqrt{\pi}}$`},
		"big sum":   {`<w:p><m:oMathPara><m:oMath><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>i=1</m:t></m:r></m:sub><m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:sSub><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sub><m:r><m:t>i</m:t></m:r></m:sub></m:sSub></m:e></m:nary></m:oMath></m:oMathPara></w:p>`, "$$\n\\sum_{i=1}^n x_i\n$$"},
		"brackets":  {`<w:p><m:oMath><m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e><m:m><m:mr><m:e><m:r><m:t>1</m:t></m:r></m:e><m:e><m:r><m:t>0</m:t></m:r></m:e></m:mr></m:m></m:e></m:d></m:oMath></w:p>`, `$\left[\begin{matrix}1 & 0\end{matrix}\right]$`},
		"markup":    {p("# no heading") + p("1. no item") + p("*a* _b_ &lt;c&gt; [d](e)"), "\\# no heading\n\n1\\. no item\n\n\\*a\\* \\_b\\_ \\<c> [d]\\(e)"},
		"altChunk":  {`<w:altChunk r:id="c1"/>` + p("own"), "own"},
		"bidi":      {`<w:p><w:pPr><w:bidi/></w:pPr><w:bdo w:val="rtl">` + r("تقرير ") + `</w:bdo>` + r("2031") + `</w:p>`, "تقرير 2031"},
		"bold gap":  {`<w:p>` + rp("<w:b/>", "bold ") + r("text") + `</w:p>`, "**bold** text"},
		"note only": {`<w:p>` + r("a") + `<w:r><w:footnoteReference w:id="5"/></w:r></w:p>`, "a"},
	} {
		body := file("body", c.body, "styles", styleSheet, "numbering", listSheet)
		got, err := Read(context.Background(), body, document.Limits{})
		if err != nil || got.Markdown != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got.Markdown, c.want)
		}
	}
}

func TestNumberedHeadings(t *testing.T) {
	heading := func(id, depth, text string) string {
		return `<w:p><w:pPr><w:pStyle w:val="` + id + `"/></w:pPr>` + r(text) + `</w:p>`
	}
	styles := `<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>` +
		`<w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="4"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr></w:style>`
	got, err := Read(context.Background(), file("styles", styles, "numbering", listSheet,
		"body", heading("Heading1", "0", "Scope")+heading("Heading2", "1", "Berths")+heading("Heading2", "1", "Depths")+heading("Heading1", "0", "Findings")+heading("Heading2", "1", "Steps")), document.Limits{})
	if want := "# I. Scope\n\n## 1.1 Berths\n\n## 1.2 Depths\n\n# II. Findings\n\n## 2.1 Steps"; err != nil || got.Markdown != want {
		t.Errorf("%v\n%s", err, got.Markdown)
	}
}

func TestNotesLinksAndTitle(t *testing.T) {
	note := func(kind, id, text string) string {
		return `<w:` + kind + ` w:id="` + id + `"><w:p><w:r><w:` + kind + `Ref/></w:r>` + r(" "+text) + `</w:p></w:` + kind + `>`
	}
	got, err := Read(context.Background(), file(
		"footnotes", `<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>`+note("footnote", "1", "First.")+note("footnote", "2", "Second.")+note("footnote", "3", "Not referred to."),
		"endnotes", note("endnote", "1", "At the end."),
		"rels", `<Relationship Id="l1" Type="x/hyperlink" Target="https://harbour.example/?a=1&amp;b=2" TargetMode="External"/><Relationship Id="l2" Type="x/hyperlink" Target="javascript:alert(1)" TargetMode="External"/><Relationship Id="l3" Type="x/hyperlink" Target="file:///etc/hostname" TargetMode="External"/>`,
		"core", `<dc:creator>x</dc:creator><dc:title> The  survey </dc:title>`,
		"body", `<w:p>`+r("a")+`<w:r><w:footnoteReference w:id="2"/></w:r>`+r(" b")+`<w:r><w:endnoteReference w:id="1"/></w:r>`+r(" c")+`<w:r><w:footnoteReference w:id="1"/></w:r></w:p>`+
			`<w:p><w:hyperlink r:id="l1">`+r("notices")+`</w:hyperlink>`+r(" ")+`<w:hyperlink r:id="l2">`+r("script")+`</w:hyperlink>`+r(" ")+`<w:hyperlink r:id="l3">`+r("file")+`</w:hyperlink></w:p>`), document.Limits{})
	want := "a[^1] b[^2] c[^3]\n\n[notices](https://harbour.example/?a=1&b=2) script file\n\n[^3]: First.\n\n[^1]: Second.\n\n[^2]: At the end."
	if err != nil || got.Markdown != want || got.Title != "The survey" {
		t.Errorf("%v %q\n%s", err, got.Title, got.Markdown)
	}
}

func TestChartsAndDiagrams(t *testing.T) {
	cache := func(tag string, values ...string) string {
		out := `<c:` + tag + `><c:strRef><c:f>Sheet1!A1</c:f><c:strCache>`
		for i, v := range values {
			out += fmt.Sprintf(`<c:pt idx="%d"><c:v>%s</c:v></c:pt>`, i, v)
		}
		return out + `</c:strCache></c:strRef></c:` + tag + `>`
	}
	got, err := Read(context.Background(), file(
		"rels", `<Relationship Id="c1" Type="x/chart" Target="charts/chart1.xml"/><Relationship Id="d1" Type="x/diagramData" Target="diagrams/data1.xml"/>`,
		"word/charts/chart1.xml", `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Depths</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser>`+
			cache("tx", "Metres")+cache("cat", "North", "South")+cache("val", "8.2", "6.9")+`</c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`,
		"word/diagrams/data1.xml", `<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><dgm:ptLst><dgm:pt type="doc"/><dgm:pt><dgm:t><a:p><a:r><a:t>Survey</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt type="parTrans"><dgm:t><a:t>no</a:t></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`,
		"body", `<w:p><w:r><w:drawing><wp:inline><a:graphic><c:chart r:id="c1"/></a:graphic></wp:inline></w:drawing></w:r></w:p><w:p><w:r><w:drawing><dgm:relIds r:dm="d1"/></w:drawing></w:r></w:p>`), document.Limits{})
	if want := "Depths\n\n| | Metres |\n| --- | --- |\n| North | 8.2 |\n| South | 6.9 |\n\n- Survey"; err != nil || got.Markdown != want {
		t.Errorf("%v\n%s", err, got.Markdown)
	}
}

// TestStrictNamespaces: ISO's own form has other names for its namespaces and kinds of relations.
func TestStrictNamespaces(t *testing.T) {
	body := file("body", p("strict"), "rels", `<Relationship Id="s" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/styles" Target="/word/s.xml"/>`,
		"word/s.xml", `<w:styles xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"><w:style w:type="paragraph" w:default="1" w:styleId="a"><w:name w:val="heading 3"/></w:style></w:styles>`)
	got, err := Read(context.Background(), body, document.Limits{})
	if err != nil || got.Markdown != "### strict" {
		t.Errorf("%v\n%s", err, got.Markdown)
	}
}

func TestHostileDocuments(t *testing.T) {
	many := strings.Repeat
	for name, c := range map[string]struct {
		body string
		want document.Reason // empty: it is read
	}{
		"deep tables":    {many("<w:tbl><w:tr><w:tc>", 100) + p("x"), document.TooDeep},
		"deep controls":  {many("<w:sdt><w:sdtContent>", 200), document.TooDeep},
		"many runs":      {`<w:p>` + many(rp("<w:b/>", "a")+r("b"), 60_000) + `</w:p>`, ""},
		"one long word":  {`<w:p>` + many(r("ab"), 200_000) + `</w:p>`, ""},
		"many cells":     {`<w:tbl><w:tr>` + many(`<w:tc/>`, 200_000) + `</w:tr>` + tr(tc("", p("x"))) + `</w:tbl>`, ""},
		"wide spans":     {`<w:tbl>` + many(tr(tc(`<w:gridSpan w:val="999999999"/>`, p("x")), tc("", p("y"))), 2_000) + `</w:tbl>`, ""},
		"many fields":    {`<w:p><w:r>` + many(`<w:fldChar w:fldCharType="begin"/><w:instrText>`+many("x", 50)+`</w:instrText>`, 20_000) + `</w:r></w:p>` + p("x"), ""},
		"deep math":      {`<w:p><m:oMath>` + many(`<m:rad><m:e>`, 100) + `<m:r><m:t>` + many("x", 100_000) + `</m:t></m:r>` + many(`</m:e></m:rad>`, 100) + `</m:oMath></w:p>` + p("x"), ""},
		"cut":            {`<w:p>`, document.Damaged},
		"emphasis moves": {`<w:p>` + many(rp("<w:b/>", ".")+rp("<w:i/>", "*"), 20_000) + `</w:p>`, ""},
	} {
		var text document.Text
		var err error
		costtest.Within(t, name, 10*time.Second, func() { text, err = Read(context.Background(), file("body", c.body), document.Limits{}) })
		var e *document.Error
		errors.As(err, &e)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (e == nil || e.Reason != c.want || text.Markdown != ""):
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestALongDocumentIsCutAndSaysSo(t *testing.T) {
	text, err := Read(context.Background(), file("body", strings.Repeat(p("a sentence of a long document"), 100)), document.Limits{Text: 1000})
	if err != nil || len(text.Markdown) > 1100 || len(text.Notes) != 1 || text.Notes[0].Kind != document.NoteCut {
		t.Errorf("%v %d bytes, %v", err, len(text.Markdown), text.Notes)
	}
}

// TestATextThatIsTooLongIsCutAndSaysSo: one paragraph, a line of code or many of them alone may be longer than a document may.
func TestATextThatIsTooLongIsCutAndSaysSo(t *testing.T) {
	for name, body := range map[string]string{"a paragraph": p(strings.Repeat("word ä ", 1000)), "runs": `<w:p>` + strings.Repeat(rp("<w:b/>", "a")+r("b"), 2000) + `</w:p>`,
		"a line": styled("Pre", strings.Repeat("word ", 1000)), "lines": strings.Repeat(styled("Pre", "word"), 1000)} {
		text, err := Read(context.Background(), file("body", body+p("after"), "styles", styleSheet), document.Limits{Text: 1000})
		if err != nil || len(text.Markdown) > 1100 || len(text.Markdown) < 900 || len(text.Notes) != 1 || text.Notes[0].Kind != document.NoteCut || strings.Contains(text.Markdown, "after") {
			t.Errorf("%s: %v %d bytes, %v", name, err, len(text.Markdown), text.Notes)
		}
	}
}

// TestAParagraphThatIsTooLongIsCutAndSaysSo: what was read of it before is shown.
func TestAParagraphThatIsTooLongIsCutAndSaysSo(t *testing.T) {
	body := `<w:p>` + strings.Repeat(rp("<w:b/>", "a")+r("b"), 200) + `</w:p>` + p("after")
	text, err := Read(context.Background(), file("body", body), document.Limits{Cells: 100})
	if err != nil || !strings.HasPrefix(text.Markdown, "**a**b") || strings.Contains(text.Markdown, "after") || len(text.Notes) != 1 {
		t.Errorf("%v %q %v", err, text.Markdown, text.Notes)
	}
}

func FuzzDocx(f *testing.F) {
	for _, name := range []string{"harbour.docx", "harbour-cut.docx", "harbour-entities.docx"} {
		body, err := os.ReadFile("../../../testdata/documents/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
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
	f.Add(p("text") + item("1", "0", "a") + styled("Ueberschrift1", "b") + `<w:tbl>` + tr(tc(`<w:gridSpan w:val="2"/>`, p("AB"))) + `</w:tbl>`)
	f.Add(`<w:p><m:oMath><m:nary><m:sub/><m:e/></m:nary></m:oMath><w:r><w:fldChar w:fldCharType="begin"/><w:instrText>HYPERLINK "</w:instrText><w:fldChar w:fldCharType="end"/></w:r></w:p>`)
	f.Fuzz(func(t *testing.T, body string) {
		text, err := Read(context.Background(), file("body", body, "styles", styleSheet, "numbering", listSheet), document.Limits{Unpacked: 4 << 20})
		if err != nil && text.Markdown != "" {
			t.Error("an error and a text")
		}
	})
}
