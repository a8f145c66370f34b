package peoplestore_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/people"
	"github.com/wayleave/wayleave/internal/store/agentstore"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

func agents(t *testing.T, db *sqldb.DB, slugs ...string) (ids []string) {
	t.Helper()
	for _, s := range slugs {
		a, _, err := agent.NewDirectory(agentstore.New(db)).EnsureAgent(t.Context(), s, by)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.ID)
	}
	return ids
}

func TestTM076RoleAndListHoldFromTheNextRequestOn(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		d, server := open(one), open(two)
		ids := agents(t, one, "alice", "bob")
		owner(t, d)
		p := add(t, d, "anna", people.Operator, people.Agents{List: []string{ids[0], ids[0]}})
		in := signIn(t, d, "anna", people.Browser{})
		who := func() people.Person {
			t.Helper()
			got, err := server.Session(t.Context(), in.Cookie.Reveal())
			if err != nil {
				t.Fatal(err)
			}
			return got.Person
		}
		if got := who(); got.Role != people.Operator || !got.Sees(ids[0]) || got.Sees(ids[1]) || len(got.Agents.List) != 1 {
			t.Fatalf("%+v", got)
		}
		if _, err := d.SetRole(t.Context(), p.ID, people.Viewer, people.Agents{List: []string{ids[1]}}, by); err != nil {
			t.Fatal(err)
		}
		if got := who(); got.Role != people.Viewer || got.Sees(ids[0]) || !got.Sees(ids[1]) {
			t.Fatalf("%+v", got)
		}
		if _, err := d.SetRole(t.Context(), p.ID, people.Operator, people.Agents{All: true}, by); err != nil {
			t.Fatal(err)
		}
		if got := who(); !got.Sees(agents(t, one, "made-later")[0]) {
			t.Fatalf("%+v", got)
		}
		for _, list := range [][]string{{"agent_none"}, {ids[0], ""}, {"alice"}} {
			if _, err := d.SetRole(t.Context(), p.ID, people.Operator, people.Agents{List: list}, by); !errors.Is(err, people.ErrUnknownAgent) {
				t.Errorf("list %q: %v", list, err)
			}
			if _, err := d.Add(t.Context(), "somebody", people.Viewer, people.Agents{List: list}, by); !errors.Is(err, people.ErrUnknownAgent) {
				t.Errorf("list %q: %v", list, err)
			}
		}
		if _, err := d.SetRole(t.Context(), p.ID, "root", people.Agents{}, by); err == nil {
			t.Error("a role that is none")
		}
		if _, err := d.Add(t.Context(), "Anna", people.Viewer, people.Agents{}, by); !errors.Is(err, people.ErrNameTaken) {
			t.Errorf("the same name: %v", err)
		}
	})
}

func TestDisablingAPersonEndsAllTheyHaveForGood(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d, ctx := open(db), t.Context()
		owner(t, d)
		p := add(t, d, "anna", people.Operator, people.Agents{All: true})
		in := signIn(t, d, "anna", people.Browser{})
		_, text, err := d.NewToken(ctx, p.ID, "ci", 0, by)
		if err != nil {
			t.Fatal(err)
		}
		_, link, err := d.NewLink(ctx, "anna", by)
		if err != nil {
			t.Fatal(err)
		}
		check := func(when string) {
			t.Helper()
			if _, err := d.Session(ctx, in.Cookie.Reveal()); err != people.ErrSignedOut {
				t.Errorf("%s: session: %v", when, err)
			}
			if _, err := d.Token(ctx, text.Reveal()); err != people.ErrSignedOut {
				t.Errorf("%s: token: %v", when, err)
			}
			if _, err := d.Redeem(ctx, link.Reveal(), people.Browser{}); err != people.ErrLinkGone {
				t.Errorf("%s: link: %v", when, err)
			}
		}
		if _, err := d.Disable(ctx, p.ID, by); err != nil {
			t.Fatal(err)
		}
		check("disabled")
		if _, err := d.SignIn(ctx, "anna", password, people.Browser{}); err != people.ErrWrong {
			t.Errorf("password: %v", err)
		}
		if _, _, err := d.NewLink(ctx, "anna", by); !errors.Is(err, people.ErrDisabled) {
			t.Errorf("a new link: %v", err)
		}
		if _, _, err := d.NewToken(ctx, p.ID, "ci", 0, by); !errors.Is(err, people.ErrNotFound) {
			t.Errorf("a new token: %v", err)
		}
		if _, err := d.Enable(ctx, p.ID, by); err != nil {
			t.Fatal(err)
		}
		check("enabled again")
		signIn(t, d, "anna", people.Browser{})
	})
}

