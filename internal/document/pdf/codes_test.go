package pdf

import (
	"fmt"
	"strings"
	"testing"
)

// bitmapFont adds a font without a name whose characters are drawn by the file, as TeX's bitmap fonts are, with the
// codes from 0 to 255, each as wide as width says, in thousandths.
func (f *file) bitmapFont(width func(code int) int) int {
	var widths, names, procs strings.Builder
	for c := range 256 {
		w := width(c)
		box := f.stream("", fmt.Sprintf("%d 0 0 0 %d 700 d1 0 0 %d 700 re f", w, w-40, w-60))
		fmt.Fprintf(&widths, "%d ", w)
		fmt.Fprintf(&names, "/a%d ", c)
		fmt.Fprintf(&procs, "/a%d %d 0 R ", c, box)
	}
	return f.add("<</Type/Font/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 0/LastChar 255"+
		"/Widths[%s]/Encoding<</Type/Encoding/Differences[0 %s]>>/CharProcs<<%s>>>>", widths.String(), names.String(), procs.String())
}

func TestTeXsBitmapFontsAreRead(t *testing.T) {
	f := &file{}
	text := f.bitmapFont(func(c int) int {
		if c == 'i' || c == 'l' || c == 't' {
			return 300
		}
		return 500
	})
	signs := f.bitmapFont(func(int) int { return 500 })
	even := f.bitmapFont(func(int) int { return 600 })
	set := func(x, y float64, font, codes string) string {
		return fmt.Sprintf("BT /%s 10 Tf %g %g Td <%x> Tj ET\n", font, x, y, codes)
	}
	f.pages(page{
		// Fonts take the place of those that a test's page has.
		resources: fmt.Sprintf("/Font<</T %d 0 R/S %d 0 R/C %d 0 R>>", text, signs, even),
		content: set(50, 700, "T", "the") + set(70, 700, "T", "con\x1cguration") + set(130, 700, "T", "o\x1bers") + set(160, 700, "T", "1990\x151995") +
			set(50, 660, "S", "\x88") + set(62, 660, "T", "signi\x1ccant") + set(110, 660, "T", "in\x1duence") +
			set(50, 620, "C", "if") + set(68, 620, "C", "small") + set(104, 620, "C", "{") +
			set(74, 608, "C", "will()") + set(50, 596, "C", "}"),
	})
	body := strings.Replace(string(f.bytes()), "/Resources<<"+fonts, "/Resources<<", 1)
	got := convert(t, []byte(body)).Markdown
	want := "the configuration offers 1990–1995\n\n- significant influence\n\n```\nif small {\n    will()\n}\n```"
	if got != want {
		t.Errorf("got\n%s\n\nwant\n%s", got, want)
	}
}

func TestLigaturesWhoseBytesAreExchanged(t *testing.T) {
	f := &file{}
	cmap := f.stream("", "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"+
		"1 begincodespacerange <00> <FF> endcodespacerange\n2 beginbfrange <20> <60> <0020> <61> <7E> <0061> endbfrange\n"+
		"1 beginbfchar <80> <66006900> endbfchar endcmap CMapName currentdict /CMap defineresource pop end end")
	font := f.add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode %d 0 R>>", cmap)
	f.pages(page{resources: fmt.Sprintf("/Font<</X %d 0 R>>", font), content: "BT /X 10 Tf 50 700 Td (A signi\\200cant number of words) Tj ET"})
	body := strings.Replace(string(f.bytes()), "/Resources<<"+fonts, "/Resources<<", 1)
	if got := convert(t, []byte(body)).Markdown; got != "A significant number of words" {
		t.Errorf("got %q", got)
	}
}

func TestFieldsWhoseDrawingIsLeftToTheReader(t *testing.T) {
	f := &file{}
	field := func(y int, entries string) string {
		return fmt.Sprintf("<</Type/Annot/Subtype/Widget/FT/Tx/T(x)/Rect[120 %d 260 %d]%s>>", y, y+14, entries)
	}
	f.pages(page{
		content: at(50, 700, "F1", 10, "First name") + at(50, 660, "F1", 10, "Secret"),
		entries: "/Annots[" + field(697, "/V(Alice Berg)") + field(657, "/V(hunter2)/Ff 8192") + field(617, "/V(unseen)/F 2") + "]",
	})
	if got := convert(t, f.bytes()).Markdown; !strings.Contains(got, "First name") || !strings.Contains(got, "Alice Berg") || strings.Contains(got, "hunter") || strings.Contains(got, "unseen") {
		t.Errorf("got %q", got)
	}
}

