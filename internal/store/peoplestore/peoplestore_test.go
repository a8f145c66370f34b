package peoplestore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/people"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/peoplestore"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const (
	by       = "system"
	password = "correct horse battery"
)

// cheap is a cost at which a test can try passwords.
var cheap = people.Options{Cost: people.Cost{Memory: 8, Passes: 1, Lanes: 1}}

func open(db *sqldb.DB) *people.Directory { return people.NewDirectory(peoplestore.New(db), cheap) }

// owner is the first one, signed in by the first link.
func owner(t *testing.T, d *people.Directory) people.SignedIn {
	t.Helper()
	return byLink(t, d, "")
}

func byLink(t *testing.T, d *people.Directory, name string) people.SignedIn {
	t.Helper()
	_, link, err := d.NewLink(t.Context(), name, by)
	if err != nil {
		t.Fatal(err)
	}
	in, err := d.Redeem(t.Context(), link.Reveal(), people.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// add is a person with a password.
func add(t *testing.T, d *people.Directory, name string, role people.Role, agents people.Agents) people.Person {
	t.Helper()
	p, err := d.Add(t.Context(), name, role, agents, by)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.SetPassword(t.Context(), p.ID, password, "", by); err != nil {
		t.Fatal(err)
	}
	return p
}

func signIn(t *testing.T, d *people.Directory, name string, from people.Browser) people.SignedIn {
	t.Helper()
	in, err := d.SignIn(t.Context(), name, password, from)
	if err != nil {
		t.Fatal(err)
	}
	return in
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

func TestFirstLinkMakesTheFirstOwner(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		d := open(one)
		if all, err := d.List(t.Context()); err != nil || len(all) != 0 {
			t.Fatalf("%v, %v", all, err)
		}
		var wg sync.WaitGroup
		for i := range 6 { // two servers that print a link at their start
			wg.Go(func() {
				if _, _, err := open([]*sqldb.DB{one, two}[i%2]).NewLink(t.Context(), "", by); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		all, err := d.List(t.Context())
		if err != nil || len(all) != 1 || all[0].Name != people.FirstOwner || all[0].Role != people.Owner || !all[0].Sees("agent_any") || all[0].HasPassword {
			t.Fatalf("%+v, %v", all, err)
		}
		add(t, d, "second", people.Owner, people.Agents{})
		if p, _, err := d.NewLink(t.Context(), "", by); err != nil || p.ID != all[0].ID {
			t.Fatalf("a link for nobody in particular is the first owner's: %+v, %v", p, err)
		}
		if p, _, err := d.NewLink(t.Context(), " Second ", by); err != nil || p.Name != "second" {
			t.Fatalf("%+v, %v", p, err)
		}
		for _, none := range []string{"nobody", "' OR 1=1 --", strings.Repeat("x", 999)} {
			if _, _, err := d.NewLink(t.Context(), none, by); !errors.Is(err, people.ErrNotFound) {
				t.Fatalf("%q: %v", none, err)
			}
		}
	})
}

func TestTM074LinkWorksOnceForTenMinutesUntilANewerOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		d, ctx := open(db), t.Context()
		link := func(name string) string {
			t.Helper()
			_, text, err := d.NewLink(ctx, name, by)
			if err != nil {
				t.Fatal(err)
			}
			return text.Reveal()
		}
		redeem := func(text string) error {
			_, err := d.Redeem(ctx, text, people.Browser{})
			return err
		}
		first := link("")
		if !strings.HasPrefix(first, "wl_link_") || len(first) < 60 {
			t.Fatalf("a link of %d characters, %.9s", len(first), first)
		}
		other := add(t, d, "other", people.Viewer, people.Agents{})
		others := link("other")
		second := link("")
		if err := redeem(first); err != people.ErrLinkGone {
			t.Fatalf("an older link: %v", err)
		}
		if err := redeem(second); err != nil {
			t.Fatal(err)
		}
		if err := redeem(second); err != people.ErrLinkGone {
			t.Fatalf("a second time: %v", err)
		}
		clock.Advance(people.LinkTime - time.Second)
		if in, err := d.Redeem(ctx, others, people.Browser{}); err != nil || in.Person.ID != other.ID {
			t.Fatalf("another person's link, just in time: %+v, %v", in, err)
		}
		late := link("")
		clock.Advance(people.LinkTime)
		if err := redeem(late); err != people.ErrLinkGone {
			t.Fatalf("after ten minutes: %v", err)
		}
		for _, bad := range []string{"", first[1:], first + "0", strings.ToUpper(first), "wl_link_", strings.Repeat("wl_link_", 999), strings.Replace(first, "link", "session", 1)} {
			if err := redeem(bad); err != people.ErrLinkGone {
				t.Errorf("%.20q: %v", bad, err)
			}
		}
	})
}

func TestTM074LinkIsRedeemedOnceByManyAtOnce(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		_, text, err := open(one).NewLink(t.Context(), "", by)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		in, gone := 0, 0
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				_, err := open([]*sqldb.DB{one, two}[i%2]).Redeem(t.Context(), text.Reveal(), people.Browser{})
				mu.Lock()
				defer mu.Unlock()
				switch err {
				case nil:
					in++
				case people.ErrLinkGone:
					gone++
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if in != 1 || gone != 11 {
			t.Fatalf("%d signed in, %d were late", in, gone)
		}
	})
}

