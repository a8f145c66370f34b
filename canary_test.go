package wayleave

// Secrets of every kind go through a whole service, and are looked for in everything that leaves it. The table below says
// where each may be; anywhere else is a leak (TM-100 and the threat model's canaries).

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/canary"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/people"
	"github.com/wayleave/wayleave/internal/store/backup"
	"github.com/wayleave/wayleave/internal/store/keystore"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// Places that are looked at.
const (
	placeLog      = "the log at its finest level"
	placeWebhook  = "what the webhook is told"
	placeMetrics  = "metrics"
	placeDocument = "OpenAPI"
	placeErrors   = "errors and printed values"
	placeDatabase = "the database's files"
	placeBackup   = "the backup"
	placeFolder   = "the data folder"
	placeSignIn   = "answers of signing in"
	placeTokens   = "answers that give a token"
	placeAlice    = "answers of agent alice"
	placeHarness  = "answers over HTTP of alice's run"
	placeOwner    = "answers of the owner"
	placeBob      = "answers of agent bob"
	placeViewer   = "answers of a viewer of bob"
	placeStranger = "answers of nobody"
)

// allowance is secrets that may be in a place.
type allowance struct {
	place string
	names []string
}

// allowances is where secrets may be, and are: one that is not there was never planted.
func allowances() []allowance {
	return []allowance{
		{placeTokens, []string{"K3-agent-token", "K3-harness-token", "K3-person-token"}},
		{placeSignIn, []string{"K4-cookie", "K4-second-secret"}},
		{placeFolder, []string{"K5-master-key"}},
		{placeAlice, []string{"K10-text", "K10-title", "K10-query", "K11-argument", "K11-tool"}},
		{placeHarness, []string{"K10-text", "K10-title", "K10-query", "K10-etag", "K11-argument", "K11-title", "K11-key"}},
		{placeOwner, []string{"K10-text", "K10-title", "K10-query", "K10-etag", "K11-argument", "K11-title", "K11-key"}},
		// What a harness names its calls is in the clear, as slugs are.
		{placeDatabase, []string{"K11-key"}},
		{placeBackup, []string{"K11-key"}},
		{placeWebhook, []string{"K18-webhook-address"}},
		// A second person's and a second agent's, for the searches of the others.
		{placeSignIn, []string{"K4-cookie-viewer", "K4-second-secret-viewer"}},
		{placeTokens, []string{"K3-bob-token"}},
	}
}

// hunt is the search with the service that is searched.
type hunt struct {
	*canary.Hunt
	t  *testing.T
	in *served
}

// watched is a transport that keeps what is answered: status, headers, body and trailers.
type watched struct {
	h     *hunt
	place string
	next  http.RoundTripper
}

func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	what := r.Method + " " + r.URL.Path
	res, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	head, err := httputil.DumpResponse(res, false)
	if err != nil {
		return nil, err
	}
	w.h.LookSmall(w.place, what+", head", head)
	res.Body = &teed{Reader: io.TeeReader(res.Body, w.h.Writer(w.place, what)), Closer: res.Body}
	return res, nil
}

type teed struct {
	io.Reader
	io.Closer
}

