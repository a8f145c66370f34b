package keystore_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/mcpserver"
	"github.com/wayleave/wayleave/internal/reading"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/approvalstore"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/keystore"
	"github.com/wayleave/wayleave/internal/store/ledgerstore"
	"github.com/wayleave/wayleave/internal/store/pagestore"
	"github.com/wayleave/wayleave/internal/store/sessionstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/webfetch"
)

// what the stores of the product keep sealed, in one install.
type kept struct {
	call, approval string
	ledger         *ledgerstore.Store
	approvals      *approvalstore.Store
	pages          *pagestore.Store
	sessions       *sessionstore.Store
}

const text = "what must not be read"

func keep(t *testing.T, db *sqldb.DB, keys *keystore.Store) kept {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := ledgerstore.New(db, keys.Keys(), func(f binding.Facts, capability, tool, profile string) binding.Resolution {
		return binding.Resolution{Binding: binding.Binding{Agent: f.Agent.ID, GrantsVersion: f.Agent.GrantsVersion, Capability: capability, ConnectionOwner: binding.Install,
			Provider: "direct", AccountOwner: "none", Class: effect.Effect, Meter: binding.Uncounted}}
	}, ledgerstore.Options{})
	must(err)
	k := kept{ledger: l, approvals: approvalstore.New(db, keys.Keys()), pages: pagestore.New(db, keys.Keys(), pagestore.Bounds{}), sessions: sessionstore.New(db, keys.Keys())}
	must(db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		_, err := tx.Exec("INSERT INTO agents (id, slug, name, state, grants_version, created_at) VALUES ('agent_1', 'one', 'One', 'active', 1, now_us())")
		return err
	}))
	must(l.Register(ctx, "process_1", "test", "1", time.Hour))
	run, err := l.OpenRun(ctx, ledger.NewRun{Agent: "agent_1", Kind: "explicit", Audience: "agent:agent_1", Title: text, Deadline: time.Hour, MaxCalls: 100})
	must(err)
	tool := ledger.Tool{Name: "post", Capability: "mail"}
	_, err = l.Offer(ctx, "agent_1", "agent:agent_1", []ledger.Tool{tool})
	must(err)
	end := func(id string, end ledger.Settlement) {
		t.Helper()
		got, err := l.Admit(ctx, ledger.Admission{Nonce: id, Process: "process_1", Ask: ledger.Ask{ID: id, Run: run.ID, Agent: "agent_1", Audience: "agent:agent_1", Tool: tool.Name, Capability: tool.Capability,
			Class: effect.Effect, Digest: []byte(id), Args: []byte(`"` + text + `"`), Bound: time.Minute, Source: ledger.Source{Host: "example.com", URL: "https://example.com/" + text}}})
		if err != nil || got.Kind != ledger.Fresh {
			t.Fatal(got.Kind, err)
		}
		if v, err := l.Dispatch(ctx, id, id); err != nil || v != ledger.DispatchDone {
			t.Fatal(v, err)
		}
		end.Call, end.Nonce, end.From = id, id, effect.Dispatched
		settled, err := l.Settle(ctx, end)
		if err != nil || settled.Late {
			t.Fatal(settled.Late, err)
		}
	}
	content := []ledger.Evidence{{Kind: "content", Host: "example.com", URL: "https://example.com/" + text, Title: text}}
	end("call_1", ledger.Settlement{State: effect.Succeeded, Outcome: effect.OK, Result: []byte(text), Evidence: content})
	k.call = "call_2"
	end(k.call, ledger.Settlement{State: effect.Uncertain, Outcome: effect.OutcomeUncertain, Code: "lost"})
	late, err := l.Settle(ctx, ledger.Settlement{Call: k.call, Nonce: k.call, From: effect.Dispatched, State: effect.Succeeded, Outcome: effect.OK, Result: []byte(text), Evidence: content})
	if err != nil || !late.Late {
		t.Fatal(late.Late, err)
	}
	_, err = l.Reconcile(ctx, "", run.ID, k.call, ledger.Reconciliation{Verdict: ledger.Happened, Note: text, By: ledger.By{Kind: "operator", ID: "person_1"}})
	must(err)
	stood, err := k.approvals.Stand(ctx, approval.Request{Agent: "agent_1", Run: run.ID, Tool: "do_x", Profile: "sha256:1", Digest: []byte("x"),
		Facts: approval.Facts{Tier: approval.Sensitive, Origin: "https://example.com", Description: text, Declared: true}})
	must(err)
	k.approval = stood.Approval.ID
	_, err = k.pages.Put(ctx, reading.Place{Agent: "agent_1", Run: run.ID, Call: "call_1"}, []string{"key_1", "key_2"}, &webfetch.Page{RequestedURL: "https://example.com/", FinalURL: "https://example.com/", Content: text, TotalChars: len(text), Provider: "direct", Redirects: []string{}})
	must(err)
	must(k.sessions.Opened(ctx, mcpserver.Session{Name: "session_1", Agent: "agent_1", Token: "token_1", Initialize: []byte(text)}))
	return k
}

