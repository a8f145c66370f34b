// This file is the world of the tests: an install with two agents, people of every role, runs, calls and questions, behind
// a door that is asked in memory. People, agents and settings stand in a database; the ledger is a fake.
package operatorapi

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/catalogdata"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/doorstep"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/people"
	"github.com/wayleave/wayleave/internal/store/agentstore"
	"github.com/wayleave/wayleave/internal/store/allowedstore"
	"github.com/wayleave/wayleave/internal/store/connectionstore"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/peoplestore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const (
	label    = "x7k2q9"
	home     = label + ".wayleave.localhost:7477"
	password = "correct horse battery"
)

// cheap makes a password cost nothing worth mentioning.
var cheap = people.Cost{Memory: 8, Passes: 1, Lanes: 1}

// cred is one way to ask.
type cred struct {
	bearer, cookie, confirm string
}

type world struct {
	t      testing.TB
	ctx    context.Context // as long as the world
	s      *Server
	clock  *dbtest.Clock
	people *people.Directory
	agents *agent.Directory
	fake   *fake
	doors  *doors
	logged *bytes.Buffer

	alice, bob agent.Agent // agents
	ids        map[string]string
	creds      map[string]cred
}

// doors are the real directories, which a test may make fail.
type doors struct {
	trip func() error // asked before a credential is looked at
}

type agents struct {
	*agent.Directory
	d *doors
}

func (a agents) Verify(bearer, from string) (agent.Identity, error) {
	if err := a.d.trip(); err != nil {
		return agent.Identity{}, err
	}
	return a.Directory.Verify(bearer, from)
}

type signIns struct {
	*people.Directory
	d *doors
}

func (s signIns) Session(ctx context.Context, cookie string) (people.Principal, error) {
	if err := s.d.trip(); err != nil {
		return people.Principal{}, err
	}
	return s.Directory.Session(ctx, cookie)
}

func (s signIns) Token(ctx context.Context, bearer string) (people.Principal, error) {
	if err := s.d.trip(); err != nil {
		return people.Principal{}, err
	}
	return s.Directory.Token(ctx, bearer)
}

// grown is a populated database, which every world begins as a copy of: filling one takes longer than most tests.
var grown struct {
	sync.Mutex
	database []byte
	ids      map[string]string
	creds    map[string]cred
}

// newWorld makes one.
func newWorld(t testing.TB) *world {
	t.Helper()
	grown.Lock()
	defer grown.Unlock()
	if grown.database == nil {
		place := dbtest.New(t, sqldb.SQLite)
		db := place.Open(t)
		w := openWorld(t, db, place.Clock)
		w.ids, w.creds = make(map[string]string), make(map[string]cred)
		w.populate()
		file := filepath.Join(t.TempDir(), "copy.db")
		must(t, db.Maintain(t.Context(), func(ctx context.Context, pool *sql.DB) error {
			_, err := pool.ExecContext(ctx, "VACUUM INTO ?", file)
			return err
		}))
		database, err := os.ReadFile(file)
		must(t, err)
		grown.ids, grown.creds, grown.database = w.ids, w.creds, database
	}
	place := dbtest.Place{Dialect: sqldb.SQLite, Address: filepath.Join(t.TempDir(), "wayleave.db"), Clock: new(dbtest.Clock)}
	place.Clock.Advance(dbtest.Start.Sub(place.Clock.Now()))
	must(t, os.WriteFile(place.Address, grown.database, 0o600))
	w := openWorld(t, place.Open(t), place.Clock)
	w.ids, w.creds = maps.Clone(grown.ids), maps.Clone(grown.creds)
	return w
}

