package operatorapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/people"
)

// cookieOf is the session that an answer sets, with its attributes checked.
func cookieOf(t *testing.T, got answered) *http.Cookie {
	t.Helper()
	set, err := http.ParseSetCookie(got.header.Get("Set-Cookie"))
	must(t, err)
	if set.Name != gate.CookieName || !set.HttpOnly || set.SameSite != http.SameSiteStrictMode || set.Path != "/" || set.Domain != "" {
		t.Fatalf("cookie %v", set)
	}
	return set
}

func (w *world) newLink(name string) string {
	_, text, err := w.people.NewLink(w.ctx, name, "system")
	must(w.t, err)
	return text.Reveal()
}

// TestTM074ALinkIsRedeemedByPostOnce: the address opens nothing by itself, a second use and an older link are gone, and
// no log has the secret.
func TestTM074ALinkIsRedeemedByPostOnce(t *testing.T) {
	w := newWorld(t)
	old, link := w.newLink("owner"), w.newLink("owner")
	for _, path := range []string{"/sign-in", "/sign-in?" + link, "/api/sign-in/link?secret=" + link, "/api/sign-in/link"} {
		if got := w.do("nobody", "GET", path, ""); len(got.header.Values("Set-Cookie")) > 0 {
			t.Errorf("GET %s signs in", path)
		}
	}
	refused(t, w.do("nobody", "POST", "/api/sign-in/link", `{"secret":"`+old+`"}`), 410, gate.CodeLinkGone)
	got := w.do("nobody", "POST", "/api/sign-in/link", `{"secret":"`+link+`"}`)
	session := want[wire.Session](w, got, 200)
	if session.Person.Role != "owner" || !session.Until.Equal(w.clock.Now().Add(people.SessionTime)) {
		t.Errorf("%+v", session)
	}
	c := cred{cookie: cookieOf(t, got).Value, confirm: session.Confirm}
	if got := w.send(w.request(c, "POST", "/api/install/pause", "")); got.status != 204 {
		t.Errorf("the session changes nothing: %d %s", got.status, got.body)
	}
	refused(t, w.do("nobody", "POST", "/api/sign-in/link", `{"secret":"`+link+`"}`), 410, gate.CodeLinkGone)

	late := w.newLink("owner")
	w.clock.Advance(people.LinkTime + time.Second)
	refused(t, w.do("nobody", "POST", "/api/sign-in/link", `{"secret":"`+late+`"}`), 410, gate.CodeLinkGone)

	for _, secret := range []string{old, link, late, c.cookie, c.confirm} {
		if strings.Contains(w.logged.String(), secret[len(secret)-16:]) {
			t.Error("the log has a secret")
		}
	}
}

// TestALinkSetsThePassword: a new person gets a link, sets a password with it, and signs in by it from then on.
func TestALinkSetsThePassword(t *testing.T) {
	w := newWorld(t)
	link := want[wire.Link](w, w.do("owner", "POST", "/api/people", `{"name":"Nora","role":"operator","agents":["alice"]}`), 200)
	base, secret, found := strings.Cut(link.URL, "#")
	if !found || base != "http://"+home+"/sign-in" || link.Person.Name != "nora" || len(link.Person.Agents) != 1 || link.Person.HasPassword {
		t.Fatalf("%+v", link)
	}
	refused(t, w.do("nobody", "POST", "/api/sign-in/link", `{"secret":"`+secret+`","password":"short"}`), 422, gate.CodeInvalidRequest)
	session := want[wire.Session](w, w.do("nobody", "POST", "/api/sign-in/link", `{"secret":"`+secret+`","password":"nora's own words"}`), 200)
	if !session.Person.HasPassword {
		t.Error("the person has no password")
	}
	got := want[wire.Session](w, w.do("nobody", "POST", "/api/sign-in", `{"name":"nora ","password":"nora's own words"}`), 200)
	if got.Person.ID != link.Person.ID || got.Confirm == "" {
		t.Errorf("%+v", got)
	}
}

