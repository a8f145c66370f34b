package docx

import (
	"context"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
)

// complexField is a field with a code and a result; form is what stands in its beginning.
func complexField(code, result, form string) string {
	out := `<w:r><w:fldChar w:fldCharType="begin">` + form + `</w:fldChar></w:r><w:r><w:instrText> ` + code + ` </w:instrText></w:r>`
	if result != "" {
		out += `<w:r><w:fldChar w:fldCharType="separate"/></w:r>` + result
	}
	return out + `<w:r><w:fldChar w:fldCharType="end"/></w:r>`
}

func indented(left, text string) string {
	return `<w:p><w:pPr><w:ind w:left="` + left + `"/></w:pPr>` + r(text) + `</w:p>`
}

func typed(text string) string {
	return `<w:p>` + rp(`<w:rFonts w:ascii="Courier New"/>`, text) + `</w:p>`
}

// listsOfMany are lists as word processors of many makers define them: 1 is numbered with indents, 2 has blanks for bullets, 3 and 4
// count in other alphabets, 5 is a bullet by a style of a deeper level.
const listsOfMany = `<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/><w:pPr><w:ind w:left="720" w:hanging="360"/></w:pPr></w:lvl>` +
	`<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="russianLower"/><w:lvlText w:val="%2)"/><w:pPr><w:ind w:start="1440" w:hanging="360"/></w:pPr></w:lvl></w:abstractNum>` +
	`<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val=" "/></w:lvl></w:abstractNum>` +
	`<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimalEnclosedCircle"/><w:lvlText w:val="%1"/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="2"/><w:numFmt w:val="ganada"/><w:lvlText w:val="%2."/></w:lvl></w:abstractNum>` +
	`<w:abstractNum w:abstractNumId="3"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val=""/><w:lvlPicBulletId w:val="0"/></w:lvl></w:abstractNum>` +
	`<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num><w:num w:numId="4"><w:abstractNumId w:val="3"/></w:num>`

const stylesOfMany = `<w:style w:type="paragraph" w:styleId="a"><w:name w:val="Überschrift 2"/></w:style><w:style w:type="paragraph" w:styleId="b"><w:name w:val="标题 1"/></w:style>` +
	`<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style><w:style w:type="paragraph" w:styleId="A"><w:name w:val="Author"/><w:basedOn w:val="T"/></w:style>` +
	`<w:style w:type="paragraph" w:styleId="B1"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="B2"><w:name w:val="List Bullet 2"/><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr></w:style>` +
	`<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Source Code"/></w:style><w:style w:type="paragraph" w:styleId="TF"><w:name w:val="table of figures"/></w:style>`

