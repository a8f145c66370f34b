package wire

import "time"

// Approval is a question to a person and what became of it. All of it is made from facts of the server but description,
// inputs and credential, which are an author's, a model's and an operator's words.
type Approval struct {
	ID          string     `json:"id"`
	Agent       string     `json:"agent"`
	Run         string     `json:"run_id"`
	Tool        string     `json:"tool"`
	Tier        string     `json:"tier" enum:"read,navigate,interact,sensitive"`
	State       string     `json:"state" enum:"open,approved,used,denied,unanswered,void"`
	Question    string     `json:"question"`
	Origin      string     `json:"origin,omitempty"`
	Does        []string   `json:"does,omitempty"`
	Credential  string     `json:"credential,omitempty"`
	Description string     `json:"description,omitempty"`
	Inputs      []Input    `json:"inputs,omitempty"`
	Profile     string     `json:"profile_hash,omitempty"`
	Digest      string     `json:"inputs_hash" doc:"What a yes is bound to."`
	Answers     []string   `json:"answers" doc:"What may be answered now; empty when it is over."`
	Channel     string     `json:"channel,omitempty" doc:"page, terminal, api or elicitation."`
	AnsweredBy  string     `json:"answered_by,omitempty"`
	ByName      string     `json:"answered_by_name,omitempty" doc:"What the person is called now."`
	Created     time.Time  `json:"created_at"`
	Expires     time.Time  `json:"expires_at" doc:"Until then it can be answered."`
	WaitsUntil  *time.Time `json:"waits_until,omitempty" doc:"Until then the call is held; after it a yes still counts, and the agent is told to call again."`
	Answered    *time.Time `json:"answered_at,omitempty"`
	GoodUntil   *time.Time `json:"good_until,omitempty"`
	UsedBy      string     `json:"used_by,omitempty"`
}

// Input is one argument as a person sees it.
type Input struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	Masked bool   `json:"masked,omitempty"`
}

// Answer is what a person says.
type Answer struct {
	Answer string `json:"answer" enum:"once,deny"`
}

// Waiting is one thing that waits for a person.
type Waiting struct {
	Kind    string     `json:"kind" enum:"approval,uncertain"`
	ID      string     `json:"id" doc:"Of the approval or the call."`
	Agent   string     `json:"agent"`
	Run     string     `json:"run_id,omitempty"`
	Says    string     `json:"says" doc:"What it is about, in our words."`
	Tool    string     `json:"tool,omitempty"`
	Tier    string     `json:"tier,omitempty"`
	Host    string     `json:"host,omitempty"`
	Since   time.Time  `json:"since"`
	Expires *time.Time `json:"expires_at,omitempty"`
}

// NeedsYou is the joined queue: what runs out first comes first within a kind.
type NeedsYou struct {
	Approvals  int       `json:"approvals"`
	Uncertain  int       `json:"uncertain"`
	Items      []Waiting `json:"items"`
	LastAnswer *Approval `json:"last_answer,omitempty"`
	Page
}

// Bucket counts the calls of one hour.
type Bucket struct {
	Hour       time.Time `json:"hour"`
	Capability string    `json:"capability"`
	Class      string    `json:"class"`
	State      string    `json:"state"`
	Outcome    string    `json:"outcome,omitempty"`
	IsError    bool      `json:"is_error"`
	Calls      int64     `json:"calls"`
}

// Limit is how near a capability came to its limits. A limit of 0 is none.
type Limit struct {
	Meter         string     `json:"meter" doc:"install, or the agent whose own connection it is."`
	Capability    string     `json:"capability"`
	Units         int64      `json:"units"`
	BusiestMinute *time.Time `json:"busiest_minute,omitempty"`
	InMinute      int64      `json:"busiest_minute_units"`
	MinuteLimit   int64      `json:"minute_limit,omitempty"`
	FullestRun    string     `json:"fullest_run,omitempty"`
	InRun         int64      `json:"fullest_run_units"`
	RunLimit      int64      `json:"run_limit,omitempty"`
}

// Running is an open run with what it does.
type Running struct {
	Run
	Doing *Call `json:"doing,omitempty" doc:"Its newest call, where that is in flight."`
}

// Overview is what happened in a time, and what happens now.
type Overview struct {
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Calls   []Bucket  `json:"calls"`
	Limits  []Limit   `json:"limits"`
	Running []Running `json:"running"`
}

// ReadHosts is how reading went, host by host.
type ReadHosts struct {
	From  time.Time  `json:"from"`
	To    time.Time  `json:"to"`
	Hosts []ReadHost `json:"hosts" doc:"Those with the most thin pages first, then those with the most failures."`
	More  bool       `json:"more" doc:"There are more hosts than the limit."`
}

