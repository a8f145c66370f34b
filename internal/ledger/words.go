package ledger

import (
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
)

// An Ask is a call whose arguments are already valid.
type Ask struct {
	// ID is the call's id; empty makes one. A handler that is entered again gives the id it had.
	ID string
	// Key is the caller's own name for the call; empty for none.
	Key string
	// Run is the run that the call belongs to; Named says that the caller named it.
	Run   string
	Named bool
	// Token is the token that the caller came in by; empty where there was none. It must still work when the call is admitted.
	Token string
	// Agent is the agent's id. Audience is whose offer is meant: session:<id>, run:<id> or agent:<id>.
	Agent, Audience  string
	Tool, Capability string
	// Profile is the hash of an action's profile; empty for other tools.
	Profile string
	// Class is what the call was taken for, and Under the fingerprint of the binding under which it was looked at, planned and
	// asked about; empty for none. Under another one it is not let in, though that one was offered meanwhile.
	Class effect.Class
	Under string
	// Digest is the keyed digest of tool and arguments; see Ledger.Digest.
	Digest []byte
	// Args are the canonical arguments, in the clear; the store seals them.
	Args []byte
	// Unit says that the call counts against the connection's limits. A kept page is read without one.
	Unit bool
	// Bound is how long the tool may take.
	Bound time.Duration
	// Approval is an approval to be used up in the same transaction; nil for none.
	Approval *Spend
	// Source is where the call goes, for evidence.
	Source Source
	// Why is what was decided before the admission (policy, approval): it stands in the call's record before the rest.
	Why []Reason
	// Word words a refusal that the admission decides, as results are kept, so that its record says what the caller read; nil
	// keeps no words. It is called under locks and may be called twice: it asks nobody. The refusal has no call id yet.
	Word func(*Refusal) []byte
}

// Worded is what is kept of a refusal's words.
func (a Ask) Worded(r *Refusal) []byte {
	if a.Word == nil {
		return nil
	}
	return a.Word(r)
}

// refusedAs begins the fact of every refusal.
const refusedAs = "refused as "

// Refused is the fact of a refusal for the call's record: the code of the rule that refused, the host that the call was
// for where that is known, and why in words of ours; empty where the code says it.
func (a Ask) Refused(code, why string) string {
	fact := refusedAs + code
	if a.Source.Host != "" {
		fact += " (host " + a.Source.Host + ")"
	}
	if why != "" {
		fact += ": " + why
	}
	return fact
}

// WhyRefused is the why of a fact that Refused made. Any other fact, such as an earlier version wrote, is its own.
func WhyRefused(fact string) string {
	if !strings.HasPrefix(fact, refusedAs) {
		return fact
	}
	_, why, _ := strings.Cut(fact, ": ")
	return why
}

// Spend names an approval and everything it must match.
type Spend struct {
	ID, Agent, Run, Tool string
	Digest               []byte
	Profile              string
}

// Source is where a call goes: evidence that stands before anything is sent.
type Source struct {
	Host string // punycode, in the clear; empty where there is none
	URL  string // sealed
}

// Evidence is where an observation came from.
type Evidence struct {
	Kind       string // source, content, artifact
	Host       string
	URL, Title string // sealed
	SHA256     string
	Chars      int64
	Artifact   string
	Thin       string // what makes the content hardly the page that was asked for: a kind of the closed list; empty for none
}

// Refusal says that a call was not admitted: nothing was counted, nothing sent. It is an error so that it can be found
// with errors.As; its words for a model are observation's.
type Refusal struct {
	Code string // of tools.md 7.3
	// Call is the id under which the refusal is kept; empty where it was only counted.
	Call string
	Run  string
	Facts
}

func (r *Refusal) Error() string { return "refused: " + r.Code }

// Facts are the numbers and names that explain a refusal. Which are set depends on the code.
type Facts struct {
	Used, Limit int64
	LimitOf     string        // connection or agent
	Capability  string        // what the limit counts
	Wait        time.Duration // until it is worth trying again
	Other       string        // the call that is in the way
	OtherTool   string
	OtherAt     time.Time
	Differs     string // call_conflict: tool, arguments or run
	Reason      string // run_over: deadline, idle, ended, …; capability_disabled: why
	At          time.Time
	By          string // paused: who; what in Reason
	Was, Now    *binding.Binding
	Approval    string
}

// Record is a call as the ledger knows it.
type Record struct {
	ID, Run, Agent, Conversation string
	Seq                          int64
	Tool, Capability             string
	Class                        effect.Class
	State                        effect.State
	Outcome                      effect.Outcome
	Code                         string
	IsError, Withheld            bool
	Key                          string
	Named                        bool
	Owner                        string
	Delivery                     Delivery
	Approval                     string
	Binding                      binding.Binding // as admitted
	Args, Result, Late           []byte          // opened; nil where their time of keeping is over
	Why                          []Reason
	Evidence                     []EvidenceRow
	// Host is where a call went, in lists, which have no evidence; empty where there is none.
	Host                       string
	Created, Dispatched, Ended time.Time // zero where it did not happen
	Verdict                    *Reconciliation
}

// EvidenceRow is evidence as it stands.
type EvidenceRow struct {
	N                         int64
	Provider, CredentialOwner string
	Conversation              string
	At                        time.Time
	Evidence
}

// Reason is one step of why a call went as it did, written when it was decided.
type Reason struct {
	Stage string    `json:"stage"` // offer, policy, admission, dispatch, outcome, reconcile
	At    time.Time `json:"at"`
	Fact  string    `json:"fact"`          // our words
	Ref   string    `json:"ref,omitempty"` // the id of a row that the fact is about
}

// Delivery says whether the caller got the answer.
type Delivery int

const (
	Waiting Delivery = iota
	HandedOver
	CallerGone
)

// Verdict is what somebody states of an uncertain call.
type Verdict string

const (
	Happened       Verdict = "happened"
	NotHappened    Verdict = "not_happened"
	VerdictUnknown Verdict = "unknown"
)

// By is who reconciles.
type By struct {
	Kind string // operator, harness, form
	ID   string
}

// Reconciliation is a verdict as it stands.
type Reconciliation struct {
	Verdict  Verdict
	Note     string
	Evidence string
	By       By
	At       time.Time
}

// Run is one bounded piece of an agent's work.
type Run struct {
	ID, Agent    string
	Kind         string // explicit, session, implicit
	ImplicitKey  string
	Client       string // what the client that opened it calls itself, a stranger's words; empty where it did not say
	Audience     string
	Conversation string
	Title        string
	Open         bool
	Deadline     time.Time
	IdleUntil    time.Time // zero: never by idling
	MaxCalls     int64
	Calls        int64
	Refused      int64
	Hold         string // the effect whose outcome is not known yet; empty for none
	EndReason    string
	Created      time.Time
	Ended        time.Time
	RunMeters    map[string]int64 // units by capability; filled by Store.Run only
}
