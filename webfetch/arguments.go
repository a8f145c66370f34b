package webfetch

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/toolargs"
)

// Arguments are the arguments of one web_fetch call, checked and with their defaults filled in.
type Arguments struct {
	// URL is trimmed and not blank. Nothing else of it is checked: that is the Source's, which judges whole URLs.
	URL string
	// Offset is where to go on, in code points; 0 or more.
	Offset int
	// MaxBytes bounds the window, 1 to MaxWindowBytes; DefaultWindowBytes where the model gave none.
	MaxBytes int
	// Find is the text to go to, trimmed, 1 to 200 code points; empty for none.
	Find string
	// Content is the part of the page to show: PartMain by default where Abilities.MainContent, else PartFull.
	Content Part
	// Links asks for the page's links.
	Links bool
	// Format is FormatAuto or FormatRaw.
	Format Format
}

// Request is what a Source is asked for. A raw body has neither parts nor links.
func (a Arguments) Request() Request {
	if a.Format == FormatRaw {
		return Request{URL: a.URL, Format: a.Format}
	}
	return Request{URL: a.URL, Format: a.Format, Content: a.Content, Links: a.Links}
}

// The model's window: at most MaxWindowBytes of UTF-8 before escaping, DefaultWindowBytes where it does not say.
const (
	DefaultWindowBytes = 12_000
	MaxWindowBytes     = 20_000
)

const maxFindChars = 200

// ParseArguments reads the arguments of one call: one JSON object of at most 256 KiB, or nothing for none. Checked are,
// and the first that fails answers: the JSON, with no member twice; unknown members; then offset, max_bytes, find,
// content, links, format and url. null counts as absent, and 2.0 is the integer 2. The error is an *Error with
// CodeInvalidInput that names the member in Field.
func ParseArguments(raw json.RawMessage, able Abilities) (Arguments, error) {
	a, err := readArguments(raw, able)
	if err != nil {
		return Arguments{}, badArgument(err)
	}
	return a, nil
}

// badArgument is what toolargs refused, as a failure of this tool.
func badArgument(err error) *Error {
	e := &Error{Code: CodeInvalidInput, Status: 400, Reason: err.Error(), Message: "webfetch: " + err.Error()}
	if bad, ok := errors.AsType[*toolargs.Error](err); ok {
		e.Field, e.Reason = bad.Field, bad.Reason
	}
	return e
}

func readArguments(raw json.RawMessage, able Abilities) (Arguments, error) {
	given, err := toolargs.Parse(raw)
	if err != nil {
		return Arguments{}, err
	}
	var known []string
	for _, a := range arguments(able) {
		known = append(known, a.name)
	}
	if err := given.Only(known); err != nil {
		return Arguments{}, err
	}
	a := Arguments{MaxBytes: DefaultWindowBytes, Content: PartFull, Format: FormatAuto}
	if able.MainContent {
		a.Content = PartMain
	}
	for _, err := range []error{ // in the order that the contract gives
		given.Integer("offset", 0, toolargs.MaxExact, &a.Offset),
		given.Integer("max_bytes", 1, MaxWindowBytes, &a.MaxBytes),
		a.readFind(given),
		toolargs.Choice(given, "content", []Part{PartMain, PartFull}, &a.Content),
		given.Bool("links", &a.Links),
		toolargs.Choice(given, "format", []Format{FormatAuto, FormatRaw}, &a.Format),
		a.readURL(given),
	} {
		if err != nil {
			return Arguments{}, err
		}
	}
	return a, nil
}

func (a *Arguments) readFind(given toolargs.Members) error {
	text, there, err := given.String("find")
	if err != nil || !there {
		return err
	}
	a.Find = strings.TrimSpace(text)
	if n := utf8.RuneCountInString(a.Find); n < 1 || n > maxFindChars {
		return &toolargs.Error{Field: "find", Reason: "must have 1 to 200 characters besides white space around it, has " + strconv.Itoa(n)}
	}
	return nil
}

func (a *Arguments) readURL(given toolargs.Members) error {
	text, there, err := given.String("url")
	if err != nil {
		return err
	}
	if !there {
		return &toolargs.Error{Field: "url", Reason: "is missing; give the URL to read"}
	}
	if a.URL = strings.TrimSpace(text); a.URL == "" {
		return &toolargs.Error{Field: "url", Reason: "is blank; give the URL to read"}
	}
	return nil
}
