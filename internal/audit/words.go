// This file is the one place where verbs of entries become words that people read.
package audit

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Words says what an entry tells that its actor did, as the rest of a sentence: "paused the agent reviewer". called gives
// what an id is called now, and any other text as it is. An entry of a verb that is not known here, such as one of a newer
// program, is said by its verb and subject.
//
// The words are ours but for names, labels, hosts and ids: text, which may be anybody's and is no markup.
func Words(verb, subject string, detail []byte, called func(string) string) string {
	e := spoken{subject: subject, called: called}
	_ = json.Unmarshal(detail, &e.detail) // what cannot be read is left out of the words; the row is shown beside them
	say, ok := words()[verb]
	if !ok {
		return verb + " " + e.it()
	}
	return say(e)
}

// Verbs are all that have words, sorted.
func Verbs() []string { return slices.Sorted(maps.Keys(words())) }

// spoken is an entry on its way into words.
type spoken struct {
	subject string
	detail  map[string]any
	called  func(string) string
}

// it is what was done to.
func (e spoken) it() string { return e.called(e.subject) }

// of is a member of the detail: names for ids, whole numbers as they are written. Empty where there is none.
func (e spoken) of(member string) string {
	switch v := e.detail[member].(type) {
	case string:
		return e.called(v)
	case float64:
		return strconv.FormatInt(int64(v), 10)
	}
	return ""
}

// and is a member of the detail behind a word or two of ours; nothing where there is none.
func (e spoken) and(before, member string) string {
	if text := e.of(member); text != "" {
		return before + text
	}
	return ""
}

// or is a member of the detail, and where there is none a word of ours.
func (e spoken) or(member, otherwise string) string { return cmp.Or(e.of(member), otherwise) }

// many is a number of things; without the number the things.
func (e spoken) many(member, one, more string) string {
	switch n := e.of(member); n {
	case "":
		return more
	case "1":
		return "1 " + one
	default:
		return n + " " + more
	}
}

// whose is the agent that a host is allowed to.
func (e spoken) whose() string {
	if of := e.of("agent"); of != "" && of != "all" {
		return of
	}
	return "every agent"
}

// limits are those of a connection; a limit of 0 is none.
func (e spoken) limits() string {
	var out []string
	for _, l := range []struct{ member, per string }{{"minute_limit", " a minute"}, {"run_limit", " a run"}} {
		if n := e.of(l.member); n != "" && n != "0" {
			out = append(out, n+l.per)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ", at most " + strings.Join(out, " and ")
}

// connection is what a capability is now, and of whom.
func (e spoken) connection() string {
	of := "the agent " + e.it()
	if e.subject == "install" {
		of = "the install"
	}
	now := map[string]string{"auto": " to automatic", "own": " to a connection of its own", "inherit": " to what the install has", "disabled": " to off"}[e.of("mode")]
	return "set the" + e.and(" ", "capability") + " connection of " + of + now + e.and(", provider ", "provider") + e.limits()
}

// answer is what somebody said to a question.
func (e spoken) answer() string {
	about := e.or("tool", "a tool") + e.and(" of ", "agent")
	switch e.of("answer") {
	case "deny":
		return "said no to " + about
	case "once":
		return "allowed " + about + " once"
	}
	return "answered the question of " + about + e.and(" with ", "answer")
}

// words are the sentences by verb. A test reads the sources and demands that every verb that is written stands here.
func words() map[string]func(spoken) string {
	it := func(before, after string) func(spoken) string {
		return func(e spoken) string { return before + e.it() + after }
	}
	just := func(text string) func(spoken) string { return func(spoken) string { return text } }
	return map[string]func(spoken) string{
		"agent.created":         it("made the agent ", ""),
		"agent.disabled":        it("disabled the agent ", ""),
		"agent.enabled":         it("enabled the agent ", " again"),
		"agent.paused":          it("paused the agent ", ""),
		"agent.resumed":         it("let the agent ", " call again"),
		"agent.renamed":         it("gave the agent ", " another name"),
		"agent.elicitation_on":  it("stated that the client of ", " asks a person"),
		"agent.elicitation_off": it("took back that the client of ", " asks a person"),
		"agents.imported": func(e spoken) string {
			return "took over " + e.many("agents", "agent", "agents") + " and " + e.many("tokens", "token", "tokens") + " of an earlier version"
		},
		"token.created": func(e spoken) string { return "made a token" + e.and(" of scope ", "scope") + e.and(" for ", "agent") },
		"token.revoked": func(e spoken) string { return "revoked a token" + e.and(" of ", "agent") },

		"install.paused":    just("paused all agents"),
		"install.resumed":   just("let all agents call again"),
		"install.backed_up": just("made a backup"),
		"install.restored": func(e spoken) string {
			return "restored a backup: " + e.many("runs_ended", "run", "runs") + " ended, " + e.many("calls_uncertain", "call", "calls") + " uncertain"
		},
		"connection.changed": spoken.connection,
		"host.allowed":       func(e spoken) string { return "let " + e.whose() + " read " + e.subject },
		"host.removed":       func(e spoken) string { return "took back that " + e.whose() + " may read " + e.subject },
		"hosts.imported": func(e spoken) string {
			return "took over " + e.many("hosts", "allowed host", "allowed hosts") + " of an earlier version"
		},

		"person.created":               func(e spoken) string { return "added " + e.it() + e.and(" as ", "role") },
		"person.changed":               func(e spoken) string { return "changed the rights of " + e.it() + e.and(" to ", "role") },
		"person.disabled":              it("disabled ", ", with all sessions and tokens"),
		"person.enabled":               it("enabled ", " again"),
		"person.link_made":             it("made a sign-in link for ", ""),
		"person.signed_in":             func(e spoken) string { return "signed in" + e.and(" by ", "by") },
		"person.password_set":          it("set the password of ", ""),
		"person.token_created":         func(e spoken) string { return "made an API token for " + e.it() + e.and(": ", "label") },
		"person.link_ended":            it("ended a sign-in link of ", ""),
		"person.session_ended":         it("ended a session of ", ""),
		"person.token_ended":           it("revoked an API token of ", ""),
		"person.signed_out_everywhere": it("ended all sessions of ", ""),

		"approval.asked": func(e spoken) string {
			return "asked whether it may use " + e.or("tool", "a tool") + e.and(" on ", "origin")
		},
		"approval.answered": spoken.answer,
		"approval.misused": func(e spoken) string {
			return "came with a yes for " + e.or("tool", "a tool") + " that does not count" + e.and(": ", "why")
		},
		"call.reconciled": func(e spoken) string {
			said := map[string]string{"happened": ": it happened", "not_happened": ": it did not happen", "unknown": ": it cannot be told"}
			return "stated what became of a call" + said[e.of("verdict")]
		},
		"run.ended": func(e spoken) string { return "ended a run" + e.and(" of ", "agent") },
		"run.deleted": func(e spoken) string {
			return "deleted a run" + e.and(" of ", "agent") + " with " + e.many("calls", "call", "calls")
		},

		"keys.rotated":   just("made a new key, under which everything is sealed anew"),
		"keys.rewrapped": just("put the keys under another master key"),
		"keys.exported":  just("exported the master key"),
		"keys.dropped":   just("dropped the old keys, with which nothing is sealed any more"),
		VerbPurged: func(e spoken) string {
			return "removed entries whose time of keeping is over" + e.and(", up to link ", "through")
		},
		VerbBroken: func(e spoken) string {
			return "found that the chain is not where it was left" + e.and(", link ", "left_at")
		},
	}
}
