package agentstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/store/agentstore"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const (
	by   = "person:test"
	from = "192.0.2.7"
)

func open(db *sqldb.DB) *agent.Directory { return agent.NewDirectory(agentstore.New(db)) }

// made is an agent that is there.
func made(t *testing.T, d *agent.Directory, slug string) agent.Agent {
	t.Helper()
	a, _, err := d.EnsureAgent(t.Context(), slug, by)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// token is a token of an agent that is there, and its text.
func token(t *testing.T, d *agent.Directory, a agent.Agent, scope agent.Scope) (agent.Token, string) {
	t.Helper()
	tok, text, err := d.NewToken(t.Context(), a.ID, scope, by)
	if err != nil {
		t.Fatal(err)
	}
	return tok, text.Reveal()
}

// dump is all text of a table, a row a line.
func dump(t *testing.T, db *sqldb.DB, columns, table string) string {
	t.Helper()
	var out strings.Builder
	err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		n := strings.Count(columns, ",") + 1
		return tx.All("SELECT "+columns+" FROM "+table, nil, func(scan func(...any) error) error {
			cells, dest := make([]any, n), make([]any, n)
			for i := range cells {
				dest[i] = &cells[i]
			}
			if err := scan(dest...); err != nil {
				return err
			}
			_, err := fmt.Fprintf(&out, "%s\n", cells)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func epoch(t *testing.T, db *sqldb.DB) (n int64) {
	t.Helper()
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) (err error) { n, err = settings.Epoch(tx); return err }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTM044TokenWorksInEveryProcessUntilItIsRevoked(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		server, cli := open(one), open(two)
		a := made(t, cli, "alice")
		tok, text := token(t, cli, a, agent.ScopeTools)
		who, err := server.Verify(text, from)
		if err != nil || who != (agent.Identity{Agent: "alice", AgentID: a.ID, TokenID: tok.ID, Scope: agent.ScopeTools}) {
			t.Fatalf("the server does not see a token made beside it: %+v, %v", who, err)
		}
		if !server.Live(tok.ID) || server.Live("tok_none") {
			t.Fatal("a working token is not live, or one that is not there is")
		}
		if _, err := cli.Revoke(t.Context(), a.ID, tok.ID, by); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Verify(text, from); !errors.Is(err, agent.ErrUnknownToken) {
			t.Fatalf("a revoked token at the next request: %v", err)
		}
		if server.Live(tok.ID) {
			t.Fatal("a revoked token is live")
		}
	})
}

// TestTM044NothingIsVerifiedAfterARevocationWasAnswered floods two processes with one token and revokes it in a third.
func TestTM044NothingIsVerifiedAfterARevocationWasAnswered(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, d *agent.Directory, a agent.Agent, tok agent.Token) error{
		"revoke": func(ctx context.Context, d *agent.Directory, a agent.Agent, tok agent.Token) error {
			_, err := d.Revoke(ctx, a.ID, tok.ID, by)
			return err
		},
		"disable": func(ctx context.Context, d *agent.Directory, a agent.Agent, _ agent.Token) error {
			_, err := d.Disable(ctx, a.ID, by)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
				servers, cli := []*agent.Directory{open(one), open(two)}, open(two)
				a := made(t, cli, "alice")
				tok, text := token(t, cli, a, agent.ScopeTools)
				answered := make(chan struct{})
				flooding := make(chan struct{}, 8)
				var callers sync.WaitGroup
				for i := range cap(flooding) {
					callers.Go(func() {
						for n := 0; ; n++ {
							if n == 20 {
								flooding <- struct{}{}
							}
							late := false
							select {
							case <-answered: // before this question was asked
								late = true
							default:
							}
							_, err := servers[i%2].Verify(text, from)
							switch {
							case err != nil && !errors.Is(err, agent.ErrUnknownToken):
								t.Error(err)
								return
							case late && err == nil:
								t.Error("verified after the answer")
								return
							case late:
								return
							}
						}
					})
				}
				for range cap(flooding) {
					<-flooding
				}
				if err := end(t.Context(), cli, a, tok); err != nil {
					t.Error(err)
				}
				close(answered)
				callers.Wait()
			})
		})
	}
}

