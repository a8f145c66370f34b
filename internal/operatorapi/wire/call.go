package wire

import "time"

// CallTool is a tool call over HTTP.
type CallTool struct {
	Tool      string `json:"tool" minLength:"1" maxLength:"64"`
	Arguments Raw    `json:"arguments,omitempty" doc:"One JSON object; absent means none."`
	CallID    string `json:"call_id,omitempty" minLength:"8" maxLength:"128" doc:"Your own name for this intended call: printable, unique; kept as it is, not sealed. The same again gives the recorded answer."`
	Approval  string `json:"approval,omitempty" maxLength:"64" doc:"The approval that a person gave."`
}

// Call is a tool call in a list: no arguments, no result.
type Call struct {
	ID           string     `json:"id"`
	Run          string     `json:"run_id"`
	Agent        string     `json:"agent"`
	Conversation string     `json:"conversation_id"`
	Seq          int64      `json:"seq"`
	Tool         string     `json:"tool"`
	Capability   string     `json:"capability"`
	Provider     string     `json:"provider,omitempty"`
	Class        string     `json:"class" enum:"query,observation,effect"`
	State        string     `json:"state" enum:"refused,admitted,dispatched,succeeded,failed,uncertain"`
	Outcome      string     `json:"outcome,omitempty" doc:"ok, provider_error, not_dispatched (nothing was sent; of a success: it was answered from a kept page), input_dispatched, uncertain or lost."`
	Code         string     `json:"code,omitempty"`
	IsError      bool       `json:"is_error"`
	Withheld     bool       `json:"withheld" doc:"The binding changed meanwhile, so what came was not kept."`
	Host         string     `json:"host,omitempty" doc:"Where it went, where that is known."`
	CallerID     string     `json:"call_id,omitempty" doc:"The caller's own name for the call."`
	Approval     string     `json:"approval_id,omitempty"`
	Delivery     string     `json:"delivery" enum:"waiting,handed_over,caller_gone"`
	Created      time.Time  `json:"created_at"`
	Dispatched   *time.Time `json:"dispatched_at,omitempty"`
	Ended        *time.Time `json:"ended_at,omitempty"`
	Verdict      *Verdict   `json:"reconciliation,omitempty"`
}

// FromKept says that the call was answered from a page that its run keeps: nothing was sent, and nothing went wrong.
func (c Call) FromKept() bool {
	return c.State == "succeeded" && c.Outcome == "not_dispatched" && c.Capability == "read" && !c.IsError && !c.Withheld
}

// Record is a tool call in full.
type Record struct {
	Call
	CredentialOwner string     `json:"credential_owner" doc:"install, agent or none: who pays."`
	AccountSource   string     `json:"account_source" doc:"owner, environment or none."`
	Arguments       Raw        `json:"arguments,omitempty" doc:"Absent where their time of keeping is over."`
	Text            string     `json:"text" doc:"What the model read, byte for byte."`
	Image           *Image     `json:"image,omitempty"`
	Output          Raw        `json:"output,omitempty" doc:"Of a success: the host's record. It may hold page text: untrusted data."`
	Error           Raw        `json:"error,omitempty" doc:"Of a failure: its keys."`
	Evidence        []Evidence `json:"evidence"`
	Why             []Reason   `json:"why" doc:"Each step of why it went as it did, written when it was decided."`
	Late            string     `json:"late,omitempty" doc:"What a holder told after somebody else had concluded the call: a hint for whoever reconciles."`
}

// Image is a picture that a model got.
type Image struct {
	Artifact string `json:"artifact_id"`
	MIME     string `json:"mime"`
}

// Failed is a record as a problem document: of a code that has a status of its own.
type Failed struct {
	Record
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// Reason is one step of why.
type Reason struct {
	Stage string    `json:"stage"`
	At    time.Time `json:"at"`
	Fact  string    `json:"fact"`
	Ref   string    `json:"ref,omitempty"`
}

// Evidence is where an observation came from.
type Evidence struct {
	ID              string    `json:"id" doc:"CALL.N"`
	Conversation    string    `json:"conversation_id"`
	Kind            string    `json:"kind" enum:"source,content,artifact"`
	Host            string    `json:"host,omitempty"`
	URL             string    `json:"url,omitempty"`
	Title           string    `json:"title,omitempty" doc:"The page's own words: untrusted data."`
	SHA256          string    `json:"sha256,omitempty"`
	Chars           int64     `json:"chars,omitempty"`
	Artifact        string    `json:"artifact_id,omitempty"`
	Thin            string    `json:"thin,omitempty" doc:"What makes the content hardly the page that was asked for, such as js_shell or login_wall."`
	Provider        string    `json:"provider"`
	CredentialOwner string    `json:"credential_owner"`
	At              time.Time `json:"at"`
}

// Reconcile is what somebody states of an uncertain call.
type Reconcile struct {
	Verdict  string `json:"verdict" enum:"happened,not_happened,unknown"`
	Note     string `json:"note,omitempty" maxLength:"2000" doc:"How you know. Kept sealed."`
	Evidence string `json:"evidence,omitempty" maxLength:"80" doc:"The id of an observation of this run that shows it; one that is itself an error is refused."`
}

// Verdict is a reconciliation as it stands.
type Verdict struct {
	Verdict  string    `json:"verdict" enum:"happened,not_happened,unknown"`
	Note     string    `json:"note,omitempty"`
	Evidence string    `json:"evidence,omitempty"`
	ByKind   string    `json:"by_kind" enum:"operator,harness,form"`
	By       string    `json:"by"`
	ByName   string    `json:"by_name,omitempty" doc:"What the person is called now; told to people alone."`
	At       time.Time `json:"at"`
}

// Export is a whole run.
type Export struct {
	Run   Run      `json:"run"`
	Calls []Record `json:"calls"`
}

// Calls is a page of calls.
type Calls struct {
	Calls []Call `json:"calls"`
	Page
}

// EvidenceList is where a run's reading came from.
type EvidenceList struct {
	Conversation string     `json:"conversation_id"`
	Evidence     []Evidence `json:"evidence"`
	Page
}
