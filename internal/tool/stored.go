// This file is how an answer is kept: for a repeat of the same call, for people, and for the host's record.
package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/observation"
)

// Stored is an answer as the ledger keeps it, sealed.
type Stored struct {
	// Text is the model's text, byte for byte.
	Text string `json:"text"`
	// Image names the picture that went with it.
	Image *ImageRef `json:"image,omitempty"`
	// Structured is the answer's keys without ids; Output is the host's record of a success.
	Structured json.RawMessage `json:"structured,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
}

// storedVersion is that of the encoding: a later program reads it, an earlier one refuses what it does not know.
const storedVersion = 1

// Encode gives the bytes that are kept. They are no HTML: < and & stand as they are, not in six bytes each.
func (s Stored) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(struct {
		Version int `json:"v"`
		Stored
	}{storedVersion, s}); err != nil {
		return nil, fmt.Errorf("keep an answer: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// ErrNotStored says that nothing is kept: there was no answer, or its time of keeping is over.
var ErrNotStored = errors.New("no answer is kept")

// DecodeStored reads kept bytes. ErrNotStored where there are none.
func DecodeStored(b []byte) (Stored, error) {
	if len(b) == 0 {
		return Stored{}, ErrNotStored
	}
	var s struct {
		Version int `json:"v"`
		Stored
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return Stored{}, fmt.Errorf("read a kept answer: %w", err)
	}
	if s.Version != storedVersion {
		return Stored{}, fmt.Errorf("a kept answer is of version %d and this program knows version %d: it is newer, start that program", s.Version, storedVersion)
	}
	return s.Stored, nil
}

// Told is what a call was answered with, for people and for the host's record. All is empty while the call runs.
type Told struct {
	Text   string          // what the model read, byte for byte
	Image  *ImageRef       // of the picture that went with it
	Output json.RawMessage // of a success
	Error  json.RawMessage // of an error: its keys
}

// Told is what a call was answered with; a call that has no answer of its own is told in words of ours. The error is one
// of a kept answer that cannot be read.
func (p *Pipeline) Told(r ledger.Record) (Told, error) {
	if !r.State.Final() {
		return Told{}, nil
	}
	kept, err := keptAnswer(r, observation.Speaker{Base: p.o.AnswerBase()})
	if err != nil {
		return Told{}, fmt.Errorf("answer of %s: %w", r.ID, err)
	}
	out := Told{Text: kept.Text, Image: kept.Image, Output: kept.Output}
	if r.IsError || r.Result == nil {
		out.Output, out.Error = nil, observation.Keys(kept.Structured, false, observation.IDs{Call: r.ID, Run: r.Run})
	}
	return out, nil
}

// keptAnswer is what a final call was answered with, or the words for one that has no answer.
func keptAnswer(r ledger.Record, say observation.Speaker) (Stored, error) {
	kept, err := DecodeStored(r.Result)
	if !errors.Is(err, ErrNotStored) {
		return kept, err
	}
	var e *observation.Error
	switch {
	case r.State == effect.Refused:
		e = say.Refused(r)
	case r.Withheld:
		e = say.Withheld(r, &r.Binding) // what it is now is not what it was then
	default:
		e = say.Ended(r)
	}
	return Stored{Text: e.Error(), Structured: e.Result().Structured}, nil
}

func evidenceID(call string, n int64) string { return fmt.Sprintf("%s.%d", call, n) }