func TestTM071SessionNeedsItsSecondSecretForMoreThanLooking(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d := open(db)
		in, other := owner(t, d), owner(t, d)
		got, err := d.Session(t.Context(), in.Cookie.Reveal())
		if err != nil || got.Person.ID != in.Person.ID || got.Credential.ID != in.Session.ID || got.Actor() != "person:"+in.Person.ID {
			t.Fatalf("%+v, %v", got, err)
		}
		if !got.Confirmed(in.Confirm.Reveal()) {
			t.Fatal("its own second secret does not confirm")
		}
		for name, bad := range map[string]string{"none": "", "the cookie": in.Cookie.Reveal(), "another session's": other.Confirm.Reveal(), "more": in.Confirm.Reveal() + "0"} {
			if got.Confirmed(bad) {
				t.Errorf("%s confirms", name)
			}
		}
		c, text, err := d.NewToken(t.Context(), in.Person.ID, "ci", 0, by)
		if err != nil {
			t.Fatal(err)
		}
		token, err := d.Token(t.Context(), text.Reveal())
		if err != nil || token.Credential.ID != c.ID || !token.Confirmed("") {
			t.Fatalf("a token is enough by itself: %+v, %v", token, err)
		}
		if (people.Principal{}).Confirmed("") {
			t.Fatal("nobody is confirmed")
		}
		for name, ask := range map[string]func() error{
			"cookie as a token": func() error { _, err := d.Token(t.Context(), in.Cookie.Reveal()); return err },
			"token as a cookie": func() error { _, err := d.Session(t.Context(), text.Reveal()); return err },
			"confirm as cookie": func() error { _, err := d.Session(t.Context(), in.Confirm.Reveal()); return err },
			"cookie's hash":     func() error { _, err := d.Session(t.Context(), "wl_session_"+strings.Repeat("0", 52)); return err },
		} {
			if err := ask(); err != people.ErrSignedOut {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestTM075SessionsEndByIdlingByAgeAndByANewSignIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		d := open(db)
		in := owner(t, d)
		works := func(in people.SignedIn) bool {
			t.Helper()
			_, err := d.Session(t.Context(), in.Cookie.Reveal())
			if err != nil && err != people.ErrSignedOut {
				t.Fatal(err)
			}
			return err == nil
		}
		if want := clock.Now().Add(people.SessionTime); !in.Session.Expires.Equal(want) {
			t.Fatalf("until %v, want %v", in.Session.Expires, want)
		}
		idle := owner(t, d)
		for range 13 { // 13 times 11 hours are less than a week
			clock.Advance(11 * time.Hour)
			if !works(in) {
				t.Fatal("a session that is used has ended")
			}
		}
		if works(idle) {
			t.Fatal("a session that was not used for 12 hours works")
		}
		for range 3 {
			clock.Advance(11 * time.Hour)
			works(in)
		}
		if works(in) {
			t.Fatal("a session works after a week")
		}
		old := owner(t, d)
		_, link, err := d.NewLink(t.Context(), "", by)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := d.Redeem(t.Context(), link.Reveal(), people.Browser{Cookie: old.Cookie.Reveal()})
		if err != nil || fresh.Cookie.Reveal() == old.Cookie.Reveal() {
			t.Fatal("the session is not a new one", err)
		}
		if works(old) || !works(fresh) {
			t.Fatalf("the old one works: %v, the new one: %v", works(old), works(fresh))
		}
		short := people.NewDirectory(peoplestore.New(db), people.Options{SessionTime: time.Hour, SessionIdle: time.Minute})
		brief := owner(t, short)
		if want := clock.Now().Add(time.Hour); !brief.Session.Expires.Equal(want) {
			t.Fatalf("until %v, want %v", brief.Session.Expires, want)
		}
		clock.Advance(2 * time.Minute)
		if _, err := short.Session(t.Context(), brief.Cookie.Reveal()); err != people.ErrSignedOut {
			t.Fatalf("idle for longer than the setting: %v", err)
		}
	})
}

