package docx

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/page"
	"github.com/wayleave/wayleave/internal/document/prose"
	"github.com/wayleave/wayleave/internal/document/rtf"
)

// Chunks are documents of other kinds that Word takes in when it opens the file: some programs write a page's HTML so, and nothing
// else. HTML, RTF, text and Word documents are read; what else there is is counted.

// maxChunks is how many chunks of a document are read.
const maxChunks = 100

func (r *reader) chunk(x *pack.XML, out emit) error {
	to, ok := r.rels.ByID(relation(x, "id"))
	if !ok || to.External {
		return nil
	}
	if r.chunks >= maxChunks || r.chunked {
		r.unread++
		return nil
	}
	r.chunks++
	body, err := r.archive.Optional(to.Target)
	if err != nil {
		r.unread++
		return lost(err)
	}
	switch kind, content := chunkKind(to.Target, body); kind {
	case "docx":
		return r.nested(content, out)
	case "rtf":
		return rtf.Read(r.ctx, content, r.w, out)
	case "html":
		return page.Read(r.ctx, content, r.w, out)
	case "":
		if len(body) > 0 {
			r.unread++
		}
	case "text":
		for line := range strings.Lines(string(content)) {
			if err := r.w.Spend(1); err != nil {
				return err
			}
			if err := out(&prose.Block{Runs: []prose.Run{{Text: line}}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// unreadChunks says how many chunks were not read.
func (r *reader) unreadChunks() []document.Fact {
	words := fmt.Sprintf("%d documents within it, of kinds that are not read or damaged, are left out", r.unread)
	switch r.unread {
	case 0:
		return nil
	case 1:
		words = "1 document within it, of a kind that is not read or damaged, is left out"
	}
	return []document.Fact{{Kind: document.NoteAttachments, Words: words, Data: map[string]any{"files": r.unread}}}
}

// chunkKind tells what a chunk is, and gives it in UTF-8 and without its wrapping; no kind for what is not read.
func chunkKind(name string, body []byte) (kind string, content []byte) {
	name = strings.ToLower(name)
	head := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 1024)], "\xEF\xBB\xBF \t\r\n"))
	switch {
	case bytes.HasPrefix(body, []byte("PK")):
		return "docx", body
	case rtf.Is(body):
		return "rtf", body
	case bytes.HasPrefix(head, []byte("mime-version:")), bytes.HasPrefix(head, []byte("from:")), strings.HasSuffix(name, ".mht"), strings.HasSuffix(name, ".mhtml"):
		if page := archivedPage(body); page != nil {
			return "html", page
		}
		return "", nil
	case bytes.HasPrefix(head, []byte("<!doctype html")), bytes.HasPrefix(head, []byte("<html")), strings.Contains(name, ".htm"), strings.HasSuffix(name, ".xhtml"):
		return "html", inUTF8(body, "text/html")
	case strings.HasSuffix(name, ".txt"):
		return "text", inUTF8(body, "text/plain")
	}
	return "", nil
}

func inUTF8(body []byte, contentType string) []byte {
	in, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return body
	}
	text, err := io.ReadAll(io.LimitReader(in, page.Most+1))
	if err != nil {
		return body
	}
	return text
}

// archivedPage is the first page of HTML in a message of MIME; nil for none.
func archivedPage(body []byte) []byte {
	message, err := mail.ReadMessage(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	return htmlOf(message.Header.Get("Content-Type"), message.Header.Get("Content-Transfer-Encoding"), message.Body, 0)
}

func htmlOf(contentType, encoding string, body io.Reader, depth int) []byte {
	const deepest, most = 3, 100 // multiparts in multiparts, parts
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil || depth > deepest {
		return nil
	}
	if mediaType == "text/html" {
		switch strings.ToLower(strings.TrimSpace(encoding)) {
		case "base64":
			body = base64.NewDecoder(base64.StdEncoding, body)
		case "quoted-printable":
			body = quotedprintable.NewReader(body)
		}
		text, _ := io.ReadAll(io.LimitReader(body, page.Most+1)) // what comes before a fault is read
		return inUTF8(text, contentType)
	}
	if !strings.HasPrefix(mediaType, "multipart/") || params["boundary"] == "" {
		return nil
	}
	parts := multipart.NewReader(body, params["boundary"])
	for range most {
		part, err := parts.NextRawPart()
		if err != nil {
			return nil
		}
		if found := htmlOf(part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part, depth+1); found != nil {
			return found
		}
	}
	return nil
}

// nested reads a Word document within the document. Its notes are left out.
func (r *reader) nested(body []byte, out emit) error {
	archive, err := pack.Open(body, r.limits)
	if err != nil {
		r.unread++
		return lost(err)
	}
	inner := &reader{ctx: r.ctx, archive: archive, limits: r.limits, w: r.w, labels: map[string]string{}, quiet: 1, chunked: true}
	_, err = inner.open()
	if err == nil {
		err = inner.body(out)
	}
	r.unread += inner.unread
	var known *document.Error
	if errors.As(err, &known) {
		r.unread++
		return nil // a chunk that cannot be read is no reason not to read the text around it
	}
	return err
}