// request is one request; nobody's where credential is nil.
func (h *hunt) request(place string, credential func(*http.Request), method, path, body string) (int, []byte) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	if strings.HasSuffix(path, "/events") { // they do not end by themselves
		ctx, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
	}
	r, err := http.NewRequestWithContext(ctx, method, h.in.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Host = strings.TrimPrefix(h.in.answers.people(), "http://")
	r.Header.Set("Content-Type", "application/json")
	if credential != nil {
		credential(r)
	}
	res, err := watched{h, place, http.DefaultTransport}.RoundTrip(r)
	if err != nil {
		h.t.Fatalf("%s: %s %s: %v", place, method, path, err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil && ctx.Err() == nil {
		h.t.Fatalf("%s: %s %s: %v", place, method, path, err)
	}
	return res.StatusCode, said
}

// must is a request that succeeds, with its answer.
func (h *hunt) must(place string, credential func(*http.Request), method, path, body string, into any) {
	h.t.Helper()
	status, said := h.request(place, credential, method, path, body)
	if status/100 != 2 {
		h.t.Fatalf("%s: %s %s: %d %s", place, method, path, status, said)
	}
	if err := json.Unmarshal(said, into); err != nil {
		h.t.Fatal(err)
	}
}

func withBearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

func (p person) with(r *http.Request) {
	r.AddCookie(&http.Cookie{Name: operatorapi.CookieName, Value: p.cookie})
	r.Header.Set(operatorapi.ConfirmHeader, p.confirm)
}

// seek looks for a secret that the service made.
func (h *hunt) seek(name, secret string) {
	h.t.Helper()
	if err := h.Seek(name, secret); err != nil {
		h.t.Fatal(err)
	}
}

// signIn signs a person in with a link, once with a wrong one and once more with a used one.
func (h *hunt) signIn(who, name, password string) person {
	h.t.Helper()
	_, link, err := h.in.beside.People.NewLink(h.t.Context(), name, "test")
	if err != nil {
		h.t.Fatal(err)
	}
	h.seek("K4-link"+who, link.Reveal())
	h.request(placeStranger, nil, http.MethodPost, "/api/sign-in/link", `{"secret":"`+link.Reveal()+`","password":7}`)
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.in.url+"/api/sign-in/link", strings.NewReader(`{"secret":"`+link.Reveal()+`","password":"`+password+`"}`))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Host = strings.TrimPrefix(h.in.answers.people(), "http://")
	r.Header.Set("Content-Type", "application/json")
	res, err := watched{h, placeSignIn, http.DefaultTransport}.RoundTrip(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	var session struct{ Confirm string }
	if err := json.NewDecoder(res.Body).Decode(&session); err != nil || len(res.Cookies()) != 1 {
		h.t.Fatalf("sign in %q: %d %v", name, res.StatusCode, err)
	}
	p := person{in: h.in, cookie: res.Cookies()[0].Value, confirm: session.Confirm}
	h.seek("K4-cookie"+who, p.cookie)
	h.seek("K4-second-secret"+who, p.confirm)
	h.request(placeStranger, nil, http.MethodPost, "/api/sign-in/link", `{"secret":"`+link.Reveal()+`"}`)
	h.request(placeStranger, nil, http.MethodPost, "/api/sign-in", `{"name":"owner","password":"`+password+`x"}`)
	h.request(placeStranger, nil, http.MethodPost, "/api/sign-in", `{"name":"`+password+`","password":["`+password+`"]}`)
	h.request(placeStranger, func(r *http.Request) {
		p.with(r)
		r.AddCookie(&http.Cookie{Name: operatorapi.CookieName, Value: p.cookie})
	}, http.MethodGet, "/api/me", "")
	return p
}

// newToken makes an agent's token as the page does.
func (h *hunt) newToken(by person, name, slug string, scope agent.Scope) string {
	h.t.Helper()
	var made struct{ Secret string }
	h.must(placeTokens, by.with, http.MethodPost, "/api/agents/"+slug+"/tokens", `{"scope":"`+string(scope)+`"}`, &made)
	h.seek(name, made.Secret)
	return made.Secret
}

// client connects a harness in an era, and everything that it is answered is kept.
func (h *hunt) client(place, token, revision string) *mcp.ClientSession {
	h.t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "harness", Version: "1"}, nil)
	session, err := c.Connect(h.t.Context(), &mcp.StreamableClientTransport{Endpoint: h.in.url + "/mcp", MaxRetries: -1, DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Transport: watched{h, place, bearer(token)}}}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { session.Close() })
	if _, err := session.ListTools(h.t.Context(), nil); err != nil {
		h.t.Fatal(err)
	}
	return session
}

// getters are the paths of all GET operations, with what stands for each parameter.
func getters(t *testing.T, document []byte, values map[string]string) (all []string) {
	t.Helper()
	var d struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	for path, methods := range d.Paths {
		if methods["get"] == nil {
			continue
		}
		for name, value := range values {
			path = strings.ReplaceAll(path, "{"+name+"}", value)
		}
		if strings.Contains(path, "{") {
			t.Fatalf("nothing stands for a parameter of %s", path)
		}
		all = append(all, path)
	}
	if len(all) < 20 {
		t.Fatalf("only %d operations", len(all))
	}
	return append(all, "/", "/needs-you/approvals?id="+values["approval"], "/readyz", "/no-such-page")
}

