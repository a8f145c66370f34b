// This file is how an answer is kept: for a repeat of the same call, for people, and for the host's record.
package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

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

// Encode gives the bytes that are kept.
func (s Stored) Encode() ([]byte, error) {
	b, err := json.Marshal(struct {
		Version int `json:"v"`
		Stored
	}{storedVersion, s})
	if err != nil {
		return nil, fmt.Errorf("keep an answer: %w", err)
	}
	return b, nil
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

// Record is a call as hosts see it over HTTP. Times are UTC.
type Record struct {
	ID              string                  `json:"id"`
	Run             string                  `json:"run_id"`
	Conversation    string                  `json:"conversation_id"`
	Tool            string                  `json:"tool"`
	Capability      string                  `json:"capability"`
	Provider        string                  `json:"provider"`
	CredentialOwner string                  `json:"credential_owner"`
	AccountSource   string                  `json:"account_source"`
	Class           effect.Class            `json:"class"`
	State           effect.State            `json:"state"`
	Outcome         effect.Outcome          `json:"outcome,omitempty"`
	Code            string                  `json:"code,omitempty"`
	IsError         bool                    `json:"is_error"`
	Withheld        bool                    `json:"withheld"`
	Arguments       json.RawMessage         `json:"arguments"` // null once their time of keeping is over
	Text            string                  `json:"text"`      // what the model read, byte for byte; empty while the call runs
	Image           *ImageRef               `json:"image,omitempty"`
	Output          json.RawMessage         `json:"output,omitempty"` // of a success
	Error           json.RawMessage         `json:"error,omitempty"`  // of an error: its keys
	Evidence        []RecordEvidence        `json:"evidence"`
	CallID          string                  `json:"call_id,omitempty"` // the caller's own key
	Approval        string                  `json:"approval_id,omitempty"`
	Created         time.Time               `json:"created_at"`
	Dispatched      time.Time               `json:"dispatched_at,omitzero"`
	Ended           time.Time               `json:"ended_at,omitzero"`
	Reconciliation  *RecordedReconciliation `json:"reconciliation,omitempty"`
}

// RecordEvidence is one piece of evidence.
type RecordEvidence struct {
	ID              string    `json:"id"` // CALL.N
	Kind            string    `json:"kind"`
	URL             string    `json:"url,omitempty"`
	SHA256          string    `json:"sha256,omitempty"`
	Artifact        string    `json:"artifact_id,omitempty"`
	Provider        string    `json:"provider"`
	CredentialOwner string    `json:"credential_owner"`
	At              time.Time `json:"at"`
}

// RecordedReconciliation is what somebody stated.
type RecordedReconciliation struct {
	Verdict  ledger.Verdict `json:"verdict"`
	Note     string         `json:"note,omitempty"`
	Evidence string         `json:"evidence,omitempty"`
	ByKind   string         `json:"by_kind"`
	By       string         `json:"by_id"`
	At       time.Time      `json:"at"`
}

// RecordOf is the host's record of a call. say words what has no stored answer. The error is one of a kept answer that
// cannot be read.
func RecordOf(r ledger.Record, say observation.Speaker) (Record, error) {
	out := Record{ID: r.ID, Run: r.Run, Conversation: r.Conversation, Tool: r.Tool, Capability: r.Capability, Provider: r.Binding.Provider,
		CredentialOwner: r.Binding.CredentialOwner(), AccountSource: accountSource(r), Class: r.Class, State: r.State, Outcome: r.Outcome, Code: r.Code,
		IsError: r.IsError, Withheld: r.Withheld, Arguments: json.RawMessage("null"), CallID: r.Key, Approval: r.Approval, Evidence: []RecordEvidence{},
		Created: r.Created, Dispatched: r.Dispatched, Ended: r.Ended}
	if json.Valid(r.Args) {
		out.Arguments = r.Args
	} else if len(r.Args) > 0 { // as a client sent them: no JSON, and so refused
		quoted, err := json.Marshal(string(r.Args))
		if err != nil {
			return Record{}, err
		}
		out.Arguments = quoted
	}
	for _, e := range r.Evidence {
		out.Evidence = append(out.Evidence, RecordEvidence{ID: evidenceID(r.ID, e.N), Kind: e.Kind, URL: e.URL, SHA256: e.SHA256, Artifact: e.Artifact,
			Provider: e.Provider, CredentialOwner: e.CredentialOwner, At: e.At})
	}
	if v := r.Verdict; v != nil {
		out.Reconciliation = &RecordedReconciliation{v.Verdict, v.Note, v.Evidence, v.By.Kind, v.By.ID, v.At}
	}
	if !r.State.Final() {
		return out, nil
	}
	kept, err := keptAnswer(r, say)
	if err != nil {
		return Record{}, err
	}
	out.Text, out.Image = kept.Text, kept.Image
	if out.IsError {
		out.Error = observation.Keys(kept.Structured, false, observation.IDs{Call: r.ID, Run: r.Run})
	} else {
		out.Output = kept.Output
	}
	return out, nil
}

// accountSource says where the credential is: managed by the environment, a row of the install's or the agent's, or none.
func accountSource(r ledger.Record) string {
	switch {
	case r.Binding.AccountOwner == "none" || r.Binding.AccountOwner == "":
		return "none"
	case r.Binding.CredentialOwner() == "agent":
		return "agent"
	}
	return "install"
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
