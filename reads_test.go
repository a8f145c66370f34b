package wayleave

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// TestReadsAreCountedByHost: what agents read is counted where people ask, also after a restart; reading on in a kept page is
// not, and neither are refusals that sent nothing. A call's evidence names the kind.
func TestReadsAreCountedByHost(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/shell":
			_, _ = io.WriteString(w, `<title>App</title><div id="root"></div><script src="/a.js"></script>`)
		case "/login":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `<h1>Authorization required</h1>`)
		case "/nothing":
			w.WriteHeader(http.StatusBadGateway)
		default:
			_, _ = io.WriteString(w, `<h1>Mill</h1><p>It turns twice a day.</p>`)
		}
	}))
	t.Cleanup(site.Close)
	permit, err := weburl.ParsePermit(site.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir() + "/data"
	options := Options{Data: data, Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}}
	in := launch(t, options)
	session := in.client(t, in.token(t, "alice"), "2025-11-25")
	for _, arguments := range []map[string]any{
		{"url": site.URL + "/shell"}, {"url": site.URL + "/shell"}, {"url": site.URL + "/shell", "offset": 1}, {"url": site.URL + "/login"},
		{"url": site.URL + "/nothing"}, {"url": site.URL + "/"}, {"url": "http://10.0.0.1/"}, {"url": "nonsense"},
	} {
		read(t, session, arguments)
	}
	harness := in.apiUser(t, "alice", agent.ScopeHarness)
	if status, _ := harness.do(http.MethodGet, "/api/reads/hosts", ""); status != http.StatusForbidden {
		t.Errorf("a harness's token: %d", status)
	}
	thin := map[string]int{}
	for _, run := range got[wire.Runs](harness, http.MethodGet, "/api/runs", "").Runs {
		for _, e := range got[wire.EvidenceList](harness, http.MethodGet, "/api/runs/"+run.ID+"/evidence", "").Evidence {
			thin[e.Kind+" "+e.Thin]++
		}
	}
	if thin["content js_shell"] != 3 || thin["content login_wall"] != 1 || thin["content "] != 1 {
		t.Errorf("evidence %v", thin)
	}
	for range 2 {
		_, link, err := in.beside.People.NewLink(t.Context(), "", "test")
		if err != nil {
			t.Fatal(err)
		}
		res, said := in.signIn(t, link.Reveal(), "").do(t, http.MethodGet, "/api/reads/hosts", "")
		var counted wire.ReadHosts
		if err := json.Unmarshal([]byte(said), &counted); err != nil || res.StatusCode != http.StatusOK || len(counted.Hosts) != 1 {
			t.Fatalf("%d, %v: %s", res.StatusCode, err, said)
		}
		h := counted.Hosts[0]
		if h.Host != "127.0.0.1" || h.Reads != 5 || h.Thin != 3 || h.Kinds["js_shell"] != 2 || h.Kinds["login_wall"] != 1 || h.Failed != 1 || h.Codes["web_fetch_http_error"] != 1 || h.Last.IsZero() {
			t.Errorf("%+v", h)
		}
		if err := in.stop(); err != nil {
			t.Fatal(err)
		}
		in = launch(t, options)
	}
}
