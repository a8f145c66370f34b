package webfetch

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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

	// Content says which part of an HTML page is its text: PartFull (also if empty) or PartMain. Where the main part
	// looks too small to be the page, the whole page is given, and its Thin says so.
	Content Part

	// Links says how links and pictures give their addresses; empty means LinksInline for a whole page, LinksItems for a
	// main part.
	Links Links
	// ListLinks adds the list of the page's links: at the end of its text, and as Page.Links.
	ListLinks bool

	Policy *weburl.Policy // default: the zero Policy, the public web

	// Dialer looks names up and connects, for a program that has its own resolver or listeners that must not be
	// reached. It brings its own policy, so that Policy must be nil beside it; nil means a dialer for Policy.
	Dialer *weburl.Dialer

	// EgressProxy is the http or https URL of a proxy that every request goes through; nil asks sites directly. Proxy
	// variables of the environment are never read. Names are then judged by pattern and literal only: the proxy
	// looks them up.
	EgressProxy *string
	// RootCAs are the authorities that a site's certificate may come from; nil means the system's.
	RootCAs *x509.CertPool

	// Politeness bounds how much each host is asked. Fetchers that work for one agent share one value; nil gives the
	// fetcher one of its own with the default bounds.
	Politeness *Politeness

	// Robots says whose robots.txt is obeyed. Fetchers that work for one agent share one value; nil obeys none.
	Robots *Robots

	// Conversions bounds how many large pages are converted at once. Fetchers of one process share one value; nil gives
	// the fetcher one of its own with the default bound. It does not bound a Converter of the host's.
	Conversions *Conversions

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

// The limits of the limits: above these a single call could hold a whole process.
const (
	maxPageChars    = 200_000
	maxMaxBodyBytes = 100_000_000
	maxTimeout      = 10 * time.Minute
	maxMaxRedirects = 20
)

// validate checks the ranges. The error is an *OptionError.
func (o Options) validate() error {
	milliseconds := (*int64)(nil)
	if o.Timeout != nil {
		ms := o.Timeout.Milliseconds()
		milliseconds = &ms
	}
	return cmp.Or(
		inRange("page_chars", o.PageChars, 1, maxPageChars, "characters"),
		inRange("max_body_bytes", o.MaxBodyBytes, 1, maxMaxBodyBytes, "bytes"),
		inRange("timeout_ms", milliseconds, 1, maxTimeout.Milliseconds(), "milliseconds"),
		inRange("max_redirects", o.MaxRedirects, 0, maxMaxRedirects, "redirects"),
		isPart(o.Content),
		isLinks(o.Links),
		isText("user_agent", o.UserAgent, false),
		isText("description", o.Description, true),
	)
}

func isPart(p Part) error {
	if p == "" || p == PartFull || p == PartMain {
		return nil
	}
	return &OptionError{"content", strconv.Quote(string(p)), "full or main"}
}

func isLinks(l Links) error {
	switch l {
	case "", LinksInline, LinksItems, LinksNone, LinksReferences:
		return nil
	}
	return &OptionError{"links", strconv.Quote(string(l)), "inline, items, none or references"}
}

// inRange checks a whole number, if it is given.
func inRange[T int | int64](option string, value *T, least, most T, unit string) error {
	if value == nil || least <= *value && *value <= most {
		return nil
	}
	return &OptionError{option, fmt.Sprint(*value), fmt.Sprintf("a whole number from %d to %d %s", least, most, unit)}
}

// isText checks that a text, if it is given, says something. Only one that may have several lines may have control
// characters.
func isText(option string, value *string, lines bool) error {
	switch {
	case value == nil:
		return nil
	case strings.TrimSpace(*value) == "":
		return &OptionError{option, strconv.Quote(*value), "a text that is not blank"}
	case !utf8.ValidString(*value), !lines && strings.ContainsFunc(*value, unicode.IsControl):
		return &OptionError{option, strconv.Quote(*value), "text without control characters"}
	}
	return nil
}

// besideSource refuses the options that a source of the host's own would leave without meaning: what it may fetch, and
// how, is that source's business.
func (o Options) besideSource() error {
	given := []struct {
		option string
		is     bool
	}{
		{"max_body_bytes", o.MaxBodyBytes != nil},
		{"max_redirects", o.MaxRedirects != nil},
		{"user_agent", o.UserAgent != nil},
		{"content", o.Content != ""},
		{"links", o.Links != ""},
		{"list_links", o.ListLinks},
		{"allowed_hosts", o.Policy != nil && len(o.Policy.AllowedHosts) > 0},
		{"blocked_hosts", o.Policy != nil && len(o.Policy.BlockedHosts) > 0},
		{"allow_private_hosts", o.Policy != nil && o.Policy.AllowPrivateHosts},
		{"policy", o.Policy != nil},
		{"dialer", o.Dialer != nil},
		{"egress_proxy", o.EgressProxy != nil},
		{"root_cas", o.RootCAs != nil},
		{"politeness", o.Politeness != nil},
		{"robots", o.Robots != nil},
		{"conversions", o.Conversions != nil},
		{"converter", o.Converter != nil},
		{"documents", o.Documents != nil},
	}
	for _, g := range given {
		if g.is {
			return &OptionError{g.option, "set beside a source", "left out: only page_chars, timeout_ms, description and the name apply to a source"}
		}
	}
	return nil
}

// The values of nil fields.
const (
	DefaultPageChars    = 20_000
	DefaultMaxBodyBytes = 5_000_000
	DefaultTimeout      = 30 * time.Second
	DefaultMaxRedirects = 5
)
