// Package wire has the JSON objects of the HTTP API, in the words of the domain: what handlers answer, what pages show,
// what OpenAPI documents. Times are RFC 3339 in UTC; an agent is named by its slug; ids are text.
//
// The one rule: no object here has a place for a secret, but for the answers that show a fresh one once.
package wire

import (
	"encoding/json"
	"time"
)

// Problem is every failure (RFC 9457). Code is one of the closed lists; the members behind Field are there where they
// help.
type Problem struct {
	Type   string `json:"type" doc:"Always about:blank: code tells problems apart."`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail" doc:"What happened and the way out, in our words."`
	Code   string `json:"code"`
	// RequestID stands in faults of ours only, so that two refusals of one kind are the same bytes.
	RequestID string `json:"request_id,omitempty" doc:"Of a fault of ours: what to look for in the log."`

	Field      string     `json:"field,omitempty" doc:"The first member or parameter that is wrong."`
	Pointer    string     `json:"pointer,omitempty" doc:"JSON pointer to it in the body."`
	RetryAfter int        `json:"retry_after_seconds,omitempty"`
	Version    *int64     `json:"current_version,omitempty" doc:"Of a conflict: the version that stands now."`
	ChangedBy  string     `json:"changed_by,omitempty" doc:"Of a conflict: who made it."`
	ByName     string     `json:"changed_by_name,omitempty" doc:"Of a conflict: what that person is called now."`
	ChangedAt  *time.Time `json:"changed_at,omitempty" doc:"Of a conflict: when."`
}

// Session is the answer to a sign-in. The cookie comes beside it.
type Session struct {
	Person  Person    `json:"person"`
	Confirm string    `json:"confirm" doc:"The session's second secret: the header Wayleave-Confirm of every unsafe request with the cookie. Shown once."`
	Until   time.Time `json:"until" doc:"When the session ends at the latest."`
}

// Person is somebody who signs in.
type Person struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Role        string    `json:"role" enum:"owner,operator,viewer"`
	Agents      []string  `json:"agents" doc:"Slugs of the agents that this person may see; empty with all_agents."`
	All         bool      `json:"all_agents"`
	State       string    `json:"state" enum:"active,disabled"`
	HasPassword bool      `json:"has_password"`
	Since       time.Time `json:"created_at"`
}

// Me is whose credential was shown.
type Me struct {
	Kind     string  `json:"kind" enum:"session,person_token,harness_token"`
	Person   *Person `json:"person,omitempty"`
	Agent    string  `json:"agent,omitempty"`
	SignedIn bool    `json:"signed_in" doc:"True for a session: only then the routes that ask for one are open."`
}

// Token is a credential without its secret.
type Token struct {
	ID       string     `json:"id"`
	Label    string     `json:"label,omitempty"`
	Scope    string     `json:"scope,omitempty"`
	Created  time.Time  `json:"created_at"`
	Used     *time.Time `json:"used_at,omitempty"`
	UsedFrom string     `json:"used_from,omitempty"`
	Expires  *time.Time `json:"expires_at,omitempty"`
	Revoked  *time.Time `json:"revoked_at,omitempty"`
}

// Link is a one-time sign-in link.
type Link struct {
	Person  Person    `json:"person"`
	URL     string    `json:"url" doc:"Works once. The secret is behind #, where no server and no log sees it."`
	Expires time.Time `json:"expires_at"`
}

// NewToken is a fresh credential: the only answer that shows it.
type NewToken struct {
	Token  Token   `json:"token"`
	Secret string  `json:"secret" doc:"Shown once."`
	Blocks []Block `json:"blocks,omitempty" doc:"What to paste into each client."`
}

// Block is what a person pastes into a client's configuration.
type Block struct {
	Client string `json:"client"`
	Where  string `json:"where"`
	Text   string `json:"text"`
}

// Pause says who stopped calls.
type Pause struct {
	By     string    `json:"by" doc:"As the audit names actors."`
	ByName string    `json:"by_name,omitempty" doc:"What the person is called now."`
	At     time.Time `json:"at"`
}

