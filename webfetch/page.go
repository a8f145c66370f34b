package webfetch

import (
	"context"
	"time"
)

// Format chooses what a body becomes.
type Format string

// The formats. The empty Format means FormatAuto.
const (
	FormatAuto Format = "auto" // the most readable text
	FormatRaw  Format = "raw"  // a textual body as sent, decoded
)

// Via tells how a page's text came about; the closed list of seed 003.
type Via string

// The ways.
const (
	ViaMarkdown  Via = "markdown-negotiated" // the site sent Markdown
	ViaConverted Via = "converted"           // HTML or a document, converted to Markdown
	ViaJSON      Via = "json"                // JSON, indented
	ViaText      Via = "text"                // other text, as decoded
	ViaRaw       Via = "raw"                 // FormatRaw
	ViaRendered  Via = "rendered"            // by a browser; no source of this package makes it
)

// Part says which part of a page its content is.
type Part string

// The parts.
const (
	PartFull Part = "full"
	PartMain Part = "main"
)

// Links says how the links and pictures of a page's text give their addresses.
type Links string

// The ways. The empty Links means LinksInline for a whole page and LinksItems for a main part.
const (
	LinksItems      Links = "items"      // in the link, but for links within running text, which are their words
	LinksInline     Links = "inline"     // in the link
	LinksNone       Links = "none"       // not at all: a link is its words, a picture its alternative text
	LinksReferences Links = "references" // by a number; the addresses stand at the end, each once
)

// Link is a link of a page.
type Link struct {
	Text string `json:"text,omitempty"` // at most 200 characters; empty for a link that shows none
	URL  string `json:"url"`            // absolute
}

// Request is what a Source is asked for: as the caller gave it, nothing checked.
type Request struct {
	URL    string
	Format Format
	// Content is the part of an HTML page that is wanted; empty leaves it to the source.
	Content Part
	// Links asks for the list of the page's links too, at the end of the text and in Page.Links.
	Links bool
}

// Source turns a request into a whole page. It validates URL and Format itself and answers a malformed request with
// CodeInvalidInput. Its errors are *Error, or the error of a cancelled context as it is; any other error becomes
// CodeUnavailable. Direct is the built-in one; a fake, a cache or a hosted provider are others.
type Source interface {
	Fetch(ctx context.Context, req Request) (*Page, error)
}

// Page is a whole page: what the Go library returns. Counts are Unicode code points unless they say bytes.
type Page struct {
	// RequestedURL is the URL as given, trimmed, with its fragment.
	RequestedURL string `json:"requested_url"`
	// FinalURL is where the answer came from, without fragment; empty where a provider cannot know it.
	FinalURL string `json:"final_url,omitempty"`
	// Status is the HTTP status of the final response; 0 where a provider cannot know it.
	Status int `json:"status,omitempty"`
	// ContentType is the media type: lower case, no parameters, sniffed where none was served; empty if not token/token.
	ContentType string `json:"content_type,omitempty"`
	Via         Via    `json:"via"`
	// Title is at most 500 characters; empty for none.
	Title string `json:"title,omitempty"`
	// Content is the whole text.
	Content string `json:"content"`
	// ContentKind says whether Content is the whole page or its main part.
	ContentKind Part `json:"content_kind"`
	// TotalChars is the length of Content, FullChars that of the whole page.
	TotalChars int `json:"total_chars"`
	FullChars  int `json:"full_chars"`
	// RetrievedAt is when the response arrived, UTC.
	RetrievedAt time.Time `json:"retrieved_at"`
	// Truncated is true where a provider gave less than there is.
	Truncated bool `json:"truncated"`
	// Headers are content-type, content-length, last-modified, etag, x-markdown-tokens and cf-mitigated, when sent:
	// lower-case names, values as served, each cut at 1 KiB.
	Headers map[string]string `json:"headers,omitempty"`
	// Bytes is the number of decoded body bytes that were read.
	Bytes int64 `json:"bytes"`
	// Redirects are the URLs that redirected, in order, without FinalURL; never nil for Direct.
	Redirects []string `json:"redirects"`
	// Provider is the name of the source, "direct" for Direct.
	Provider string `json:"provider"`
	// Links are the page's links, each address once, in order and at most 1,000, where they were asked for.
	Links []Link `json:"links,omitempty"`
	// Declared is what the page says of itself, in its own words; nil for what is not HTML.
	Declared *Declared `json:"-"`
	// Robots is what each robots.txt that was obeyed said of the URLs that were asked for, in their order; nil where none
	// was.
	Robots []RobotsVerdict `json:"-"`
	// NoStore says that the site asked that nothing of its answer be stored: a host that keeps the page for its reader does
	// not ask the site about it again.
	NoStore bool `json:"no_store,omitempty"`
	// Age is how long the answer had been in a cache between here and the site, as that says; 0 where nobody does.
	Age time.Duration `json:"-"`
	// Same says of a page that Refetch gave that it is the kept one.
	Same bool `json:"-"`
	// Thin are the facts that say that this is hardly the page one asked for; empty for an ordinary page.
	Thin []Thin `json:"thin,omitempty"`
	// Notes are told to the model between header and content.
	Notes []Note `json:"notes,omitempty"`
}

// Declared is what an HTML page says of itself in JSON-LD, meta elements and the like: the page's words, unchecked, white
// space collapsed, at most 300 characters each, and empty where it says nothing.
type Declared struct {
	Title     string // the headline, mostly without the site's name
	Byline    string // who wrote it; several names are parted by commas
	Date      string // when it was published, as the page writes it
	Canonical string // the address that it calls its own; absolute where the page's own address is known
	Language  string // such as de or pt-BR
}

// Thin is one reason to distrust a page: Kind is of the closed list of thin kinds, Fact our words for what shows it.
type Thin struct {
	Kind string `json:"kind"`
	Fact string `json:"fact"`
}

// Note is a line of ours between header and wrapper, "note: KIND · FACT". Fact never holds words that a page chose.
type Note struct {
	Kind string `json:"kind"`
	Fact string `json:"fact"`
	// Data are the note's numbers and ids for hosts; it may be nil.
	Data map[string]any `json:"data,omitempty"`
}

// Window is one part of a page's text with the page's metadata: what the model reads and what a host stores.
// Content is the unescaped window.
type Window struct {
	RequestedURL string            `json:"requested_url"`
	FinalURL     string            `json:"final_url,omitempty"`
	Status       int               `json:"status,omitempty"`
	ContentType  string            `json:"content_type,omitempty"`
	Via          Via               `json:"via"`
	Title        string            `json:"title,omitempty"`
	Content      string            `json:"content"`
	ContentKind  Part              `json:"content_kind"`
	TotalChars   int               `json:"total_chars"`
	FullChars    int               `json:"full_chars"`
	Offset       int               `json:"offset"`
	NextOffset   *int              `json:"next_offset"` // nil at the end
	Truncated    bool              `json:"truncated"`   // the window is not the whole text, or the provider cut it
	RetrievedAt  time.Time         `json:"retrieved_at"`
	Headers      map[string]string `json:"headers,omitempty"`
	Bytes        int64             `json:"bytes"`
	Redirects    []string          `json:"redirects"`
	Provider     string            `json:"provider"`
	Links        []Link            `json:"links,omitempty"`
	Thin         []Thin            `json:"thin,omitempty"`
	Notes        []Note            `json:"notes,omitempty"`
}
