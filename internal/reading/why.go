// This file says for a call's record which rule refused. The record is not sealed and people read it, so nothing of what
// a model or a page wrote stands in it but hosts.
package reading

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// Why says which rule refused a call or ended its fetch, for its record; empty where the code says it.
func Why(r agenttool.Result) string { return whyOf(r.Failure) }

func whyOf(err error) string {
	e, ok := errors.AsType[*webfetch.Error](err)
	if !ok {
		return ""
	}
	if by, ok := errors.AsType[*webfetch.RobotsRefusal](e.Cause); ok {
		why := "rule robots, " + ofRobots(by.RobotsVerdict)
		if e.Code == webfetch.CodeDisallowedRedirect {
			why += "; a redirect of " + e.Host + " led there"
		}
		return why
	}
	if bad, ok := errors.AsType[*weburl.Error](e.Cause); ok {
		why := "rule " + string(cmp.Or(bad.Rule, weburl.RulePolicy)) + ", " + ruled(bad.Rule)
		if e.Code == webfetch.CodeDisallowedRedirect {
			why += "; a redirect of " + e.Host + " led to " + cmp.Or(e.Target, "it")
		}
		return why
	}
	if slices.Contains([]string{"url", "offset", "max_bytes", "find", "content", "links", "format"}, e.Field) { // another name is a model's
		return "the argument " + e.Field
	}
	return ""
}

// whyRead says what of a page's reading its code does not: how old the answer is, and what the robots.txt said that were
// obeyed.
func whyRead(p *webfetch.Page) string {
	var said []string
	if p.Same {
		said = append(said, "the site said that the page is the one that is kept for this run")
	}
	if p.Age > 0 {
		said = append(said, "a cache before the site had the answer for "+strconv.Itoa(int(p.Age/time.Second))+" s")
	}
	for _, v := range p.Robots {
		said = append(said, ofRobots(v))
	}
	return strings.Join(said, "; ")
}

// ofRobots is what a robots.txt said. Its rule is named by its line: the words are the site's.
func ofRobots(v webfetch.RobotsVerdict) string {
	says := "says nothing of it"
	switch {
	case v.Line > 0 && v.Allowed:
		says = "allows it"
	case v.Line > 0:
		says = "disallows it"
	case !v.Allowed:
		says = "was not given, which refuses everything"
	case v.Status >= 400:
		says = "is not there, which allows everything"
	}
	if v.Line > 0 {
		says += " in line " + strconv.Itoa(v.Line)
		if v.Named {
			says += ", for this product by its name"
		}
	}
	when := "read at " + v.Read.UTC().Format(time.TimeOnly) + " UTC and kept"
	if v.Asked {
		when = "asked for now"
	}
	return "robots.txt of " + v.Host + " " + says + " (status " + strconv.Itoa(v.Status) + ", " + when + ")"
}

// ruled is what a rule of addresses found.
func ruled(r weburl.Rule) string {
	switch r {
	case weburl.RuleShape:
		return "no text that can be an address"
	case weburl.RuleLength:
		return "longer than an address may be"
	case weburl.RuleParse:
		return "no absolute address"
	case weburl.RuleScheme:
		return "a scheme that is not allowed there"
	case weburl.RuleCredentials:
		return "a user name or password in the address"
	case weburl.RuleHost:
		return "a host that is no name and no address"
	case weburl.RuleBlocked:
		return "a host or network that is blocked"
	case weburl.RuleAllowed:
		return "a host that is not on the list of allowed ones"
	case weburl.RuleMetadata:
		return "an address of cloud metadata"
	case weburl.RulePrivate:
		return "a host that is not public"
	case weburl.RulePort:
		return "a port that is not allowed"
	case weburl.RuleOwn:
		return "a listener of this install"
	case weburl.RuleAddress:
		return "a name that resolves to an address that is refused"
	}
	return "no policy could judge the address"
}