// Install is the deployment.
type Install struct {
	Label   string    `json:"label" doc:"The random label of this install's own name on loopback."`
	Version string    `json:"version"`
	Paused  *Pause    `json:"paused,omitempty"`
	Now     time.Time `json:"now" doc:"The database's clock, by which all times here are told."`
	Epoch   int64     `json:"epoch" doc:"The number of configuration writes."`
}

// Impact is what a destructive request would stop, counted when it was asked.
type Impact struct {
	Agents   []string `json:"agents" doc:"Slugs of the agents that it concerns."`
	Runs     []string `json:"runs" doc:"Open runs that it concerns, at most 50."`
	RunCount int      `json:"run_count"`
	InFlight int      `json:"calls_in_flight"`
	Effects  int      `json:"effects_dispatched" doc:"Of those: effects that were dispatched. They run on and are recorded."`
	Waiting  int      `json:"open_approvals" doc:"Questions to a person that would be left."`
	Leaves   []string `json:"leaves" doc:"What it leaves as it is, in sentences."`
	Undo     string   `json:"undo" doc:"How it is undone; empty where it cannot be."`
	// Deletes and Refused are of a deletion.
	Deletes *Deletes `json:"deletes,omitempty" doc:"Of a deletion: what goes for good."`
	Refused string   `json:"refused,omitempty" doc:"Of a deletion: why it would be refused now; absent where it would be done."`
}

// Deletes is what a deletion takes with it, counted when it was asked.
type Deletes struct {
	Calls     int64 `json:"calls" doc:"With arguments, results and reasons; refused ones too."`
	Evidence  int64 `json:"evidence" doc:"Records of where readings came from."`
	Pages     int64 `json:"kept_pages"`
	Approvals int64 `json:"approvals" doc:"Questions with their answers."`
	Uncertain int64 `json:"uncertain_effects" doc:"Of the calls: effects whose outcome nobody saw. While nobody stated what happened with one, the run is not deleted."`
}

// Page is the end of every list: Next is the cursor of what comes after, empty at the end.
type Page struct {
	Next string `json:"next,omitempty" doc:"The cursor of the next page; absent at the end."`
}

// Raw is JSON that is handed through.
type Raw = json.RawMessage

// SignIn is name and password.
type SignIn struct {
	Name     string `json:"name" maxLength:"256"`
	Password string `json:"password" maxLength:"4096"`
}

// Redeem is the secret of a link.
type Redeem struct {
	Secret   string `json:"secret" maxLength:"256" doc:"What stands behind # in the link."`
	Password string `json:"password,omitempty" maxLength:"4096" doc:"A new password for the person; absent leaves it as it is."`
}

// SignOut says how far.
type SignOut struct {
	Everywhere bool `json:"everywhere,omitempty" doc:"All sessions of this person, not this one alone."`
}

// ChangePassword is the old and the new one.
type ChangePassword struct {
	Old string `json:"old_password" maxLength:"4096"`
	New string `json:"new_password" maxLength:"4096"`
}

// NameToken is what a new API token is for.
type NameToken struct {
	Label string `json:"label" minLength:"1" maxLength:"80"`
	Days  int    `json:"days,omitempty" minimum:"1" maximum:"3650" doc:"How long it works; absent: until it is revoked."`
}

// Tokens is a list of tokens.
type Tokens struct {
	Tokens []Token `json:"tokens"`
}

// PeopleList is everybody.
type PeopleList struct {
	People []Person `json:"people"`
}

// AddPerson is a new person.
type AddPerson struct {
	Name   string   `json:"name" maxLength:"256"`
	Role   string   `json:"role" enum:"owner,operator,viewer"`
	All    bool     `json:"all_agents,omitempty"`
	Agents []string `json:"agents,omitempty" maxItems:"1000" doc:"Slugs."`
}

// ChangePerson is what a person is to be, whole.
type ChangePerson struct {
	Role   string   `json:"role" enum:"owner,operator,viewer"`
	All    bool     `json:"all_agents,omitempty"`
	Agents []string `json:"agents,omitempty" maxItems:"1000" doc:"Slugs."`
	State  string   `json:"state" enum:"active,disabled"`
}
