package approval

import "slices"

// Mode says what an agent may do with browser tools outside declared actions.
type Mode string

const (
	ModeAsk    Mode = "ask"    // a person is asked for what is sensitive; the default
	ModeOpen   Mode = "open"   // nobody is asked
	ModeClosed Mode = "closed" // the tools are refused
)

// Policy is what operators decided for an agent. The zero Policy is that of an agent nobody decided anything for.
type Policy struct {
	Browser Mode // empty means ModeAsk
}

// Decision is what policy says of a call.
type Decision struct {
	Verdict Verdict
	// Why is the reason in words of ours: it stands in the call's record.
	Why string
}

// Verdict is one of three.
type Verdict string

const (
	Allow  Verdict = "allow"
	Ask    Verdict = "ask"
	Refuse Verdict = "refuse"
)

// tiers are in the order in which each covers those before it.
var tiers = []Tier{Read, Navigate, Interact, Sensitive}

// Covers says whether a yes to t is also one to other. A tier that is not known is covered by nothing and covers nothing.
func (t Tier) Covers(other Tier) bool {
	mine, others := slices.Index(tiers, t), slices.Index(tiers, other)
	return mine >= 0 && others >= 0 && others <= mine
}

// Known gives the tier, or Sensitive for one that is not known.
func (t Tier) Known() Tier {
	if slices.Contains(tiers, t) {
		return t
	}
	return Sensitive
}

// Decide says whether a call runs, needs a person's yes, or is refused. f is nil for calls that policy does not touch.
// It is pure: the same facts give the same answer in every process. What it does not know it takes for the worst.
func Decide(p Policy, f *Facts) Decision {
	if f == nil {
		return Decision{Allow, "no approval is needed for this tool"}
	}
	tier := f.Tier.Known()
	if f.Declared {
		return Decision{Ask, "a declared action at tier " + string(tier) + ": a person is asked"}
	}
	switch p.Browser {
	case ModeOpen:
		return Decision{Allow, "browser tools are open to this agent"}
	case ModeAsk, "":
		if tier == Sensitive {
			return Decision{Ask, "tier sensitive: a person is asked"}
		}
		return Decision{Allow, "tier " + string(tier) + ": nobody is asked"}
	}
	return Decision{Refuse, "browser tools are closed to this agent outside actions"}
}