func TestWhatProgramsOfManyMakersWrite(t *testing.T) {
	box := func(inner string) string {
		return `<w:p><w:r><w:pict><v:shape>` + inner + `</v:shape></w:pict></w:r></w:p>`
	}
	coded := `<w:p><w:pPr><w:pStyle w:val="Code"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr></w:pPr>`
	for name, c := range map[string]struct{ body, want string }{
		"headings of other languages": {styled("a", "Zwei") + styled("b", "一") + styled("berschrift3", "Drei") + styled("A", "By an author"), "## Zwei\n\n# 一\n\n### Drei\n\nBy an author"},
		"a blank for a bullet":        {item("1", "0", "a") + item("2", "0", "more of a") + item("1", "0", "b"), "1. a\n\n   more of a\n2. b"},
		"code in an item":             {item("1", "0", "a") + coded + r("x = 1") + `</w:p>` + coded + r("y = 2") + `</w:p>` + item("1", "0", "b"), "1. a\n\n   ```\n   x = 1\n   y = 2\n   ```\n2. b"},
		"indented as an item is":      {item("1", "0", "a") + indented("720", "of a") + item("1", "1", "б") + indented("1500", "of б") + indented("800", "of a again") + item("1", "0", "c") + p("no more") + indented("720", "alone"), "1. a\n\n   of a\n   - а) б\n\n     of б\n\n   of a again\n2. c\n\nno more\n\nalone"},
		"other alphabets":             {item("3", "0", "x") + item("3", "1", "y"), "- ① x\n  - 나. y"},
		"styles of deeper lists":      {styled("B1", "a") + styled("B2", "b") + styled("B1", "c"), "- a\n  - b\n- c"},
		"a choice":                    {`<w:p>` + r("Colour: ") + complexField("FORMDROPDOWN", "", `<w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/><w:listEntry w:val="green"/></w:ddList></w:ffData>`) + r(".") + `</w:p>`, "Colour: green."},
		"a choice that is shown":      {`<w:p>` + complexField("FORMDROPDOWN", r("red"), `<w:ffData><w:ddList><w:listEntry w:val="red"/></w:ddList></w:ffData>`) + `</w:p>`, "red"},
		"a button":                    {`<w:p>` + complexField("MACROBUTTON NoMacro [Type a name]", "", "") + `</w:p>`, "[Type a name]"},
		"a formula of old":            {`<w:p>` + complexField(`EQ \f(3,x+1)`, "", "") + r(" and ") + complexField(`EQ \r(3,8)+\b\bc\[(a,b)`, "", "") + r(" and ") + complexField(`EQ x\s\up8(2)\o(a,\s\do3(1))`, "", "") + `</w:p>`, "3/(x+1) and root 3 of 8+[a, b] and x^2a_1"},
		"a page in a sentence":        {`<w:p>` + r("see page ") + complexField(`PAGEREF _x \h`, r("77"), "") + `</w:p>`, "see page 77"},
		"contents without styles":     {`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC \o</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>` + r("Alpha\t") + complexField("PAGEREF _a", r("4"), "") + `</w:p>` + p("Beta\t9") + `<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>` + p("Gamma\t10"), "- Alpha\n- Beta\n\nGamma 10"},
		"a list of figures":           {styled("TF", "Figure 1 Pier\t7"), "- Figure 1 Pier"},
		"words as a drawing":          {box(`<v:textpath string="Welcome aboard"/>`), "Welcome aboard"},
		"a drawing beside the text":   {`<w:p><w:r><w:drawing><wp:anchor><wp:docPr descr="A pier"/></wp:anchor></w:drawing></w:r>` + r("Text") + `</w:p>`, "Text\n\n![A pier]()"},
		"a drawing beside an item":    {item("1", "0", "a") + `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:drawing><wp:anchor><wp:docPr descr="A pier"/></wp:anchor></w:drawing></w:r>` + r("b") + `</w:p>` + item("1", "1", "c"), "1. a\n2. b\n\n   ![A pier]()\n   - а) c"},
		"a box that is described":     {`<w:p>` + r("By") + `<w:r><w:drawing><wp:anchor><wp:docPr descr="Text box"/><w:txbxContent>` + p("boxed") + `</w:txbxContent></wp:anchor></w:drawing></w:r></w:p>`, "By\n\nboxed"},
		"a picture's file":            {`<w:p>` + r("a") + `<w:r><w:drawing><wp:inline><wp:docPr descr="K:\projects\pier.gif"/></wp:inline></w:drawing></w:r></w:p>`, "a"},
		"a picture's address":         {`<w:p>` + r("a") + `<w:r><w:drawing><wp:inline><wp:docPr descr="http://harbour.example/spacer.gif"/></wp:inline></w:drawing></w:r></w:p>`, "a"},
		"a page's frame": {`<w:tbl>` + tr(tc("", p("Menu")), tc("", styled("a", "Zwei"), p(strings.Repeat("many words ", 100)), `<w:tbl>`+tr(tc("", p("A")), tc("", p("B")))+tr(tc("", p("1")), tc("", p("2")))+`</w:tbl>`, p(""))) + tr(tc("", p("")), tc("", p("Foot"))) + `</w:tbl>`,
			"Menu\n\n## Zwei\n\n" + strings.TrimSpace(strings.Repeat("many words ", 100)) + "\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\nFoot"},
		"other names of namespaces": {`<w:p><w:hyperlink ns1:id="l1" xmlns:ns1="x">` + r("there") + `</w:hyperlink></w:p>`, "[there](https://harbour.example/)"},
		"a note's own sign":         {`<w:p>` + r("a") + `<w:r><w:footnoteReference w:customMarkFollows="1" w:id="1"/><w:t>*</w:t></w:r>` + r(" b") + `</w:p>`, "a[^1] b\n\n[^1]: n"},
		"lines in a font of code":   {typed("import os") + typed("    print(os.getcwd())") + typed("return") + p("text"), "```\nimport os\n    print(os.getcwd())\nreturn\n```\n\ntext"},
		"a sentence in such a font": {typed("This letter was typed on the machine of the harbour office (room 4)."), "This letter was typed on the machine of the harbour office (room 4)."},
		"a letter in such a font":   {`<w:p>` + r("Thes") + rp(`<w:rFonts w:ascii="Courier New"/>`, "e") + r(" and m") + rp(`<w:rFonts w:ascii="Courier New"/><w:vertAlign w:val="superscript"/>`, "2") + `</w:p>`, "These and m^2"},
		"functions":                 {`<w:p><m:oMath><m:func><m:fName><m:r><m:t>cos</m:t></m:r></m:fName><m:e><m:r><m:t>&#x2061;x</m:t></m:r></m:e></m:func><m:r><m:t>−1=</m:t></m:r><m:func><m:fName><m:limLow><m:e><m:r><m:t>lim</m:t></m:r></m:e><m:lim><m:r><m:t>n</m:t></m:r></m:lim></m:limLow></m:fName><m:e><m:r><m:t>⋃</m:t></m:r></m:e></m:func></m:oMath></w:p>`, `$\cos x-1=\lim_n\bigcup$`},
	} {
		note := `<w:footnote w:id="1"><w:p>` + r("n") + `</w:p></w:footnote>`
		body := file("body", c.body, "styles", stylesOfMany, "numbering", listsOfMany, "footnotes", note, "rels", `<Relationship Id="l1" Type="x/hyperlink" Target="https://harbour.example/" TargetMode="External"/>`)
		got, err := Read(context.Background(), body, document.Limits{})
		if err != nil || got.Markdown != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got.Markdown, c.want)
		}
	}
}

// TestWhatIsDamagedBesideTheText: the text is read all the same, what declares entities is refused all the same.
func TestWhatIsDamagedBesideTheText(t *testing.T) {
	body := `<w:p>` + r("text") + `<w:r><w:footnoteReference w:id="1"/></w:r></w:p>`
	rels := `<Relationship Id="s" Type="x/styles" Target="s.xml"/><Relationship Id="n" Type="x/numbering" Target="n.xml"/><Relationship Id="f" Type="x/footnotes" Target="f.xml"/>`
	for broken, want := range map[string]string{"<": "", "<w:styles><w:style": "", `<!DOCTYPE a [<!ENTITY b "c">]><a/>`: "it declares entities of its own, which no document needs"} {
		got, err := Read(context.Background(), file("body", body, "rels", rels, "word/s.xml", broken, "word/n.xml", broken, "word/f.xml", broken), document.Limits{})
		switch {
		case want == "" && (err != nil || got.Markdown != "text[^1]"):
			t.Errorf("%q: %v\n%s", broken, err, got.Markdown)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%q: %v", broken, err)
		}
	}
}
