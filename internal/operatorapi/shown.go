// This file gives the API's document and its objects to the command line, so that what a command prints as JSON is what
// the API answers, under the same names.
package operatorapi

import (
	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/doorstep"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// Document is what GET /api/openapi.json serves, without an install.
func Document(version string) ([]byte, error) {
	names, err := doorstep.New(nil, nil)
	if err != nil {
		return nil, err
	}
	none := func() string { return "" }
	// Nothing of these is called while the document is made.
	s, err := New(Deps{SignIns: struct{ SignIns }{}, People: struct{ People }{}, Agents: struct{ Agents }{}, Settings: struct{ Settings }{},
		Approvals: struct{ Approvals }{}, Ledger: struct{ Ledger }{}, Rows: struct{ Rows }{}, Tools: struct{ Tools }{}, Hosts: struct{ Hosts }{},
		Pages: struct{ Pages }{}, Watch: struct{ Watch }{}, Audit: struct{ Audit }{}},
		Options{Version: version, Label: "install", Names: names, Base: none, MCP: none})
	if err != nil {
		return nil, err
	}
	return s.OpenAPI()
}

// RunOf is a run as the API shows it. slugs are those of the agents, by id.
func RunOf(r ledger.Run, slugs map[string]string) wire.Run { return runOf(r, slugs) }

// CallOf is a call as the API lists it.
func CallOf(r ledger.Record, slugs map[string]string) wire.Call { return callOf(r, slugs) }

// EvidenceOf is where a call's reading came from; never nil.
func EvidenceOf(r ledger.Record) []wire.Evidence { return evidenceOf(r) }

// ReasonsOf is why a call went as it did; never nil.
func ReasonsOf(r ledger.Record) []wire.Reason {
	out := []wire.Reason{}
	for _, w := range r.Why {
		out = append(out, wire.Reason{Stage: w.Stage, At: w.At.UTC(), Fact: w.Fact, Ref: w.Ref})
	}
	return out
}

// AuditOf is an entry of the audit as the API lists it, with what its ids are called now.
func AuditOf(r audit.Row, names Names) wire.AuditRow {
	called := func(id string) string {
		if name := names[id]; name != "" {
			return name
		}
		return id
	}
	out := wire.AuditRow{ID: r.ID, At: r.At.UTC(), Actor: r.Actor, Verb: r.Verb, Says: audit.Words(r.Verb, r.Subject, r.Detail, called), Subject: r.Subject,
		Detail: r.Detail, Hash: r.Hash, Names: names.In(r.Actor, r.Subject, string(r.Detail))}
	if r.Link > 0 {
		out.Link = &r.Link
	}
	return out
}

// DeletesOf is what a deletion takes with it as the API tells it, and why it would be refused now; empty where it would not.
func DeletesOf(d ledger.Deletion) (out wire.Deletes, refused string) {
	if d.Refused != nil {
		refused = d.Refused.Error()
	}
	return wire.Deletes{Calls: d.Calls, Evidence: d.Evidence, Pages: d.Pages, Approvals: d.Approvals, Uncertain: d.Uncertain}, refused
}
