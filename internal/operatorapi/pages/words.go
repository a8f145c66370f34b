// This file is how things are said and drawn: one word, one shape and one colour for one meaning.
package pages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// words are the functions of the templates. What they give is text, but for icon, whose names are ours.
func (p *Pages) words() template.FuncMap {
	return template.FuncMap{
		"asset": func(name string) string { return p.names[name] },
		"icon": func(name string) template.HTML {
			return template.HTML(`<svg class="i" aria-hidden="true"><use href="#i-` + template.HTMLEscapeString(name) + `"/></svg>`)
		},
		"outcome": outcomeOf, "class": classOf, "tier": tierOf, "took": took, "day": day, "clock": clock, "ms": millis, "short": short,
		"initials": initials, "thousands": thousands, "iso": iso, "pretty": pretty, "title": title, "count": count, "decides": decides, "whole": whole,
		"ago":       ago,
		"sensitive": func(tier string) bool { return tier == "sensitive" },
		"who":       who,
		"acted":     func(r wire.AuditRow) string { return who(r.Actor, r.Names[idOf(r.Actor)]) },
		"named":     named,
		"stated":    stated,
		"past":      func(t *time.Time, now time.Time) bool { return t != nil && t.Before(now) },
		"add":       func(a, b int) int { return a + b },
		"deref":     func(n *int64) int64 { return *n },
		"dict":      dict,
	}
}

// dict names values for a part of a page.
func dict(pairs ...any) map[string]any {
	out := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		out[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return out
}

// shape is a word with its colour and its icon.
type shape struct{ Word, Colour, Icon string }

// outcomeOf says how a call stands.
func outcomeOf(c wire.Call) shape {
	switch {
	case c.State == "uncertain" && c.Verdict != nil:
		return shape{"Uncertain, " + title(strings.ReplaceAll(c.Verdict.Verdict, "_", " ")), "mute", "q"}
	case c.State == "uncertain":
		return shape{"Uncertain", "warn", "q"}
	case c.State == "refused":
		return shape{"Refused", "mute", "slash"}
	case c.State == "admitted":
		return shape{"Admitted", "run", "clock"}
	case c.State == "dispatched":
		return shape{"Running", "run", "half"}
	case c.State == "failed":
		return shape{"Failed", "bad", "xc"}
	case c.Withheld:
		return shape{"Withheld", "mute", "slash"}
	case c.FromKept():
		return shape{"From a kept page", "ok", "okc"}
	case c.Outcome == "not_dispatched":
		return shape{"Nothing sent", "mute", "slash"}
	case c.IsError:
		return shape{"Error", "bad", "alert"}
	}
	return shape{"Succeeded", "ok", "okc"}
}

func classOf(class string) shape {
	switch class {
	case "query":
		return shape{"Query, metered", "query", "gauge"}
	case "effect":
		return shape{"Effect", "effect", "bolt"}
	}
	return shape{"Observation", "", "eye"}
}

// tierOf gives a tier's word and how many of its four bars are full.
func tierOf(tier string) struct {
	Word string
	N    int
} {
	n := map[string]int{"read": 1, "navigate": 2, "interact": 3, "sensitive": 4}[tier]
	return struct {
		Word string
		N    int
	}{title(tier), n}
}

// took is how long a call took, or has taken until now.
func took(c wire.Call, now time.Time) string {
	end := now
	if c.Ended != nil {
		end = *c.Ended
	}
	return span(end.Sub(c.Created))
}

// span says a duration: 212 ms, 10.0 s, 30 min 21 s.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// ago says how long before now something was.
func ago(t *time.Time, now time.Time) string {
	if t == nil {
		return "never"
	}
	d := now.Sub(*t)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	}
	return day(*t)
}

func day(t time.Time) string    { return t.UTC().Format("2 Jan 15:04:05") }
func clock(t time.Time) string  { return t.UTC().Format("15:04:05") }
func millis(t time.Time) string { return t.UTC().Format("15:04:05.000") }
func iso(t time.Time) string    { return t.UTC().Format(time.RFC3339) }

// short is an id as a table shows it; whole it is in the copy and the tooltip.
func short(id string) string {
	prefix, rest, ok := strings.Cut(id, "_")
	switch {
	case !ok && len(id) > 20: // a hash
		return id[:10] + "…"
	case !ok || len(rest) <= 8:
		return id
	}
	return prefix + "_…" + rest[len(rest)-6:]
}

func initials(name string) string {
	out := ""
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(out) < 2 {
			out += strings.ToUpper(part[:1])
		}
	}
	return out
}

func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// count says a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int64(n)) + " " + many
}

func title(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// who is an actor as people read it: by name where there is one.
func who(actor, name string) string {
	kind, id, ok := strings.Cut(actor, ":")
	switch {
	case name != "" && kind == "agent":
		return "agent " + name
	case name != "":
		return name
	case !ok:
		return cmp.Or(map[string]string{"cli": "the command line", "system": "the server", "local": "a client on this machine"}[actor], actor)
	case strings.HasPrefix(id, kind+"_"):
		return short(id)
	}
	return kind + " " + short(id)
}

// idOf is the id of an actor's row; of one without a row, itself.
func idOf(actor string) string {
	if _, id, ok := strings.Cut(actor, ":"); ok {
		return id
	}
	return actor
}

// named is a text with names in the place of ids.
func named(names map[string]string, text string) string {
	for id, name := range names {
		text = strings.ReplaceAll(text, id, name)
	}
	return text
}

// stated is a fact of a call with the name of who reconciled it.
func stated(fact string, v *wire.Verdict) string {
	if v == nil || v.ByName == "" {
		return fact
	}
	return strings.ReplaceAll(fact, v.By, v.ByName)
}

// pretty lays JSON out; what is none stays as it is.
func pretty(raw wire.Raw) string {
	if len(raw) == 0 {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// visible writes the characters that a screen does not show, or that turn others around, as marks such as ‹U+202E›.
func visible(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, "‹U+%04X›", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector))
}
