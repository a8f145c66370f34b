package bodytype

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"strings"
)

// Bounds of what is looked at in a ZIP archive: strangers send them.
const (
	maxZipEntries   = 10_000
	maxZipParts     = 3         // parts that are unpacked; each kind of document needs one, and names may repeat
	maxZipPart      = 256 << 10 // uncompressed bytes of one
	zipDirectoryEnd = 22        // bytes of an end-of-directory record without its comment
)

// zipEntry is one file of an archive: its size as packed, and where its local header stands, or -1.
type zipEntry struct {
	name   string
	method uint16
	packed int64
	offset int64
}

// zipDocument gives the media type of the document that a ZIP archive is; "" for a plain archive.
func zipDocument(body []byte) string {
	var found zipFindings
	complete := eachZipEntry(body, func(e zipEntry) bool {
		found.note(body, e)
		return found.certain == ""
	})
	if !complete && found.certain == "" {
		// Cut or broken: the names of the local headers that are there tell nearly as much.
		eachLocalName(body, func(name string) bool {
			found.note(body, zipEntry{name: name, offset: -1})
			return true
		})
	}
	return found.document()
}

// zipFindings are what the entries of an archive show.
type zipFindings struct {
	certain string // said by the archive itself
	likely  string // by the name of a main part
	read    int    // how many parts were unpacked
	iwork   bool   // Apple's Index/Document.iwa
	tables  bool   // it calculates
	slides  bool
	pages   bool
}

func (f *zipFindings) note(body []byte, e zipEntry) {
	switch e.name {
	case "mimetype":
		f.certain = declaredDocument(strings.TrimSpace(string(f.part(body, e))))
	case "[Content_Types].xml":
		f.certain = contentTypesDocument(string(f.part(body, e)))
	case "META-INF/manifest.xml":
		f.guess(listedDocument(f.part(body, e)))
	case "word/document.xml":
		f.guess(TypeDOCX)
	case "xl/workbook.xml":
		f.guess(TypeXLSX)
	case "xl/workbook.bin":
		f.guess(TypeXLSB)
	case "ppt/presentation.xml":
		f.guess(TypePPTX)
	}
	// A document that was a folder has its own name before the parts' names, and earlier versions keep the parts in an
	// archive of their own.
	name := e.name
	if folder, rest, ok := strings.Cut(name, "/"); ok && isIWorkFolder(folder) {
		name = rest
		if name == "Index.zip" && strings.HasSuffix(folder, ".numbers") {
			f.iwork, f.tables = true, true
		}
	}
	if name == "Index/Document.iwa" {
		f.iwork = true
		f.pages = isPagesRoot(f.part(body, e))
	}
	f.tables = f.tables || strings.HasPrefix(name, "Index/CalculationEngine") || strings.HasPrefix(name, "Index/Tables/")
	f.slides = f.slides || strings.HasPrefix(name, "Index/Slide")
}

func isIWorkFolder(name string) bool {
	return strings.HasSuffix(name, ".numbers") || strings.HasSuffix(name, ".pages") || strings.HasSuffix(name, ".key")
}

func (f *zipFindings) part(body []byte, e zipEntry) []byte {
	if f.read == maxZipParts {
		return nil
	}
	f.read++
	return zipPart(body, e)
}

func (f *zipFindings) guess(mediaType string) {
	if f.likely == "" {
		f.likely = mediaType
	}
}

// listedDocument is the OpenDocument type that an archive's list of its parts names first, which is the whole archive's: some
// programs leave out the entry that says it alone.
func listedDocument(manifest []byte) string {
	_, rest, ok := bytes.Cut(manifest, []byte(`media-type="application/vnd.oasis.opendocument.`))
	name, _, closed := bytes.Cut(rest, []byte(`"`))
	if !ok || !closed {
		return ""
	}
	return declaredDocument("application/vnd.oasis.opendocument." + string(name))
}

func (f *zipFindings) document() string {
	switch {
	case f.certain != "":
		return f.certain
	case f.likely != "":
		return f.likely
	case f.iwork && f.slides:
		return "application/vnd.apple.keynote"
	case f.iwork && f.pages:
		return "application/vnd.apple.pages"
	case f.iwork && f.tables:
		return TypeNumbers
	}
	return ""
}

// isPagesRoot tells whether the root object of an iWork document is of type 10000, that of Pages; Numbers and Keynote
// have 1. The type is field 1 of the first message and stands in the literal that the packed part begins with.
func isPagesRoot(part []byte) bool {
	return bytes.Contains(part[:min(len(part), 64)], []byte{0x08, 0x90, 0x4E})
}