func TestTM075TwentyWrongPasswordsAndThenNoMore(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, clock *dbtest.Clock) {
		servers := []*people.Directory{open(one), open(two)}
		add(t, servers[0], "anna", people.Viewer, people.Agents{})
		add(t, servers[0], "berta", people.Viewer, people.Agents{})
		try := func(name, text, address string) error {
			t.Helper()
			_, err := servers[clock.Now().Second()%2].SignIn(t.Context(), name, text, people.Browser{Address: address})
			clock.Advance(time.Second)
			return err
		}
		var refused [2]string
		for i, name := range []string{"anna", "nobody-has-this-name"} { // names that are known and not, from many addresses
			for n := range 20 {
				if err := try(name, "wrong password here", fmt.Sprintf("198.51.100.%d", 10*i+n%10)); err != people.ErrWrong {
					t.Fatalf("%s, %d: %v", name, n+1, err)
				}
			}
			var often *people.TooMany
			err := try(name, password, "203.0.113.9")
			if !errors.As(err, &often) || often.Wait <= 14*time.Minute || often.Wait > 15*time.Minute {
				t.Fatalf("%s, the 21st, with the right password: %v", name, err)
			}
			refused[i] = err.Error()
		}
		if refused[0] != refused[1] {
			t.Errorf("the words tell which name is known:\n%s\n%s", refused[0], refused[1])
		}
		if err := try("berta", password, "203.0.113.9"); err != nil {
			t.Fatalf("another name: %v", err)
		}
		for n := range 20 { // one address, many names
			if err := try(fmt.Sprintf("name-%d", n), "wrong password here", "203.0.113.77"); err != people.ErrWrong {
				t.Fatalf("%d: %v", n+1, err)
			}
		}
		var often *people.TooMany
		if err := try("berta", password, "203.0.113.77"); !errors.As(err, &often) {
			t.Fatalf("the 21st of an address: %v", err)
		}
		if err := try("berta", password, "203.0.113.78"); err != nil {
			t.Fatalf("another address: %v", err)
		}
		clock.Advance(15 * time.Minute)
		if err := try("anna", password, "203.0.113.77"); err != nil {
			t.Fatalf("a quarter of an hour later: %v", err)
		}
		if left := dump(t, one, "subject, used", "sign_in_attempts"); strings.Count(left, "\n") > 2 {
			t.Fatalf("counts that are over were kept:\n%s", left)
		}
	})
}

func TestTM075ManyAtOnceAreCountedBeforeTheyAreTried(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		servers := []*people.Directory{open(one), open(two)}
		add(t, servers[0], "anna", people.Viewer, people.Agents{})
		var mu sync.Mutex
		wrong, often := 0, 0
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				_, err := servers[i%2].SignIn(t.Context(), "anna", "wrong password here", people.Browser{Address: fmt.Sprintf("198.51.100.%d", i)})
				var refused *people.TooMany
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == people.ErrWrong:
					wrong++
				case errors.As(err, &refused):
					often++
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if wrong != 20 || often != 40 {
			t.Fatalf("%d were tried, %d refused", wrong, often)
		}
	})
}