// TestBoxesOfAForm: which is chosen, where the mark is drawn as a line or is left to the reader.
func TestBoxesOfAForm(t *testing.T) {
	f := &file{}
	drawn := f.stream("/Type/XObject/Subtype/Form/BBox[0 0 20 20]", "2 2 m 18 18 l 2 18 m 18 2 l S")
	box := func(y int, entries string) string {
		return fmt.Sprintf("<</Type/Annot/Subtype/Widget/FT/Btn/T(b%d)/F 4/Rect[120 %d 140 %d]%s>>", y, y, y+20, entries)
	}
	yes := fmt.Sprintf("/V/Yes/AS/Yes/AP<</N<</Yes %d 0 R>>>>", drawn)
	f.pages(page{
		content: at(50, 700, "F1", 10, "Member:") + at(50, 660, "F1", 10, "Visitor:") + at(50, 620, "F1", 10, "Captain:") + at(50, 580, "F1", 10, "Send"),
		entries: "/Annots[" + box(695, yes) + box(655, "/AS/Off") + box(615, "/AS/x#C3#A4") + box(575, "/Ff 65536/MK<</CA(Send)>>") + box(535, "/AS/Yes/F 2") + "]",
	})
	if got := convert(t, f.bytes()).Markdown; got != "Member: ☒\n\nVisitor: ☐\n\nCaptain: ☒\n\nSend" {
		t.Errorf("got %q", got)
	}
}

func TestWhatStandsForAPictureIsRead(t *testing.T) {
	f := &file{}
	kids := f.add("")
	figure := f.add("")
	content := "/P<</MCID 0>>BDC " + at(50, 750, "F1", 10, "The chart below shows the depths.") + "EMC\n" +
		"/Figure<</MCID 1>>BDC 0.2 0.4 0.6 rg 50 500 300 200 re f EMC\n/P<</MCID 2>>BDC " + at(50, 460, "F1", 10, "Text below the chart.") + "EMC\n"
	tree := f.add("")
	page := f.add("<</Type/Page/Parent %d 0 R/MediaBox[0 0 600 800]/StructParents 0/Contents %d 0 R/Resources<<%s>>>>", tree, f.stream("", content), fonts)
	f.set(tree, "<</Type/Pages/Kids[%d 0 R]/Count 1>>", page)
	p := func(id int) int {
		return f.add("<</Type/StructElem/S/P/P %d 0 R/Pg %d 0 R/K %d>>", kids, page, id)
	}
	first, last := p(0), p(2)
	f.set(figure, "<</Type/StructElem/S/Figure/Alt(Bars of the depths of nine berths)/P %d 0 R/Pg %d 0 R/K 1>>", kids, page)
	f.set(kids, "<</Type/StructTreeRoot/K[%d 0 R %d 0 R %d 0 R]/ParentTree<</Nums[0[%d 0 R %d 0 R %d 0 R]]>>>>", first, figure, last, first, figure, last)
	f.root = f.add("<</Type/Catalog/Pages %d 0 R/MarkInfo<</Marked true>>/StructTreeRoot %d 0 R>>", tree, kids)
	want := "The chart below shows the depths.\n\n*Bars of the depths of nine berths*\n\nText below the chart."
	if got := convert(t, f.bytes()).Markdown; got != want {
		t.Errorf("got\n%s\n\nwant\n%s", got, want)
	}
}

func TestAttachedFilesAreSaid(t *testing.T) {
	f := &file{}
	data := f.stream("/Type/EmbeddedFile", "a,b\n1,2\n")
	spec := f.add("<</Type/Filespec/F(data.csv)/UF(data.csv)/EF<</F %d 0 R>>>>", data)
	f.pages(page{content: at(50, 700, "F1", 10, "See the attached data.")})
	f.root = f.add("%s", strings.Replace(f.objects[f.root-1], "/Type/Catalog", fmt.Sprintf("/Type/Catalog/Names<</EmbeddedFiles<</Names[(data.csv) %d 0 R]>>>>", spec), 1))
	got := convert(t, f.bytes())
	if len(got.Notes) != 1 || got.Notes[0].Words != "1 attached file is left out" || got.Markdown != "See the attached data." {
		t.Errorf("got %q, %+v", got.Markdown, got.Notes)
	}
}

func TestFormsThatAProgramDrawsAreSaid(t *testing.T) {
	f := &file{}
	xdp := f.stream("", "<xdp:xdp xmlns:xdp=\"http://ns.adobe.com/xdp/\"></xdp:xdp>")
	f.pages(page{content: at(50, 700, "F1", 10, "Please wait.")})
	f.root = f.add("%s", strings.Replace(f.objects[f.root-1], "/Type/Catalog", fmt.Sprintf("/Type/Catalog/NeedsRendering true/AcroForm<</Fields[]/XFA %d 0 R>>", xdp), 1))
	got := convert(t, f.bytes())
	if len(got.Notes) != 1 || got.Notes[0].Kind != "dynamic_form" || got.Markdown != "Please wait." {
		t.Errorf("got %q, %+v", got.Markdown, got.Notes)
	}
}
