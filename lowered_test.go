package wayleave

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/storetest"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// heeded is a ledger's store that tells of each look at the settings, where somebody listens.
type heeded struct {
	ledger.Store
	looks chan struct{}
}

func (s heeded) Epoch(ctx context.Context) (int64, error) {
	epoch, err := s.Store.Epoch(ctx)
	select {
	case s.looks <- struct{}{}:
	default:
	}
	return epoch, err
}

// TestALoweredLimitLetsWhatRunsEnd: a limit below what is used refuses new calls at once, and the call that runs meanwhile is
// neither stopped nor withheld.
func TestALoweredLimitLetsWhatRunsEnd(t *testing.T) {
	for _, limits := range []string{`{"requests_per_minute":1}`, `{"requests_per_run":1}`} {
		t.Run(limits, func(t *testing.T) {
			asked, release := make(chan struct{}, 1), make(chan struct{})
			slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				if r.URL.Path == "/slow" {
					asked <- struct{}{}
					<-release
				}
				_, _ = io.WriteString(w, "the page of "+r.URL.Path)
			}))
			defer slow.Close()
			looks := make(chan struct{})
			in := launch(t, Options{Fetch: webfetch.Options{Policy: &weburl.Policy{AllowPrivateHosts: true}}, extend: func(p *parts) {
				p.rows = func(rows ledger.Store) ledger.Store { return heeded{rows, looks} }
			}})
			owner, w := in.owners(t, 1)[0], in.wire(t, in.token(t, "alice"), "2026-07-28")
			read := func(path string) string {
				said, err := w.call(t.Context(), "web_fetch", `{"url":"`+slow.URL+path+`"}`)
				if err != nil {
					t.Error(err)
				}
				return said
			}
			running := make(chan string, 1)
			go func() { running <- read("/slow") }()
			<-asked
			if said := read("/before"); !strings.Contains(said, "the page of /before") {
				t.Fatal(said)
			}
			if res, text := owner.do(t, http.MethodPut, "/api/settings/web/read", `{"version":0,"mode":"auto","limits":`+limits+`}`); res.StatusCode != http.StatusOK {
				t.Fatalf("%d %s", res.StatusCode, text)
			}
			for range 2 { // the second of them began after the change
				<-looks
			}
			refused, said := false, ""
			for range 3 { // the first may be told that its offer is stale, and another may be the first of a new minute
				said = read("/after")
				refused = refused || strings.Contains(said, `"code":"rate_limit"`) || strings.Contains(said, `"code":"run_limit"`)
			}
			if !refused {
				t.Errorf("a new call: %s", said)
			}
			close(release)
			if said := <-running; !strings.Contains(said, "the page of /slow") {
				t.Errorf("the call that ran: %s", said)
			}
			if n := countRows(t, in.beside.DB, "SELECT count(*) FROM tool_calls WHERE withheld=1 OR state NOT IN ('succeeded','refused')"); n != 0 {
				t.Errorf("%d calls were withheld or lost", n)
			}
			storetest.Invariants(t, in.beside.DB)
		})
	}
}
