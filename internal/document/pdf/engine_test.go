package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/costtest"
	"github.com/wayleave/wayleave/internal/document"
)

func convert(t *testing.T, body []byte) document.Text {
	t.Helper()
	text, err := engine.Convert(t.Context(), body, document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestWhatAPageSays(t *testing.T) {
	f := &file{}
	f.info = f.add("<</Title(A declared title)>>")
	link := "/Annots[<</Type/Annot/Subtype/Link/Rect[100 690 160 712]/A<</S/URI/URI(https://harbour.example/a?b=c)>>>>]"
	f.pages(page{entries: link, content: at(50, 750, "F2", 20, "Big heading") +
		at(50, 700, "F1", 10, "Text with") + at(100, 700, "F1", 10, "a link in it") + at(165, 700, "F1", 10, "and more words after it, to be a text.") +
		at(50, 650, "F3", 10, "if x {") + at(74, 638, "F3", 10, "y()") + at(50, 626, "F3", 10, "}") +
		"0.5 w 50 500 m 250 500 l S 50 520 m 250 520 l S 50 540 m 250 540 l S 50 500 m 50 540 l S 150 500 m 150 540 l S 250 500 m 250 540 l S\n" +
		at(55, 526, "F1", 10, "Berth") + at(155, 526, "F1", 10, "Depth") + at(55, 506, "F1", 10, "North") + at(155, 506, "F1", 10, "8.2")})
	got := convert(t, f.bytes())
	want := "# Big heading\n\nText with [a link in it](https://harbour.example/a?b=c) and more words after it, to be a text.\n\n" +
		"```\nif x {\n    y()\n}\n```\n\n| Berth | Depth |\n| --- | --- |\n| North | 8.2 |"
	if got.Markdown != want || got.Title != "A declared title" || len(got.Facts)+len(got.Notes) != 0 {
		t.Errorf("got %q, %v, %v\n%s", got.Title, got.Facts, got.Notes, got.Markdown)
	}
}

func TestTurnedPagesReadLikeOthers(t *testing.T) {
	content := at(50, 700, "F2", 16, "Heading") + at(50, 670, "F1", 10, "The first line of the text goes on") + at(50, 658, "F1", 10, "in the second one.")
	for _, rotate := range []int{0, 90, 180, 270} {
		f := (&file{}).pages(page{content: content, entries: fmt.Sprintf("/Rotate %d", rotate)})
		got := convert(t, f.bytes()).Markdown
		// The text turns with the page, so that it is read as it stands on it.
		if !strings.Contains(got, "Heading") || !strings.Contains(got, "The first line of the text goes on in the second one.") {
			t.Errorf("/Rotate %d: got\n%s", rotate, got)
		}
	}
	// A page that is drawn sideways and turned upright by its entry.
	f := (&file{}).pages(page{entries: "/Rotate 90", box: "0 0 800 600", content: "0 1 -1 0 800 0 cm\n" + content})
	if got := convert(t, f.bytes()).Markdown; !strings.HasPrefix(got, "# Heading\n\nThe first line of the text goes on in the second one.") {
		t.Errorf("got\n%s", got)
	}
}

func TestTextInFormsAndWithoutInk(t *testing.T) {
	f := &file{}
	form := f.stream("/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Matrix[1 0 0 1 10 20]/Resources<<"+fonts+">>",
		at(50, 500, "F1", 10, "Text in a form.")+"1 w 40 490 m 240 490 l S\n")
	f.pages(page{resources: fmt.Sprintf("/XObject<</X %d 0 R>>", form), content: "/X Do\n" +
		at(50, 400, "F1", 10, "Text that is seen.") + "3 Tr\n" + at(50, 300, "F1", 10, "Hidden words.") + "0 Tr 1 1 1 rg\n" + at(50, 200, "F1", 10, "White words.") +
		"0 0 1 rg 40 90 300 30 re f 1 1 1 rg\n" + at(50, 100, "F1", 10, "White on blue.")})
	if got, want := convert(t, f.bytes()).Markdown, "Text in a form.\n\nText that is seen.\n\nWhite on blue."; got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestFilledFieldsAreRead(t *testing.T) {
	f := &file{}
	shown := f.stream("/Type/XObject/Subtype/Form/BBox[0 0 200 20]/Resources<<"+fonts+">>", at(2, 5, "F1", 10, "Karlsen"))
	field := f.add("<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(Karlsen)/F 4/Rect[100 695 300 715]/AP<</N %d 0 R>>>>", shown)
	hidden := f.add("<</Type/Annot/Subtype/Widget/FT/Tx/T(other)/V(Nobody)/F 2/Rect[100 595 300 615]/AP<</N %d 0 R>>>>", shown)
	f.pages(page{entries: fmt.Sprintf("/Annots[%d 0 R %d 0 R<</Type/Annot/Subtype/Link/Rect[50 640 120 660]/A<</S/URI/URI(https://harbour.example/)>>>>]", field, hidden),
		content: at(50, 700, "F1", 10, "Name:") + at(50, 650, "F1", 10, "The rules")})
	if got := convert(t, f.bytes()).Markdown; got != "Name: Karlsen\n\n[The rules](https://harbour.example/)" && got != "Name: Karlsen\n\n[The](https://harbour.example/) [rules](https://harbour.example/)" {
		t.Errorf("got\n%s", got)
	}
}

func TestAScanSaysThatItHasNoText(t *testing.T) {
	f := &file{}
	image := f.stream("/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8", "x")
	scan := page{resources: fmt.Sprintf("/XObject<</I %d 0 R>>", image), content: "600 0 0 800 0 0 cm /I Do\n"}
	got := convert(t, f.pages(scan, scan).bytes())
	if len(got.Facts) != 1 || got.Facts[0].Kind != document.ThinNoTextLayer || got.Markdown == "" {
		t.Errorf("got %+v", got)
	}
	f = &file{}
	image = f.stream("/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8", "x")
	scan.resources = fmt.Sprintf("/XObject<</I %d 0 R>>", image)
	got = convert(t, f.pages(scan, page{content: at(50, 700, "F1", 10, "Words.")}).bytes())
	if len(got.Facts) != 0 || len(got.Notes) != 1 || got.Notes[0].Kind != document.NoteNoTextPages || fmt.Sprint(got.Notes[0].Data["pages"]) != "[1]" {
		t.Errorf("got %+v", got)
	}
}

func TestWhatIsNoPDFIsDamaged(t *testing.T) {
	whole := (&file{}).pages(page{content: at(50, 700, "F1", 10, "Words.")}).bytes()
	for name, body := range map[string][]byte{
		"nothing": {}, "text": []byte("hello"), "a header": []byte("%PDF-1.7\n"), "half": whole[:len(whole)/3],
		"no pages": (&file{}).pages().bytes(),
	} {
		text, err := engine.Convert(t.Context(), body, document.Limits{})
		if !errors.Is(err, &document.Error{Reason: document.Damaged}) || text.Markdown != "" {
			t.Errorf("%s: %v, %q", name, err, text.Markdown)
		}
	}
}

func TestPagesBeyondTheLimitAreCutAndSaid(t *testing.T) {
	var pages []page
	for i := range 7 {
		pages = append(pages, page{content: at(50, 700, "F1", 10, fmt.Sprintf("Words of page %c.", 'A'+i))})
	}
	text, err := engine.Convert(t.Context(), (&file{}).pages(pages...).bytes(), document.Limits{Pages: 3})
	if err != nil || !strings.Contains(text.Markdown, "page C") || strings.Contains(text.Markdown, "page D") || len(text.Notes) != 1 || text.Notes[0].Words != "3 of 7 pages are read" {
		t.Errorf("%v %+v", err, text)
	}
}

func TestAPageThatEndsTheEngineIsLeftOut(t *testing.T) {
	words := func(s string) page { return page{content: at(50, 700, "F1", 10, s)} }
	bomb := page{content: "BT /F1 1 Tf 50 700 Td 1 TL\n" + strings.Repeat("("+strings.Repeat("abcdefghi ", 100)+") ' \n", 1000) + "ET"}
	text := convert(t, (&file{}).pages(words("Words before."), bomb, words("Words after.")).bytes())
	if !strings.Contains(text.Markdown, "before") || !strings.Contains(text.Markdown, "after") || len(text.Notes) != 1 || text.Notes[0].Words != "2 of 3 pages are read" {
		t.Errorf("got %+v", text)
	}
}

// hostile are files that cost, each in its own way, to make too: several tests read them.
var hostile = sync.OnceValue(func() map[string][]byte {
	deep := func() []byte { // a page tree as a chain
		f := &file{}
		content := f.stream("", at(50, 700, "F1", 10, "Words."))
		n := f.add("")
		first := n
		for range 3000 {
			next := f.add("")
			f.set(n, "<</Type/Pages/Kids[%d 0 R]/Count 1>>", next)
			n = next
		}
		f.set(n, "<</Type/Page/MediaBox[0 0 600 800]/Contents %d 0 R/Resources<<%s>>>>", content, fonts)
		f.root = f.add("<</Type/Catalog/Pages %d 0 R>>", first)
		return f.bytes()
	}
	forms := func() []byte { // each form draws the next ten times
		f := &file{}
		var numbers []int
		for range 9 {
			numbers = append(numbers, f.add(""))
		}
		for i, n := range numbers {
			resources, content := "", at(50, 500, "F1", 10, "Again.")
			if i+1 < len(numbers) {
				resources, content = fmt.Sprintf("/XObject<</X %d 0 R>>", numbers[i+1]), strings.Repeat("/X Do\n", 10)
			}
			f.set(n, "<</Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<<%s%s>>/Length %d>>\nstream\n%s\nendstream", fonts, resources, len(content), content)
		}
		return f.pages(page{resources: fmt.Sprintf("/XObject<</X %d 0 R>>", numbers[0]), content: "/X Do"}).bytes()
	}
	circle := func() []byte { // a form that draws itself
		f := &file{}
		n := f.add("")
		f.set(n, "<</Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</X %d 0 R>>>>/Length 5>>\nstream\n/X Do\nendstream", n)
		return f.pages(page{resources: fmt.Sprintf("/XObject<</X %d 0 R>>", n), content: "/X Do" + at(50, 700, "F1", 10, "Words.")}).bytes()
	}
	many := func() []byte { // glyphs
		return (&file{}).pages(page{content: "BT /F1 1 Tf 50 700 Td 1 TL\n" + strings.Repeat("("+strings.Repeat("abcdefghi ", 100)+") ' \n", 1000) + "ET"}).bytes()
	}
	lines := func() []byte {
		var b strings.Builder
		for i := range 200_000 {
			fmt.Fprintf(&b, "%d %d m %d %d l S\n", i%600, i%797, (i*7)%600, i%797)
		}
		return (&file{}).pages(page{content: b.String() + at(50, 700, "F1", 10, "Words.")}).bytes()
	}
	count := func() []byte { // pages that are not there
		f := &file{}
		tree := f.add("<</Type/Pages/Kids[]/Count 2000000000>>")
		f.root = f.add("<</Type/Catalog/Pages %d 0 R>>", tree)
		return f.bytes()
	}
	outline := func() []byte { // bookmarks in a circle
		f := &file{}
		a, b := f.add(""), f.add("")
		f.set(a, "<</Title(A)/Next %d 0 R/First %d 0 R>>", b, b)
		f.set(b, "<</Title(B)/Next %d 0 R/First %d 0 R>>", a, a)
		f.pages(page{content: at(50, 700, "F1", 10, "Words.")})
		o := f.add("<</First %d 0 R/Last %d 0 R/Count 2>>", a, b)
		tree := len(f.objects) - 2
		f.root = f.add("<</Type/Catalog/Pages %d 0 R/Outlines %d 0 R>>", tree-2, o)
		return f.bytes()
	}
	flate := func() []byte { // a stream that unpacks to 300 MB
		var packed bytes.Buffer
		w, _ := zlib.NewWriterLevel(&packed, zlib.BestSpeed) // the level is right
		spaces := bytes.Repeat([]byte(" "), 1<<20)
		for range 300 {
			w.Write(spaces)
		}
		w.Close()
		f := &file{}
		n := f.stream("/Filter/FlateDecode", packed.String())
		tree := f.add("")
		kid := f.add("<</Type/Page/Parent %d 0 R/MediaBox[0 0 600 800]/Contents %d 0 R>>", tree, n)
		f.set(tree, "<</Type/Pages/Kids[%d 0 R]/Count 1>>", kid)
		f.root = f.add("<</Type/Catalog/Pages %d 0 R>>", tree)
		return f.bytes()
	}
	grid := func() []byte { // lines and words in a grid as fine as may be
		var b strings.Builder
		for i := range 4000 {
			fmt.Fprintf(&b, "0 %g m 600 %g l S %g 0 m %g 800 l S\n", float64(i)/5, float64(i)/5, float64(i)*0.15, float64(i)*0.15)
		}
		for i := range 60 {
			for j := range 100 {
				b.WriteString(at(float64(i)*10, float64(j)*8, "F1", 5, "ab"))
			}
		}
		return (&file{}).pages(page{content: b.String()}).bytes()
	}
	huge := (&file{}).pages(page{box: "-1e38 -1e38 1e38 1e38", content: at(50, 700, "F1", 10, "Words.")}, page{box: "0 0 1e-9 1e-9", content: at(0, 0, "F1", 10, "Words.")}).bytes()
	return map[string][]byte{
		"a deep page tree": deep(), "forms in forms": forms(), "a form in itself": circle(), "a million glyphs": many(),
		"many lines": lines(), "a count of pages": count(), "bookmarks in a circle": outline(), "a huge page": huge,
		"a stream that unpacks to much": flate(), "a fine grid": grid(),
	}
})

func TestHostileFilesEndWithinBounds(t *testing.T) {
	for name, body := range hostile() {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			start := time.Now()
			text, err := engine.Convert(ctx, body, document.Limits{})
			t.Logf("%v, %d bytes of text, %v", time.Since(start).Round(time.Millisecond), len(text.Markdown), err)
			var known *document.Error
			if err != nil && !errors.As(err, &known) {
				t.Errorf("the error is %v", err)
			}
			if err != nil && text.Markdown != "" {
				t.Error("there is a text beside the error")
			}
		})
	}
}

func TestMemoryIsCapped(t *testing.T) {
	small, err := New(t.Context(), Options{CacheDir: cacheDir(), Memory: minMemory})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	// A file that does not fit is refused before it is read.
	body := append((&file{}).pages(page{content: at(50, 700, "F1", 10, "Words.")}).bytes(), make([]byte, minMemory)...)
	if _, err := small.Convert(t.Context(), body, document.Limits{}); !errors.Is(err, &document.Error{Reason: document.TooCostly}) {
		t.Errorf("got %v", err)
	}
	// The engine is none the worse for it.
	if text, err := small.Convert(t.Context(), (&file{}).pages(page{content: at(50, 700, "F1", 10, "Words.")}).bytes(), document.Limits{}); err != nil || text.Markdown != "Words." {
		t.Errorf("got %v, %q", err, text.Markdown)
	}
	if _, err := New(t.Context(), Options{Memory: 1 << 20}); err == nil {
		t.Error("an engine with 1 MiB of memory started")
	}
}

func TestAContextEndsAConversion(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := engine.Convert(ctx, nil, document.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	e, err := New(t.Context(), Options{CacheDir: cacheDir(), Interruptible: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	good := (&file{}).pages(page{content: at(50, 700, "F1", 10, "Words.")}).bytes()
	if text, err := e.Convert(t.Context(), good, document.Limits{}); err != nil || text.Markdown != "Words." {
		t.Errorf("got %v, %q", err, text.Markdown)
	}
	for name, body := range hostile() {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		costtest.Within(t, name, 5*time.Second, func() { _, err = e.Convert(ctx, body, document.Limits{}) })
		cancel()
		var known *document.Error
		if err != nil && !errors.As(err, &known) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text, err := e.Convert(t.Context(), good, document.Limits{}); err != nil || text.Markdown != "Words." {
		t.Errorf("after interruptions: %v, %q", err, text.Markdown)
	}
}

func TestConversionsSideBySide(t *testing.T) {
	before := runtime.NumGoroutine()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			want := fmt.Sprintf("Words of %d.", i)
			for range 5 {
				text, err := engine.Convert(t.Context(), (&file{}).pages(page{content: at(50, 700, "F1", 10, want)}).bytes(), document.Limits{})
				if err != nil || text.Markdown != want {
					t.Errorf("%v, %q", err, text.Markdown)
				}
			}
		})
	}
	wait.Wait()
	if after := runtime.NumGoroutine(); after > before+2 {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}