// TestNoSessionBeginsBesideADisabling races the two in two processes: whatever came first, nobody is signed in after both.
func TestNoSessionBeginsBesideADisabling(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		d, other := open(one), open(two)
		owner(t, d)
		p := add(t, d, "anna", people.Operator, people.Agents{})
		for range 15 {
			_, link, err := d.NewLink(t.Context(), "anna", by)
			if err != nil {
				t.Fatal(err)
			}
			var byLink, byPassword people.SignedIn
			var wg sync.WaitGroup
			wg.Go(func() { byLink, _ = other.Redeem(t.Context(), link.Reveal(), people.Browser{}) })
			wg.Go(func() { byPassword, _ = other.SignIn(t.Context(), "anna", password, people.Browser{}) })
			wg.Go(func() {
				if _, err := d.Disable(t.Context(), p.ID, by); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
			if _, err := d.Enable(t.Context(), p.ID, by); err != nil {
				t.Fatal(err)
			}
			for _, in := range []people.SignedIn{byLink, byPassword} {
				if _, err := d.Session(t.Context(), in.Cookie.Reveal()); err != people.ErrSignedOut {
					t.Fatalf("a session outlived the disabling: %v", err)
				}
			}
		}
	})
}

func TestThereIsAlwaysAnOwner(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		d, ctx := open(one), t.Context()
		first := owner(t, d).Person
		if _, err := d.Disable(ctx, first.ID, by); !errors.Is(err, people.ErrLastOwner) {
			t.Fatalf("disabling the only owner: %v", err)
		}
		if _, err := d.SetRole(ctx, first.ID, people.Operator, people.Agents{All: true}, by); !errors.Is(err, people.ErrLastOwner) {
			t.Fatalf("demoting the only owner: %v", err)
		}
		second := add(t, d, "second", people.Owner, people.Agents{})
		var errs [2]error
		var wg sync.WaitGroup
		for i, id := range []string{first.ID, second.ID} { // each by the other, at once
			wg.Go(func() { _, errs[i] = open([]*sqldb.DB{one, two}[i]).Disable(ctx, id, by) })
		}
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("%v, %v", errs[0], errs[1])
		}
		if err := errors.Join(errs[:]...); !errors.Is(err, people.ErrLastOwner) {
			t.Fatal(err)
		}
	})
}

