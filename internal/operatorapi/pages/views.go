package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// shown is how many calls of a run a timeline shows at once.
const shown = 100

func (p *Pages) bind() {
	p.mux.HandleFunc("GET /sign-in", p.signIn)
	p.page("/{$}", "overview", overview)
	p.mux.Handle("GET /needs-you", http.RedirectHandler("/needs-you/approvals", http.StatusSeeOther))
	p.page("/needs-you/approvals", "approvals", approvals)
	p.page("/needs-you/uncertain", "uncertain", uncertain)
	p.page("/needs-you/history", "history", history)
	p.page("/runs", "runs", runs)
	p.page("/runs/{run}", "run", run)
	p.page("/agents", "agents", agents)
	p.page("/agents/{slug}", "agent", agent)
	p.page("/audit", "audit", auditPage)
	p.page("/{rest...}", "problem", func(*ask, *frame) (any, error) {
		return nil, &failed{wire.Problem{Title: "Not Found", Status: http.StatusNotFound, Detail: "there is no such page", Code: "not_found"}}
	})
}

// signIn takes nobody's session: a link's secret stands behind #, where the page's script finds it.
func (p *Pages) signIn(w http.ResponseWriter, r *http.Request) {
	if !p.o.Sessions(r) {
		p.write(w, http.StatusForbidden, "elsewhere", frame{Title: "Another name"})
		return
	}
	p.write(w, http.StatusOK, "sign-in", frame{Title: "Sign in", Body: local(r.URL.Query().Get("next"))})
}

// local is an address of ours to go on to; anything else is the start page.
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

type overviewBody struct {
	wire.Overview
	Agents   []wire.Agent
	Outcomes []tally
	Chart    chart
	Reads    wire.ReadHosts
}

// mostHosts is how many hosts the overview shows.
const mostHosts = 8

func overview(a *ask, f *frame) (any, error) {
	f.Title, f.Nav = "Overview", "overview"
	f.Crumbs = []crumb{{Text: "Overview"}}
	var b overviewBody
	if err := a.get(&b.Overview, "/api/overview", nil); err != nil {
		return nil, err
	}
	var all wire.Agents
	if err := a.get(&all, "/api/agents", nil); err != nil {
		return nil, err
	}
	if err := a.get(&b.Reads, "/api/reads/hosts", url.Values{"limit": {strconv.Itoa(mostHosts)}}); err != nil {
		return nil, err
	}
	b.Agents, b.Outcomes, b.Chart = all.Agents, outcomes(b.Calls), chartOf(b.Overview)
	f.Running = len(b.Running)
	return b, nil
}

// queueBody is a queue with the item that is looked at.
type queueBody struct {
	Approvals []wire.Approval
	Waiting   []wire.Waiting
	Approval  *wire.Approval
	Record    *wire.Record
	Run       *wire.Run
	At, Of    int
	Prev, Nxt string
}

func approvals(a *ask, f *frame) (any, error) {
	f.Title, f.Nav = "Needs you", "needs-you"
	f.Crumbs = []crumb{{Text: "Needs you"}}
	var list wire.Approvals
	if err := a.get(&list, "/api/approvals", url.Values{"open": {"true"}, "limit": {"100"}}); err != nil {
		return nil, err
	}
	b := queueBody{Approvals: list.Approvals}
	slices.SortFunc(b.Approvals, func(x, y wire.Approval) int { return x.Expires.Compare(y.Expires) })
	id := a.r.URL.Query().Get("id")
	if id == "" && len(b.Approvals) > 0 {
		id = b.Approvals[0].ID
	}
	if id == "" {
		return b, nil
	}
	b.Approval = new(wire.Approval)
	if err := a.get(b.Approval, "/api/approvals/"+url.PathEscape(id), nil); err != nil {
		return nil, err
	}
	var ids []string
	for _, one := range b.Approvals {
		ids = append(ids, one.ID)
	}
	b.place(ids, id)
	return b, nil
}