func TestTM044NoSecretStandsInADatabase(t *testing.T) {
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			place := dbtest.New(t, dialect)
			db := place.Open(t)
			d := open(db)
			a := made(t, d, "alice")
			for _, scope := range agent.Scopes() {
				tok, text := token(t, d, a, scope)
				if !strings.HasPrefix(text, "wl_"+string(scope)+"_") || len(text) < 60 {
					t.Errorf("a token of scope %s has %d characters and begins %.12s", scope, len(text), text)
				}
				if _, err := d.Verify(text, from); err != nil {
					t.Fatal(err)
				}
				if err := d.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, err := d.Revoke(t.Context(), "", text, by); err != nil {
					t.Fatal(err)
				}
				kept := dump(t, db, "id, agent_id, hash, scope, used_from", "agent_tokens") + dump(t, db, "actor, verb, subject, detail", "audit")
				if dialect == sqldb.SQLite {
					kept += string(place.Bytes(t))
				}
				if !strings.Contains(kept, tok.Hash) || !strings.Contains(kept, from) {
					t.Fatal("the search does not find what is there")
				}
				random := text[strings.LastIndex(text, "_")+1:]
				for i := 0; i+8 <= len(random); i++ {
					if strings.Contains(kept, random[i:i+8]) {
						t.Fatalf("8 characters of the token of scope %s are kept", scope)
					}
				}
			}
		})
	}
}

func TestTokensOfStrangers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d := open(db)
		tok, plain := token(t, d, made(t, d, "alice"), agent.ScopeTools)
		for _, bad := range []string{"", " ", plain[1:], plain + "0", plain[:len(plain)-1], strings.ToUpper(plain), tok.ID, tok.Hash,
			" " + plain, plain + "\n", "wl_", "wl_tools_\x00", "wl_' OR 1=1 --", strings.Repeat("wl_", 1<<16), strings.Replace(plain, "tools", "harness", 1)} {
			if _, err := d.Verify(bad, from); !errors.Is(err, agent.ErrUnknownToken) {
				t.Errorf("Verify of %.20q: %v", bad, err)
			}
		}
	})
}

func TestDisablingAnAgentEndsItsTokensAndItsOffers(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		server, people := open(one), open(two)
		a := made(t, people, "alice")
		tok, text := token(t, people, a, agent.ScopeHarness)
		off, err := people.Disable(t.Context(), a.ID, by)
		if err != nil || !off.Disabled || off.GrantsVersion != a.GrantsVersion+1 {
			t.Fatalf("%+v, %v", off, err)
		}
		if _, err := server.Verify(text, from); !errors.Is(err, agent.ErrDisabled) || !errors.Is(err, agent.ErrUnknownToken) {
			t.Fatalf("a token of a disabled agent: %v", err)
		}
		if server.Live(tok.ID) {
			t.Fatal("a token of a disabled agent is live")
		}
		if again, err := people.Disable(t.Context(), a.ID, by); err != nil || again != off {
			t.Fatalf("disabling twice: %+v, %v", again, err)
		}
		on, err := people.Enable(t.Context(), a.ID, by)
		if err != nil || on.Disabled || on.GrantsVersion != off.GrantsVersion {
			t.Fatalf("what was offered before must stay stale: %+v, %v", on, err)
		}
		if _, err := server.Verify(text, from); err != nil {
			t.Fatal(err)
		}
	})
}

func TestPauseKeepsWhoAndWhen(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		d := open(db)
		a := made(t, d, "alice")
		_, text := token(t, d, a, agent.ScopeTools)
		want := agent.Pause{By: "person:one", At: clock.Now()}
		got, err := d.Pause(t.Context(), a.ID, "person:one")
		if err != nil || got.Paused != want {
			t.Fatalf("%+v, %v", got, err)
		}
		if p, err := d.PauseInstall(t.Context(), "person:one"); err != nil || p != want {
			t.Fatalf("%+v, %v", p, err)
		}
		clock.Advance(time.Minute)
		if got, err = d.Pause(t.Context(), a.ID, "person:two"); err != nil || got.Paused != want {
			t.Fatalf("pausing what is paused: %+v, %v", got, err)
		}
		if p, err := d.PauseInstall(t.Context(), "person:two"); err != nil || p != want {
			t.Fatalf("pausing what is paused: %+v, %v", p, err)
		}
		if p, err := d.InstallPause(t.Context()); err != nil || p != want {
			t.Fatalf("%+v, %v", p, err)
		}
		if _, err := d.Verify(text, from); err != nil {
			t.Fatalf("a paused agent's calls are refused with a reason, so it is let in: %v", err)
		}
		if got, err = d.Resume(t.Context(), a.ID, by); err != nil || got.Paused != (agent.Pause{}) || got.GrantsVersion != a.GrantsVersion {
			t.Fatalf("%+v, %v", got, err)
		}
		if err := d.ResumeInstall(t.Context(), by); err != nil {
			t.Fatal(err)
		}
		if p, err := d.InstallPause(t.Context()); err != nil || p != (agent.Pause{}) {
			t.Fatalf("%+v, %v", p, err)
		}
	})
}

