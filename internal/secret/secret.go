// Package secret holds values that must not be printed. A [Value] shows a mark wherever a program prints, logs or
// encodes it; the bytes come out only through [Value.Reveal], so that a reader finds every door by searching one name.
//
// The one rule: nothing here depends on anything that prints.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Mark is what stands where a secret would be.
const Mark = "[secret]"

// Value is a secret text. The zero Value is the empty secret. Values may be compared only through Reveal.
type Value struct {
	// A func has no printable content and no field that reflection could walk to: encoders that ignore methods
	// (gob, reflect-based dumpers) see a func and stop.
	reveal func() string
}

// New wraps a secret.
func New(text string) Value { return Value{reveal: func() string { return text }} }

// Reveal gives the secret itself.
func (v Value) Reveal() string {
	if v.reveal == nil {
		return ""
	}
	return v.reveal()
}

// Empty says whether there is a secret at all.
func (v Value) Empty() bool { return v.Reveal() == "" }

// String gives the mark.
func (v Value) String() string { return Mark }

// GoString gives the mark.
func (v Value) GoString() string { return Mark }

// Format writes the mark whatever the verb and flags are.
func (v Value) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, Mark) }

// MarshalJSON gives the mark.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(`"` + Mark + `"`), nil }

// MarshalText gives the mark; encoding/xml, flag packages and text encoders use it.
func (v Value) MarshalText() ([]byte, error) { return []byte(Mark), nil }

// MarshalBinary gives the mark; encoding/gob uses it.
func (v Value) MarshalBinary() ([]byte, error) { return []byte(Mark), nil }

// LogValue gives the mark.
func (v Value) LogValue() slog.Value { return slog.StringValue(Mark) }