func TestRightSignInsAreNotHeldAgainstAnybody(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d := open(db)
		add(t, d, "anna", people.Viewer, people.Agents{})
		for n := range 50 {
			in := signIn(t, d, " Anna ", people.Browser{Address: "192.0.2.1", Label: "Browser\n\x1b[1m 7"})
			if n == 0 && in.Session.Label != "Browser[1m 7" {
				t.Fatalf("label %q", in.Session.Label)
			}
		}
		for range 19 {
			if _, err := d.SignIn(t.Context(), "anna", "wrong password here", people.Browser{Address: "192.0.2.1"}); err != people.ErrWrong {
				t.Fatal(err)
			}
		}
		signIn(t, d, "anna", people.Browser{Address: "192.0.2.1"})
		var often *people.TooMany
		if _, err := d.SignIn(t.Context(), "berta", password, people.Browser{Address: "192.0.2.1"}); err != people.ErrWrong {
			t.Fatalf("the 20th wrong one of the address: %v", err)
		}
		if _, err := d.SignIn(t.Context(), "anna", password, people.Browser{Address: "192.0.2.1"}); !errors.As(err, &often) {
			t.Fatalf("a right one must not clear an address of its wrong ones: %v", err)
		}
		signIn(t, d, "anna", people.Browser{Address: "192.0.2.2"}) // the name was cleared
	})
}

func TestSignOut(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		d, server := open(one), open(two)
		p := add(t, d, "anna", people.Operator, people.Agents{})
		in := []people.SignedIn{signIn(t, d, "anna", people.Browser{}), signIn(t, d, "anna", people.Browser{}), signIn(t, d, "anna", people.Browser{})}
		_, text, err := d.NewToken(t.Context(), p.ID, "ci", 0, by)
		if err != nil {
			t.Fatal(err)
		}
		_, link, err := d.NewLink(t.Context(), "anna", by)
		if err != nil {
			t.Fatal(err)
		}
		works := func() (out []bool) {
			t.Helper()
			for _, s := range in {
				_, err := server.Session(t.Context(), s.Cookie.Reveal())
				out = append(out, err == nil)
			}
			_, err := server.Token(t.Context(), text.Reveal())
			return append(out, err == nil)
		}
		if got := works(); !slices.Equal(got, []bool{true, true, true, true}) {
			t.Fatal(got)
		}
		if list, err := d.Credentials(t.Context(), p.ID); err != nil || len(list) != 4 {
			t.Fatalf("%+v, %v", list, err)
		}
		for range 2 { // ending what has ended is no error
			if err := d.End(t.Context(), p.ID, in[0].Session.ID, people.Actor(p.ID)); err != nil {
				t.Fatal(err)
			}
		}
		if got := works(); !slices.Equal(got, []bool{false, true, true, true}) {
			t.Fatal(got)
		}
		if n, err := d.SignOutEverywhere(t.Context(), p.ID, by); err != nil || n != 3 { // two sessions and the link
			t.Fatalf("%d, %v", n, err)
		}
		if got := works(); !slices.Equal(got, []bool{false, false, false, true}) {
			t.Fatal(got)
		}
		if _, err := d.Redeem(t.Context(), link.Reveal(), people.Browser{}); err != people.ErrLinkGone {
			t.Fatalf("a link after signing out everywhere: %v", err)
		}
	})
}

func TestNewPasswordEndsWhatTheOldOneBegan(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d := open(db)
		p := add(t, d, "anna", people.Operator, people.Agents{})
		keep, other := signIn(t, d, "anna", people.Browser{}), signIn(t, d, "anna", people.Browser{})
		for _, bad := range []string{"", "short"} {
			if err := d.SetPassword(t.Context(), p.ID, bad, keep.Session.ID, by); err == nil {
				t.Fatalf("%q was set", bad)
			}
		}
		if err := d.SetPassword(t.Context(), "person_none", "another password", "", by); !errors.Is(err, people.ErrNotFound) {
			t.Fatal(err)
		}
		if err := d.SetPassword(t.Context(), p.ID, "another password", keep.Session.ID, by); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Session(t.Context(), keep.Cookie.Reveal()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Session(t.Context(), other.Cookie.Reveal()); err != people.ErrSignedOut {
			t.Fatal(err)
		}
		if _, err := d.SignIn(t.Context(), "anna", password, people.Browser{}); err != people.ErrWrong {
			t.Fatalf("the old password: %v", err)
		}
		if _, err := d.SignIn(t.Context(), "anna", "another password", people.Browser{}); err != nil {
			t.Fatal(err)
		}
		// A password that was right when it was tried, and is not any more when its session would begin.
		if _, _, err := peoplestore.New(db).Begin(t.Context(), p.ID, "$argon2id$of-before", people.Fresh{ID: "cred_1", Hash: "h", Life: time.Hour}, ""); !errors.Is(err, people.ErrNotFound) {
			t.Fatalf("a session began on a password that was replaced meanwhile: %v", err)
		}
	})
}

