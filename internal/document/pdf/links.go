package pdf

import (
	"strings"

	"github.com/wayleave/wayleave/internal/document/pdf/layout"
)

const (
	maxLinks     = 2_000  // of a page
	maxBookmarks = 10_000 // of a document
	maxOutline   = 16     // levels of bookmarks
	addressKind  = 3      // an action that opens an address
)

// links reads the places of a page that lead to an address.
func (r *pageReader) links(page uint64, f frame, out *layout.Page) {
	at := uint64(r.scratch)
	place, found := at+64, at+68
	r.put(r.scratch+64, make([]byte, 8))
	next := r.fn("FPDFLink_Enumerate")
	for range maxLinks {
		if r.call(next, page, place, found) == 0 || r.err != nil {
			return
		}
		raw, _ := r.memory.ReadUint32Le(uint32(found))
		if raw == 0 {
			continue
		}
		link := uint64(raw)
		action := r.call(r.fn("FPDFLink_GetAction"), link)
		if action == 0 || r.call(r.fn("FPDFAction_GetType"), action) != addressKind {
			continue
		}
		if r.call(r.fn("FPDFLink_GetAnnotRect"), link, at) == 0 {
			continue
		}
		// A rectangle in the engine's memory: left, top, right, bottom.
		rect := f.rect(r.float32At(r.scratch), r.float32At(r.scratch+12), r.float32At(r.scratch+8), r.float32At(r.scratch+4))
		var kept [8]byte // the enumeration's own places, which the address is written over
		copy(kept[:], r.bytesAt(r.scratch+64, 8))
		url := address(r.latin(r.fn("FPDFAction_GetURIPath"), r.doc, action))
		r.put(r.scratch+64, kept[:])
		if url != "" {
			out.Links = append(out.Links, layout.Link{Rect: rect, URL: url})
		}
	}
}

// address is an address that may be written; empty for another.
func address(s string) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "")
	low := strings.ToLower(s)
	for _, scheme := range []string{"http://", "https://", "mailto:", "ftp://", "tel:"} {
		if strings.HasPrefix(low, scheme) && len(s) > len(scheme) {
			return s
		}
	}
	if strings.HasPrefix(low, "www.") {
		return "http://" + s
	}
	return ""
}

// bookmarks reads the document's outline.
func (r *pageReader) bookmarks() []layout.Bookmark {
	o := outline{pageReader: r, seen: map[uint64]bool{}}
	o.level(0, 1)
	return o.out
}

type outline struct {
	*pageReader
	out  []layout.Bookmark
	seen map[uint64]bool
}

// level reads the entries below one.
func (o *outline) level(parent uint64, level int) {
	entry := o.work(o.fn("FPDFBookmark_GetFirstChild"), o.doc, parent)
	for entry != 0 && !o.seen[entry] && len(o.out) < maxBookmarks && o.err == nil {
		o.seen[entry] = true // an outline may go in circles
		b := layout.Bookmark{Title: o.wide(o.fn("FPDFBookmark_GetTitle"), entry), Level: level}
		if dest := o.call(o.fn("FPDFBookmark_GetDest"), o.doc, entry); dest != 0 {
			b.Page = int(int32(o.call(o.fn("FPDFDest_GetDestPageIndex"), o.doc, dest))) + 1
		}
		o.out = append(o.out, b)
		if level < maxOutline {
			o.level(entry, level+1)
		}
		entry = o.work(o.fn("FPDFBookmark_GetNextSibling"), o.doc, entry)
	}
}
