// Package audit keeps what people decided and wrote so that a change of it is found: rows are chained under a key, one
// after the other, and where the chain stood is told outside the database now and then.
//
// The one rule: an entry is appended in the transaction that it tells about, so there is no decision without its entry
// and no entry without its decision.
package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Entry is one decision or write.
type Entry struct {
	// Actor is who: person:<id>, agent:<id>, or system. At most 200 bytes.
	Actor string
	// Verb is what was done, as thing.done: agent.disabled, approval.answered. At most 100 bytes.
	Verb string
	// Subject is the row that it was done to: its id, or a name. At most 200 bytes.
	Subject string
	// Detail is what else is worth knowing, without secrets and without page text; nil for nothing. At most 16 KiB as JSON.
	Detail map[string]any
}

const (
	maxName   = 200       // bytes of an actor or a subject
	maxVerb   = 100       // bytes of a verb
	maxDetail = 16 * 1024 // bytes of a detail as JSON
)

// Check says whether an entry can be kept, and gives its detail as JSON with its members in order. The error names the
// field.
func (e Entry) Check() (detail string, err error) {
	for _, f := range []struct {
		name, text string
		most       int
	}{{"actor", e.Actor, maxName}, {"verb", e.Verb, maxVerb}, {"subject", e.Subject, maxName}} {
		switch {
		case f.text == "":
			return "", fmt.Errorf("an audit entry has no %s", f.name)
		case len(f.text) > f.most:
			return "", fmt.Errorf("the %s of an audit entry is %d bytes long; the most is %d", f.name, len(f.text), f.most)
		case !utf8.ValidString(f.text) || strings.ContainsFunc(f.text, unicode.IsControl):
			return "", fmt.Errorf("the %s of an audit entry is not printable text: %q", f.name, f.text)
		}
	}
	if e.Detail == nil {
		return "{}", nil
	}
	text, err := json.Marshal(e.Detail)
	if err != nil {
		return "", fmt.Errorf("the detail of an audit entry %s: %w", e.Verb, err)
	}
	if len(text) > maxDetail {
		return "", fmt.Errorf("the detail of an audit entry %s is %d bytes long; the most is %d", e.Verb, len(text), maxDetail)
	}
	return string(text), nil
}