// read gives everything back through the stores, as their users have it.
func (k kept) read(t *testing.T) string {
	t.Helper()
	ctx := t.Context()
	var all bytes.Buffer
	for _, id := range []string{"call_1", k.call} {
		r, err := k.ledger.Call(ctx, "agent_1", "", id)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s args %s result %s late %s", id, r.Args, r.Result, r.Late)
		for _, e := range r.Evidence {
			fmt.Fprintf(&all, " %s %s", e.URL, e.Title)
		}
		if r.Verdict != nil {
			fmt.Fprintf(&all, " note %s", r.Verdict.Note)
		}
		all.WriteByte('\n')
	}
	a, err := k.approvals.Show(ctx, k.approval)
	if err != nil {
		t.Fatal(err)
	}
	r, err := k.ledger.Call(ctx, "agent_1", "", "call_1")
	if err != nil {
		t.Fatal(err)
	}
	page, err := k.pages.Take(ctx, r.Run, "key_2")
	if err != nil || page == nil {
		t.Fatal(page, err)
	}
	session, found, err := k.sessions.Find(ctx, "session_1", "token_1", time.Hour)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	run, err := k.ledger.Run(ctx, "agent_1", r.Run)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&all, "%+v\n%s\n%s\n%s\n", a, page.Page.Content, session.Initialize, run.Title)
	return all.String()
}

// TestEveryStoreSealsWhereRotationLooks: F-022 with the product's own stores: each sealed column has values of theirs,
// all of which open at the place that the list of columns says, and are read through the stores after a rotation and a
// rewrap as before.
func TestEveryStoreSealsWhereRotationLooks(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, db, other *sqldb.DB, _ *dbtest.Clock) {
		source := keyfile.New(filepath.Join(t.TempDir(), keyfile.Name), secret.Value{})
		keys, err := keystore.Open(t.Context(), db, source, keystore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		k := keep(t, db, keys)
		before := k.read(t)
		if n := bytes.Count([]byte(before), []byte(text)); n < 12 {
			t.Fatalf("only %d values are read:\n%s", n, before)
		}
		for _, c := range keystore.Columns() {
			if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
				var one int64
				found, err := tx.One("SELECT 1 FROM "+c.Table+" WHERE "+c.Name+" IS NOT NULL", nil, &one)
				if err == nil && !found {
					t.Errorf("no store wrote %s.%s", c.Table, c.Name)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		opened, damaged, at, err := keys.Verify(t.Context())
		if err != nil || damaged != 0 || opened < 15 {
			t.Fatalf("%d values open, %d do not: %v, %v", opened, damaged, at, err)
		}
		running, err := keystore.Open(t.Context(), other, source, keystore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := running.Rotate(t.Context(), "system"); err != nil {
			t.Fatal(err)
		}
		p, err := running.Finish(t.Context(), keystore.Finishing{Alone: true})
		if err != nil || !p.Dropped || p.Resealed != opened {
			t.Fatalf("%+v, %v", p, err)
		}
		if _, err := running.Rewrap(t.Context(), "system"); err != nil {
			t.Fatal(err)
		}
		if after := k.read(t); after != before {
			t.Errorf("what is read has changed to\n%s\nfrom\n%s", after, before)
		}
	})
}