// TestTM075Sessions: guessing is bounded and tells nothing about names, a sign-in replaces the session that the browser
// brought, and what was ended is over everywhere.
func TestTM075Sessions(t *testing.T) {
	w := newWorld(t)
	wrong := w.do("nobody", "POST", "/api/sign-in", `{"name":"owner","password":"wrong"}`)
	unknown := w.do("nobody", "POST", "/api/sign-in", `{"name":"nobody-at-all","password":"wrong"}`)
	refused(t, wrong, 401, gate.CodeWrongSignIn)
	if wrong.body != unknown.body {
		t.Errorf("%s and %s differ", wrong.body, unknown.body)
	}
	var last answered
	for range 20 {
		last = w.do("nobody", "POST", "/api/sign-in", `{"name":"viewer-of-bob","password":"wrong"}`)
	}
	if p := refused(t, last, 429, gate.CodeRateLimit); p.RetryAfter == 0 || last.header.Get("Retry-After") == "" {
		t.Errorf("no time to wait: %s", last.body)
	}
	w.clock.Advance(time.Hour)

	before := w.creds["owner"]
	r := w.request(cred{cookie: before.cookie}, "POST", "/api/sign-in", bodies["sign-in"])
	got := w.send(r)
	session := want[wire.Session](w, got, 200)
	fresh := cred{cookie: cookieOf(t, got).Value, confirm: session.Confirm}
	if fresh.cookie == before.cookie {
		t.Error("a session that somebody planted was kept")
	}
	refused(t, w.send(w.request(before, "GET", "/api/me", "")), 401, gate.CodeInvalidToken)

	other := w.signIn("owner")
	got = w.send(w.request(fresh, "POST", "/api/sign-out", ""))
	if gone := cookieOf(t, got); got.status != 204 || gone.MaxAge >= 0 || gone.Value != "" {
		t.Errorf("%d %v", got.status, gone)
	}
	refused(t, w.send(w.request(fresh, "GET", "/api/me", "")), 401, gate.CodeInvalidToken)
	if got := w.send(w.request(other, "GET", "/api/me", "")); got.status != 200 {
		t.Error("signing out of one browser signed out of another")
	}
	third := w.signIn("owner")
	if got := w.send(w.request(third, "POST", "/api/sign-out", `{"everywhere":true}`)); got.status != 204 {
		t.Fatal(got)
	}
	refused(t, w.send(w.request(other, "GET", "/api/me", "")), 401, gate.CodeInvalidToken)

	w.creds["owner"] = w.signIn("owner")
	got = w.do("owner", "PUT", "/api/me/password", `{"old_password":"`+password+`","new_password":"another horse battery"}`)
	changed := want[wire.Session](w, got, 200)
	refused(t, w.do("owner", "GET", "/api/me", ""), 401, gate.CodeInvalidToken)
	now := cred{cookie: cookieOf(t, got).Value, confirm: changed.Confirm}
	if got := w.send(w.request(now, "GET", "/api/me", "")); got.status != 200 {
		t.Errorf("the session of the new password: %d", got.status)
	}
	refused(t, w.do("nobody", "POST", "/api/sign-in", bodies["sign-in"]), 401, gate.CodeWrongSignIn)

	w.clock.Advance(people.SessionIdle + time.Minute)
	refused(t, w.send(w.request(now, "GET", "/api/me", "")), 401, gate.CodeInvalidToken)
}

// TestSecureCookies: where people come over TLS the cookie goes over nothing else.
func TestSecureCookies(t *testing.T) {
	w := newWorld(t)
	w.s.o.Secure = true
	if c := cookieOf(t, w.do("nobody", "POST", "/api/sign-in", bodies["sign-in"])); !c.Secure {
		t.Errorf("%v", c)
	}
	r := w.request(cred{}, "POST", "/api/sign-in", bodies["sign-in"])
	r.Host = "box.example"
	if c := cookieOf(t, w.send(r)); !c.Secure {
		t.Errorf("%v", c)
	}
}

