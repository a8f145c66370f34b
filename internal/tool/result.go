// This file makes results: text, keys and ids, of this call or from the record.
package tool

import (
	"sync"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/observation"
)

// Answered is an error that was worded by a capability, or before: the text is all that is left of it.
type Answered struct{ Code, Text string }

func (a *Answered) Error() string { return a.Text }

// ids are what an answer says of where it stands.
type ids struct {
	call, run, conversation, provider string
	evidence                          []string
}

func idsOf(r ledger.Record) ids {
	i := ids{call: r.ID, run: r.Run, conversation: r.Conversation, provider: r.Binding.Provider}
	for _, e := range r.Evidence {
		i.evidence = append(i.evidence, evidenceID(r.ID, e.N))
	}
	return i
}

// agent is a kept answer as a result without ids.
func (s Stored) agent(failure error) agenttool.Result {
	return agenttool.Result{Content: []agenttool.Part{{Text: s.Text}}, Structured: s.Structured, Failure: failure}
}

// result puts ids into a result: into its keys for a client that reads them, and beside it for hosts.
func (q *inquiry) result(r agenttool.Result, i ids) Result {
	keys := observation.IDs{Call: i.call, Run: i.run}
	if r.Failure == nil {
		keys.Provider = i.provider
	}
	r.Structured = observation.Keys(r.Structured, r.Failure == nil, keys)
	if i.evidence == nil {
		i.evidence = []string{}
	}
	r.Meta = map[string]any{"wayleave/run": i.run, "wayleave/call": i.call, "wayleave/conversation": i.conversation, "wayleave/evidence": i.evidence}
	return Result{Result: r, Call: i.call, Run: i.run}
}

// recorded answers a call that was there before.
func (q *inquiry) recorded(call *ledger.Call, r ledger.Record) (Result, error) {
	return q.fromRecord(call, r, observation.RecordedNote(r))
}

// fromRecord answers from the record: what was answered, or the words for what became of the call. An empty note is none.
func (q *inquiry) fromRecord(call *ledger.Call, r ledger.Record, note string) (Result, error) {
	kept, err := keptAnswer(r, q.say)
	if err != nil {
		call.Delivered(false)
		return Result{}, &Fault{Code: codeInternal, Text: textInternal, Call: r.ID, Run: r.Run, Err: err}
	}
	if note != "" {
		kept.Text = observation.WithNote(kept.Text, note)
	}
	out := Result{}
	if r.IsError || r.Result == nil {
		out = q.result(kept.agent(&Answered{Code: r.Code, Text: kept.Text}), idsOf(r))
	} else {
		out = q.result(kept.agent(nil), idsOf(r))
		out.Output = kept.Output
	}
	out.Code, out.Delivered = r.Code, call.Delivered
	return out, nil
}

// once asks a question about each name once.
func once(ask func(string) bool, known map[string]bool) func(string) bool {
	var mu sync.Mutex
	return func(name string) bool {
		mu.Lock()
		defer mu.Unlock()
		got, ok := known[name]
		if !ok {
			got = ask(name)
			known[name] = got
		}
		return got
	}
}
