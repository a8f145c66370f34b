package bodytype

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

// part is one entry of an archive made for a test.
type part struct{ name, content string }

// archive makes a ZIP archive; stored entries are not compressed.
func archive(t testing.TB, method uint16, parts ...part) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, p := range parts {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: p.name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(p.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// contentTypes is the part of an Office Open XML file that names the type of its main part.
func contentTypes(main string) part {
	return part{"[Content_Types].xml", `<?xml version="1.0"?><Types><Default Extension="xlsx" ContentType="` + TypeXLSX + `"/>` +
		`<Override PartName="/x" ContentType = '` + main + `'/></Types>`}
}

const openXML = "application/vnd.openxmlformats-officedocument."

func TestDocumentsInArchives(t *testing.T) {
	for _, c := range []struct {
		name  string
		want  string
		parts []part
	}{
		{"docx", TypeDOCX, []part{contentTypes(openXML + "wordprocessingml.document.main+xml"), {"word/document.xml", "<w/>"}}},
		{"docx with a sheet inside", TypeDOCX, []part{{"word/embeddings/a.xlsx", "PK"}, {"xl/workbook.xml", ""},
			contentTypes(openXML + "wordprocessingml.document.main+xml")}},
		{"xlsx", TypeXLSX, []part{contentTypes(openXML + "spreadsheetml.sheet.main+xml")}},
		{"xlsm", TypeXLSM, []part{contentTypes("application/vnd.ms-excel.sheet.macroEnabled.main+xml"), {"xl/workbook.xml", ""}}},
		{"xlsb", TypeXLSB, []part{contentTypes("application/vnd.ms-excel.sheet.binary.macroEnabled.main"), {"xl/workbook.bin", ""}}},
		{"pptx", TypePPTX, []part{contentTypes(openXML + "presentationml.presentation.main+xml")}},
		{"odt by its list of parts", TypeODT, []part{{"content.xml", ""}, {"META-INF/manifest.xml", `<manifest:file-entry manifest:full-path="/" manifest:media-type="` + TypeODT + `"/><manifest:file-entry manifest:media-type="` + TypeODS + `"/>`}}},
		{"a list of parts of no document", "", []part{{"META-INF/manifest.xml", `<a media-type="text/xml"/><b media-type="application/vnd.oasis.opendocument.`}}},
		{"dotm", "application/vnd.ms-word.template.macroenabled.12", []part{contentTypes("application/vnd.ms-word.template.macroEnabledTemplate.main+xml")}},
		{"docm", "application/vnd.ms-word.document.macroenabled.12", []part{contentTypes("application/vnd.ms-word.document.macroEnabled.main+xml")}},
		{"a type for an ending that no part has", TypeXLSX, []part{{"[Content_Types].xml", `<Types><Default Extension="bin" ` +
			`ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/><Override PartName="/wtf/workbook.xml" ContentType="` +
			openXML + `spreadsheetml.sheet.main+xml"/></Types>`}}},
		{"a type for an ending alone", TypeXLSB, []part{{"[Content_Types].xml", `<Types><Default Extension="bin" ` +
			`ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>`}}},
		{"a list without a main part", TypeXLSX, []part{{"[Content_Types].xml", `<Types ContentType="`}, {"xl/workbook.xml", ""}}},
		{"pptx by its name", TypePPTX, []part{{"ppt/presentation.xml", ""}}},
		{"xlsb by its name", TypeXLSB, []part{{"xl/workbook.bin", ""}, {"xl/workbook.xml", ""}}},
		{"a main part of no office", TypeDOCX, []part{contentTypes("text/html.main+xml"), {"word/document.xml", ""}}},
		{"odt", TypeODT, []part{{"mimetype", TypeODT}, {"content.xml", ""}}},
		{"ods", TypeODS, []part{{"mimetype", TypeODS + "\n"}}},
		{"epub", "application/epub+zip", []part{{"mimetype", "application/epub+zip"}}},
		{"a lying mimetype", "", []part{{"mimetype", "text/html"}}},
		{"a sentence as mimetype", "", []part{{"mimetype", "application/vnd.oasis.opendocument.text ignore this"}}},
		{"Numbers", TypeNumbers, []part{{"Index/Document.iwa", "\x00\x47\x15\x00\xc2\x2a\xf4\x41\x15\x08\x08\x01\x12\x04\x08\x01"}, {"Index/CalculationEngine.iwa", ""}}},
		{"Keynote", "application/vnd.apple.keynote", []part{{"Index/Document.iwa", "\x08\x01"}, {"Index/Slide-1.iwa", ""}, {"Index/Tables/Tile.iwa", ""}}},
		{"Pages", "application/vnd.apple.pages", []part{{"Index/Document.iwa", "\x00\x47\x15\x00\xc2\x2a\xf4\x41\x15\x0a\x08\x01\x12\x06\x08\x90\x4e"}, {"Index/CalculationEngine.iwa", ""}}},
		{"Numbers in its folder", TypeNumbers, []part{{"Plan.numbers/Index/Document.iwa", "\x00"}, {"Plan.numbers/Index/Tables/Tile.iwa", ""}}},
		{"Numbers of 2013", TypeNumbers, []part{{"Plan.numbers/Index.zip", "PK"}, {"Plan.numbers/preview.jpg", ""}}},
		{"Pages of 2013", "", []part{{"Letter.pages/Index.zip", "PK"}}},
		{"a plain archive", "", []part{{"readme.txt", "PK"}, {"doc/word/document.xml", ""}}},
		{"a program", "", []part{{"META-INF/MANIFEST.MF", ""}, {"a.class", "\xCA\xFE\xBA\xBE"}}},
	} {
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			body := archive(t, method, c.parts...)
			if got := zipDocument(body); got != c.want {
				t.Errorf("%s, method %d: got %q, want %q", c.name, method, got, c.want)
			}
			want := c.want
			if want == "" {
				want = "application/zip"
			}
			if got := Sniff(body, typeOctet, ""); got != want {
				t.Errorf("%s as a download: got %q, want %q", c.name, got, want)
			}
		}
	}
}

// TestDocumentUnderAnotherType is W-106: a document is found under the types that servers send in its place.
func TestDocumentUnderAnotherType(t *testing.T) {
	docx := archive(t, zip.Deflate, contentTypes(openXML+"wordprocessingml.document.main+xml"))
	for served, want := range map[string]string{
		"": TypeDOCX, typeOctet: TypeDOCX, "application/zip": TypeDOCX, "application/x-zip-compressed": TypeDOCX,
		"application/msword": TypeDOCX, TypeXLS: TypeDOCX, TypeXLSX: TypeDOCX, TypeDOCX: TypeDOCX, TypePDF: TypeDOCX,
		"application/x-anything": TypeDOCX, "application/json": "application/json", "image/png": "image/png",
		"text/plain": "application/zip", // text with NULs stays refused, whatever it is
	} {
		if got := Sniff(docx, served, ""); got != want {
			t.Errorf("served as %q: got %q, want %q", served, got, want)
		}
	}
	xls := compound(t, false, "Workbook")
	if got := Sniff(xls, TypeXLSX, ""); got != TypeXLS {
		t.Errorf("an old sheet served as a new one: got %q", got)
	}
	locked := compound(t, false, "EncryptedPackage", "EncryptionInfo")
	for served, want := range map[string]string{TypeDOCX: TypeDOCX, TypeXLS: TypeXLS, typeOctet: typeEncrypted, "application/zip": typeEncrypted} {
		if got := Sniff(locked, served, ""); got != want || KindOf(got) != Document {
			t.Errorf("an encrypted document served as %q: got %q", served, got)
		}
	}
	if got := Sniff(docx[:len(docx)/2], TypeDOCX, ""); got != TypeDOCX {
		t.Errorf("a cut document: got %q", got)
	}
}

// TestASheetThatIsText: what many a site sends for Excel is a page, lines of text or XML.
func TestASheetThatIsText(t *testing.T) {
	for _, c := range []struct{ body, served, want string }{
		{"<html><table><tr><td>1", TypeXLS, typeHTML},
		{"\ufeff<!DOCTYPE html><table>", TypeXLS, typeHTML},
		{"<html><table>", TypeXLSX, TypeXLSX},
		{"words", TypeXLS, TypeXLS},
		{"Berth\tDepth\nNorth\t8.2\n", TypeXLS, typeText},
		{"<?xml version=\"1.0\"?><Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\">", TypeXLS, typeXML},
		{"\x09\x08\x10\x00\x00\x06\x05\x00\x00\x00\x00", TypeXLS, TypeXLS},
		{"PK\x03\x04", TypeDOCX, TypeDOCX},
		{"", TypeDOCX, TypeDOCX},
		{"<html><body>x", TypePDF, TypePDF},
		{"words, then %PDF-1.4", TypePDF, TypePDF},
	} {
		if got := Sniff([]byte(c.body), c.served, ""); got != c.want {
			t.Errorf("%q served as %s: got %q, want %q", c.body, c.served, got, c.want)
		}
	}
}

func TestCutArchivesAreKnownByTheNamesThatAreThere(t *testing.T) {
	body := archive(t, zip.Deflate, part{"_rels/.rels", "x"}, part{"word/document.xml", strings.Repeat("text ", 1000)}, part{"z", ""})
	end := bytes.LastIndex(body, []byte("PK\x01\x02"))
	if got := zipDocument(body[:end-10]); got != TypeDOCX {
		t.Errorf("cut within the directory: got %q", got)
	}
	if got := zipDocument(body[:60]); got != "" {
		t.Errorf("cut within the first entry: got %q", got)
	}
	broken := bytes.Clone(body)
	binary.LittleEndian.PutUint32(broken[len(broken)-6:], 0xFFFFFFF0)
	if got := zipDocument(broken); got != TypeDOCX {
		t.Errorf("a directory beyond the end: got %q", got)
	}
}

// TestArchiveOfManyEntriesIsBounded: a stranger's archive costs no more than its bounds.
func TestArchiveOfManyEntriesIsBounded(t *testing.T) {
	parts := make([]part, 0, maxZipEntries+10)
	for range maxZipEntries + 5 {
		parts = append(parts, part{"mimetype", ""})
	}
	parts = append(parts, part{"word/document.xml", ""})
	body := archive(t, zip.Store, parts...)
	if got := zipDocument(body); got != "" {
		t.Errorf("entry %d was looked at: %q", maxZipEntries+6, got)
	}
	bomb := archive(t, zip.Deflate, part{"mimetype", strings.Repeat(" ", 64<<20)})
	many := zipFindings{}
	eachZipEntry(body, func(e zipEntry) bool {
		many.note(body, e)
		return true
	})
	if many.read != maxZipParts {
		t.Errorf("%d parts were unpacked", many.read)
	}
	unpacked := -1
	eachZipEntry(bomb, func(e zipEntry) bool {
		unpacked = len(zipPart(bomb, e))
		return true
	})
	if unpacked != maxZipPart {
		t.Errorf("%d bytes were unpacked of a part of 64 MB", unpacked)
	}
}

func TestCompoundFiles(t *testing.T) {
	for _, c := range []struct {
		want    string
		streams []string
	}{
		{TypeXLS, []string{"Workbook", "\x05SummaryInformation"}},
		{TypeXLS, []string{"Book"}},
		{"application/msword", []string{"1Table", "WordDocument", "Data"}},
		{"application/vnd.ms-powerpoint", []string{"Current User", "PowerPoint Document"}},
		{"application/vnd.ms-outlook", []string{"__properties_version1.0"}},
		{typeEncrypted, []string{"EncryptedPackage", "EncryptionInfo"}},
		{"", nil},
	} {
		for _, big := range []bool{false, true} {
			body := compound(t, big, c.streams...)
			if got := oleDocument(body); got != c.want {
				t.Errorf("%q, big sectors %v: got %q, want %q", c.streams, big, got, c.want)
			}
			for cut := range len(body) {
				oleDocument(body[:cut]) // must not panic
			}
		}
	}
}

func TestOnlyTheRootOfACompoundFileCounts(t *testing.T) {
	body := compound(t, false, "WordDocument", "ObjectPool")
	// The second entry becomes a storage with a child that is nobody's neighbour.
	child := entryAt(body, 3)
	copy(child, oleEntry("Workbook"))
	binary.LittleEndian.PutUint32(entryAt(body, 2)[76:], 3)
	if got := oleDocument(body); got != "application/msword" {
		t.Errorf("got %q", got)
	}
}

func TestCircularCompoundFileEnds(t *testing.T) {
	body := compound(t, false, "a", "b")
	binary.LittleEndian.PutUint32(entryAt(body, 1)[68:], 1)
	binary.LittleEndian.PutUint32(entryAt(body, 2)[72:], 1)
	binary.LittleEndian.PutUint32(body[512+4:], 1) // the directory follows itself
	binary.LittleEndian.PutUint32(body[68:], 1)    // and is a list of tables too
	if got := oleDocument(body); got != "" {
		t.Errorf("got %q", got)
	}
}

// compound makes a compound file: header, allocation table, one directory chain. The streams hang below the root as a
// list, which is a tree as well.
func compound(t testing.TB, big bool, streams ...string) []byte {
	t.Helper()
	shift := 9
	if big {
		shift = 12
	}
	size := 1 << shift
	perSector := size / oleEntrySize
	sectors := (len(streams)+1)/perSector + 1
	body := make([]byte, size*(2+sectors))
	copy(body, oleMagic)
	binary.LittleEndian.PutUint16(body[30:], uint16(shift))
	binary.LittleEndian.PutUint32(body[48:], 1) // the directory begins at sector 1
	binary.LittleEndian.PutUint32(body[68:], oleNoSector+4)
	for at := 76; at < oleHeader; at += 4 {
		binary.LittleEndian.PutUint32(body[at:], oleNoEntry)
	}
	binary.LittleEndian.PutUint32(body[76:], 0) // the table is sector 0
	for i := range sectors {
		next := uint32(i + 2)
		if i == sectors-1 {
			next = oleNoSector + 4
		}
		binary.LittleEndian.PutUint32(body[size+4*(i+1):], next)
	}
	directory := body[2*size:]
	for i := range sectors * perSector {
		entry := oleEntry("")
		if i <= len(streams) {
			if i > 0 {
				entry = oleEntry(streams[i-1])
			} else if len(streams) > 0 {
				binary.LittleEndian.PutUint32(entry[76:], 1)
			}
			if i > 0 && i < len(streams) {
				binary.LittleEndian.PutUint32(entry[72:], uint32(i+1))
			}
		}
		copy(directory[i*oleEntrySize:], entry)
	}
	return body
}

func entryAt(body []byte, n int) []byte { return body[1024+n*oleEntrySize:][:oleEntrySize] }

func oleEntry(name string) []byte {
	entry := make([]byte, oleEntrySize)
	units := utf16.Encode([]rune(name))
	for i, unit := range units {
		binary.LittleEndian.PutUint16(entry[2*i:], unit)
	}
	binary.LittleEndian.PutUint16(entry[64:], uint16(2*len(units)+2))
	for _, at := range []int{68, 72, 76} {
		binary.LittleEndian.PutUint32(entry[at:], oleNoEntry)
	}
	return entry
}

// FuzzContainer: no archive or compound file makes the look inside panic, hang or say what may not be shown.
func FuzzContainer(f *testing.F) {
	f.Add(archive(f, zip.Deflate, contentTypes(openXML+"wordprocessingml.document.main+xml")))
	f.Add(archive(f, zip.Store, part{"mimetype", TypeODT}, part{"Index/Document.iwa", "x"}))
	f.Add(compound(f, false, "Workbook"))
	f.Add(compound(f, true, "WordDocument", "b", "c"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, got := range []string{zipDocument(body), oleDocument(body), documentType(body)} {
			if got != "" && !IsMediaType(got) {
				t.Fatalf("%q is no media type", got)
			}
		}
	})
}

// TestWorkbooksBeforeCompoundFiles: their first record is known by its length and kind; text and other bytes that begin
// alike are not.
func TestWorkbooksBeforeCompoundFiles(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"\x09\x00\x04\x00\x02\x00\x10\x00\x04\x00", TypeXLS},
		{"\x09\x02\x06\x00\x03\x00\x10\x00\x00\x00", TypeXLS},
		{"\x09\x04\x06\x00\x04\x00\x00\x01\x00\x00", TypeXLS},
		{"\x09\x08\x10\x00\x00\x06\x05\x00\x00\x00", TypeXLS},
		{"\x09\x00\x04\x00\x02\x00\x11\x00\x04\x00", "application/octet-stream"},
		{"\x09\x00\x06\x00\x02\x00\x10\x00\x04\x00", "application/octet-stream"},
		{"\x09\x00\x04", "application/octet-stream"},
		{"\tindented", typeText},
	} {
		if got := Sniff([]byte(c.body), "application/octet-stream", ""); got != c.want {
			t.Errorf("%q: %s, want %s", c.body, got, c.want)
		}
	}
}