// TestEveryWriteGrowsTheEpochAndLeavesItsEntry holds each write against both, and its repetition against neither.
func TestEveryWriteGrowsTheEpochAndLeavesItsEntry(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d := open(db)
		var a agent.Agent
		var tok agent.Token
		ctx := t.Context()
		for _, w := range []struct {
			verb  string
			once  bool // doing it again changes nothing
			write func() error
		}{
			{"agent.created", true, func() (err error) { a, _, err = d.EnsureAgent(ctx, "alice", by); return err }},
			{"token.created", false, func() (err error) { tok, _, err = d.NewToken(ctx, a.ID, agent.ScopeTools, by); return err }},
			{"token.revoked", true, func() error { _, err := d.Revoke(ctx, "", tok.ID, by); return err }},
			{"agent.disabled", true, func() error { _, err := d.Disable(ctx, a.ID, by); return err }},
			{"agent.enabled", true, func() error { _, err := d.Enable(ctx, a.ID, by); return err }},
			{"agent.paused", true, func() error { _, err := d.Pause(ctx, a.ID, by); return err }},
			{"agent.resumed", true, func() error { _, err := d.Resume(ctx, a.ID, by); return err }},
			{"agent.elicitation_on", true, func() error { _, err := d.SetElicitation(ctx, a.ID, true, by); return err }},
			{"agent.elicitation_off", true, func() error { _, err := d.SetElicitation(ctx, a.ID, false, by); return err }},
			{"install.paused", true, func() error { _, err := d.PauseInstall(ctx, by); return err }},
			{"install.resumed", true, func() error { return d.ResumeInstall(ctx, by) }},
		} {
			for n := 1; n <= 2; n++ {
				before, log := epoch(t, db), dump(t, db, "actor, verb", "audit")
				if err := w.write(); err != nil {
					t.Fatalf("%s: %v", w.verb, err)
				}
				grown, written := epoch(t, db) > before, strings.Count(dump(t, db, "actor, verb", "audit"), by+" "+w.verb+"]")-strings.Count(log, by+" "+w.verb+"]")
				if want := n == 1 || !w.once; grown != want || (written == 1) != want {
					t.Errorf("%s, time %d: the epoch grew: %v, entries: %d", w.verb, n, grown, written)
				}
			}
			if len(by) == 0 {
				t.Fatal("no actor")
			}
		}
		if _, err := d.Disable(ctx, a.ID, ""); err == nil {
			t.Fatal("a change by nobody was kept")
		}
		if now, err := d.ByID(ctx, a.ID); err != nil || now.Disabled {
			t.Fatalf("a change whose entry could not be written was kept: %+v, %v", now, err)
		}
	})
}

func TestLastUseIsKeptLazilyAndNeverGoesBack(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, clock *dbtest.Clock) {
		server, other := open(one), open(two)
		a := made(t, server, "alice")
		_, text := token(t, server, a, agent.ScopeTools)
		used := func(d *agent.Directory) agent.Use {
			t.Helper()
			_, tokens, err := d.List(t.Context(), []string{a.ID})
			if err != nil || len(tokens) != 1 {
				t.Fatalf("%+v, %v", tokens, err)
			}
			return tokens[0].LastUse
		}
		first := clock.Now()
		if _, err := server.Verify(text, from); err != nil {
			t.Fatal(err)
		}
		if got := used(server); got != (agent.Use{At: first, From: from}) {
			t.Fatalf("own view: %+v", got)
		}
		if got := used(other); got != (agent.Use{}) {
			t.Fatalf("another process before the flush: %+v", got)
		}
		clock.Advance(time.Minute)
		second := clock.Now()
		if _, err := other.Verify(text, "2001:db8::1"); err != nil {
			t.Fatal(err)
		}
		for _, d := range []*agent.Directory{other, server} { // the older use comes last
			if err := d.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, d := range []*agent.Directory{other, server, open(one)} {
			if got := used(d); got != (agent.Use{At: second, From: "2001:db8::1"}) {
				t.Fatalf("%+v", got)
			}
		}
	})
}

