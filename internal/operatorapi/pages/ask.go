// This file is how pages ask the API: in this process, as the person whose request it is.
package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// ask asks the API on behalf of one page's request.
type ask struct {
	p *Pages
	r *http.Request
}

// failed is a problem that the API answered with.
type failed struct{ wire.Problem }

func (f *failed) Error() string { return f.Code + ": " + f.Detail }

// kept is an answer in memory.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header { return k.header }

func (k *kept) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
}

func (k *kept) Write(p []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	return k.body.Write(p)
}

// get reads one answer. The request carries what the page's own did, and nothing of its rights is added.
func (a *ask) get(into any, path string, query url.Values) error {
	u := url.URL{Path: path, RawQuery: query.Encode()}
	r, err := http.NewRequestWithContext(a.r.Context(), http.MethodGet, u.String(), nil)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	r.Host, r.RemoteAddr, r.TLS = a.r.Host, a.r.RemoteAddr, a.r.TLS
	for _, name := range []string{"Cookie", "X-Forwarded-For"} {
		r.Header[name] = a.r.Header[name]
	}
	got := &kept{header: make(http.Header)}
	a.p.api.ServeHTTP(got, r)
	if got.status != http.StatusOK {
		f := &failed{}
		if err := json.Unmarshal(got.body.Bytes(), &f.Problem); err != nil {
			return fmt.Errorf("ask for %s: status %d and no problem", path, got.status)
		}
		return f
	}
	if err := json.Unmarshal(got.body.Bytes(), into); err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	return nil
}

// around fills the frame.
func (a *ask) around(f *frame) error {
	var me wire.Me
	if err := a.get(&me, "/api/me", nil); err != nil {
		return err
	}
	f.Me = me.Person
	if err := a.get(&f.Install, "/api/install", nil); err != nil {
		return err
	}
	if err := a.get(&f.Needs, "/api/needs-you", url.Values{"limit": {"5"}}); err != nil {
		return err
	}
	f.Stops = []stop{{Text: "Pause all agents", Leaves: "New calls of every agent are refused. Calls that run now finish.", Act: "POST /api/install/pause", Impact: "/api/install/impact", Verb: "Pause all agents"}}
	if f.Install.Paused != nil || !whole(f.Me) {
		f.Stops = nil
	}
	return nil
}

// decides says whether a person changes anything at all.
func decides(p *wire.Person) bool { return p != nil && p.Role != "viewer" }

func whole(p *wire.Person) bool { return decides(p) && p.All }