// TestEveryChangeOfPeopleGrowsTheEpochAndLeavesItsEntry; signing in and out leaves an entry and no more.
func TestEveryChangeOfPeopleGrowsTheEpochAndLeavesItsEntry(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d, ctx := open(db), t.Context()
		owner(t, d)
		var p people.Person
		var c people.Credential
		for _, w := range []struct {
			verb   string
			config bool
			write  func() error
		}{
			{"person.created", true, func() (err error) { p, err = d.Add(ctx, "anna", people.Viewer, people.Agents{}, by); return err }},
			{"person.changed", true, func() error { _, err := d.SetRole(ctx, p.ID, people.Operator, people.Agents{}, by); return err }},
			{"person.password_set", true, func() error { return d.SetPassword(ctx, p.ID, password, "", by) }},
			{"person.token_created", true, func() (err error) { c, _, err = d.NewToken(ctx, p.ID, "ci", 0, by); return err }},
			{"person.token_ended", false, func() error { return d.End(ctx, p.ID, c.ID, by) }},
			{"person.link_made", false, func() error { _, _, err := d.NewLink(ctx, "anna", by); return err }},
			{"person.signed_in", false, func() (err error) { _, err = d.SignIn(ctx, "anna", password, people.Browser{}); return err }},
			{"person.signed_out_everywhere", false, func() error { _, err := d.SignOutEverywhere(ctx, p.ID, by); return err }},
			{"person.disabled", true, func() error { _, err := d.Disable(ctx, p.ID, by); return err }},
			{"person.enabled", true, func() error { _, err := d.Enable(ctx, p.ID, by); return err }},
		} {
			before, log := epoch(t, db), dump(t, db, "verb", "audit")
			if err := w.write(); err != nil {
				t.Fatalf("%s: %v", w.verb, err)
			}
			if grown := epoch(t, db) == before+1; grown != w.config {
				t.Errorf("%s: the epoch grew: %v", w.verb, grown)
			}
			if n := strings.Count(dump(t, db, "verb", "audit"), "["+w.verb+"]") - strings.Count(log, "["+w.verb+"]"); n != 1 {
				t.Errorf("%s: %d entries", w.verb, n)
			}
		}
		before, log := epoch(t, db), dump(t, db, "verb", "audit")
		for range 2 { // nothing changes
			if _, err := d.Enable(ctx, p.ID, by); err != nil {
				t.Fatal(err)
			}
			if _, err := d.SetRole(ctx, p.ID, people.Operator, people.Agents{}, by); err != nil {
				t.Fatal(err)
			}
		}
		if epoch(t, db) != before || dump(t, db, "verb", "audit") != log {
			t.Error("a change that changes nothing was written")
		}
	})
}

// TestTM078NobodyReachesAnothersCredential asks each method that takes a person and an id for what is another one's.
func TestTM078NobodyReachesAnothersCredential(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d, ctx := open(db), t.Context()
		a, b := add(t, d, "anna", people.Owner, people.Agents{}), add(t, d, "berta", people.Viewer, people.Agents{})
		sessions := []people.SignedIn{signIn(t, d, "anna", people.Browser{}), signIn(t, d, "berta", people.Browser{})}
		token, _, err := d.NewToken(ctx, a.ID, "ci", 0, by)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range [][2]string{{b.ID, sessions[0].Session.ID}, {a.ID, sessions[1].Session.ID}, {b.ID, token.ID}, {"person_none", token.ID}, {a.ID, "cred_none"}, {"", token.ID}, {a.Name, token.ID}} {
			if err := d.End(ctx, c[0], c[1], by); !errors.Is(err, people.ErrNotFound) {
				t.Errorf("End(%q, %q): %v", c[0], c[1], err)
			}
		}
		for _, s := range sessions {
			if _, err := d.Session(ctx, s.Cookie.Reveal()); err != nil {
				t.Errorf("a session was ended by another person: %v", err)
			}
		}
		for _, none := range []string{"", "person_none", "anna", token.ID} {
			for name, ask := range map[string]func() error{
				"ByID":    func() error { _, err := d.ByID(ctx, none); return err },
				"SetRole": func() error { _, err := d.SetRole(ctx, none, people.Owner, people.Agents{}, by); return err },
				"Disable": func() error { _, err := d.Disable(ctx, none, by); return err },
				"Enable":  func() error { _, err := d.Enable(ctx, none, by); return err },
				"NewToken": func() error {
					_, _, err := d.NewToken(ctx, none, "", 0, by)
					return err
				},
				"SetPassword":       func() error { return d.SetPassword(ctx, none, password, "", by) },
				"SignOutEverywhere": func() error { _, err := d.SignOutEverywhere(ctx, none, by); return err },
			} {
				if err := ask(); !errors.Is(err, people.ErrNotFound) {
					t.Errorf("%s(%q): %v", name, none, err)
				}
			}
			if list, err := d.Credentials(ctx, none); err != nil || len(list) != 0 {
				t.Errorf("Credentials(%q): %v, %v", none, list, err)
			}
		}
		// The session that a browser brings along is ended by whoever signs in there, and no other.
		if _, err := d.SignIn(ctx, "berta", password, people.Browser{Cookie: "wl_session_" + strings.Repeat("0", 52)}); err != nil {
			t.Fatal(err)
		}
		if list, err := d.Credentials(ctx, a.ID); err != nil || len(list) != 2 {
			t.Errorf("anna has %+v, %v", list, err)
		}
	})
}