func TestManyProcessesMakeAgentsAndTokens(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		const makers, each = 8, 5
		var wg sync.WaitGroup
		for i := range makers {
			wg.Go(func() {
				d := open([]*sqldb.DB{one, two}[i%2])
				a, _, err := d.EnsureAgent(t.Context(), fmt.Sprintf("agent-%d", i/2), by) // each by one maker in each process
				if err != nil {
					t.Error(err)
					return
				}
				for range each {
					if _, _, err := d.NewToken(t.Context(), a.ID, agent.ScopeTools, by); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		agents, tokens, err := open(one).List(t.Context(), nil)
		if err != nil || len(agents) != makers/2 || len(tokens) != makers*each {
			t.Fatalf("%d agents, %d tokens, %v", len(agents), len(tokens), err)
		}
		for i := 1; i < len(agents); i++ {
			if agents[i-1].Slug >= agents[i].Slug {
				t.Fatal("agents are not in order")
			}
		}
		if made := strings.Count(dump(t, one, "verb", "audit"), "agent.created"); made != makers/2 {
			t.Fatalf("%d agents were made, says the audit", made)
		}
	})
}

func TestRevoke(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		d := open(db)
		a := made(t, d, "alice")
		one, oneText := token(t, d, a, agent.ScopeTools)
		two, twoText := token(t, d, a, agent.ScopeHarness)
		for _, none := range []string{"tok_none", "", "wl_tools_none", one.Hash} {
			if _, err := d.Revoke(t.Context(), "", none, by); !errors.Is(err, agent.ErrNotFound) {
				t.Fatalf("revoking %q: %v", none, err)
			}
		}
		got, err := d.Revoke(t.Context(), "", twoText, by)
		if err != nil || got.ID != two.ID || !got.Revoked.Equal(clock.Now()) || got.Agent != "alice" {
			t.Fatalf("revoking by the token itself: %+v, %v", got, err)
		}
		first := got.Revoked
		clock.Advance(time.Hour)
		if got, err = d.Revoke(t.Context(), a.ID, two.ID, by); err != nil || !got.Revoked.Equal(first) {
			t.Fatalf("revoking again: %+v, %v", got, err)
		}
		if who, err := d.Verify(oneText, from); err != nil || who.TokenID != one.ID {
			t.Fatalf("the other token: %+v, %v", who, err)
		}
		if _, _, err := d.NewToken(t.Context(), a.ID, "admin", by); err == nil {
			t.Fatal("a token of a scope that is none")
		}
	})
}

// TestTM078NoAgentReachesWhatIsAnothers asks every method that takes an agent or an id for what belongs to the other one,
// or to nobody.
func TestTM078NoAgentReachesWhatIsAnothers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d, ctx := open(db), t.Context()
		a, b := made(t, d, "alice"), made(t, d, "bob")
		aToken, aText := token(t, d, a, agent.ScopeTools)
		bToken, bText := token(t, d, b, agent.ScopeTools)
		before := dump(t, db, "id, agent_id, revoked_at", "agent_tokens ORDER BY id")
		for _, c := range []struct{ agent, token string }{{a.ID, bToken.ID}, {a.ID, bText}, {b.ID, aToken.ID}, {b.ID, aText}, {"agent_none", aToken.ID}, {a.Slug, aToken.ID}, {aToken.ID, aToken.ID}} {
			if _, err := d.Revoke(ctx, c.agent, c.token, by); !errors.Is(err, agent.ErrNotFound) {
				t.Errorf("Revoke(%s, %.12s): %v", c.agent, c.token, err)
			}
		}
		if after := dump(t, db, "id, agent_id, revoked_at", "agent_tokens ORDER BY id"); after != before {
			t.Errorf("tokens changed:\n%s\nwere\n%s", after, before)
		}
		for _, none := range []string{"", "agent_none", a.Slug, aToken.ID, "alice' OR '1'='1", "%"} {
			for name, ask := range map[string]func() error{
				"ByID":           func() error { _, err := d.ByID(ctx, none); return err },
				"NewToken":       func() error { _, _, err := d.NewToken(ctx, none, agent.ScopeTools, by); return err },
				"Disable":        func() error { _, err := d.Disable(ctx, none, by); return err },
				"Enable":         func() error { _, err := d.Enable(ctx, none, by); return err },
				"Pause":          func() error { _, err := d.Pause(ctx, none, by); return err },
				"Resume":         func() error { _, err := d.Resume(ctx, none, by); return err },
				"SetElicitation": func() error { _, err := d.SetElicitation(ctx, none, true, by); return err },
			} {
				if err := ask(); !errors.Is(err, agent.ErrNotFound) {
					t.Errorf("%s(%q): %v", name, none, err)
				}
			}
			agents, tokens, err := d.List(ctx, []string{none})
			if err != nil || len(agents) != 0 || len(tokens) != 0 {
				t.Errorf("List of %q: %v, %v, %v", none, agents, tokens, err)
			}
		}
		if _, err := d.BySlug(ctx, a.ID); !errors.Is(err, agent.ErrNotFound) {
			t.Errorf("BySlug of an id: %v", err)
		}
		agents, tokens, err := d.List(ctx, []string{b.ID})
		if err != nil || len(agents) != 1 || agents[0].ID != b.ID || len(tokens) != 1 || tokens[0].ID != bToken.ID {
			t.Errorf("List of bob: %v, %v, %v", agents, tokens, err)
		}
		if agents, tokens, err := d.List(ctx, []string{}); err != nil || len(agents) != 0 || len(tokens) != 0 {
			t.Errorf("List of no agent: %v, %v, %v", agents, tokens, err)
		}
		if found, err := d.BySlug(ctx, "alice"); err != nil || found.ID != a.ID {
			t.Errorf("%+v, %v", found, err)
		}
	})
}