// TestATokenMakesNoCredential: a stolen API token cannot make itself last.
func TestATokenMakesNoCredential(t *testing.T) {
	w := newWorld(t)
	for path, body := range map[string]string{"/api/me/tokens": `{"label":"x"}`, "/api/people": `{"name":"x","role":"owner"}`,
		"/api/people/" + w.ids["owner"] + "/sign-in-link": "", "/api/me/password": ""} {
		method := "POST"
		if path == "/api/me/password" {
			method, body = "PUT", bodies["change-password"]
		}
		refused(t, w.do("owner, by token", method, path, body), 403, gate.CodeForbidden)
	}
	made := want[wire.NewToken](w, w.do("viewer of alice", "POST", "/api/me/tokens", `{"label":"cron\u0007 job","days":3}`), 200)
	if made.Token.Label != "cron job" || made.Token.Expires == nil || !people.IsToken(made.Secret) {
		t.Errorf("%+v", made.Token)
	}
	w.creds["cron"] = cred{bearer: made.Secret}
	if me := get[wire.Me](w, "cron", "/api/me"); me.Kind != "person_token" || me.SignedIn || me.Person.Role != "viewer" {
		t.Errorf("%+v", me)
	}
	if list := get[wire.Tokens](w, "viewer of alice", "/api/me/tokens"); len(list.Tokens) != 2 {
		t.Errorf("%+v", list)
	}
	refused(t, w.do("owner", "DELETE", "/api/me/tokens/"+made.Token.ID, ""), 404, gate.CodeNotFound)
	if got := w.do("cron", "DELETE", "/api/me/tokens/"+made.Token.ID, ""); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	refused(t, w.do("cron", "GET", "/api/me", ""), 401, gate.CodeInvalidToken)
}

// TestPeopleChange: roles and lists count from the next request on; the last owner stays; a disabled person is out.
func TestPeopleChange(t *testing.T) {
	w := newWorld(t)
	id := w.ids["operator of bob"]
	got := want[wire.Person](w, w.do("owner", "PUT", "/api/people/"+id, `{"role":"viewer","agents":["alice"],"state":"active"}`), 200)
	if got.Role != "viewer" || len(got.Agents) != 1 || got.Agents[0] != "alice" {
		t.Errorf("%+v", got)
	}
	refused(t, w.do("operator of bob", "GET", "/api/agents/bob", ""), 404, gate.CodeNotFound)
	refused(t, w.do("operator of bob", "POST", "/api/agents/alice/pause", ""), 403, gate.CodeForbidden)
	refused(t, w.do("owner", "PUT", "/api/people/"+w.ids["owner"], `{"role":"viewer","state":"active"}`), 409, gate.CodeConflict)
	refused(t, w.do("owner", "PUT", "/api/people/"+w.ids["owner"], `{"role":"owner","state":"disabled"}`), 409, gate.CodeConflict)
	if p := refused(t, w.do("owner", "PUT", "/api/people/"+id, `{"role":"viewer","agents":["nobody"],"state":"active"}`), 422, gate.CodeInvalidRequest); p.Field != "agents" {
		t.Errorf("%+v", p)
	}
	refused(t, w.do("owner", "PUT", "/api/people/"+id, `{"role":"viewer","agents":["alice"],"all_agents":true,"state":"active"}`), 422, gate.CodeInvalidRequest)
	if off := want[wire.Person](w, w.do("owner", "PUT", "/api/people/"+id, `{"role":"viewer","agents":["alice"],"state":"disabled"}`), 200); off.State != "disabled" {
		t.Errorf("%+v", off)
	}
	refused(t, w.do("operator of bob", "GET", "/api/me", ""), 401, gate.CodeInvalidToken)
	refused(t, w.do("operator of bob, by token", "GET", "/api/me", ""), 401, gate.CodeInvalidToken)
	refused(t, w.do("owner", "POST", "/api/people", `{"name":"Viewer-of-Bob","role":"viewer"}`), 409, gate.CodeConflict)
	refused(t, w.do("owner", "POST", "/api/people", `{"name":"a b","role":"viewer"}`), 422, gate.CodeInvalidRequest)
	if all := get[wire.PeopleList](w, "owner", "/api/people"); len(all.People) != 7 {
		t.Errorf("%d people", len(all.People))
	}
}
