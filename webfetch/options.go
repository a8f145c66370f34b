package webfetch

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/weburl"
)

// Options say which URLs may be fetched, how much is read and how long it may take. A nil field means its default;
// the zero Options work. The valid ranges are checked when a fetcher or tool is made.
type Options struct {
	PageChars    *int           // 1–200,000 characters a window; default 20,000
	MaxBodyBytes *int64         // 1–100,000,000 decoded bytes of a body; default 5,000,000
	Timeout      *time.Duration // 1 ms–10 min for all of a fetch; default 30 s
	MaxRedirects *int           // 0–20; default 5
	UserAgent    *string        // not blank, no control characters
	Description  *string        // not blank; replaces what the model sees of the tool

	Policy *weburl.Policy // default: the zero Policy, the public web

	// EgressProxy is the http or https URL of a proxy that every request goes through; nil asks sites directly. Proxy
	// variables of the environment are never read. Names are then judged by pattern and literal only: the proxy
	// looks them up.
	EgressProxy *string
	// RootCAs are the authorities that a site's certificate may come from; nil means the system's.
	RootCAs *x509.CertPool

	// Politeness bounds how much each host is asked. Fetchers that work for one agent share one value; nil gives the
	// fetcher one of its own with the default bounds.
	Politeness *Politeness

	// Converter turns HTML into Markdown in place of the built-in one.
	Converter Converter
	// Documents reads PDF, Office and OpenDocument files; nil means that they are refused as unsupported.
	Documents Documents
}

// Converter turns HTML into Markdown. It obeys ctx; a call that does not is abandoned at the deadline. An error, or
// no text, is CodeConversionFailed.
type Converter interface {
	ConvertHTML(ctx context.Context, page HTML) (markdown string, err error)
}

// HTML is a decoded HTML body.
type HTML struct {
	MediaType string // text/html or application/xhtml+xml
	Text      string // decoded, without byte-order mark
	BaseURL   string // the page's own address
}

// Documents turns a document into Markdown. It obeys ctx; a call that does not is abandoned at the deadline. An error
// is CodeConversionFailed.
type Documents interface {
	Convert(ctx context.Context, mediaType string, body []byte) (Document, error)
}

// Document is what a document says.
type Document struct {
	Markdown string
	Title    string // empty for none
	Thin     []Thin // such as a scan without a text layer
	Notes    []Note // such as sheets that were left out
}

// OptionError says which option is invalid, by its name in configuration files and flags.
type OptionError struct {
	Option string // such as page_chars
	Value  string // as given
	Want   string // what is valid, such as "1 to 200000 characters"
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("webfetch: option %s is %s, must be %s", e.Option, e.Value, e.Want)
}

// validate checks the ranges. The error is an *OptionError.
func (o Options) validate() error { panic("skeleton") }

// The values of nil fields.
const (
	DefaultPageChars    = 20_000
	DefaultMaxBodyBytes = 5_000_000
	DefaultTimeout      = 30 * time.Second
	DefaultMaxRedirects = 5
)
