// Package apply makes an install what a file says: agents, private hosts, connections, elicitation, pauses. What the file
// names becomes as it says; what it does not name stays as it is, and nothing is ever deleted but hosts of a list that
// the file has whole.
//
// The one rule: everything is judged before anything is written, and a key that nothing reads refuses the file: it meant
// something, most likely to narrow what agents may do (TM-118).
package apply

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/tailscale/hujson"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/configfile"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/strictjson"
	"github.com/wayleave/wayleave/weburl"
)

// File is what somebody wants. nil members are not named.
type File struct {
	Paused      *bool                 // all agents
	Hosts       *[]string             // for every agent; the whole list
	Connections map[string]Connection // of the install, by capability
	Agents      map[string]Agent      // by slug
}

// Agent is what somebody wants of one agent. An agent that is not there is made.
type Agent struct {
	Enabled, Paused, Elicitation *bool
	Hosts                        *[]string // for this agent alone; the whole list
	Connections                  map[string]Connection
}

// Connection is what a capability is to use, whole. Mode is auto, own or disabled for the install, and inherit, own or
// disabled for an agent; empty means auto or inherit. Limits are calls; nil means the usual one.
type Connection struct {
	Mode, Provider    string
	PerRun, PerMinute *int64
	path              string // in the file
}

// Parse reads a file: JSON with comments and trailing commas. The error names the place.
func Parse(data []byte) (File, error) {
	plain, err := hujson.Standardize(data)
	if err != nil {
		return File{}, err
	}
	var value any
	if err := strictjson.Decode(plain, &value); err != nil {
		return File{}, err
	}
	r := &reader{}
	top := r.object("", value, "paused", "allowed_hosts", "connections", "agents")
	f := File{Paused: r.flag(top, "paused"), Hosts: r.hosts(top), Connections: r.connections(top, true), Agents: make(map[string]Agent)}
	named := r.member(top, "agents")
	for _, slug := range names(named.members) {
		value := named.members[slug]
		if err := agent.CheckSlug(slug); err != nil {
			r.fail("agents", "%v", err)
		}
		a := r.object(named.at(slug), value, "enabled", "paused", "elicitation", "allowed_hosts", "connections")
		f.Agents[slug] = Agent{Enabled: r.flag(a, "enabled"), Paused: r.flag(a, "paused"), Elicitation: r.flag(a, "elicitation"), Hosts: r.hosts(a),
			Connections: r.connections(a, false)}
	}
	return f, r.err
}

// names are the keys of a map in their order, so that one file always meets the same mistake first.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// reader keeps the first mistake.
type reader struct{ err error }

func (r *reader) fail(path, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...))
	}
}

// object is one of the file, with where it stands.
type object struct {
	path    string
	members map[string]any
}

func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// object reads one whose members are all known; with none named, any are.
func (r *reader) object(path string, value any, known ...string) object {
	o := object{path: path}
	members, ok := value.(map[string]any)
	if !ok {
		if path == "" {
			path = "the file"
		}
		r.fail(path, "must be an object of names and values")
		return o
	}
	o.members = members
	if known == nil {
		return o
	}
	all := make(map[string]bool)
	for _, k := range known {
		all[k] = true
	}
	for _, name := range names(members) {
		if !all[name] {
			r.fail(o.at(name), "is not known%s", configfile.Nearest(name, all))
		}
	}
	return o
}

func (r *reader) member(o object, name string) object {
	value, named := o.members[name]
	if !named {
		return object{path: o.at(name)}
	}
	return r.object(o.at(name), value)
}

func (r *reader) flag(o object, name string) *bool {
	value, named := o.members[name]
	if !named {
		return nil
	}
	b, ok := value.(bool)
	if !ok {
		r.fail(o.at(name), "must be true or false")
	}
	return &b
}

func (r *reader) text(o object, name string) (text string, named bool) {
	value, named := o.members[name]
	if !named {
		return "", false
	}
	text, ok := value.(string)
	if !ok || text == "" {
		r.fail(o.at(name), "must be a text that is not empty; leave it out for the usual")
	}
	return text, true
}

func (r *reader) number(o object, name string) *int64 {
	value, named := o.members[name]
	if !named {
		return nil
	}
	n, ok := value.(float64)
	if !ok || n != math.Trunc(n) || n < 1 || n > connection.MaxLimit {
		r.fail(o.at(name), "must be a whole number from 1 to %d; leave it out for the usual", connection.MaxLimit)
		return nil
	}
	whole := int64(n)
	return &whole
}

// hosts reads a list as it will be kept: each host in its one spelling, none twice.
func (r *reader) hosts(o object) *[]string {
	const name = "allowed_hosts"
	value, named := o.members[name]
	if !named {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		r.fail(o.at(name), "must be a list; an empty one takes all hosts away")
		return nil
	}
	hosts := []string{}
	for i, member := range list {
		text, _ := member.(string)
		permit, err := weburl.ParsePermit(text)
		if err != nil {
			r.fail(o.at(name)+"["+strconv.Itoa(i)+"]", "%v", err)
			continue
		}
		if host := permit.String(); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return &hosts
}

func (r *reader) connections(o object, ofInstall bool) map[string]Connection {
	named := r.member(o, "connections")
	all := make(map[string]Connection)
	for _, capability := range names(named.members) {
		c := r.object(named.at(capability), named.members[capability], "mode", "provider", "limits")
		out := Connection{path: c.path, Mode: map[bool]string{true: connection.Auto, false: connection.Inherit}[ofInstall]}
		if mode, named := r.text(c, "mode"); named {
			out.Mode = mode
		}
		out.Provider, _ = r.text(c, "provider")
		if value, named := c.members["limits"]; named {
			limits := r.object(c.at("limits"), value, "requests_per_run", "requests_per_minute")
			out.PerRun, out.PerMinute = r.number(limits, "requests_per_run"), r.number(limits, "requests_per_minute")
		}
		all[capability] = out
	}
	return all
}
