// This file is what the API calls: each interface is one role, and each is met by a package of the domain or by the
// rows of a database. Rows of other agents look like rows that are not there.
package operatorapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/people"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/tool"
)

// SignIns is how people prove who they are.
type SignIns interface {
	Session(ctx context.Context, cookie string) (people.Principal, error)
	Token(ctx context.Context, bearer string) (people.Principal, error)
	SignIn(ctx context.Context, name, password string, from people.Browser) (people.SignedIn, error)
	Redeem(ctx context.Context, link string, from people.Browser) (people.SignedIn, error)
}

// People is who may sign in, and their credentials.
type People interface {
	List(ctx context.Context) ([]people.Person, error)
	ByID(ctx context.Context, id string) (people.Person, error)
	Add(ctx context.Context, name string, role people.Role, agents people.Agents, by string) (people.Person, error)
	SetRole(ctx context.Context, person string, role people.Role, agents people.Agents, by string) (people.Person, error)
	Disable(ctx context.Context, person, by string) (people.Person, error)
	Enable(ctx context.Context, person, by string) (people.Person, error)
	SetPassword(ctx context.Context, person, password, keep, by string) error
	NewLink(ctx context.Context, name, by string) (people.Person, secret.Value, error)
	NewToken(ctx context.Context, person, label string, life time.Duration, by string) (people.Credential, secret.Value, error)
	Credentials(ctx context.Context, person string) ([]people.Credential, error)
	End(ctx context.Context, person, credential, by string) error
	SignOutEverywhere(ctx context.Context, person, by string) (int, error)
}

// Agents is who the tools are for, and their tokens.
type Agents interface {
	Verify(bearer, from string) (agent.Identity, error)
	List(ctx context.Context, only []string) ([]agent.Agent, []agent.Token, error)
	ByID(ctx context.Context, id string) (agent.Agent, error)
	BySlug(ctx context.Context, slug string) (agent.Agent, error)
	EnsureAgent(ctx context.Context, slug, by string) (agent.Agent, bool, error)
	NewToken(ctx context.Context, agent string, scope agent.Scope, by string) (agent.Token, secret.Value, error)
	Revoke(ctx context.Context, agent, token, by string) (agent.Token, error)
	Disable(ctx context.Context, agent, by string) (agent.Agent, error)
	Enable(ctx context.Context, agent, by string) (agent.Agent, error)
	Pause(ctx context.Context, agent, by string) (agent.Agent, error)
	Resume(ctx context.Context, agent, by string) (agent.Agent, error)
	SetElicitation(ctx context.Context, agent string, asks bool, by string) (agent.Agent, error)
	PauseInstall(ctx context.Context, by string) (agent.Pause, error)
	ResumeInstall(ctx context.Context, by string) error
	InstallPause(ctx context.Context) (agent.Pause, error)
}

// Settings are the connections of the install and of agents.
type Settings interface {
	Of(ctx context.Context, owner string) ([]connection.Setting, error)
	Put(ctx context.Context, c connection.Change, by string) (connection.Setting, error)
}

// Approvals are questions to people.
type Approvals interface {
	Show(ctx context.Context, id string) (approval.Approval, error)
	List(ctx context.Context, f approval.Filter) ([]approval.Approval, error)
	Answer(ctx context.Context, id string, r approval.Reply) (approval.Approval, error)
	DenyAll(ctx context.Context, agents []string, r approval.Reply) ([]string, error)
}

// Ledger is what is done to runs and calls. An empty agent means any: for people, whose access was asked for before.
type Ledger interface {
	OpenRun(ctx context.Context, o ledger.Opening) (ledger.Run, error)
	EndRun(ctx context.Context, agent, run, reason string) (ledger.Run, error)
	Cancel(ctx context.Context, agent, run, call string) (bool, error)
	Reconcile(ctx context.Context, agent, run, call string, v ledger.Reconciliation) (ledger.Record, error)
}