func TestTokensOfPeople(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		d := open(db)
		p := add(t, d, "anna", people.Operator, people.Agents{})
		c, text, err := d.NewToken(t.Context(), p.ID, "ci\n", time.Hour, by)
		if err != nil || c.Label != "ci" || c.Kind != people.Token || !c.Expires.Equal(clock.Now().Add(time.Hour)) || c.Person != p.ID {
			t.Fatalf("%+v, %v", c, err)
		}
		_, forever, err := d.NewToken(t.Context(), p.ID, "", 0, by)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text.Reveal(), "wl_person_") || !people.IsToken(text.Reveal()) || people.IsToken("wl_tools_"+text.Reveal()[10:]) {
			t.Fatal("a token is not recognised")
		}
		got, err := d.Token(t.Context(), text.Reveal())
		if err != nil || got.Person.Role != people.Operator || got.Person.ID != p.ID {
			t.Fatalf("%+v, %v", got, err)
		}
		clock.Advance(time.Hour)
		if _, err := d.Token(t.Context(), text.Reveal()); err != people.ErrSignedOut {
			t.Fatalf("after its time: %v", err)
		}
		clock.Advance(300 * 24 * time.Hour)
		if _, err := d.Token(t.Context(), forever.Reveal()); err != nil {
			t.Fatalf("tokens do not idle: %v", err)
		}
		list, err := d.Credentials(t.Context(), p.ID)
		if err != nil || len(list) != 1 || !list[0].Used.Equal(clock.Now()) {
			t.Fatalf("%+v, %v", list, err)
		}
	})
}

func TestCredentialsThatAreOverDoNotFillTheTable(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		d := open(db)
		p := add(t, d, "anna", people.Operator, people.Agents{})
		_, token, err := d.NewToken(t.Context(), p.ID, "stays", 0, by)
		if err != nil {
			t.Fatal(err)
		}
		other := owner(t, d)
		for range 5 {
			byLink(t, d, "anna")
			signIn(t, d, "anna", people.Browser{})
			clock.Advance(40 * 24 * time.Hour)
		}
		signIn(t, d, "anna", people.Browser{})
		rows := dump(t, db, "kind, person_id", "person_credentials")
		if got := strings.Count(rows, p.ID); got != 2 { // the token and the last session
			t.Errorf("anna has %d rows:\n%s", got, rows)
		}
		if strings.Count(rows, other.Person.ID) != 2 {
			t.Errorf("the rows of another person went:\n%s", rows)
		}
		if _, err := d.Token(t.Context(), token.Reveal()); err != nil {
			t.Error(err)
		}
	})
}

// TestRightSignInTakesItsCountsInTheOrderOfAttempts: else two would wait for each other, and one be broken off.
func TestRightSignInTakesItsCountsInTheOrderOfAttempts(t *testing.T) {
	db, _ := dbtest.OpenPatient(t)
	p := add(t, open(db), "anna", people.Viewer, people.Agents{})
	rows := peoplestore.New(db)
	_, encoded, err := rows.ByName(t.Context(), p.Name)
	if err != nil {
		t.Fatal(err)
	}
	subjects := []string{"name:1", "from:1"}
	if _, err := rows.Attempt(t.Context(), 20, time.Hour, subjects...); err != nil {
		t.Fatal(err)
	}
	held := dbtest.Hold(t, db, "SELECT subject FROM sign_in_attempts WHERE subject = 'from:1' FOR UPDATE") // the first of the two
	begun := make(chan error, 1)
	go func() {
		_, _, err := rows.Begin(context.Background(), p.ID, encoded, people.Fresh{ID: "cred_1", Hash: "hash", Life: time.Hour}, "", subjects...)
		begun <- err
	}()
	dbtest.AwaitWaiters(t, db, 1)
	if err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
		_, err := tx.Exec("SELECT subject FROM sign_in_attempts WHERE subject = 'name:1' FOR UPDATE NOWAIT")
		return err
	}); err != nil {
		t.Errorf("it has the second while it waits for the first: %v", err)
	}
	held.Undo()
	if err := <-begun; err != nil {
		t.Error(err)
	}
}
