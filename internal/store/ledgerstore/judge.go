// This file judges a call before anything is written: is it there already, is it offered, is something in the way. An
// admission and a look ahead ask the same questions in the same order.
package ledgerstore

import (
	"bytes"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/bindingrows"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// twinAge is how old the newest effect may be for the same one without a key to count as sent again.
const twinAge = 15 * time.Minute

// ground is what one query reads before a call is judged.
type ground struct {
	agent       bool // there is such an agent
	sameID      bool // a call has this id
	sameKey     bool // a call of the agent has this key, and was not refused
	token       bool // the token that asked still works
	resolution  binding.Resolution
	offer       offerRow
	fingerprint string
}

var askGround = `SELECT ` + bindingrows.Columns + `, o.fingerprint, o.facts,
 CASE WHEN EXISTS (SELECT 1 FROM tool_calls c WHERE c.id=$5) THEN 1 ELSE 0 END,
 CASE WHEN EXISTS (SELECT 1 FROM tool_calls c WHERE c.agent_id=$1 AND c.caller_key=$6 AND c.state<>'refused') THEN 1 ELSE 0 END,
 CASE WHEN CAST($7 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM agent_tokens k WHERE k.id=$7 AND k.agent_id=$1 AND k.revoked_at IS NULL) THEN 1 ELSE 0 END
 FROM agents a` + bindingrows.Joins("$2") + ` LEFT JOIN offers o ON o.audience=$3 AND o.tool=$4 WHERE a.id=$1`

// groundOf reads the binding in force, the offer, and whether the call is there already.
func (s *Store) groundOf(tx *sqldb.Tx, a ledger.Ask) (ground, error) {
	var g ground
	var facts bindingrows.Row
	var sameID, sameKey, token int64
	found, err := tx.One(askGround,
		[]any{a.Agent, a.Capability, a.Audience, a.Tool, a.ID, maybe(a.Key), maybe(a.Token)},
		append(facts.Into(), &g.offer.fingerprint, &g.offer.facts, &sameID, &sameKey, &token)...)
	if err != nil || !found {
		return g, err
	}
	g.agent, g.sameID, g.sameKey, g.token = true, sameID != 0, sameKey != 0, token != 0
	g.resolution = s.resolve(facts.Facts(), a.Capability, a.Tool, a.Profile)
	g.fingerprint = g.resolution.Binding.Fingerprint()
	return g, nil
}

// same finds the same call, by its id before its key, and says whether what is asked now is another one.
func same(tx *sqldb.Tx, a ledger.Ask, g ground) (*callRow, *ledger.Refusal, error) {
	var c *callRow
	var found bool
	var err error
	switch {
	case g.sameID:
		c, found, err = loadCall(tx, "t.id=$1", a.ID)
	case g.sameKey:
		c, found, err = loadCall(tx, "t.agent_id=$1 AND t.caller_key=$2 AND t.state<>'refused'", a.Agent, a.Key)
	}
	if err != nil || !found {
		return nil, nil, err
	}
	if c.Agent != a.Agent { // a call of somebody else is not there
		return nil, nil, ledger.ErrNotFound
	}
	differs := ""
	switch {
	case c.Tool != a.Tool:
		differs = "tool"
	case !bytes.Equal(c.digest, a.Digest):
		differs = "arguments"
	case a.Named && c.Run != a.Run:
		differs = "run"
	default:
		return c, nil, nil
	}
	return nil, refusal(a, "call_conflict", ledger.Facts{Other: c.ID, OtherTool: c.Tool, OtherAt: c.Created, Differs: differs}), nil
}

func refusal(a ledger.Ask, code string, f ledger.Facts) *ledger.Refusal {
	return &ledger.Refusal{Code: code, Run: a.Run, Facts: f}
}

// offered says why a call is not let in under the binding in force; nil where it is the one that was offered.
func offered(a ledger.Ask, g ground) *ledger.Refusal {
	r := g.resolution
	switch {
	case !g.token: // between the door's look and this transaction (TM-044)
		return refusal(a, "capability_disabled", ledger.Facts{Capability: a.Capability, Reason: "the token of this client was revoked"})
	case r.Off != "":
		return refusal(a, "capability_disabled", ledger.Facts{Capability: a.Capability, Reason: r.Off, Was: g.offer.binding()})
	case a.Under != "" && a.Under != g.fingerprint: // offered since, to whoever listed the tools
		f := ledger.Facts{Capability: a.Capability, Now: &r.Binding}
		if was, ok := binding.Parse(a.Under); ok {
			f.Was = &was
		}
		return refusal(a, "stale_offer", f)
	case !g.offer.fingerprint.Valid || g.offer.fingerprint.V != g.fingerprint:
		return refusal(a, "stale_offer", ledger.Facts{Capability: a.Capability, Was: g.offer.binding(), Now: &r.Binding})
	case r.Paused != nil:
		return refusal(a, "paused", ledger.Facts{Reason: r.PausedWhat, By: r.Paused.By, At: r.Paused.At})
	}
	return nil
}

// overRefusal says of a run that lets nothing in why that is so. ErrNotFound where the run is not the agent's.
func overRefusal(tx *sqldb.Tx, a ledger.Ask) (*ledger.Refusal, error) {
	r, err := runOf(tx, a.Agent, a.Run)
	if err != nil {
		return nil, err
	}
	reason, at, over := overNow(r)
	if !over {
		return nil, nil
	}
	return refusal(a, "run_over", ledger.Facts{Reason: reason, At: at}), nil
}

// inTheWay is what an effect meets in its run: an uncertain one (refused), one in flight (wait), or itself, sent again
// without a key (twin).
type inTheWay struct {
	refused *ledger.Refusal
	wait    *callRow
	twin    bool // wait is the same effect
	answer  *callRow
}

// newestEffect finds it and what stands of it in one statement: between two, somebody may conclude it as never sent, and
// then it is in nobody's way.
const newestEffect = `t.id=(SELECT id FROM tool_calls WHERE run_id=$1 AND class='effect' AND state<>'refused'
 AND (state='admitted' OR dispatched_at IS NOT NULL) ORDER BY seq DESC LIMIT 1)`

// met judges an effect against its run's hold and newest effect.
func met(tx *sqldb.Tx, a ledger.Ask, hold string, now time.Time) (inTheWay, error) {
	twin := func(c *callRow) bool { return a.Key == "" && c.Tool == a.Tool && bytes.Equal(c.digest, a.Digest) }
	if hold != "" {
		c, found, err := loadCall(tx, "t.id=$1", hold)
		switch {
		case err != nil:
			return inTheWay{}, err
		case found && !c.State.Final():
			return inTheWay{wait: c, twin: twin(c)}, nil
		case !found: // a hold without its call lets nothing pass
			return inTheWay{refused: refusal(a, "effect_uncertain", ledger.Facts{Other: hold})}, nil
		}
		sent := c.Dispatched
		if sent.IsZero() {
			sent = c.Created
		}
		return inTheWay{refused: refusal(a, "effect_uncertain", ledger.Facts{Other: c.ID, OtherTool: c.Tool, OtherAt: sent})}, nil
	}
	if a.Key != "" {
		return inTheWay{}, nil
	}
	c, found, err := loadCall(tx, newestEffect, a.Run)
	switch {
	case err != nil || !found || !twin(c) || now.Sub(c.Created) > twinAge || c.Delivery == ledger.HandedOver:
		return inTheWay{}, err
	case c.Delivery == ledger.CallerGone && c.State.Final():
		return inTheWay{answer: c}, nil
	}
	return inTheWay{wait: c, twin: true}, nil
}

// effectClass says whether a call of this class may change the world, and so meets holds and twins.
func effectClass(a ledger.Ask) bool { return a.Class == effect.Effect }