func TestTM074TM075NoSecretOfAPersonStandsInADatabase(t *testing.T) {
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			place := dbtest.New(t, dialect)
			db := place.Open(t)
			d, ctx := open(db), t.Context()
			_, link, err := d.NewLink(ctx, "", by)
			if err != nil {
				t.Fatal(err)
			}
			in, err := d.Redeem(ctx, link.Reveal(), people.Browser{Address: "192.0.2.44"})
			if err != nil {
				t.Fatal(err)
			}
			const own, wrong, slipped = "zebra-quilt-harbour", "walnut-ferry-candle", "meadow-pistol-orchid"
			if err := d.SetPassword(ctx, in.Person.ID, own, in.Session.ID, by); err != nil {
				t.Fatal(err)
			}
			_, token, err := d.NewToken(ctx, in.Person.ID, "the-label", time.Hour, by)
			if err != nil {
				t.Fatal(err)
			}
			for _, try := range [][2]string{{people.FirstOwner, own}, {people.FirstOwner, wrong}, {slipped, people.FirstOwner}} { // the last: password in the field of the name
				_, _ = d.SignIn(ctx, try[0], try[1], people.Browser{Address: "192.0.2.45"})
			}
			kept := dump(t, db, "id, name, role, agents, password", "people") + dump(t, db, "id, kind, hash, confirm, label", "person_credentials") +
				dump(t, db, "subject, used", "sign_in_attempts") + dump(t, db, "actor, verb, subject, detail", "audit")
			if dialect == sqldb.SQLite {
				kept += string(place.Bytes(t))
			}
			for _, there := range []string{"the-label", "192.0.2.44", "192.0.2.45", "$argon2id$v=19$m=8,"} {
				if !strings.Contains(kept, there) {
					t.Fatalf("the search does not find %s, which is there", there)
				}
			}
			for name, text := range map[string]string{"link": link.Reveal(), "cookie": in.Cookie.Reveal(), "confirm": in.Confirm.Reveal(), "token": token.Reveal(),
				"password": own, "wrong password": wrong, "password as name": slipped} {
				text = text[strings.LastIndex(text, "_")+1:]
				for i := 0; i+8 <= len(text); i++ {
					if strings.Contains(kept, text[i:i+8]) {
						t.Errorf("%d characters into it, the %s is kept", i, name)
						break
					}
				}
			}
		})
	}
}

func TestCredentialThatEndsWhileItIsNotedDoesNotWork(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d := open(db)
		in := owner(t, d)
		var wg sync.WaitGroup
		ended := make(chan struct{})
		for range 6 {
			wg.Go(func() {
				for over := false; !over; {
					select {
					case <-ended:
						over = true
					default:
					}
					_, err := d.Session(t.Context(), in.Cookie.Reveal())
					if over && err != people.ErrSignedOut {
						t.Errorf("after the end: %v", err)
					}
				}
			})
		}
		if err := d.End(t.Context(), in.Person.ID, in.Session.ID, by); err != nil {
			t.Error(err)
		}
		close(ended)
		wg.Wait()
	})
}