// ReadHost is one host. What was answered from kept pages is not counted: nothing was asked of the host.
type ReadHost struct {
	Host   string           `json:"host"`
	Reads  int64            `json:"reads" doc:"Calls that asked it for a page."`
	Thin   int64            `json:"thin" doc:"Of those: pages that were hardly the ones asked for."`
	Kinds  map[string]int64 `json:"thin_kinds" doc:"Of those: by kind, such as js_shell or login_wall."`
	Failed int64            `json:"failed" doc:"Of the reads: those that gave no page."`
	Codes  map[string]int64 `json:"failures" doc:"Of those: by code, such as web_fetch_blocked."`
	Last   time.Time        `json:"last_at"`
}

// AuditRow is one decision or write by a person.
type AuditRow struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"`
	Verb    string    `json:"verb"`
	Says    string    `json:"says" doc:"What the actor did, in words: the rest of a sentence that begins with the actor, with what ids are called now."`
	Subject string    `json:"subject"`
	Detail  Raw       `json:"detail"`
	Link    *int64    `json:"link,omitempty" doc:"Its number in the chain; absent for a second until it is linked."`
	Hash    string    `json:"hash,omitempty"`
	// Names are not of the row, which says what was so: they are what its ids stand for now.
	Names map[string]string `json:"names,omitempty" doc:"What the agents, tokens and people of this row are called now, by id."`
}

// AuditPage is a page of the audit.
type AuditPage struct {
	Rows    []AuditRow `json:"rows"`
	Linked  int64      `json:"linked" doc:"Rows in the chain."`
	Waiting int64      `json:"waiting" doc:"Rows that are not linked yet."`
	Page
}

// Connection is which provider a capability uses, and its limits.
type Connection struct {
	Capability string     `json:"capability"`
	Mode       string     `json:"mode" enum:"auto,own,inherit,disabled"`
	Provider   string     `json:"provider,omitempty"`
	Version    int64      `json:"version" doc:"0: nothing was ever saved here."`
	Limits     Limits     `json:"limits"`
	ChangedBy  string     `json:"changed_by,omitempty"`
	ChangedAt  *time.Time `json:"changed_at,omitempty"`
	Effective  string     `json:"effective_provider,omitempty"`
	InForce    Limits     `json:"effective_limits"`
	Off        string     `json:"off,omitempty" doc:"Why the capability is not offered."`
}

// Limits bound the admitted calls of a capability; absent means none, or the provider's own default.
type Limits struct {
	PerRun    *int64 `json:"requests_per_run,omitempty" minimum:"1"`
	PerMinute *int64 `json:"requests_per_minute,omitempty" minimum:"1"`
}

// WebSettings are the connections of the install or of an agent.
type WebSettings struct {
	Agent        string       `json:"agent,omitempty"`
	Capabilities []Connection `json:"capabilities"`
}

// ChangeConnection replaces a connection whole: what it leaves out is gone.
type ChangeConnection struct {
	Version  int64  `json:"version" minimum:"0" doc:"As it was read; 0 for the first time."`
	Mode     string `json:"mode" enum:"auto,own,inherit,disabled"`
	Provider string `json:"provider,omitempty" maxLength:"64"`
	Limits   Limits `json:"limits,omitempty"`
}

// AllowedHost is a private host that may be read.
type AllowedHost struct {
	Host    string    `json:"host" doc:"HOST, HOST:PORT, an address or a network."`
	Agent   string    `json:"agent,omitempty" doc:"Absent: every agent."`
	Created time.Time `json:"created_at"`
	By      string    `json:"created_by"`
}

// Event is what a stream tells: ids and states, never page text.
type Event struct {
	Kind     string    `json:"kind" enum:"run,call,approval,settings"`
	ID       string    `json:"id,omitempty"`
	Agent    string    `json:"agent,omitempty"`
	Run      string    `json:"run_id,omitempty"`
	State    string    `json:"state,omitempty"`
	Version  int64     `json:"version,omitempty" doc:"Of settings: the number of configuration writes."`
	At       time.Time `json:"at"`
	Position int64     `json:"seq,omitempty" doc:"Of a call: its place in the run."`
}

// Approvals is a page of questions.
type Approvals struct {
	Approvals []Approval `json:"approvals"`
	Page
}

// Denied says which questions were denied.
type Denied struct {
	Approvals []string `json:"approvals" doc:"Ids of the questions that were open until now."`
}

// AllowHost names a private host.
type AllowHost struct {
	Host string `json:"host" minLength:"1" maxLength:"300" doc:"HOST, HOST:PORT, an address or a network."`
}

// AllowedHosts is a list of private hosts.
type AllowedHosts struct {
	Hosts []AllowedHost `json:"hosts"`
}
