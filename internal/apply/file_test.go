package apply

import (
	"strings"
	"testing"
)

// TestTM118AKeyThatNothingReadsRefusesTheFile: each of these means something; none may be taken for nothing.
func TestTM118AKeyThatNothingReadsRefusesTheFile(t *testing.T) {
	for file, says := range map[string]string{
		``:                                         "EOF",
		`[]`:                                       "the file: must be an object",
		`null`:                                     "the file: must be an object",
		`{`:                                        "",
		`{} {}`:                                    "",
		`{"pause": true}`:                          `pause: is not known; did you mean "paused"?`,
		`{"Paused": true}`:                         `Paused: is not known; did you mean "paused"?`,
		`{"paused": true, "paused": false}`:        `"paused" stands twice`,
		`{"paused": true, "PAUSED": false}`:        `"PAUSED" stands twice`,
		`{"paused": null}`:                         "paused: must be true or false",
		`{"paused": "no"}`:                         "paused: must be true or false",
		`{"allowed_hosts": null}`:                  "allowed_hosts: must be a list",
		`{"allowed_hosts": "10.0.0.1"}`:            "allowed_hosts: must be a list",
		`{"allowed_hosts": [1]}`:                   "allowed_hosts[0]: ",
		`{"allowed_hosts": ["*"]}`:                 "allowed_hosts[0]: ",
		`{"allowed_hosts": ["a.lan", ""]}`:         "allowed_hosts[1]: ",
		`{"allowed_hosts": ["http://a.lan"]}`:      "allowed_hosts[0]: ",
		`{"agents": []}`:                           "agents: must be an object",
		`{"agents": {"A B": {}}}`:                  "agents: agent \"A B\"",
		`{"agents": {"a": null}}`:                  "agents.a: must be an object",
		`{"agents": {"a": {"pausd": true}}}`:       `agents.a.pausd: is not known; did you mean "paused"?`,
		`{"agents": {"a": {"tokens": []}}}`:        "agents.a.tokens: is not known",
		`{"agents": {"a": {}, "a": {}}}`:           `"a" stands twice`,
		`{"connections": {"read": 1}}`:             "connections.read: must be an object",
		`{"connections": {"read": {"mode": ""}}}`:  "connections.read.mode: must be a text",
		`{"connections": {"read": {"mode": 1}}}`:   "connections.read.mode: must be a text",
		`{"connections": {"read": {"limit": {}}}}`: `connections.read.limit: is not known; did you mean "limits"?`,
		`{"connections": {"read": {"limits": {"requests_per_hour": 1}}}}`:                      "connections.read.limits.requests_per_hour: is not known",
		`{"connections": {"read": {"limits": {"requests_per_run": 0}}}}`:                       "connections.read.limits.requests_per_run: must be a whole number from 1",
		`{"connections": {"read": {"limits": {"requests_per_run": 1.5}}}}`:                     "must be a whole number",
		`{"connections": {"read": {"limits": {"requests_per_run": "5"}}}}`:                     "must be a whole number",
		`{"agents": {"a": {"connections": {"read": {"limits": {"requests_per_run": null}}}}}}`: "agents.a.connections.read.limits.requests_per_run: must be a whole number",
	} {
		_, err := Parse([]byte(file))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", file, err, says)
		}
	}
}

func TestParseReadsWhatIsNamedAndNothingElse(t *testing.T) {
	f, err := Parse([]byte(`// ours
	{"allowed_hosts": ["10.0.0.5:80", "10.0.0.5:80", "WIKI.lan",], "connections": {"read": {}},
	 "agents": {"a": {}, "b": {"enabled": false, "allowed_hosts": [], "connections": {"read": {"mode": "own", "provider": "direct", "limits": {"requests_per_minute": 100000}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if f.Paused != nil || f.Hosts == nil || strings.Join(*f.Hosts, " ") != "10.0.0.5:80 wiki.lan" || f.Connections["read"].Mode != "auto" || f.Connections["read"].PerRun != nil {
		t.Errorf("%+v", f)
	}
	a, b := f.Agents["a"], f.Agents["b"]
	if len(f.Agents) != 2 || a.Enabled != nil || a.Hosts != nil || len(a.Connections) != 0 {
		t.Errorf("a: %+v", a)
	}
	if c := b.Connections["read"]; b.Enabled == nil || *b.Enabled || b.Hosts == nil || len(*b.Hosts) != 0 || c.Mode != "own" || c.Provider != "direct" || *c.PerMinute != 100_000 {
		t.Errorf("b: %+v", b)
	}
	if f, err := Parse([]byte(`{}`)); err != nil || len(f.Agents)+len(f.Connections) != 0 || f.Hosts != nil {
		t.Errorf("%+v, %v", f, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"agents": {"a": {"connections": {"read": {"limits": {"requests_per_run": 5}}}}}}`))
	f.Add([]byte(`// x
{"allowed_hosts": ["10.0.0.0/8",], "paused": true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Parse(data)
		if err != nil {
			return
		}
		for _, c := range got.Connections {
			if c.PerRun != nil && *c.PerRun < 1 || c.Mode == "" {
				t.Fatalf("%q: %+v", data, c)
			}
		}
	})
}