func TestTM100CanarySecretsAppearNowhere(t *testing.T) {
	h := &hunt{Hunt: canary.NewHunt(), t: t}
	for _, a := range allowances() {
		for _, name := range a.names {
			h.Must(a.place, name)
		}
	}
	text, title, query, etag := h.Plant("K10-text").String(), h.Plant("K10-title").String(), h.Plant("K10-query").String(), h.Plant("K10-etag").String()
	header, cookie, password := h.Plant("K10-header").String(), h.Plant("K10-cookie").String(), h.Plant("K4-password").String()
	argument, name := h.Plant("K11-argument").String(), h.Plant("K11-tool").String()
	runTitle, key := h.Plant("K11-title").String(), h.Plant("K11-key").String()

	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", "k="+cookie)
		w.Header().Set("X-Note", header)
		w.Header().Set("Etag", `"`+etag+`"`)
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://10.255.255.1/?q="+query, http.StatusFound)
			return
		}
		if r.URL.Path == "/bob" {
			title, text := "A page of bob's", h.Control(placeBob)
			fmt.Fprintf(w, "<title>%s</title><p>%s</p>", title, text)
			return
		}
		fmt.Fprintf(w, "<title>%s</title><main><h1>%s</h1><p>%s %s %s</p>%s</main>", title, title, text, h.Control(placeAlice), h.Control(placeHarness), strings.Repeat("<p>words and more words</p>", 2000))
	}))
	defer site.Close()
	permit, err := weburl.ParsePermit(site.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}

	var told atomic.Int64
	webhook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		whole, err := httputil.DumpRequest(r, true)
		if err != nil {
			t.Error(err)
		}
		h.Look(placeWebhook, "message", whole)
		if told.Add(1)%2 == 1 { // what is logged of one that does not hear
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer webhook.Close()
	points := filepath.Join(t.TempDir(), "checkpoints")

	// A version is told by metrics and document alike, and to everybody.
	logged := slog.New(slog.NewJSONHandler(h.Writer(placeLog, "log"), &slog.HandlerOptions{Level: slog.LevelDebug}))
	set := tooltest.NewSet(tooltest.NewWorld(), func(_ context.Context, q string) (string, error) { return "about " + q, nil })
	data := filepath.Join(t.TempDir(), h.Control(placeErrors))
	in := launch(t, Options{Data: data, Log: logged, Version: h.Control(placeMetrics) + "+" + h.Control(placeDocument) + "+" + h.Control(placeStranger),
		Fetch:     webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}},
		AuditFile: points, Webhook: webhook.URL + "/" + h.Control(placeWebhook) + "?" + h.Plant("K18-webhook-address").String(), WebhookKey: h.Plant("K18-webhook-key").String(),
		extend: func(p *parts) {
			p.catalog, p.plugs, p.wait = tooltest.Catalog(), set.Plugs(), 20*time.Millisecond
			for i := range p.catalog.Providers {
				if p.catalog.Providers[i].Name == "direct" {
					p.catalog.Providers[i].MinuteLimit = 20
				}
			}
		}})
	h.in = in
	logged.Info("control", "text", h.Control(placeLog))
	master, err := os.ReadFile(filepath.Join(data, keyfile.Name))
	if err != nil {
		t.Fatal(err)
	}
	h.seek("K5-master-key", strings.TrimSpace(string(master)))
	h.seek("K5-digest-key", string(in.beside.Keys.DigestKey()))
	h.seek("K5-audit-key", string(in.beside.Keys.AuditKey()))

	// Agents are named after what is to be found where their names are told.
	for _, slug := range []string{"alice", "bob", h.Control(placeOwner), h.Control(placeViewer), h.Control(placeDatabase), h.Control(placeBackup)} {
		if _, _, err := in.beside.Agents.EnsureAgent(t.Context(), slug, "test"); err != nil {
			t.Fatal(err)
		}
	}
	owner := h.signIn("", "", password)
	var seen people.Agents
	for _, slug := range []string{"bob", h.Control(placeViewer)} {
		a, err := in.beside.Agents.BySlug(t.Context(), slug)
		if err != nil {
			t.Fatal(err)
		}
		seen.List = append(seen.List, a.ID)
	}
	if _, err := in.beside.People.Add(t.Context(), h.Control(placeSignIn), people.Viewer, seen, "test"); err != nil {
		t.Fatal(err)
	}
	viewer := h.signIn("-viewer", h.Control(placeSignIn), h.Plant("K4-password-viewer").String())
	alice, harness := h.newToken(owner, "K3-agent-token", "alice", agent.ScopeTools), h.newToken(owner, "K3-harness-token", "alice", agent.ScopeHarness)
	bob := h.newToken(owner, "K3-bob-token", "bob", agent.ScopeTools)
	var mine struct{ Secret string }
	h.must(placeTokens, owner.with, http.MethodPost, "/api/me/tokens", `{"label":"`+h.Control(placeTokens)+`"}`, &mine)
	h.seek("K3-person-token", mine.Secret)

	// What goes well, what fails and what is refused, in both eras and over HTTP.
	var run struct {
		ID string `json:"id"`
	}
	h.must(placeHarness, withBearer(harness), http.MethodPost, "/api/runs", `{"title":"`+runTitle+`"}`, &run)
	page := site.URL + "/page?q=" + query
	fails := []string{site.URL + "/broken?q=" + query, site.URL + "/away", "http://10.255.255.1/?q=" + query, "http://user:" + query + "@example.com/", "ftp://" + query}
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		session := h.client(placeAlice, alice, revision)
		for _, offset := range []int{0, 5000} {
			if got, failed := call(t, session, "web_fetch", map[string]any{"url": page, "offset": offset}); failed {
				t.Fatal(got)
			}
		}
		for _, u := range fails {
			_, _, _ = try(t.Context(), session, "web_fetch", map[string]any{"url": u})
		}
		for _, arguments := range []map[string]any{{"url": page, "offset": argument}, {argument: 1}, {"text": argument}, {"text": argument, "inputs": 99}} {
			for _, name := range []string{"web_fetch", tooltest.AskTool, tooltest.PressTool, tooltest.PublishTool} {
				_, _, _ = try(t.Context(), session, name, arguments)
			}
		}
		_, _, _ = try(t.Context(), session, name, nil)
	}
	var called struct {
		ID string `json:"id"`
	}
	calls := "/api/runs/" + run.ID + "/tool-calls"
	h.must(placeHarness, withBearer(alice), http.MethodPost, calls, `{"tool":"web_fetch","arguments":{"url":"`+page+`"},"call_id":"`+key+`"}`, &called)
	h.must(placeHarness, withBearer(alice), http.MethodPost, calls, `{"tool":"ask","arguments":{"text":"`+argument+`"}}`, &called)
	_, said := h.request(placeHarness, withBearer(alice), http.MethodPost, calls, `{"tool":"publish","arguments":{"text":"`+argument+`"}}`)
	question := regexp.MustCompile(`apr_\w+`).FindString(string(said))
	if question == "" {
		t.Fatalf("no question: %s", said)
	}
	h.request(placeHarness, withBearer(alice), http.MethodPost, calls, `{"tool":"`+name+`","arguments":"`+query+`"}`)
	h.request(placeStranger, withBearer(alice+"x"), http.MethodPost, calls, `{"tool":"web_fetch","arguments":{"url":"`+page+`"}}`)
	h.request(placeStranger, func(r *http.Request) { r.SetBasicAuth(alice, harness) }, http.MethodGet, "/api/runs?token="+url.QueryEscape(alice), "")
	h.request(placeStranger, nil, http.MethodPost, "/mcp?token="+alice, alice)
	if got, failed := call(t, h.client(placeBob, bob, "2026-07-28"), "web_fetch", map[string]any{"url": site.URL + "/bob"}); failed {
		t.Fatal(got)
	}
	session := h.client(placeAlice, alice, "2026-07-28")
	for i := 0; ; i++ {
		got, failed := call(t, session, "web_fetch", map[string]any{"url": fmt.Sprint(site.URL, "/", i, "?q=", query)})
		if failed && strings.HasPrefix(got, "rate_limit") {
			break
		}
		if i > 100 {
			t.Fatalf("no limit: %.200s", got)
		}
	}

	// Every GET by everybody.
	_, document := h.request(placeDocument, nil, http.MethodGet, "/api/openapi.json", "")
	var pages struct{ Pages []struct{ ID string } }
	h.must(placeOwner, owner.with, http.MethodGet, "/api/runs/"+run.ID+"/pages", "", &pages)
	values := map[string]string{"slug": "alice", "run": run.ID, "call": called.ID, "approval": question, "token": "none", "page": "none"}
	if len(pages.Pages) == 0 {
		t.Fatal("no page is kept")
	}
	values["page"] = pages.Pages[0].ID
	for _, path := range getters(t, document, values) {
		for _, who := range []struct {
			place string
			with  func(*http.Request)
		}{{placeOwner, owner.with}, {placeOwner, withBearer(mine.Secret)}, {placeViewer, viewer.with}, {placeHarness, withBearer(alice)}, {placeHarness, withBearer(harness)}, {placeBob, withBearer(bob)}, {placeStranger, nil}} {
			h.request(who.place, who.with, http.MethodGet, path, "")
		}
	}
	metrics := httptest.NewRecorder()
	in.Metrics().ServeHTTP(metrics, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	h.Look(placeMetrics, "metrics", metrics.Body.Bytes())
	in.until(t, "told of the question", func() bool { return told.Load() > 0 })

	h.lookAtRest(data)
	if err := in.stop(); err != nil {
		t.Fatal(err)
	}
	h.lookAtRest(data)
	kept, err := os.ReadFile(points)
	if err != nil || told.Load() < 2 || !bytes.Contains(kept, []byte("wayleave-audit-checkpoint ")) {
		t.Fatalf("%d messages to the webhook, %v: %s", told.Load(), err, kept)
	}
	h.Look(placeLog, "the file of checkpoints", kept)
	h.backUpAndRotate(data)
	h.lookAtErrors()
	h.Check(t)
}

