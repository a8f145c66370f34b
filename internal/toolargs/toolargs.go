// Package toolargs reads the arguments of one tool call: a JSON object that a model wrote.
//
// The one rule: what is not exactly as the tool takes it is refused by name, with the way to mend it, and never guessed
// at: no member twice, none that is unknown, none of another type. null is absent, and 2.0 is the integer 2, since
// models write both.
package toolargs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/untrusted"
)

const (
	// MaxBytes bounds the arguments of one call.
	MaxBytes = 256 << 10
	// MaxExact is the largest integer that every JSON reader carries exactly.
	MaxExact int64 = 1<<53 - 1
)

// Error is a bad argument. Field names it, fit to be shown, and Reason goes on where the name ends, in our words: "must be
// a string". For a fault of the whole Field is empty, and Reason a sentence of its own.
type Error struct {
	Field  string
	Reason string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return "argument " + e.Field + " " + e.Reason
}

// Members are the members of an object, in the order in which they were sent.
type Members []member

type member struct {
	name  string
	value json.RawMessage
}

// Parse reads one JSON object of at most MaxBytes; nothing, or null, has no members. The error is an *Error.
func Parse(raw json.RawMessage) (Members, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > MaxBytes:
		return nil, &Error{Reason: "the arguments are longer than 256 KiB"}
	case len(raw) == 0, string(raw) == "null":
		return nil, nil
	case raw[0] != '{':
		return nil, notOneObject()
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, notJSON()
	}
	var ms Members
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
			return nil, &Error{untrusted.Plain(m.name), "is given twice"}
		}
		seen[m.name] = true
		ms = append(ms, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, notJSON()
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, notOneObject()
	}
	return ms, nil
}

func notJSON() error      { return &Error{Reason: "the arguments are not valid JSON"} }
func notOneObject() error { return &Error{Reason: "the arguments must be one JSON object"} }

// Only refuses the first member that is none of known, and tells which there are.
func (ms Members) Only(known []string) error {
	for _, m := range ms {
		if !slices.Contains(known, m.name) {
			return &Error{untrusted.Plain(m.name), "is no argument of this tool, which takes " + strings.Join(known, ", ")}
		}
	}
	return nil
}

// get gives the value of a member; nil if it is absent or null.
func (ms Members) get(name string) json.RawMessage {
	for _, m := range ms {
		if m.name == name && string(m.value) != "null" {
			return m.value
		}
	}
	return nil
}

// String reads a string; given is false where it is absent.
func (ms Members) String(name string) (text string, given bool, err error) {
	value := ms.get(name)
	if value == nil {
		return "", false, nil
	}
	if err := json.Unmarshal(value, &text); err != nil {
		return "", true, &Error{name, "must be a string"}
	}
	return text, true, nil
}

// Bool reads true or false into a variable, which stays as it is where the member is absent.
func (ms Members) Bool(name string, into *bool) error {
	switch string(ms.get(name)) {
	case "":
	case "false":
		*into = false
	case "true":
		*into = true
	default:
		return &Error{name, "must be true or false"}
	}
	return nil
}

// Choice reads one of the choices into a variable, which stays as it is where the member is absent.
func Choice[T ~string](ms Members, name string, choices []T, into *T) error {
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
	return &Error{name, "must be " + strings.Join(quoted, " or ")}
}

// Integer reads an integer from least to most into a variable, which stays as it is where the member is absent. A bound
// of MaxExact is not told: nobody comes near it.
func (ms Members) Integer(name string, least, most int64, into *int) error {
	value := ms.get(name)
	if value == nil {
		return nil
	}
	n, ok := integer(string(value))
	switch {
	case ok && least <= n && n <= most:
	case most == MaxExact:
		return &Error{name, "must be a whole number, " + strconv.FormatInt(least, 10) + " or more"}
	default:
		return &Error{name, "must be a whole number from " + strconv.FormatInt(least, 10) + " to " + strconv.FormatInt(most, 10)}
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
