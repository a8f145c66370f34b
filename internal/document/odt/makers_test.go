package odt

import (
	"context"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
)

func TestWhatProgramsOfManyMakersWrite(t *testing.T) {
	styles := `<office:font-face-decls><style:font-face style:name="Wingdings1" svg:font-family="&apos;Wingdings&apos;"/><style:font-face style:name="F2" svg:font-family="Courier New"/></office:font-face-decls>` +
		`<office:automatic-styles><style:style style:name="H" style:display-name="Heading 2" style:family="paragraph"/><style:style style:name="P9" style:family="paragraph" style:parent-style-name="H"/>` +
		`<style:style style:name="O" style:family="paragraph" style:default-outline-level="3"/><style:style style:name="Title" style:family="paragraph"/><style:style style:name="Author" style:family="paragraph" style:parent-style-name="Title"/>` +
		`<style:style style:name="W" style:family="text"><style:text-properties style:font-name="Wingdings1"/></style:style><style:style style:name="M" style:family="text"><style:text-properties style:font-name="F2"/></style:style>` +
		`<text:list-style style:name="LN"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="а, б, .., аа, аб, ... (ru)" style:num-suffix=")"/></text:list-style>` +
		`<text:list-style style:name="LB"><text:list-level-style-bullet text:level="1" text:bullet-char=" "/></text:list-style>` +
		`<text:list-style style:name="LT"><text:list-level-style-bullet text:level="1" text:bullet-char="&#xF0FE;"><style:text-properties style:font-name="Wingdings1"/></text:list-level-style-bullet></text:list-style></office:automatic-styles>`
	const row, end = `<table:table-row>`, `</table:table-row>`
	styled := func(name, text string) string { return `<text:p text:style-name="` + name + `">` + text + `</text:p>` }
	code := func(text string) string { return p(`<text:span text:style-name="M">` + text + `</text:span>`) }
	numbers := `text:style-name="LN"`
	mark := func(kind, params string) string {
		return `<field:fieldmark field:type="vnd.oasis.opendocument.field.` + kind + `">` + params + `</field:fieldmark>`
	}
	for name, c := range map[string]struct{ body, want string }{
		"headings as paragraphs":    {styled("P9", "Two") + styled("O", "Three") + styled("Author", "By an author"), "## Two\n\n### Three\n\nBy an author"},
		"signs of fonts":            {p(`<text:span text:style-name="W">&#xF0FC;</text:span> done`), "✓ done"},
		"a font of another name":    {p(`run <text:span text:style-name="M">go test</text:span> now`), "run `go test` now"},
		"lines of code":             {code("if x:") + code("<text:s text:c=\"4\"/>return"), "```\nif x:\n    return\n```"},
		"no cells under another":    {`<table:table>` + row + td("A") + td("B") + td("C") + end + row + `<table:table-cell table:number-columns-spanned="2">` + p("1") + `</table:table-cell>` + td("3") + end + `</table:table>`, "| A | B | C |\n| --- | --- | --- |\n| 1 | | 3 |"},
		"no cells below another":    {`<table:table>` + row + td("A") + `<table:table-cell table:number-columns-spanned="2" table:number-rows-spanned="2">` + p("BC") + `</table:table-cell>` + td("D") + end + row + td("1") + td("4") + end + row + td("5") + td("6") + td("7") + td("8") + end + `</table:table>`, "| A | BC | | D |\n| --- | --- | --- | --- |\n| 1 | | | 4 |\n| 5 | 6 | 7 | 8 |"},
		"cells below another":       {`<table:table>` + row + `<table:table-cell table:number-rows-spanned="2">` + p("A") + `</table:table-cell>` + td("B") + end + row + `<table:covered-table-cell/>` + td("2") + end + row + td("3") + td("4") + end + `</table:table>`, "| A | B |\n| --- | --- |\n| | 2 |\n| 3 | 4 |"},
		"a list within goes on":     {list(numbers, li(p("a"), list("", li(p("x"))))) + p("between") + list(numbers+` text:continue-numbering="true"`, li(list("", li(p("y")))), li(p("b"), list("", li(p("z"))))), "1. a\n   - а) x\n\nbetween\n\n- б) y\n\n2. b\n   - а) z"},
		"a blank for a bullet":      {list(numbers, li(p("a"))) + list(`text:style-name="LB"`, li(p("more of a"))) + list(numbers+` text:continue-numbering="true"`, li(p("b"))), "1. a\n\n   more of a\n2. b"},
		"a task":                    {list(`text:style-name="LT"`, li(p("done"))), "- [x] done"},
		"a choice":                  {p(`Colour: ` + mark("FORMDROPDOWN", `<field:param field:name="Dropdown_ListEntry" field:value="red"/><field:param field:name="Dropdown_ListEntry" field:value="green"/><field:param field:name="Dropdown_Selected" field:value="1"/>`)), "Colour: green"},
		"boxes":                     {p(mark("FORMCHECKBOX", `<field:param field:name="Checkbox_Checked" field:value="true"/>`) + " yes " + mark("FORMCHECKBOX", "") + " no"), "☒ yes ☐ no"},
		"code in an item":           {list(numbers, li(p("a"), styled("Preformatted_20_Text", "x = 1"), styled("Preformatted_20_Text", "y = 2")), li(p("b"))), "1. a\n\n   ```\n   x = 1\n   y = 2\n   ```\n2. b"},
		"a picture beside the text": {p(`<draw:frame text:anchor-type="paragraph"><draw:image/><svg:desc>A pier</svg:desc></draw:frame>Text`), "Text\n\n![A pier]()"},
		"a shape that is described": {p(`a<draw:rect><svg:title>A blue box</svg:title></draw:rect>`), "a![A blue box]()"},
		"a choice that is beyond":   {p("a" + mark("FORMDROPDOWN", `<field:param field:name="Dropdown_Selected" field:value="7"/>`)), "a"},
	} {
		body := []byte(`<office:document ` + spaces + ` xmlns:field="fi">` + styles + `<office:body><office:text>` + c.body + `</office:text></office:body></office:document>`)
		got, err := Read(context.Background(), body, document.Limits{})
		if err != nil || got.Markdown != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got.Markdown, c.want)
		}
	}
}

// TestWhatIsDamagedBesideTheText: the text is read all the same.
func TestWhatIsDamagedBesideTheText(t *testing.T) {
	content := `<office:document-content ` + spaces + `><office:body><office:text>` + p("text") + `</office:text></office:body></office:document-content>`
	got, err := Read(context.Background(), file("META-INF/manifest.xml", "<a", "styles.xml", "<office:document-styles><b>", "content.xml", content), document.Limits{})
	if err != nil || got.Markdown != "text" {
		t.Errorf("%v\n%s", err, got.Markdown)
	}
}