// declaredDocument is what the mimetype entry of OpenDocument and EPUB files says, where it is one of theirs.
func declaredDocument(mediaType string) string {
	mediaType = strings.ToLower(mediaType)
	if IsMediaType(mediaType) && (strings.HasPrefix(mediaType, "application/vnd.oasis.opendocument.") ||
		strings.HasPrefix(mediaType, "application/vnd.sun.xml.") || mediaType == "application/epub+zip") {
		return mediaType
	}
	return ""
}

// contentTypesDocument finds the main part in the list of content types of an Office Open XML file. What the list says of one
// part goes before what it says of all names with an ending: writers give endings that no part has.
func contentTypesDocument(xml string) string {
	byEnding := ""
	for {
		before, rest, ok := strings.Cut(xml, "ContentType")
		if !ok {
			return byEnding
		}
		xml = rest
		rest = strings.TrimLeft(rest, " \t\r\n=")
		if rest == "" || rest[0] != '"' && rest[0] != '\'' {
			continue
		}
		value, _, _ := strings.Cut(rest[1:], rest[:1])
		document := openXMLType(strings.ToLower(value))
		switch element := before[strings.LastIndexByte(before, '<')+1:]; {
		case document == "":
		case !strings.HasPrefix(element, "Default"):
			return document
		case byEnding == "":
			byEnding = document
		}
	}
}

// eachZipEntry calls visit for the entries of the central directory until visit says false. It tells whether the
// directory was there and whole.
func eachZipEntry(body []byte, visit func(zipEntry) bool) (complete bool) {
	const headerSize = 46
	at := directoryStart(body)
	if at < 0 {
		return false
	}
	for range maxZipEntries {
		rest := body[at:]
		if bytes.HasPrefix(rest, []byte("PK\x05\x06")) || bytes.HasPrefix(rest, []byte("PK\x06\x06")) {
			return true
		}
		if len(rest) < headerSize || !bytes.HasPrefix(rest, []byte("PK\x01\x02")) {
			return false
		}
		name := int(binary.LittleEndian.Uint16(rest[28:]))
		size := headerSize + name + int(binary.LittleEndian.Uint16(rest[30:])) + int(binary.LittleEndian.Uint16(rest[32:]))
		if size > len(rest) {
			return false
		}
		if !visit(zipEntry{
			name:   string(rest[headerSize : headerSize+name]),
			method: binary.LittleEndian.Uint16(rest[10:]),
			packed: int64(binary.LittleEndian.Uint32(rest[20:])),
			offset: int64(binary.LittleEndian.Uint32(rest[42:])),
		}) {
			return true
		}
		at += size
	}
	return true
}

// directoryStart finds the central directory by the record at the end; -1 for none.
func directoryStart(body []byte) int {
	tail := body[max(0, len(body)-zipDirectoryEnd-0xFFFF):]
	end := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if end < 0 || len(tail)-end < zipDirectoryEnd {
		return -1
	}
	end += len(body) - len(tail)
	size := int64(binary.LittleEndian.Uint32(body[end+12:]))
	start := int64(binary.LittleEndian.Uint32(body[end+16:]))
	if start+size > int64(end) {
		return -1
	}
	return int(start)
}

// eachLocalName calls visit for the names in the local headers, wherever they stand, until visit says false.
func eachLocalName(body []byte, visit func(name string) bool) {
	const headerSize = 30
	for range maxZipEntries {
		at := bytes.Index(body, []byte("PK\x03\x04"))
		if at < 0 || len(body)-at < headerSize {
			return
		}
		body = body[at:]
		name := int(binary.LittleEndian.Uint16(body[26:]))
		if headerSize+name > len(body) || !visit(string(body[headerSize:headerSize+name])) {
			return
		}
		body = body[headerSize+name:]
	}
}

// zipPart gives the first bytes of an entry's content; nil where it cannot be read.
func zipPart(body []byte, e zipEntry) []byte {
	const headerSize = 30
	if e.offset < 0 || e.offset+headerSize > int64(len(body)) {
		return nil
	}
	local := body[e.offset:]
	if !bytes.HasPrefix(local, []byte("PK\x03\x04")) {
		return nil
	}
	skip := headerSize + int(binary.LittleEndian.Uint16(local[26:])) + int(binary.LittleEndian.Uint16(local[28:]))
	if skip > len(local) {
		return nil
	}
	// The sizes in a local header may be left to be told behind the content.
	content := local[skip:]
	content = content[:min(e.packed, int64(len(content)))]
	switch e.method {
	case 0:
		return content[:min(len(content), maxZipPart)]
	case 8:
		// A broken or cut stream still gives what came before the fault.
		part, _ := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(content)), maxZipPart))
		return part
	}
	return nil
}