// Rows is what the ledger knows: runs, calls, offers, and what changed since a time of the database's clock.
type Rows interface {
	Run(ctx context.Context, agent, run string) (ledger.Run, error)
	RunsOf(ctx context.Context, agents []string, before string, limit int) ([]ledger.Run, error)
	Call(ctx context.Context, agent, run, call string) (ledger.Record, error)
	CallsOf(ctx context.Context, agent, run string, after int64, limit int) ([]ledger.Record, error)
	// EndRunBy ends a run for somebody who decides, which the audit says; ending an ended one changes nothing.
	EndRunBy(ctx context.Context, run, reason, by string) (ledger.Run, error)
	// DeleteRun removes an ended run with all of it, and says how many calls it had. by is as the audit names actors.
	DeleteRun(ctx context.Context, run, by string) (calls int64, err error)
	// WeighDeletion says what DeleteRun would take with it now, and changes nothing.
	WeighDeletion(ctx context.Context, run string) (ledger.Deletion, error)
	Resolve(ctx context.Context, agent string, t ledger.Tool) (binding.Resolution, error)
	Changes(ctx context.Context, since time.Time) (runs []ledger.Run, calls []ledger.Record, now time.Time, err error)
	Epoch(ctx context.Context) (int64, error)
	Now(ctx context.Context) (time.Time, error)
}

// Tools is the pipeline of tool calls.
type Tools interface {
	// Known are all tools of this build, sorted by name: what an offer can be asked for.
	Known() []ledger.Tool
	// List is what a caller is offered, as a model sees it; it makes the offers.
	List(ctx context.Context, c tool.Caller) ([]agenttool.Tool, error)
	// Call runs one call. ledger.ErrNotFound says that there is no such tool or run; a *tool.Fault, that there is no result.
	Call(ctx context.Context, c tool.Caller, name string, arguments json.RawMessage) (tool.Result, error)
	// Told is what a call was answered with, or words of ours for one that has no answer of its own; all is empty while it
	// runs.
	Told(r ledger.Record) (tool.Told, error)
}

// Hosts are the private hosts that a person lets agents read. An empty agent means every agent.
type Hosts interface {
	List(ctx context.Context) ([]allowed.Host, error)
	Allow(ctx context.Context, host, agent, by string) (allowed.Host, error)
	Remove(ctx context.Context, host, agent, by string) (allowed.Host, error)
}

// Pages are the pages that are kept for runs.
type Pages interface {
	Kept(ctx context.Context, run string) ([]KeptPage, error)
	// KeptWhole gives one with its page.
	KeptWhole(ctx context.Context, run, page string) (KeptPage, error)
}

// KeptPage is one of them.
type KeptPage struct {
	ID, Call, SHA256    string
	Snapshot            int
	Chars, Bytes        int64
	Kept, Used, Expires time.Time
	Page                json.RawMessage // the library's page; nil in a list
}

// Watch is what people look at across runs. agents are ids; nil means all.
type Watch interface {
	// Open lists open runs, newest first, at most limit.
	Open(ctx context.Context, agents []string, limit int) ([]ledger.Run, error)
	// Uncertain lists calls of unknown outcome that nobody reconciled and that hold their run, oldest first, at most limit.
	Uncertain(ctx context.Context, agents []string, limit int) ([]ledger.Record, error)
	// InFlight lists the calls that are admitted or dispatched, at most limit; of one run or by one token where these are
	// not empty.
	InFlight(ctx context.Context, agents []string, run, token string, limit int) ([]ledger.Record, error)
	// LastCalls gives the time of each agent's newest call.
	LastCalls(ctx context.Context, agents []string) (map[string]time.Time, error)
	// Counts counts calls by hour.
	Counts(ctx context.Context, agents []string, from, to time.Time) ([]Count, error)
	// Reads counts reads that were sent, by host, thin kind and code.
	Reads(ctx context.Context, agents []string, from, to time.Time) ([]Reads, error)
	// Meters says how full the meters became.
	Meters(ctx context.Context, agents []string, from, to time.Time) ([]Meter, error)
}

// Count is a number of calls that are alike in one hour.
type Count struct {
	Hour                              time.Time
	Capability, Class, State, Outcome string
	IsError                           bool
	Calls                             int64
}

// Reads is a number of reads of one host that are alike.
type Reads struct {
	Host, Thin, Code string // Thin is a kind, empty for an ordinary page; Code that of a failure, which has no page
	Calls            int64
	Last             time.Time
}

// Meter is how full one became.
type Meter struct {
	Meter, Capability string // Meter as in the ledger: install, or agent:<id>
	Units             int64
	BusiestMinute     time.Time
	InMinute          int64
	FullestRun        string
	InRun             int64
}

// Audit is the record of what people decided.
type Audit interface {
	// List gives rows newest first, before an id (empty: from the newest).
	List(ctx context.Context, f audit.Filter) (rows []audit.Row, linked, waiting int64, err error)
}
