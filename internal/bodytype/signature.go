package bodytype

import (
	"bytes"
	"strings"
)

// signature is how files of a type begin. sure is true where no text begins so; the others count only for bytes that
// are known to be no text.
type signature struct {
	offset    int
	magic     string
	mediaType string
	sure      bool
}

// signedType gives the media type that a signature says; "" for none.
func signedType(body []byte, sureOnly bool) string {
	for _, s := range [...]signature{
		{0, "\x89PNG\r\n\x1A\n", "image/png", true},
		{0, "\xFF\xD8\xFF", "image/jpeg", true},
		{0, "GIF8", "image/gif", false},
		{8, "WEBP", "image/webp", false},
		{0, "BM", "image/bmp", false},
		{0, "II*\x00", "image/tiff", true},
		{0, "MM\x00*", "image/tiff", true},
		{0, "\x00\x00\x01\x00", "image/x-icon", true},
		{0, "8BPS", "image/vnd.adobe.photoshop", false},
		{0, "\xFF\x0A", "image/jxl", false},
		{4, "ftypavif", "image/avif", false},
		{4, "ftypheic", "image/heic", false},
		{4, "ftypM4A", "audio/mp4", false},
		{4, "ftypqt", "video/quicktime", false},
		{4, "ftyp", "video/mp4", false},
		{0, "\x1A\x45\xDF\xA3", "video/webm", true},
		{8, "AVI ", "video/x-msvideo", false},
		{0, "FLV\x01", "video/x-flv", true},
		{0, "ID3", "audio/mpeg", false},
		{0, "\xFF\xFB", "audio/mpeg", false},
		{0, "\xFF\xF3", "audio/mpeg", false},
		{0, "OggS", "application/ogg", false},
		{0, "fLaC", "audio/flac", false},
		{8, "WAVE", "audio/wave", false},
		{0, "MThd", "audio/midi", false},
		{0, "wOFF", "font/woff", false},
		{0, "wOF2", "font/woff2", false},
		{0, "OTTO", "font/otf", false},
		{0, "\x00\x01\x00\x00", "font/ttf", true},
		{0, "PK\x03\x04", "application/zip", true},
		{0, "PK\x05\x06", "application/zip", true},
		{0, "\x1F\x8B\x08", "application/gzip", true},
		{0, "BZh", "application/x-bzip2", false},
		{0, "\xFD7zXZ\x00", "application/x-xz", true},
		{0, "\x28\xB5\x2F\xFD", "application/zstd", true},
		{0, "\x04\x22\x4D\x18", "application/x-lz4", true},
		{0, "7z\xBC\xAF\x27\x1C", "application/x-7z-compressed", true},
		{0, "Rar!\x1A\x07", "application/vnd.rar", true},
		{257, "ustar", "application/x-tar", false},
		{0, oleMagic, "application/x-ole-storage", true},
		{0, "SQLite format 3\x00", "application/vnd.sqlite3", true},
		{0, "\x00asm", "application/wasm", true},
		{0, "\x7FELF", "application/x-elf", true},
		{0, "MZ", "application/vnd.microsoft.portable-executable", false},
		{0, "\xCA\xFE\xBA\xBE", "application/java-vm", true},
		{0, "\xCF\xFA\xED\xFE", "application/x-mach-binary", true},
	} {
		if (s.sure || !sureOnly) && len(body) > s.offset && bytes.HasPrefix(body[s.offset:], []byte(s.magic)) {
			return s.mediaType
		}
	}
	return ""
}

// documentType gives the media type of a document by what is inside; "" for anything else, a plain archive included.
func documentType(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte("%PDF-")):
		return TypePDF
	case bytes.HasPrefix(body, []byte("PK\x03\x04")):
		return zipDocument(body)
	case bytes.HasPrefix(body, []byte(oleMagic)):
		return oleDocument(body)
	case isBareSheet(body):
		return TypeXLS
	}
	return flatDocument(body)
}

// flatDocument tells an OpenDocument text or spreadsheet that is one file of XML: its root element says so behind all its
// namespaces.
func flatDocument(body []byte) string {
	const most = 8 << 10
	head := bytes.TrimLeft(bytes.TrimPrefix(body[:min(len(body), most)], []byte("\xEF\xBB\xBF")), " \t\r\n")
	if bytes.HasPrefix(head, []byte("<?xml")) {
		_, head, _ = bytes.Cut(head, []byte("?>"))
		head = bytes.TrimLeft(head, " \t\r\n")
	}
	root, ok := bytes.CutPrefix(head, []byte("<office:document"))
	if !ok || len(root) == 0 || root[0] > ' ' {
		return ""
	}
	root, _, _ = bytes.Cut(root, []byte(">"))
	_, mediaType, ok := bytes.Cut(root, []byte("office:mimetype="))
	for _, kind := range []string{TypeODT, TypeODS} {
		if ok && len(mediaType) > 0 && bytes.HasPrefix(mediaType[1:], []byte(kind)) {
			return kind
		}
	}
	return ""
}

// isBareSheet tells a workbook that stands in no compound file, as those before Excel 5 do: it begins with a record of its
// version, whose length goes with the version and whose kind is one of four.
func isBareSheet(body []byte) bool {
	if len(body) < 8 || body[0] != 0x09 || body[3] != 0 {
		return false
	}
	switch version, length := body[1], body[2]; version {
	case 0: // Excel 2
		if length != 4 {
			return false
		}
	case 2, 4: // Excel 3 and 4
		if length != 6 {
			return false
		}
	case 8: // Excel 5 and later
		if length != 8 && length != 16 {
			return false
		}
	default:
		return false
	}
	switch kind := uint16(body[6]) | uint16(body[7])<<8; kind {
	case 0x05, 0x10, 0x20, 0x40, 0x100: // workbook, sheet, chart, macros, workspace
		return true
	}
	return false
}

// openXMLType makes the media type of a document of the content type of its main part, or "" where contentType is none
// of a main part: application/vnd.x.main+xml is application/vnd.x, and Microsoft's own types end in .12.
func openXMLType(contentType string) string {
	document, ok := strings.CutSuffix(strings.TrimSuffix(contentType, "+xml"), ".main")
	switch {
	case !ok || !IsMediaType(document):
		return ""
	case strings.HasPrefix(document, "application/vnd.openxmlformats-officedocument."):
		return document
	case strings.HasPrefix(document, "application/vnd.ms-"):
		// A template of Word with macros says so twice.
		return strings.TrimSuffix(document, "template") + ".12"
	}
	return ""
}