// lookAtRest looks at what lies in the data folder now: the database apart, for it has no key in it.
func (h *hunt) lookAtRest(data string) {
	h.t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "wayleave.db*"))
	if err != nil || len(files) == 0 {
		h.t.Fatalf("no database: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			h.t.Fatal(err)
		}
		h.Look(placeDatabase, filepath.Base(f), b)
	}
	control := filepath.Join(data, "control")
	if err := os.WriteFile(control, []byte(h.Control(placeFolder)), 0o600); err != nil {
		h.t.Fatal(err)
	}
	rest, err := filepath.Glob(filepath.Join(data, "*"))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, f := range rest {
		if slices.Contains(files, f) {
			continue
		}
		if err := h.LookFiles(placeFolder, f); err != nil {
			h.t.Fatal(err)
		}
	}
}

// backUpAndRotate makes a backup under the first key and one under the next, and looks at all.
func (h *hunt) backUpAndRotate(data string) {
	h.t.Helper()
	in := h.in.beside
	for i := range 2 {
		path := filepath.Join(h.t.TempDir(), fmt.Sprint("backup", i))
		if _, err := backup.Backup(h.t.Context(), in.DB, path); err != nil {
			h.t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			h.t.Fatal(err)
		}
		h.Look(placeBackup, filepath.Base(path), b)
		if err := in.Keys.Rotate(h.t.Context(), "test"); err != nil {
			h.t.Fatal(err)
		}
		done, err := in.Keys.Finish(h.t.Context(), keystore.Finishing{Alone: true})
		if err != nil || !done.Dropped || done.Resealed == 0 {
			h.t.Fatalf("%+v, %v", done, err)
		}
		h.Look(placeErrors, "a rotation", fmt.Appendf(nil, "%+v", done))
		h.lookAtRest(data)
	}
}

// lookAtErrors looks at what is said of a database that cannot be reached, and at what holds a secret, printed.
func (h *hunt) lookAtErrors() {
	h.t.Helper()
	password := h.Plant("K18-database-password").String()
	var all bytes.Buffer
	for _, address := range []string{
		"postgres://u:" + password + "@127.0.0.1:1/name", "postgres://u:" + password + "@127.0.0.1:x/name", "postgres://u:" + password + "#" + password + "@127.0.0.1:1/name",
		"host=127.0.0.1 port=1 password=" + password + " user='", "host=127.0.0.1 port=1 user=u password=" + password, password, "postgres://127.0.0.1:1/n?password=" + password + "&sslmode=" + password,
	} {
		ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
		_, err := New(ctx, Options{Data: filepath.Join(h.t.TempDir(), "other"), Database: address})
		cancel()
		if err == nil {
			h.t.Fatal("a database where none is")
		}
		fmt.Fprintf(&all, "%v\n%+v\n%#v\n", err, err, err)
	}
	in := h.in.beside
	fmt.Fprintf(&all, "%v %+v %#v %v %+v %#v\n", in.Keys, in.Keys, in.Keys, in.Masters, in.Masters, in.Masters)
	h.Look(placeErrors, "errors", all.Bytes())
}
