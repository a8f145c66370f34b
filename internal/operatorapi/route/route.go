// Package route is the table of the HTTP API: which method and path there are, what each is about, and who may use it.
// A door that is not in the table does not open: handlers are registered by the id of a row, and nothing else is served.
//
// The one rule: a row says who may, and silence means nobody.
package route

import (
	"slices"
	"strings"
)

// May is a set of credential kinds.
type May uint8

// The kinds. A person has exactly one of the last three; an agent's token exactly one of Tools and Harness.
const (
	Anyone   May = 1 << iota // no credential at all, or any
	Tools                    // an agent's token that lists and calls tools
	Harness                  // an agent's token of the program around the model
	Viewer                   // a person who watches
	Operator                 // a person who decides
	Owner                    // the person whose install it is

	People   = Viewer | Operator | Owner
	Deciders = Operator | Owner
)

// Kinds are all kinds with their words, in the order of the table.
func Kinds() []Kind {
	return []Kind{{Anyone, "anyone"}, {Tools, "tools token"}, {Harness, "harness token"}, {Viewer, "viewer"}, {Operator, "operator"}, {Owner, "owner"}}
}

// Kind is one kind and its word.
type Kind struct {
	May  May
	Word string
}

// Has says whether every kind of m is in the set.
func (s May) Has(m May) bool { return s&m == m }

// Words lists the kinds of a set.
func (s May) Words() string {
	var words []string
	for _, k := range Kinds() {
		if s.Has(k.May) {
			words = append(words, k.Word)
		}
	}
	return strings.Join(words, ", ")
}

// Of is the path parameter that names something of an agent's; the gate looks it up and asks for access to that agent
// before anything of the request's body is read.
type Of string

// What a path can name.
const (
	Nothing    Of = ""         // nothing that belongs to an agent
	OfAgent    Of = "slug"     // an agent
	OfRun      Of = "run"      // a run, and with it its agent
	OfApproval Of = "approval" // a question to a person, and with it its agent
)

// Row is one operation.
type Row struct {
	// ID is the operation's name in OpenAPI and the key by which its handler is registered.
	ID, Method, Path, Tag, Summary string
	May                            May
	Of                             Of
	// Whole says that a person needs access to all agents.
	Whole bool
	// SignedIn says that a person must have signed in: an API token of theirs is not enough. It is set where a stolen token
	// could make itself last.
	SignedIn bool
	// Fails are the statuses beside those that follow from the rest of the row.
	Fails []int
}

// Unsafe says whether the operation changes something.
func (r Row) Unsafe() bool { return r.Method != "GET" }

// Parameters are the names in the path.
func (r Row) Parameters() []string {
	var names []string
	for part := range strings.SplitSeq(r.Path, "/") {
		if strings.HasPrefix(part, "{") {
			names = append(names, strings.Trim(part, "{}"))
		}
	}
	return names
}

// Statuses are the failures that the operation can answer with, sorted. body says whether it reads one.
func (r Row) Statuses(body bool) []int {
	// Of every operation: a foreign Host or page, a parameter that is not known, and faults of ours.
	out := append([]int{403, 422, 500, 503}, r.Fails...)
	if r.May&Anyone == 0 {
		out = append(out, 401)
	}
	if len(r.Parameters()) > 0 {
		out = append(out, 404)
	}
	if body {
		out = append(out, 400, 408, 413, 415)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
