// Package gate is the one way into the HTTP API: it serves the operations of the table in package route and nothing else,
// asks who is there and whether the row lets them before a body is read, reads bodies strictly, says how a request
// failed, and writes the API's document.
//
// The one rule: what a path names is looked up with the agent that the caller may see, so that another agent's row and
// no row are the same answer.
package gate

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/doorstep"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
	"github.com/wayleave/wayleave/internal/people"
)

// People tells who a cookie or a token stands for.
type People interface {
	Session(ctx context.Context, cookie string) (people.Principal, error)
	Token(ctx context.Context, bearer string) (people.Principal, error)
}

// Agents tells whose token it is, and finds agents.
type Agents interface {
	Verify(bearer, from string) (agent.Identity, error)
	ByID(ctx context.Context, id string) (agent.Agent, error)
	BySlug(ctx context.Context, slug string) (agent.Agent, error)
}

// Runs finds a run of an agent's, or of any where agent is empty.
type Runs interface {
	Run(ctx context.Context, agent, run string) (ledger.Run, error)
}

// Approvals finds a question.
type Approvals interface {
	Show(ctx context.Context, id string) (approval.Approval, error)
}

// Options of a gate. All but Unavailable are required.
type Options struct {
	Version   string
	Names     doorstep.Names
	People    People
	Agents    Agents
	Runs      Runs
	Approvals Approvals
	// Unavailable says whether an error means that the database did not answer; nil means no error does.
	Unavailable func(error) bool
	Log         *slog.Logger
}

// Gate serves the API's operations. It is safe for concurrent use once Close was called.
type Gate struct {
	o     Options
	log   *slog.Logger
	mux   *http.ServeMux
	huma  huma.API
	rows  map[string]route.Row
	bound map[string]bool // rows that have a handler
	cross *http.CrossOriginProtection
	spec  func() ([]byte, error) // made when it is first asked for
}

// New makes a gate that has no operation yet: Handle and its kin bind them, and Complete ends that.
func New(o Options) (*Gate, error) {
	if o.Unavailable == nil {
		o.Unavailable = func(error) bool { return false }
	}
	g := &Gate{o: o, log: o.Log, mux: http.NewServeMux(), rows: make(map[string]route.Row), bound: make(map[string]bool), cross: http.NewCrossOriginProtection()}
	for _, r := range route.Table() {
		if g.rows[r.ID].ID != "" {
			return nil, fmt.Errorf("operatorapi: two rows have the id %s", r.ID)
		}
		g.rows[r.ID] = r
	}
	g.huma = humago.New(g.mux, document(o.Version))
	return g, nil
}

// Complete says whether every row of the table has its handler, and completes the document.
func (g *Gate) Complete() error {
	for id := range g.rows {
		if !g.bound[id] {
			return fmt.Errorf("operatorapi: the row %s has no handler", id)
		}
	}
	g.mux.HandleFunc("/api/", g.nowhere)
	g.mux.HandleFunc("/", g.nowhere)
	g.describe()
	return nil
}

// Served says whether the API has an operation for a request.
func (g *Gate) Served(r *http.Request) bool {
	_, pattern := g.mux.Handler(r)
	return pattern != "" && pattern != "/" && pattern != "/api/"
}

// refusalTime is how long the rest of a body is waited for that nobody reads.
const refusalTime = 5 * time.Second

// ServeHTTP serves one request of the API, with all its checks.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := NewReply(w)
	out.Header().Set("Cache-Control", "no-store") // first of all: it stands beside whatever is answered
	defer g.Guard(out, r, "api")()
	if r.ContentLength != 0 {
		// What a refusal leaves of a body net/http reads before it answers, for as long as that takes.
		_ = out.control.SetReadDeadline(time.Now().Add(refusalTime))
	}
	switch {
	case !g.o.Names.Ours(r):
		g.Refuse(out, InvalidHost())
	case g.cross.Check(r) != nil || !sameSite(r):
		g.Refuse(out, Fail(http.StatusForbidden, CodeInvalidOrigin, "pages of other sites may not call this server"))
	default:
		g.mux.ServeHTTP(out, r)
	}
}

// InvalidHost refuses a name that is not ours.
func InvalidHost() *Failure {
	return Fail(http.StatusForbidden, CodeInvalidHost, "this server is not reached by that Host; --public-url names the one it answers to")
}

// sameSite says whether the page that sent a request, if one did, is ours. It is asked of safe requests too: an answer
// is nobody else's to read, whatever a browser would let pass.
func sameSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
	default:
		return false
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, r.Host)
}

// nowhere answers what no row of the table is about.
func (g *Gate) nowhere(w http.ResponseWriter, r *http.Request) {
	var allow []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if g.Served(&http.Request{Method: method, URL: r.URL, Host: r.Host}) {
			allow = append(allow, method)
		}
	}
	if len(allow) == 0 {
		g.Refuse(w, NotFound())
		return
	}
	g.Refuse(w, Fail(http.StatusMethodNotAllowed, CodeInvalidRequest, "the methods here are "+strings.Join(allow, ", ")).With("Allow", strings.Join(allow, ", ")))
}

// Refuse answers with a problem outside of the HTTP library.
func (g *Gate) Refuse(w http.ResponseWriter, f *Failure) {
	h := w.Header()
	for name, values := range f.header {
		h[name] = values
	}
	h.Set("Content-Type", ProblemType)
	w.WriteHeader(f.Status)
	text, _ := Encode(f.Problem) // strings and numbers: it cannot fail
	_, _ = w.Write(text)
}
