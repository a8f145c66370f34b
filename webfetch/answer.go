package webfetch

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/pagetext"
	"github.com/wayleave/wayleave/internal/untrusted"
)

// The answer to a call: which window of a page is shown, with which notes, as text for the model and as keys for the
// host. The one rule: the text never passes MaxTextBytes, and next_offset always tells where it ended.

// MaxTextBytes bounds the text of one result, header, notes, wrapper and escapes included, so that no agent harness
// cuts it.
const MaxTextBytes = 20_000

// AnswerOptions say how a page is shown to a model. The zero value shows it as the library's tool does.
type AnswerOptions struct {
	// PageChars bounds a window in code points, beside the model's max_bytes; 0 means DefaultPageChars.
	PageChars int
	// Notes stand after the page's own.
	Notes []Note
	// Snapshot is the number of the kept page, from 1; 0 where pages are not kept.
	Snapshot int
	// PermitCommand is the command with which a person permits a private host, such as "wayleave allow"; a refusal of
	// such a host names it with the host. Empty where there is no such command.
	PermitCommand string
	// RobotsSetting is the setting with which an operator exempts a site from its robots.txt, such as "--robots-ignore"; a
	// refusal by one names it with the host. Empty where there is no such setting.
	RobotsSetting string
	// Abilities decide what may be named.
	Abilities Abilities
}

// Answer is the result of a call whose page is there: the window that the arguments ask for, as text and as
// structured content. It sends nothing.
func Answer(p *Page, a Arguments, o AnswerOptions) agenttool.Result {
	return WindowResult(ReadWindow(p, a, o), o)
}

// ReadWindow cuts the window that the arguments ask for, small enough that its text keeps to MaxTextBytes: at
// a.Offset, or with a.Find that one of the windows from the start of the page in which the first match at or after
// a.Offset begins. Its Notes are all that Render shows. p is not changed.
func ReadWindow(p *Page, a Arguments, o AnswerOptions) *Window {
	c := cutter{page: p, text: pagetext.Measure(p.Content), chars: o.PageChars, maxBytes: a.MaxBytes}
	if c.chars == 0 {
		c.chars = DefaultPageChars
	}
	if c.maxBytes == 0 {
		c.maxBytes = DefaultWindowBytes
	}
	own := pageNotes(p, o.Abilities)
	if a.Offset > 0 { // who reads on was told where the reading began
		own = slices.DeleteFunc(own, func(n Note) bool { return n.Kind == "llms_txt" || n.Kind == "retry_after" })
	}
	c.notes = slices.Concat(own, o.Notes)
	from := pagetext.Place{Offset: max(a.Offset, 0)}
	from.Byte = c.text.ByteAt(from.Offset)
	if a.Find == "" {
		w, _ := c.at(from)
		return w
	}
	found := c.text.Find(a.Find, from.Offset)
	notes := slices.Concat(own, []Note{findNote(found, a.Find, from.Offset)}, o.Notes)
	if found.Total == 0 {
		w := makeWindow(p, c.text, from, from)
		w.NextOffset, w.Notes = nil, notes
		return w
	}
	// The windows are those of a reader who goes on from the start. Only then do the notes count of where the match
	// is, which may leave a little less room.
	_, at := c.windowWith(pagetext.Place{}, found.First)
	c.notes = notes
	w, _ := c.windowWith(at, found.First)
	return w
}

// cutter cuts the windows of one call.
type cutter struct {
	page     *Page
	text     pagetext.Text
	chars    int
	maxBytes int
	notes    []Note
}

// windowWith is the window in which the sought place lies, of those that follow each other from the place from on, and
// where it begins.
func (c cutter) windowWith(from, sought pagetext.Place) (*Window, pagetext.Place) {
	for c.allFit() {
		to := c.text.Cut(from, c.chars, c.maxBytes)
		if sought.Byte < to.Byte {
			break
		}
		from = to
	}
	for {
		w, to := c.at(from)
		if sought.Byte < to.Byte {
			return w, from
		}
		from = to
	}
}

// allFit tells whether no window of the page can be too long, so that those before the sought one need not be written
// to know where they end: a page of small windows has millions.
func (c cutter) allFit() bool {
	const header = 1_000      // more than the longest, with the wrapper
	const growth, per = 4, 14 // an escape adds at most 4 bytes, and a tag has at least 14
	most := header + c.maxBytes + c.maxBytes/per*growth + growth
	for _, n := range c.notes {
		most += 1 + len(noteLine(n))
	}
	return most <= MaxTextBytes
}