// place says where in the queue the item stands, and what is beside it.
func (b *queueBody) place(ids []string, id string) {
	b.Of, b.At = len(ids), slices.Index(ids, id)+1
	if b.At > 1 {
		b.Prev = ids[b.At-2]
	}
	if b.At < b.Of && b.At > 0 {
		b.Nxt = ids[b.At]
	}
}

func uncertain(a *ask, f *frame) (any, error) {
	f.Title, f.Nav = "Needs you", "needs-you"
	f.Crumbs = []crumb{{Text: "Needs you"}}
	var all wire.NeedsYou
	if err := a.get(&all, "/api/needs-you", url.Values{"limit": {"100"}}); err != nil {
		return nil, err
	}
	b := queueBody{}
	var ids []string
	for _, w := range all.Items {
		if w.Kind == "uncertain" {
			b.Waiting = append(b.Waiting, w)
			ids = append(ids, w.ID)
		}
	}
	id := cmp.Or(a.r.URL.Query().Get("id"), first(ids))
	b.place(ids, id)
	if b.At == 0 {
		return b, nil
	}
	w := b.Waiting[b.At-1]
	b.Record, b.Run = new(wire.Record), new(wire.Run)
	if err := a.get(b.Record, "/api/runs/"+url.PathEscape(w.Run)+"/tool-calls/"+url.PathEscape(id), nil); err != nil {
		return nil, err
	}
	return b, a.get(b.Run, "/api/runs/"+url.PathEscape(w.Run), nil)
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

func history(a *ask, f *frame) (any, error) {
	f.Title, f.Nav = "Needs you", "needs-you"
	f.Crumbs = []crumb{{Text: "Needs you", Href: "/needs-you/approvals"}, {Text: "History"}}
	var list wire.Approvals
	err := a.get(&list, "/api/approvals", url.Values{"limit": {"100"}, "cursor": {a.r.URL.Query().Get("cursor")}})
	list.Approvals = slices.DeleteFunc(list.Approvals, func(one wire.Approval) bool { return one.State == "open" })
	return list, err
}

type runsBody struct {
	wire.Runs
	Agents       []wire.Agent
	Agent, State string
}

func runs(a *ask, f *frame) (any, error) {
	f.Title, f.Nav = "Runs", "runs"
	f.Crumbs = []crumb{{Text: "Runs"}}
	q := a.r.URL.Query()
	b := runsBody{Agent: q.Get("agent"), State: q.Get("state")}
	ask := url.Values{"limit": {"50"}}
	for _, name := range []string{"agent", "state", "cursor"} {
		if v := q.Get(name); v != "" {
			ask.Set(name, v)
		}
	}
	if err := a.get(&b.Runs, "/api/runs", ask); err != nil {
		return nil, err
	}
	var all wire.Agents
	err := a.get(&all, "/api/agents", nil)
	b.Agents = all.Agents
	return b, err
}

// runBody is a run with its newest calls first, and the one that is looked at.
type runBody struct {
	wire.Run
	List     []wire.Call
	Earlier  int64 // the cursor of the calls before these; negative: none
	Selected *wire.Record
	Kept     []wire.KeptPage
	Filter   string
}

func run(a *ask, f *frame) (any, error) {
	id := a.r.PathValue("run")
	at := "/api/runs/" + url.PathEscape(id)
	b := runBody{Earlier: -1, Filter: a.r.URL.Query().Get("show")}
	if err := a.get(&b.Run, at, nil); err != nil {
		return nil, err
	}
	f.Title, f.Nav = id, "runs"
	f.Crumbs = []crumb{{Text: "Runs", Href: "/runs"}, {Text: short(id)}}
	newest := b.Calls + b.Refused
	after := max(0, newest-shown)
	if v, err := strconv.ParseInt(a.r.URL.Query().Get("after"), 10, 64); err == nil && v >= 0 && v < newest {
		after = v
	}
	var list wire.Calls
	if err := a.get(&list, at+"/tool-calls", url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {strconv.Itoa(shown)}}); err != nil {
		return nil, err
	}
	b.List = list.Calls
	slices.Reverse(b.List)
	b.List = slices.DeleteFunc(b.List, func(c wire.Call) bool {
		return b.Filter == "effects" && c.Class != "effect" || b.Filter == "trouble" && !trouble(c)
	})
	if after > 0 {
		b.Earlier = max(0, after-shown)
	}
	call := a.r.URL.Query().Get("call")
	if call == "" {
		call = b.Hold
	}
	if call == "" && len(b.List) > 0 {
		call = b.List[0].ID
	}
	if call != "" {
		b.Selected = new(wire.Record)
		if err := a.get(b.Selected, at+"/tool-calls/"+url.PathEscape(call), nil); err != nil {
			return nil, err
		}
	}
	var pages wire.KeptPages
	if err := a.get(&pages, at+"/pages", nil); err != nil {
		return nil, err
	}
	b.Kept = pages.Pages
	if b.State == "open" && decides(f.Me) {
		f.Stops = append([]stop{
			{Text: "End this run", Leaves: "New calls are refused. Calls that were dispatched run on and are recorded.", Act: "POST " + at + "/end", Impact: at + "/impact", Verb: "End run"},
			stopAgent(b.Agent),
		}, f.Stops...)
	}
	return b, nil
}

func stopAgent(slug string) stop {
	at := "/api/agents/" + url.PathEscape(slug)
	return stop{Text: "Pause " + slug, Leaves: "New calls of this agent are refused. Calls that run now finish.", Act: "POST " + at + "/pause", Impact: at + "/impact?for=pause", Verb: "Pause agent"}
}

func trouble(c wire.Call) bool {
	return c.IsError || c.State == "failed" || c.State == "uncertain" || c.State == "refused"
}

func agents(a *ask, f *frame) (any, error) {
	f.Title, f.Nav = "Agents", "agents"
	f.Crumbs = []crumb{{Text: "Agents"}}
	var all wire.Agents
	err := a.get(&all, "/api/agents", nil)
	return all, err
}

type agentBody struct {
	wire.AgentShown
	Tokens  []wire.Token
	Revoked int
	Blocks  []wire.Block
	Runs    []wire.Run
	Hosts   []wire.AllowedHost
	Asked   int
}

func agent(a *ask, f *frame) (any, error) {
	slug := a.r.PathValue("slug")
	at := "/api/agents/" + url.PathEscape(slug)
	var b agentBody
	if err := a.get(&b.AgentShown, at, nil); err != nil {
		return nil, err
	}
	f.Title, f.Nav = slug, "agents"
	f.Crumbs = []crumb{{Text: "Agents", Href: "/agents"}, {Text: slug}}
	var tokens wire.Tokens
	if err := a.get(&tokens, at+"/tokens", nil); err != nil {
		return nil, err
	}
	for _, t := range tokens.Tokens {
		if t.Revoked != nil {
			b.Revoked++
			continue
		}
		b.Tokens = append(b.Tokens, t)
	}
	var blocks wire.Blocks
	if err := a.get(&blocks, at+"/blocks", nil); err != nil {
		return nil, err
	}
	b.Blocks = blocks.Blocks
	var hosts wire.AllowedHosts
	if err := a.get(&hosts, at+"/allowed-hosts", nil); err != nil {
		return nil, err
	}
	b.Hosts = hosts.Hosts
	var open wire.Approvals
	if err := a.get(&open, "/api/approvals", url.Values{"agent": {slug}, "open": {"true"}}); err != nil {
		return nil, err
	}
	b.Asked = len(open.Approvals)
	var list wire.Runs
	if err := a.get(&list, "/api/runs", url.Values{"agent": {slug}, "limit": {"10"}}); err != nil {
		return nil, err
	}
	b.Runs = list.Runs
	if decides(f.Me) && b.Paused == nil && b.State == "active" {
		f.Stops = append([]stop{stopAgent(slug)}, f.Stops...)
	}
	return b, nil
}

type auditBody struct {
	wire.AuditPage
	Actor, Verb, Subject string
	Verbs                []wire.AuditRow // to choose from: verb and words alone
}

// verbs are those that there are, and the one that is looked for where it is none of them.
func verbs(sought string) (out []wire.AuditRow) {
	all := audit.Verbs()
	if sought != "" && !slices.Contains(all, sought) {
		all = append(all, sought)
	}
	for _, verb := range all {
		out = append(out, wire.AuditRow{Verb: verb, Says: audit.Words(verb, "…", nil, func(text string) string { return text })})
	}
	return out
}

func auditPage(a *ask, f *frame) (any, error) {
	f.Title, f.Nav = "Audit", "audit"
	f.Crumbs = []crumb{{Text: "Audit"}}
	q := a.r.URL.Query()
	b := auditBody{Actor: q.Get("actor"), Verb: q.Get("verb"), Subject: q.Get("subject"), Verbs: verbs(q.Get("verb"))}
	ask := url.Values{"limit": {"50"}}
	for _, name := range []string{"actor", "verb", "subject", "cursor"} {
		if v := q.Get(name); v != "" {
			ask.Set(name, v)
		}
	}
	return b, a.get(&b.AuditPage, "/api/audit", ask)
}

// tally is how many calls ended in one way.
type tally struct {
	Word, Shape, Icon string
	N                 int64
}

// outcomes counts calls by how they ended, in the order in which pages name these.
func outcomes(calls []wire.Bucket) []tally {
	out := []tally{{"Succeeded", "ok", "okc", 0}, {"Error result", "bad", "alert", 0}, {"Failed", "bad", "xc", 0}, {"Uncertain", "warn", "q", 0}, {"Refused", "mute", "slash", 0}}
	for _, c := range calls {
		at := 0
		switch {
		case c.State == "refused":
			at = 4
		case c.State == "uncertain":
			at = 3
		case c.State == "failed":
			at = 2
		case c.IsError:
			at = 1
		case c.State != "succeeded":
			continue
		}
		out[at].N += c.Calls
	}
	return out
}

// chart is calls by hour as bars of an own drawing.
type chart struct {
	Bars   []bar
	Legend []series
	Most   int64
	Width  int
	Total  int64
}

type series struct {
	Name string
	N    int64
}

type bar struct {
	Hour  time.Time
	X     int
	Parts []part
	Text  string // of the tooltip
	Label string // below it; empty for most
}

type part struct {
	Name    string
	Y, H, X int
}

const (
	chartHeight = 120
	barWidth    = 16
	barStep     = 22
	labelWidth  = 32
)

// chartOf draws the hours of an overview.
func chartOf(o wire.Overview) chart {
	names := []string{"search", "read", "browser", "action"}
	byHour := make(map[time.Time]map[string]int64)
	c := chart{Most: 1}
	counts := make(map[string]int64)
	for _, b := range o.Calls {
		if byHour[b.Hour] == nil {
			byHour[b.Hour] = make(map[string]int64)
		}
		byHour[b.Hour][b.Capability] += b.Calls
		counts[b.Capability] += b.Calls
		c.Total += b.Calls
	}
	for _, n := range names {
		if counts[n] > 0 {
			c.Legend = append(c.Legend, series{n, counts[n]})
		}
	}
	for _, h := range byHour {
		sum := int64(0)
		for _, n := range h {
			sum += n
		}
		c.Most = max(c.Most, sum)
	}
	for hour, i := o.From.Truncate(time.Hour), 0; hour.Before(o.To) && i < 31*24; hour, i = hour.Add(time.Hour), i+1 {
		b := bar{Hour: hour, X: i * barStep}
		if hour.Hour()%6 == 0 {
			b.Label = hour.Format("15:04")
		}
		y := chartHeight
		for _, n := range names {
			h := int(byHour[hour][n] * chartHeight / c.Most)
			if byHour[hour][n] > 0 {
				h = max(h, 2)
				y -= h
				b.Parts = append(b.Parts, part{n, y, h, b.X})
				b.Text += " " + n + " " + strconv.FormatInt(byHour[hour][n], 10)
			}
		}
		c.Bars = append(c.Bars, b)
		c.Width = b.X + barWidth
		if b.Label != "" {
			c.Width = b.X + labelWidth
		}
	}
	return c
}
