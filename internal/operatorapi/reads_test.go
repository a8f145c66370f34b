package operatorapi

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

func TestReadsAreSummedUpByHost(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC) }
	counted := []Reads{
		{Host: "plain.example", Calls: 50, Last: at(9)},
		{Host: "walls.example", Calls: 2, Last: at(1)}, {Host: "walls.example", Thin: "login_wall", Calls: 3, Last: at(5)}, {Host: "walls.example", Thin: "js_shell", Calls: 1, Last: at(4)},
		{Host: "shut.example", Code: "web_fetch_blocked", Calls: 4, Last: at(3)}, {Host: "shut.example", Code: "web_fetch_timeout", Calls: 1, Last: at(2)},
		{Host: "other.example", Calls: 50, Last: at(8)},
	}
	got := ReadsOf(counted, at(0), at(10), false, 3)
	want := []wire.ReadHost{
		{Host: "walls.example", Reads: 6, Thin: 4, Kinds: map[string]int64{"login_wall": 3, "js_shell": 1}, Codes: map[string]int64{}, Last: at(5)},
		{Host: "shut.example", Reads: 5, Kinds: map[string]int64{}, Failed: 5, Codes: map[string]int64{"web_fetch_blocked": 4, "web_fetch_timeout": 1}, Last: at(3)},
		{Host: "other.example", Reads: 50, Kinds: map[string]int64{}, Codes: map[string]int64{}, Last: at(8)},
	}
	if !reflect.DeepEqual(got.Hosts, want) || !got.More || got.From != at(0) || got.To != at(10) {
		t.Errorf("%+v", got)
	}
	if thin := ReadsOf(counted, at(0), at(10), true, 100); len(thin.Hosts) != 1 || thin.More {
		t.Errorf("thin alone: %+v", thin)
	}
	if none := ReadsOf(nil, at(0), at(10), false, 1); none.Hosts == nil || len(none.Hosts) != 0 || none.More {
		t.Errorf("none: %+v", none)
	}
}

func TestReadsAreToldToPeopleOfTheirAgents(t *testing.T) {
	w := newWorld(t)
	for who, hosts := range map[string]string{"owner": "alice.example bob.example plain.example", "viewer of alice": "alice.example plain.example",
		"operator of bob": "bob.example plain.example", "viewer of all": "alice.example bob.example plain.example"} {
		var names []string
		for _, h := range get[wire.ReadHosts](w, who, "/api/reads/hosts?limit=1000").Hosts {
			names = append(names, h.Host)
		}
		if got := strings.Join(names, " "); !strings.Contains(got, "plain.example") || len(names) != len(strings.Fields(hosts)) {
			t.Errorf("%s sees %s, want %s", who, got, hosts)
		}
	}
	if got := get[wire.ReadHosts](w, "owner", "/api/reads/hosts?agent=bob&thin=true"); len(got.Hosts) != 1 || got.Hosts[0].Host != "bob.example" || got.Hosts[0].Kinds["js_shell"] == 0 || got.Hosts[0].Codes["web_fetch_blocked"] == 0 {
		t.Errorf("of one agent, thin: %+v", got)
	}
	if got := get[wire.ReadHosts](w, "owner", "/api/reads/hosts?limit=1"); len(got.Hosts) != 1 || !got.More {
		t.Errorf("one of more: %+v", got)
	}
	if got := get[wire.ReadHosts](w, "owner", "/api/reads/hosts?from=2026-03-01T00:00:00Z&to=2026-03-04T06:00:00Z"); got.From.Format("01-02 15") != "03-01 00" || got.To.Format("01-02 15") != "03-04 06" ||
		len(got.Hosts) == 0 || !got.Hosts[len(got.Hosts)-1].Last.Equal(got.To) {
		t.Errorf("of a period: %+v", got)
	}
	for query, field := range map[string]string{"from=2025-03-04T00:00:00Z": "from", "from=2026-03-04T00:00:00Z&to=2026-03-03T00:00:00Z": "from",
		"from=2026-01-01T00:00:00Z&to=2026-03-03T00:00:00Z": "from", "from=yesterday": "from", "to=now": "to", "limit=0": "limit", "limit=1001": "limit", "thin=perhaps": "thin"} {
		if p := refused(t, w.do("owner", "GET", "/api/reads/hosts?"+query, ""), 422, gate.CodeInvalidRequest); p.Field != field || strings.Contains(p.Detail, "unknown") {
			t.Errorf("%s: %+v", query, p)
		}
	}
	if page := w.page("operator of bob", "/").body; !strings.Contains(page, "bob.example") || strings.Contains(page, "alice.example") || !strings.Contains(page, "<code>js_shell</code> 6") || !strings.Contains(page, "<code>web_fetch_blocked</code> 3") {
		t.Errorf("the overview: %s", page)
	}
	refused(t, w.do("operator of bob", "GET", "/api/reads/hosts?agent=alice", ""), 404, gate.CodeNotFound)
	refused(t, w.do("harness of alice", "GET", "/api/reads/hosts", ""), 403, gate.CodeForbidden)
}
