package pdf

import (
	"bytes"
	"fmt"
	"strings"
)

// file is a PDF file that a test writes, object by object.
type file struct {
	objects []string // the first is object 1
	root    int
	info    int
}

// add adds an object and answers its number.
func (f *file) add(format string, args ...any) int {
	f.objects = append(f.objects, fmt.Sprintf(format, args...))
	return len(f.objects)
}

// set writes an object that was reserved by add.
func (f *file) set(n int, format string, args ...any) {
	f.objects[n-1] = fmt.Sprintf(format, args...)
}

// stream adds a stream with more entries in its dictionary.
func (f *file) stream(entries, data string) int {
	return f.add("<<%s/Length %d>>\nstream\n%s\nendstream", entries, len(data), data)
}

// page is what a page has.
type page struct {
	content   string
	resources string // beside the fonts
	entries   string // of the page
	box       string // default 600 by 800 points
}

// fonts that every page has: F1 Helvetica, F2 bold, F3 Courier.
const fonts = "/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>" +
	"/F2<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>" +
	"/F3<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>>>"

// pages adds pages and makes the file's root of them.
func (f *file) pages(pages ...page) *file {
	tree := f.add("")
	var kids strings.Builder
	for _, p := range pages {
		if p.box == "" {
			p.box = "0 0 600 800"
		}
		content := f.stream("", p.content)
		n := f.add("<</Type/Page/Parent %d 0 R/MediaBox[%s]/Contents %d 0 R/Resources<<%s%s>>%s>>", tree, p.box, content, fonts, p.resources, p.entries)
		fmt.Fprintf(&kids, "%d 0 R ", n)
	}
	f.set(tree, "<</Type/Pages/Kids[%s]/Count %d>>", kids.String(), len(pages))
	if f.root == 0 {
		f.root = f.add("<</Type/Catalog/Pages %d 0 R>>", tree)
	}
	return f
}

// bytes is the file.
func (f *file) bytes() []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")
	var at []int
	for i, o := range f.objects {
		at = append(at, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(f.objects)+1)
	for _, n := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", n)
	}
	info := ""
	if f.info > 0 {
		info = fmt.Sprintf("/Info %d 0 R", f.info)
	}
	fmt.Fprintf(&out, "trailer\n<</Size %d/Root %d 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(f.objects)+1, f.root, info, start)
	return out.Bytes()
}

// at writes a text at a place, from the lower left corner.
func at(x, y float64, font string, size float64, text string) string {
	text = strings.NewReplacer("\\", "\\\\", "(", "\\(", ")", "\\)").Replace(text)
	return fmt.Sprintf("BT /%s %g Tf %g %g Td (%s) Tj ET\n", font, size, x, y, text)
}