// openWorld opens the door of a database; its two agents are made where they are not there.
func openWorld(t testing.TB, db *sqldb.DB, clock *dbtest.Clock) *world {
	t.Helper()
	rules, err := connection.New(catalogdata.Built())
	must(t, err)
	w := &world{t: t, ctx: t.Context(), clock: clock, people: people.NewDirectory(peoplestore.New(db), people.Options{Cost: cheap}),
		agents: agent.NewDirectory(agentstore.New(db)), doors: &doors{trip: func() error { return nil }}, logged: new(bytes.Buffer)}
	w.alice, _, err = w.agents.EnsureAgent(t.Context(), "alice", "system")
	must(t, err)
	w.bob, _, err = w.agents.EnsureAgent(t.Context(), "bob", "system")
	must(t, err)
	w.fake = newFake(clock, w.alice, w.bob)
	names, err := doorstep.New([]string{label + ".wayleave.localhost", "box.example"}, nil)
	must(t, err)
	w.s, err = New(Deps{SignIns: signIns{w.people, w.doors}, People: w.people, Agents: agents{w.agents, w.doors},
		Settings: connection.NewSettings(rules, connectionstore.New(db)), Approvals: questions{w.fake}, Ledger: w.fake, Rows: w.fake, Tools: pipeline{w.fake},
		Hosts: allowed.NewRegister(allowedstore.New(db)), Pages: w.fake, Watch: w.fake, Audit: trail{w.fake}},
		Options{Version: "v0", Label: label, Names: names, Base: func() string { return "http://" + home }, MCP: func() string { return "http://" + home + "/mcp" },
			Log: slog.New(slog.NewJSONHandler(w.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	must(t, err)
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// populate makes a credential of every kind.
func (w *world) populate() {
	ctx := w.ctx
	w.creds["nobody"] = cred{}
	for _, a := range []agent.Agent{w.alice, w.bob} {
		for _, scope := range agent.Scopes() {
			tok, text, err := w.agents.NewToken(ctx, a.ID, scope, "system")
			must(w.t, err)
			w.creds[string(scope)+" of "+a.Slug] = cred{bearer: text.Reveal()}
			w.ids[string(scope)+" of "+a.Slug] = tok.ID
		}
	}
	for _, p := range []struct {
		name   string
		role   people.Role
		agents people.Agents
	}{
		{"viewer of alice", people.Viewer, people.Agents{List: []string{w.alice.ID}}},
		{"viewer of bob", people.Viewer, people.Agents{List: []string{w.bob.ID}}},
		{"viewer of all", people.Viewer, people.Agents{All: true}},
		{"operator of alice", people.Operator, people.Agents{List: []string{w.alice.ID}}},
		{"operator of bob", people.Operator, people.Agents{List: []string{w.bob.ID}}},
		{"operator of all", people.Operator, people.Agents{All: true}},
		{"owner", people.Owner, people.Agents{}},
	} {
		who, err := w.people.Add(ctx, strings.ReplaceAll(p.name, " ", "-"), p.role, p.agents, "system")
		must(w.t, err)
		w.ids[p.name] = who.ID
		must(w.t, w.people.SetPassword(ctx, who.ID, password, "", "system"))
		w.creds[p.name] = w.signIn(who.Name)
		_, text, err := w.people.NewToken(ctx, who.ID, "test", 0, "system")
		must(w.t, err)
		w.creds[p.name+", by token"] = cred{bearer: text.Reveal()}
		bare := w.creds[p.name]
		bare.confirm = ""
		w.creds[p.name+", by cookie alone"] = bare
	}
}

// signIn opens a session past the door.
func (w *world) signIn(name string) cred {
	got, err := w.people.SignIn(w.ctx, name, password, people.Browser{Address: "192.0.2.7"})
	must(w.t, err)
	return cred{cookie: got.Cookie.Reveal(), confirm: got.Confirm.Reveal()}
}

// request makes one, as a browser or a program sends it.
func (w *world) request(c cred, method, path, body string) *http.Request {
	var r *http.Request
	if body == "" {
		r = httptest.NewRequest(method, "http://"+home+path, nil)
	} else {
		r = httptest.NewRequest(method, "http://"+home+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	r.RemoteAddr = "192.0.2.7:4711"
	if c.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+c.bearer)
	}
	if c.cookie != "" {
		r.AddCookie(&http.Cookie{Name: gate.CookieName, Value: c.cookie})
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if c.confirm != "" {
		r.Header.Set(gate.ConfirmHeader, c.confirm)
	}
	return r
}

// answered is an answer.
type answered struct {
	status int
	header http.Header
	body   string
}

func (a answered) problem(t testing.TB) wire.Problem {
	t.Helper()
	var p wire.Problem
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.header.Get("Content-Type") != gate.ProblemType {
		t.Fatalf("%d is no problem: %s %.300q", a.status, a.header.Get("Content-Type"), a.body)
	}
	return p
}

func (w *world) send(r *http.Request) answered {
	return w.sendTo(httptest.NewRecorder(), w.ctx, r)
}

// glance asks for what does not end by itself, and leaves after the first words of the answer.
func (w *world) glance(r *http.Request) answered {
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	return w.sendTo(&leaving{httptest.NewRecorder(), leave}, ctx, r)
}

// leaving is a client that leaves when it has got something.
type leaving struct {
	*httptest.ResponseRecorder
	leave func()
}

func (l *leaving) Write(p []byte) (int, error) {
	defer l.leave()
	return l.ResponseRecorder.Write(p)
}

func (w *world) sendTo(to interface {
	http.ResponseWriter
	Result() *http.Response
}, ctx context.Context, r *http.Request) answered {
	w.s.Handler().ServeHTTP(to, r.WithContext(ctx))
	out := to
	got := out.Result()
	body, err := io.ReadAll(got.Body)
	must(w.t, err)
	return answered{got.StatusCode, got.Header, string(body)}
}

// serve serves over connections in memory, with a server's own deadlines, and gives a client of it. Both end with the
// test.
func (w *world) serve(t *testing.T, deadlines time.Duration) *http.Client {
	t.Helper()
	l := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: w.s.Handler(), ReadTimeout: deadlines, WriteTimeout: deadlines, BaseContext: func(net.Listener) context.Context { return t.Context() }}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case l.come <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		<-served
	})
	return &http.Client{Transport: transport}
}

// pipes is a listener of connections in memory.
type pipes struct {
	come   chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.come:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error { close(p.closed); return nil }

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (w *world) do(who, method, path, body string) answered {
	w.t.Helper()
	c, ok := w.creds[who]
	if !ok {
		w.t.Fatalf("nobody is %q", who)
	}
	return w.send(w.request(c, method, path, body))
}

// get asks for a thing that must be there.
func get[T any](w *world, who, path string) T {
	w.t.Helper()
	return want[T](w, w.do(who, "GET", path, ""), http.StatusOK)
}

func want[T any](w *world, got answered, status int) T {
	w.t.Helper()
	var out T
	if got.status != status {
		w.t.Fatalf("status %d, not %d: %.400s", got.status, status, got.body)
	}
	if got.body == "" {
		return out
	}
	dec := json.NewDecoder(strings.NewReader(got.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&out); err != nil {
		w.t.Fatalf("%v in %s", err, got.body)
	}
	return out
}

// refused says that an answer is a problem of this status and code.
func refused(t testing.TB, got answered, status int, code string) wire.Problem {
	t.Helper()
	p := got.problem(t)
	if got.status != status || p.Code != code || p.Status != status {
		t.Fatalf("%d %s, not %d %s: %s", got.status, p.Code, status, code, got.body)
	}
	return p
}

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }
