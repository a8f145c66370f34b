package bodytype

import (
	"strings"
	"testing"
)

// TestUntypedBytes is what the bytes alone say; no header and every "download" type ask for it.
func TestUntypedBytes(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"nothing", "", typeText},
		{"text", "just text", typeText},
		{"Markdown", "# Title\n\n- one\n", typeText},
		{"JSON", `{"a":1}`, typeText},
		{"terminal output", "\x1b[31mred\x1b[0m\ttab\r\n", typeText},
		{"windows-1252", "caf\xE9 \x93quoted\x94", typeText},
		{"five controls in a hundred", strings.Repeat("\x01", 5) + strings.Repeat("a", 95), typeText},
		{"six controls in a hundred", strings.Repeat("\x01", 6) + strings.Repeat("a", 94), typeOctet},
		{"a NUL", "abc\x00def", typeOctet},
		{"a NUL beyond the first 1,024 bytes", strings.Repeat("a", 1024) + "\x00", typeText},
		{"words that begin like files", "BM is a format, GIF89a another; MZ, ID3 and RIFF too", typeText},
		{"a web page's own words", "PKZIP", typeText},

		{"PDF", "%PDF-1.7\n\x00\x01", TypePDF},
		{"PDF, not at byte 0", " %PDF-1.7", typeText},

		{"doctype", "<!DOCTYPE html><p>", typeHTML},
		{"html after blanks", "\r\n\t <HTML lang=en>", typeHTML},
		{"html after a mark", "\xEF\xBB\xBF<html>", typeHTML},
		{"html prefix of another word", "<htmlx>", typeHTML}, // rule 5 asks for no end of the name
		{"head", "<head><title>x", typeHTML},
		{"body", "<body class=x>", typeHTML},
		{"a paragraph", "<p>text", typeHTML},
		{"a short page", "<meta charset=utf-8><title>x</title>", typeHTML},
		{"a longer name", "<pre>x", typeText},
		{"no name", "< p>", typeText},
		{"no end", "<p", typeText},
		{"less than", "a < b and b > c", typeText},
		{"an address", "<https://example.org/> is a link", typeText},
		{"comment and html", "<!-- c --><html>", typeHTML},
		{"comments and any tag", "<!-- a -->\n<!-- b -->\n<section>", typeHTML},
		{"a long comment", "<!--" + strings.Repeat("x", 5000) + "--><html>", typeHTML},
		{"comment and Markdown", "<!-- badges -->\n# Title\n", typeText},
		{"comment without end", "<!-- c <html>", typeText},
		{"a whole comment", "<!--><html>", typeHTML},
		{"doctype of something else", "<!doctype svg><svg>", typeText},

		{"XML", `<?xml version="1.0"?><rss></rss>`, typeXML},
		{"XML and SVG", `<?xml version="1.0"?><svg xmlns="x">`, typeXML},
		{"XML without end", `<?xml version="1.0"`, typeXML},
		{"XML and a comment without end", `<?xml version="1.0"?><!-- x`, typeXML},
		{"XHTML", `<?xml version="1.0"?>` + "\n<!-- c -->\n<html xmlns='http://www.w3.org/1999/xhtml'>", typeXHTML},
		{"XHTML with a doctype", `<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">`, typeXHTML},
		{"a flat OpenDocument text", "\xEF\xBB\xBF<?xml version='1.0'?>\n<office:document xmlns:office='x' xmlns:a=\"" + strings.Repeat("y", 4000) + "\" office:mimetype=\"" + TypeODT + "\"><office:body/>", TypeODT},
		{"a flat OpenDocument template", `<office:document office:mimetype='` + TypeODT + `-template'>`, TypeODT},
		{"a flat OpenDocument sheet", `<?xml version="1.0"?><office:document office:mimetype="` + TypeODS + `">`, TypeODS},
		{"a flat OpenDocument drawing", `<?xml version="1.0"?><office:document office:mimetype="application/vnd.oasis.opendocument.graphics">`, typeXML},
		{"a flat OpenDocument without its type", `<?xml version="1.0"?><office:document-content/>` + TypeODT, typeXML},
		{"another instruction", "<?xmlish?>", typeText},
		{"PHP", "<?php echo 1; ?>", typeText},

		{"UTF-16LE", "\xFF\xFEh\x00i\x00", typeText},
		{"UTF-16BE HTML", "\xFE\xFF\x00<\x00h\x00t\x00m\x00l\x00>", typeHTML},
		{"UTF-16 with a NUL character", "\xFF\xFEh\x00\x00\x00i\x00", typeOctet},
		{"UTF-32LE", "\xFF\xFE\x00\x00h\x00\x00\x00", typeText},
		{"UTF-32BE", "\x00\x00\xFE\xFF\x00\x00\x00h", typeText},

		{"PNG", "\x89PNG\r\n\x1A\n\x00\x00\x00\x0DIHDR", "image/png"},
		{"JPEG", "\xFF\xD8\xFF\xD9", "image/jpeg"},
		{"GIF", "GIF89a\x01\x00\x01\x00\x00", "image/gif"},
		{"WebP", "RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"},
		{"MP4", "\x00\x00\x00\x18ftypisom\x00\x00", "video/mp4"},
		{"MP3", "ID3\x04\x00\x00\x00\x00\x00\x00", "audio/mpeg"},
		{"WOFF2", "wOF2\x00\x01\x00\x00", "font/woff2"},
		{"gzip", "\x1F\x8B\x08xyz", "application/gzip"},
		{"bzip2", "BZh91AY&SY\x00", "application/x-bzip2"},
		{"xz", "\xFD7zXZ\x00\x00\x04", "application/x-xz"},
		{"zstd", "\x28\xB5\x2F\xFD\x04", "application/zstd"},
		{"7z", "7z\xBC\xAF\x27\x1C", "application/x-7z-compressed"},
		{"RAR", "Rar!\x1A\x07\x01\x00", "application/vnd.rar"},
		{"tar", "file.txt" + strings.Repeat("\x00", 249) + "ustar\x0000", "application/x-tar"},
		{"an archive", "PK\x03\x04\x14\x00\x00\x00", "application/zip"},
		{"an empty archive", "PK\x05\x06" + strings.Repeat("\x00", 18), "application/zip"},
		{"a compound file", oleMagic + strings.Repeat("\x00", 504), "application/x-ole-storage"},
	} {
		for _, served := range []string{"", typeOctet, "binary/octet-stream", "application/x-download", "application/force-download"} {
			if got := Sniff([]byte(c.body), served, ""); got != c.want {
				t.Errorf("%s, served as %q: got %s, want %s", c.name, served, got, c.want)
			}
		}
	}
}

func TestServedTypeIsBelieved(t *testing.T) {
	const page = "<html><body>x"
	for _, c := range []struct{ served, label, body, want string }{
		{"text/plain", "", page, "text/plain"},
		{"text/markdown", "", page, "text/markdown"},
		{"text/html", "", "just text", "text/html"},
		{"application/json", "", page, "application/json"},
		{"application/json", "", "a\x00b", "application/json"}, // invalid JSON is passed as text
		{"image/png", "", page, "image/png"},
		{"image/png", "", "%PDF-1.7", "image/png"},
		{"application/pdf", "", page, "application/pdf"},
		{"application/x-foo", "", page, "application/x-foo"},
		{"application/zip", "", "PK\x03\x04\x14\x00", "application/zip"},

		// A page with a stray NUL is a page; the structure case text-04 has one.
		{"text/html", "", "<!doctype html><p>a\x00b", "text/html"},
		{"text/html", "", "\x89PNG\r\n\x1A\n\x00<html>", "image/png"},
		// W-106: text with NULs is none, unless its encoding makes them.
		{"text/plain", "", "abc\x00\x01", typeOctet},
		{"text/html", "utf-8", "<p>\x00", typeOctet},
		{"text/plain", "", "\x89PNG\r\n\x1A\n\x00", "image/png"},
		{"text/plain", "", strings.Repeat("a", 1024) + "\x00", "text/plain"},
		{"text/plain", "", "\xFF\xFEa\x00", "text/plain"},
		{"text/plain", "", "\x00\x00\xFE\xFF\x00\x00\x00a", "text/plain"},
		{"text/plain", "utf-16le", "a\x00", "text/plain"},
		{"text/plain", "x-none-such", "a\x00", typeOctet},
		{"text/xml", "", "<\x00?\x00x\x00m\x00l\x00", "text/xml"},
		{"text/plain", "", "<\x00?\x00x\x00m\x00l\x00", typeOctet},
	} {
		if got := Sniff([]byte(c.body), c.served, c.label); got != c.want {
			t.Errorf("%q served as %s, %q: got %s, want %s", c.body, c.served, c.label, got, c.want)
		}
	}
}