// at is the window that begins at a place, and the place where it ends. It is cut again with fewer bytes for as long
// as its text is too long, but never below one character.
func (c cutter) at(from pagetext.Place) (*Window, pagetext.Place) {
	for maxBytes := c.maxBytes; ; {
		to := c.text.Cut(from, c.chars, maxBytes)
		w := makeWindow(c.page, c.text, from, to)
		w.Notes = c.notes
		over := textBytes(w) - MaxTextBytes
		if over <= 0 || to.Offset-from.Offset <= 1 {
			return w, to
		}
		maxBytes = max(min(maxBytes, to.Byte-from.Byte)-over, 1)
	}
}

// WindowResult is the result that shows w: Render's text, and structured content without words that a page chose.
func WindowResult(w *Window, o AnswerOptions) agenttool.Result {
	return agenttool.Result{
		Content:    []agenttool.Part{{Text: Render(w)}},
		Structured: structuredWindow(w, o.Snapshot),
	}
}

// windowKeys are the keys of a success, in their order.
type windowKeys struct {
	OK             bool              `json:"ok"`
	Provider       string            `json:"provider"`
	Notes          []json.RawMessage `json:"notes"`
	NotesTotal     int               `json:"notes_total,omitempty"`
	RequestedURL   string            `json:"requested_url"`
	FinalURL       string            `json:"final_url,omitempty"`
	Status         int               `json:"status,omitempty"`
	ContentType    string            `json:"content_type,omitempty"`
	Via            Via               `json:"via"`
	ContentKind    Part              `json:"content_kind"`
	TotalChars     int               `json:"total_chars"`
	FullChars      int               `json:"full_chars"`
	Offset         int               `json:"offset"`
	NextOffset     *int              `json:"next_offset"`
	Truncated      bool              `json:"truncated"`
	RetrievedAt    time.Time         `json:"retrieved_at"`
	Snapshot       int               `json:"snapshot,omitempty"`
	Bytes          int64             `json:"bytes"`
	Redirects      []string          `json:"redirects,omitempty"`
	RedirectsTotal int               `json:"redirects_total,omitempty"`
}

const (
	maxStructuredBytes     = 4 << 10
	maxStructuredRedirects = 5
)

// structuredWindow is the window for hosts, at most maxStructuredBytes: what is too much is cut from the redirects, then
// from the notes, and counted.
func structuredWindow(w *Window, snapshot int) json.RawMessage {
	k := windowKeys{
		OK: true, Provider: w.Provider, Notes: []json.RawMessage{}, RequestedURL: untrusted.URL(w.RequestedURL, hostURLChars),
		FinalURL: untrusted.URL(w.FinalURL, hostURLChars), Status: w.Status, ContentType: showMediaType(w.ContentType), Via: w.Via,
		ContentKind: w.ContentKind, TotalChars: w.TotalChars, FullChars: w.FullChars, Offset: w.Offset,
		NextOffset: w.NextOffset, Truncated: w.Truncated, RetrievedAt: w.RetrievedAt.UTC(), Snapshot: snapshot, Bytes: w.Bytes,
	}
	for _, n := range w.Notes {
		k.Notes = append(k.Notes, structuredNote(n))
	}
	for _, r := range w.Redirects[:min(len(w.Redirects), maxStructuredRedirects)] {
		k.Redirects = append(k.Redirects, untrusted.URL(r, hostURLChars))
	}
	if len(w.Redirects) > len(k.Redirects) {
		k.RedirectsTotal = len(w.Redirects)
	}
	for {
		out := marshal(k)
		switch {
		case len(out) <= maxStructuredBytes:
			return out
		case len(k.Redirects) > 0:
			k.Redirects, k.RedirectsTotal = k.Redirects[:len(k.Redirects)-1], len(w.Redirects)
		case len(k.Notes) > 0:
			k.Notes, k.NotesTotal = k.Notes[:len(k.Notes)-1], len(w.Notes)
		default:
			return out
		}
	}
}

// structuredNote is a note for hosts: its kind with its numbers and ids, without its sentence.
func structuredNote(n Note) json.RawMessage {
	kind := map[string]any{"kind": untrusted.Plain(n.Kind)}
	all := maps.Clone(n.Data)
	if all == nil {
		return marshal(kind)
	}
	maps.Copy(all, kind)
	if out := marshal(all); out != nil {
		return out
	}
	return marshal(kind) // a Source gave data that is not JSON
}

// marshal is JSON on one line, with < and & as they are; nil for what JSON cannot say.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
