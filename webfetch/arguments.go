package webfetch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/untrusted"
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

// Request is what a Source is asked for.
func (a Arguments) Request() Request { return Request{URL: a.URL, Format: a.Format} }

// The model's window: at most MaxWindowBytes of UTF-8 before escaping, DefaultWindowBytes where it does not say.
const (
	DefaultWindowBytes = 12_000
	MaxWindowBytes     = 20_000
)

const (
	maxArgumentBytes = 256 << 10
	maxFindChars     = 200
	// maxOffset is the largest integer that every JSON reader carries exactly.
	maxOffset int64 = 1<<53 - 1
)

// ParseArguments reads the arguments of one call: one JSON object of at most 256 KiB, or nothing for none. Checked are,
// and the first that fails answers: the JSON, with no member twice; unknown members; then offset, max_bytes, find,
// content, links, format and url. null counts as absent, and 2.0 is the integer 2. The error is an *Error with
// CodeInvalidInput that names the member in Field.
func ParseArguments(raw json.RawMessage, able Abilities) (Arguments, error) {
	given, err := parseMembers(raw)
	if err != nil {
		return Arguments{}, err
	}
	var known []string
	for _, a := range arguments(able) {
		known = append(known, a.name)
	}
	for _, m := range given {
		if !slices.Contains(known, m.name) {
			return Arguments{}, badArgument(untrusted.Plain(m.name), "is no argument of this tool, which takes "+strings.Join(known, ", "))
		}
	}
	a := Arguments{MaxBytes: DefaultWindowBytes, Content: PartFull, Format: FormatAuto}
	if able.MainContent {
		a.Content = PartMain
	}
	for _, read := range []func(members) error{a.readOffset, a.readMaxBytes, a.readFind, a.readContent, a.readLinks, a.readFormat, a.readURL} {
		if err := read(given); err != nil {
			return Arguments{}, err
		}
	}
	return a, nil
}

func badArgument(field, reason string) *Error {
	return &Error{
		Code: CodeInvalidInput, Status: 400, Field: field, Reason: reason,
		Message: strings.TrimSpace("webfetch: argument " + field + " " + reason),
	}
}

// member is one member of the arguments as it was sent.
type member struct {
	name  string
	value json.RawMessage
}

type members []member

// get gives the value of a member; nil if it is absent or null.
func (ms members) get(name string) json.RawMessage {
	for _, m := range ms {
		if m.name == name && string(m.value) != "null" {
			return m.value
		}
	}
	return nil
}

func parseMembers(raw json.RawMessage) (members, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > maxArgumentBytes:
		return nil, badArguments("are longer than 256 KiB")
	case len(raw) == 0, string(raw) == "null":
		return nil, nil
	case raw[0] != '{':
		return nil, badArguments("must be one JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, notJSON()
	}
	var ms members
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, notJSON()
		}
		m := member{name: name.(string)} // Token gives nothing else for a name
		if err := d.Decode(&m.value); err != nil {
			return nil, notJSON()
		}
		if seen[m.name] {
			return nil, badArgument(untrusted.Plain(m.name), "is given twice")
		}
		seen[m.name] = true
		ms = append(ms, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, notJSON()
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, badArguments("must be one JSON object")
	}
	return ms, nil
}

func badArguments(reason string) *Error {
	e := badArgument("", "the arguments "+reason)
	e.Message = "webfetch: " + e.Reason
	return e
}

func notJSON() *Error { return badArguments("are not valid JSON") }

func (a *Arguments) readOffset(ms members) error {
	return readInteger(ms, "offset", 0, maxOffset, &a.Offset)
}

func (a *Arguments) readMaxBytes(ms members) error {
	return readInteger(ms, "max_bytes", 1, MaxWindowBytes, &a.MaxBytes)
}

func (a *Arguments) readFind(ms members) error {
	if ms.get("find") == nil {
		return nil
	}
	text, err := readString(ms, "find")
	if err != nil {
		return err
	}
	a.Find = strings.TrimSpace(text)
	if n := utf8.RuneCountInString(a.Find); n < 1 || n > maxFindChars {
		return badArgument("find", "must have 1 to 200 characters besides white space around it, has "+strconv.Itoa(n))
	}
	return nil
}

func (a *Arguments) readContent(ms members) error {
	return readChoice(ms, "content", []Part{PartMain, PartFull}, &a.Content)
}

func (a *Arguments) readLinks(ms members) error {
	switch string(ms.get("links")) {
	case "", "false":
	case "true":
		a.Links = true
	default:
		return badArgument("links", "must be true or false")
	}
	return nil
}

func (a *Arguments) readFormat(ms members) error {
	return readChoice(ms, "format", []Format{FormatAuto, FormatRaw}, &a.Format)
}

func (a *Arguments) readURL(ms members) error {
	if ms.get("url") == nil {
		return badArgument("url", "is missing; give the URL to read")
	}
	text, err := readString(ms, "url")
	if err != nil {
		return err
	}
	if a.URL = strings.TrimSpace(text); a.URL == "" {
		return badArgument("url", "is blank; give the URL to read")
	}
	return nil
}

func readString(ms members, name string) (string, error) {
	var text *string
	if err := json.Unmarshal(ms.get(name), &text); err != nil {
		return "", badArgument(name, "must be a string")
	}
	return *text, nil
}

func readChoice[T ~string](ms members, name string, choices []T, into *T) error {
	value := ms.get(name)
	if value == nil {
		return nil
	}
	var given T
	if err := json.Unmarshal(value, &given); err == nil && slices.Contains(choices, given) {
		*into = given
		return nil
	}
	var quoted []string
	for _, c := range choices {
		quoted = append(quoted, strconv.Quote(string(c)))
	}
	return badArgument(name, "must be "+strings.Join(quoted, " or "))
}

func readInteger(ms members, name string, least, most int64, into *int) error {
	value := ms.get(name)
	if value == nil {
		return nil
	}
	n, ok := integer(string(value))
	switch {
	case ok && least <= n && n <= most:
	case most == maxOffset: // which nobody needs to hear of
		return badArgument(name, "must be a whole number, 0 or more")
	default:
		return badArgument(name, "must be a whole number from "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))
	}
	*into = int(min(n, math.MaxInt))
	return nil
}

// integer reads a JSON number that has no fraction, however it is spelled: 2, 2.0, 2e0, 20e-1. ok is false for every
// other number and for what is none. Exponents are not carried out before they are known to be small.
func integer(literal string) (n int64, ok bool) {
	if literal == "" || literal[0] != '-' && (literal[0] < '0' || literal[0] > '9') {
		return 0, false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if strings.Trim(digits, "-0") == "" {
		return 0, true
	}
	shift := -len(fraction)
	if exponent != "" {
		e, err := strconv.Atoi(exponent)
		if err != nil {
			return 0, false
		}
		shift += e
	}
	for ; shift < 0 && strings.HasSuffix(digits, "0"); shift++ {
		digits = digits[:len(digits)-1]
	}
	if shift < 0 || shift > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", shift), 10, 64)
	return n, err == nil
}