// FuzzSniff: sniffing always gives a media type that may be shown, and never believes less than the six old rules of
// what is text, HTML or PDF.
func FuzzSniff(f *testing.F) {
	for _, seed := range []string{"", "<html>", "%PDF-", "\xFF\xFEa\x00", "<!-- x --><p>", "<?xml ?><html", "PK\x03\x04", oleMagic} {
		f.Add([]byte(seed), "", "")
		f.Add([]byte(seed), "text/plain", "utf-16")
		f.Add([]byte(seed), TypeDOCX, "")
	}
	f.Fuzz(func(t *testing.T, body []byte, served, label string) {
		if served, _ = ParseContentType([]string{served}); isDownload(served) {
			served = ""
		}
		got := Sniff(body, served, label)
		if !IsMediaType(got) {
			t.Fatalf("%q is no media type", got)
		}
		if served != "" || label != "" || KindOf(got) != Binary {
			return
		}
		head := string(body[:min(len(body), sniffBytes)])
		if !isBinary(head) && signedType(body, true) == "" && documentType(body) == "" && !strings.HasPrefix(head, "\xFF\xFE") && !strings.HasPrefix(head, "\xFE\xFF") {
			t.Fatalf("%q is %s, the old rules take it as text", head, got)
		}
	})
}

// TestFeedsUnderTheNameOfPages: what has the root of a feed, and so no word of HTML, is none.
func TestFeedsUnderTheNameOfPages(t *testing.T) {
	for body, want := range map[string]string{
		`<?xml version="1.0"?><rss version="2.0"><channel><title>x</title>`:                                          "application/rss+xml",
		"\xEF\xBB\xBF\n<?xml version='1.0'?>\n<?xml-stylesheet href='a'?><!-- c --><!DOCTYPE rss PUBLIC 'x'>\n<rss>": "application/rss+xml",
		`<feed xmlns="http://www.w3.org/2005/Atom">`:                                                                 "application/atom+xml",
		`<rdf:RDF xmlns:rdf="x">`:                 "application/rss+xml",
		`<?xml version="1.0"?><urlset xmlns="x">`: typeXML,
		`<sitemapindex>`:                          typeXML,
		`<opml version="2.0">`:                    typeXML,
		"\xFF\xFE<\x00r\x00s\x00s\x00>\x00":       "application/rss+xml",
		`<rssx>`:                                  typeHTML,
		`<RSS>`:                                   typeHTML,
		`<rss`:                                    typeHTML,
		`words <rss>`:                             typeHTML,
		`<!-- never closed <rss>`:                 typeHTML,
		`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">`: typeHTML,
		`<!DOCTYPE html><html><body><rss>`:                                 typeHTML,
		`<?xml version="1.0"?><wml>`:                                       typeHTML,
		"":                                                                 typeHTML,
	} {
		if got := Sniff([]byte(body), typeHTML, ""); got != want {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
	if got := Sniff([]byte("<rss>"), typeText, ""); got != typeText {
		t.Errorf("as plain text: %s", got)
	}
}
