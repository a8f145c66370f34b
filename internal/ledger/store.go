package ledger

import (
	"context"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
)

// Store is the ledger's rows. Each method is one transaction: data in, a verdict out. It never makes a Permit. Every
// guard is the row's own state, so that of two processes exactly one succeeds; times are the database's.
//
// Errors: *Refusal for what a model can act on; ErrNotFound for what is not there or belongs to another agent (the two
// look alike); sqldb's errors, wrapped, for faults. A commit in doubt is resolved by the store itself where a nonce or
// the row tells what happened.
type Store interface {
	Calls
	Runs
	Offers
	Processes
	Leases
	Outbox
}

// Calls are the transactions of a call's life.
type Calls interface {
	// Look judges an Ask as Admit would, up to the hold, in one read that locks and changes nothing: nobody is asked and
	// nothing is prepared for a call that cannot be admitted. Admit decides all of it again. The class is the binding's: the
	// Ask need not have one yet, nor a Bound. ErrNotFound: no such run of the agent's.
	Look(ctx context.Context, a Ask) (Looked, error)
	// Admit looks for the same call, judges, counts and writes it. Exactly one of the results is told by Admitted.Kind.
	Admit(ctx context.Context, a Admission) (Admitted, error)
	// Refuse keeps a refusal that was decided outside Admit (arguments, policy, approvals), under an id of its own; beyond
	// 1,000 a run it only counts. It gives the id, empty when it was only counted.
	Refuse(ctx context.Context, a Ask, code string, why []Reason, result []byte) (id string, err error)
	// Dispatch commits the boundary of an effect: it takes the run's hold and moves admitted to dispatched.
	Dispatch(ctx context.Context, call, nonce string) (DispatchVerdict, error)
	// Settle concludes a call, or says that it is too late, in which case what came is kept for whoever reconciles.
	Settle(ctx context.Context, s Settlement) (Settled, error)
	// Deliver writes delivery marks, several at once. A mark never goes back.
	Deliver(ctx context.Context, marks []Mark) error
	// Reconcile states what happened with an uncertain call.
	Reconcile(ctx context.Context, agent, run, call string, v Reconciliation) (Record, error)
	// SweepCall concludes one call if its owner is dead or its time over, and says whether it is final now.
	SweepCall(ctx context.Context, call string) (bool, error)
	// Sweep marks dead processes, concludes calls, ends runs, expires what is past its time. It says how many calls it concluded.
	Sweep(ctx context.Context, retention Retention) (int, error)
	// Call gives one call of an agent's; agent empty means any agent (for people, whose access is checked before).
	Call(ctx context.Context, agent, run, call string) (Record, error)
	// CallsOf lists a run's calls after a seq, oldest first, at most limit; without arguments and results.
	CallsOf(ctx context.Context, agent, run string, after int64, limit int) ([]Record, error)
	// Cancel stops an admitted effect before its dispatch; false when it was too late for that.
	Cancel(ctx context.Context, agent, run, call string) (bool, error)
}

// Admission is an Ask with what the ledger adds.
type Admission struct {
	Ask
	// Nonce tells this attempt from any other; Process is who will send.
	Nonce, Process string
}

// Looked is what Look found. The first that is set is the answer, in this order: Same, Refusal, Held.
type Looked struct {
	// Same is the same call, by its id or key, in any state; or a twin whose answer is not known to have arrived (Twin): in
	// flight, or final with its caller gone or not yet told. nil: there is none.
	Same *Record
	Twin bool
	// Refusal is call_conflict (which goes before Same), capability_disabled, stale_offer, paused, run_over or
	// run_call_limit, with its facts and without a call; nil where nothing is in the way.
	Refusal *Refusal
	// Held is effect_uncertain, for effects of a run that an uncertain one holds.
	Held *Refusal
	// Binding is what the call would be admitted under now; zero where the tool is not offered.
	Binding binding.Binding
}

// AdmitKind is which of its answers Admit gave.
type AdmitKind int

const (
	// Fresh: a new call, ours to send.
	Fresh AdmitKind = iota + 1
	// Repeat: the same call was there, in any state; Record says which. It has no right to send.
	Repeat
	// TwinFinal: the run's newest effect is the same and its answer never reached the caller: it is answered from the
	// record, which is ours to deliver.
	TwinFinal
	// WaitFor: an effect in flight is in the way: the same one again (Twin) or another (hold). Wait for Record.ID to
	// end, then admit again.
	WaitFor
)

// Admitted is what Admit found.
type Admitted struct {
	Kind   AdmitKind
	Twin   bool
	Record Record
	// Binding is what a fresh call was admitted under. Until is the time of the call, in the database's clock, and Left what
	// of it remained when it was admitted.
	Binding binding.Binding
	Left    time.Duration
}

// DispatchVerdict is what Dispatch did.
type DispatchVerdict string

const (
	DispatchDone DispatchVerdict = "done" // the boundary is committed: by this attempt, or by an earlier one of the same nonce
	DispatchHeld DispatchVerdict = "held" // another effect holds the run
	DispatchOver DispatchVerdict = "over" // the run ended
	DispatchLate DispatchVerdict = "late" // the call is not ours to send any more
	// DispatchChanged: the binding is not the one that the call was admitted under. Nothing was sent.
	DispatchChanged DispatchVerdict = "changed"
)

// Settlement is how a call ended, as its owner saw it.
type Settlement struct {
	Call, Nonce string
	// From is the state it leaves: a holder that thinks nothing was sent cannot close a row that crossed the boundary.
	From     effect.State
	State    effect.State
	Outcome  effect.Outcome
	Code     string
	IsError  bool
	Result   []byte // for repeats and people; the store seals it
	Evidence []Evidence
	Why      string // the outcome in our words
	// Gone says that the caller has left: the answer will not be delivered.
	Gone bool
}

// Settled is what Settle did.
type Settled struct {
	// Late says that somebody else concluded the call first; Record then tells what stands.
	Late bool
	// Withheld says that the binding changed meanwhile, so the content was not stored and must not be shown. Now is the
	// binding as it is; nil where the tool is no longer offered.
	Withheld bool
	Now      *binding.Binding
	Record   Record
}

// Mark is a delivery mark.
type Mark struct {
	Call string
	// Owner is whose the delivery was when the answer was given: the Owner of the record that was answered from. Where an
	// admission has made it another's since, the mark says nothing of that one's answer, and is not written.
	Owner    string
	Delivery Delivery
}

// Runs are the runs of agents.
type Runs interface {
	// OpenRun makes a run. For an implicit one that is open already under the same key it gives that one.
	OpenRun(ctx context.Context, r NewRun) (Run, error)
	// Run gives a run of an agent's, or of any agent where agent is empty. ErrNotFound else.
	Run(ctx context.Context, agent, run string) (Run, error)
	// RunsOf lists runs, newest first: of these agents (nil: all), before the id of a run of theirs (empty: from the
	// newest). ErrNotFound where that is none.
	RunsOf(ctx context.Context, agents []string, before string, limit int) ([]Run, error)
	// EndRun ends a run; ending an ended one changes nothing.
	EndRun(ctx context.Context, agent, run, reason string) (Run, error)
	// TouchRun moves the time at which a run ends by idling.
	TouchRun(ctx context.Context, run string, idle time.Duration) error
	// Changes lists what changed since a time of the database's clock: runs and calls created or ended since, for live
	// pages. The caller overlaps its questions by five seconds, since the order of commits is not that of times.
	Changes(ctx context.Context, since time.Time) (runs []Run, calls []Record, now time.Time, err error)
}

// NewRun is a run to be opened.
type NewRun struct {
	Agent, Kind, ImplicitKey, Client, Audience, Conversation, Title string
	Deadline, Idle                                                  time.Duration
	MaxCalls                                                        int64
}

// Tool names what an offer is about.
type Tool struct{ Name, Capability, Profile string }

// Offers are the rights to call tools as they were listed.
type Offers interface {
	// Offer resolves the tools for an agent, writes the offers of an audience where they differ, and gives the
	// resolutions in the same order.
	Offer(ctx context.Context, agent, audience string, tools []Tool) ([]binding.Resolution, error)
	// Resolve gives what a tool is bound to now, without a lock: for a look ahead.
	Resolve(ctx context.Context, agent string, t Tool) (binding.Resolution, error)
	// Epoch is the number of configuration writes.
	Epoch(ctx context.Context) (int64, error)
}

// Processes are the programs that send.
type Processes interface {
	Register(ctx context.Context, id, label, version string, ttl time.Duration) error
	// Beat renews; false says that this process is dead for the others and must register anew.
	Beat(ctx context.Context, id string, ttl time.Duration) (alive bool, err error)
	// Retire says that a process has ended in order.
	Retire(ctx context.Context, id string) error
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Leases give one resource to one operation of one process.
type Leases interface {
	// Acquire takes a resource or takes it over; ok is false while another has it.
	Acquire(ctx context.Context, resource, process, call string, ttl time.Duration) (fence int64, ok bool, err error)
	// Extend moves the end of a lease that is still held under its fence.
	Extend(ctx context.Context, resource string, fence int64, ttl time.Duration) (bool, error)
	Release(ctx context.Context, resource string, fence int64) error
}

// Outbox are notices: what a person must hear. They are written by the transactions that cause them.
type Outbox interface {
	// Claim takes waiting notices for a time, oldest first.
	Claim(ctx context.Context, process string, ttl time.Duration, limit int) ([]Notice, error)
	// Sent says that they were heard.
	Sent(ctx context.Context, ids []string) error
}

// Notice is what a person must hear.
type Notice struct {
	ID, Kind, Subject, Run string
	Created                time.Time
}

// Retention says how long what is kept. Zero fields mean the defaults.
type Retention struct {
	Content time.Duration // sealed text of ended runs; default 30 days
	Rows    time.Duration // rows and audit; default one year
	Refused time.Duration // refused calls; default 7 days
	Meters  time.Duration // minute meters; default 2 days
	Dead    time.Duration // dead processes; default 7 days
	Batch   int           // rows a transaction; default 500
}
