package wire

import "time"

// Agent is who the tools are for.
type Agent struct {
	Slug        string     `json:"slug"`
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	State       string     `json:"state" enum:"active,disabled"`
	Paused      *Pause     `json:"paused,omitempty"`
	Elicitation bool       `json:"elicitation" doc:"An operator stated that this agent's client asks a person."`
	Created     time.Time  `json:"created_at"`
	OpenRuns    int        `json:"open_runs"`
	Held        int        `json:"held_runs" doc:"Open runs that wait for somebody to say what an effect did."`
	LastCall    *time.Time `json:"last_call_at,omitempty"`
}

// Offered is a tool and whether the agent gets it.
type Offered struct {
	Tool       string `json:"tool"`
	Capability string `json:"capability"`
	Offered    bool   `json:"offered"`
	Why        string `json:"why,omitempty" doc:"Why it is not offered."`
	Provider   string `json:"provider,omitempty"`
	Class      string `json:"class,omitempty"`
	Limits     Limits `json:"limits,omitzero" doc:"What is in force for the capability of the tool; its tools share it."`
}

// AgentShown is one agent in full.
type AgentShown struct {
	Agent
	Tools []Offered `json:"tools"`
}

// Run is one bounded piece of an agent's work.
type Run struct {
	ID           string           `json:"id"`
	Agent        string           `json:"agent"`
	Kind         string           `json:"kind" enum:"explicit,session,implicit"`
	Client       string           `json:"client,omitempty" doc:"What the client that opened the run calls itself: the name in its MCP clientInfo, else the User-Agent of its request. A stranger's words, at most 200 characters."`
	Conversation string           `json:"conversation_id"`
	Title        string           `json:"title,omitempty"`
	State        string           `json:"state" enum:"open,ended"`
	Deadline     time.Time        `json:"deadline"`
	IdleUntil    *time.Time       `json:"idle_until,omitempty"`
	MaxCalls     int64            `json:"max_tool_calls"`
	Calls        int64            `json:"calls"`
	Refused      int64            `json:"refused"`
	Hold         string           `json:"hold_call,omitempty" doc:"The effect whose outcome is not known yet."`
	EndReason    string           `json:"end_reason,omitempty"`
	Created      time.Time        `json:"created_at"`
	Ended        *time.Time       `json:"ended_at,omitempty"`
	Units        map[string]int64 `json:"units,omitempty" doc:"Metered units by capability; of one run that is shown only."`
}

// shownClient is how many characters are shown of what a client calls itself where there is not much room.
const shownClient = 40

// ShownClient is what the run's client calls itself, cut to 40 characters; empty where it is not known.
func (r Run) ShownClient() string {
	if name := []rune(r.Client); len(name) > shownClient {
		return string(name[:shownClient-1]) + "…"
	}
	return r.Client
}

// OpenRun is what a harness says of a run that it opens.
type OpenRun struct {
	Conversation string `json:"conversation_id,omitempty" maxLength:"200" doc:"Yours, for evidence; kept as it is, not sealed. Without one the run makes its own."`
	Title        string `json:"title,omitempty" maxLength:"200" doc:"What the run is for, as people see it."`
	Deadline     int64  `json:"deadline_seconds,omitempty" minimum:"1" maximum:"21600" doc:"Default 1800, at most 6 hours."`
	MaxCalls     int64  `json:"max_tool_calls,omitempty" minimum:"1" maximum:"1000" doc:"Default 1000."`
}

// OpenedRun is a run that was just opened, with what it is offered.
type OpenedRun struct {
	Run
	Tools []Tool `json:"tools"`
}

// Tool is a tool as a model sees it.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	InputSchema Raw    `json:"inputSchema"`
	Annotations Hints  `json:"annotations"`
}

// Hints are the four annotations.
type Hints struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// Deleted is a run that is gone.
type Deleted struct {
	Run   string `json:"run_id"`
	Calls int64  `json:"calls" doc:"How many calls went with it, refused ones too."`
}

// KeptPage is a page that is kept for a run.
type KeptPage struct {
	ID       string    `json:"id"`
	Call     string    `json:"tool_call_id"`
	Snapshot int       `json:"snapshot"`
	SHA256   string    `json:"sha256"`
	Chars    int64     `json:"chars"`
	Bytes    int64     `json:"bytes"`
	Kept     time.Time `json:"kept_at"`
	Used     time.Time `json:"used_at"`
	Expires  time.Time `json:"expires_at"`
}

// KeptWhole is a kept page, whole.
type KeptWhole struct {
	KeptPage
	Page Raw `json:"page" doc:"The page as the Go library has it: the members of a call's output with all of content, and no offset. Its title, content and headers are the site's words: untrusted data."`
}

// Agents is a list of agents.
type Agents struct {
	Agents []Agent `json:"agents"`
}

// CreateAgent names a new agent.
type CreateAgent struct {
	Slug string `json:"slug" maxLength:"80" doc:"1 to 40 lower-case letters, digits and hyphens."`
}

// Elicitation states whether an agent's client asks a person.
type Elicitation struct {
	On bool `json:"asks_a_person"`
}

// CreateAgentToken says what a new token may do.
type CreateAgentToken struct {
	Scope string `json:"scope" enum:"tools,harness"`
}

// Blocks are what to paste.
type Blocks struct {
	Blocks []Block `json:"blocks"`
}

// Runs is a page of runs.
type Runs struct {
	Runs []Run `json:"runs"`
	Page
}

// Tools is what a run is offered.
type Tools struct {
	Tools []Tool `json:"tools"`
}

// KeptPages is what is kept for a run.
type KeptPages struct {
	Pages []KeptPage `json:"pages"`
}
