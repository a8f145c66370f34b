// This file reads the rows that decide a binding: one query, inside the transaction that acts on the answer.
package ledgerstore

import (
	"database/sql"
	"strings"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// factColumns are read from agents a and what factJoins adds.
const factColumns = `a.id, a.slug, a.state, a.grants_version, a.paused_at, a.paused_by, g.paused_at, g.paused_by,
 own.mode, own.provider, own.version, own.run_limit, own.minute_limit,
 shared.mode, shared.provider, shared.version, shared.run_limit, shared.minute_limit`

// factJoins adds the install's row and both connections for a capability, which is a column or a parameter.
func factJoins(capability string) string {
	return strings.ReplaceAll(` LEFT JOIN settings g ON g.id=1
 LEFT JOIN connections own ON own.owner=a.id AND own.capability=CAPABILITY
 LEFT JOIN connections shared ON shared.owner='install' AND shared.capability=CAPABILITY`, "CAPABILITY", capability)
}

// factRow is what factColumns scan into.
type factRow struct {
	id, slug, state  string
	grants           int64
	pausedAt, stopAt sql.Null[int64]
	pausedBy, stopBy sql.Null[string]
	own, shared      connectionRow
}

type connectionRow struct {
	mode, provider    sql.Null[string]
	version           sql.Null[int64]
	perRun, perMinute sql.Null[int64]
}

func (f *factRow) into() []any {
	return append([]any{&f.id, &f.slug, &f.state, &f.grants, &f.pausedAt, &f.pausedBy, &f.stopAt, &f.stopBy},
		append(f.own.into(), f.shared.into()...)...)
}

func (c *connectionRow) into() []any {
	return []any{&c.mode, &c.provider, &c.version, &c.perRun, &c.perMinute}
}

// connection is nil where there is no row.
func (c *connectionRow) connection(owner string) *binding.Connection {
	if !c.mode.Valid {
		return nil
	}
	return &binding.Connection{Owner: owner, Mode: c.mode.V, Provider: c.provider.V, Version: c.version.V, RunLimit: c.perRun.V, MinuteLimit: c.perMinute.V}
}

func (f *factRow) facts() binding.Facts {
	return binding.Facts{
		Agent: binding.Agent{ID: f.id, Slug: f.slug, Disabled: f.state != "active", GrantsVersion: f.grants,
			Paused: pause(f.pausedAt, f.pausedBy)},
		Install: pause(f.stopAt, f.stopBy),
		Own:     f.own.connection(f.id), Shared: f.shared.connection(binding.Install),
	}
}

func pause(at sql.Null[int64], by sql.Null[string]) binding.Pause {
	if !at.Valid {
		return binding.Pause{}
	}
	return binding.Pause{By: by.V, At: clock(at.V)}
}

// factsOf reads an agent's facts for one capability; found is false for an agent that is not there.
func factsOf(tx *sqldb.Tx, agent, capability string) (f binding.Facts, found bool, err error) {
	var row factRow
	found, err = tx.One(`SELECT `+factColumns+` FROM agents a`+factJoins("$2")+` WHERE a.id=$1`, []any{agent, capability}, row.into()...)
	return row.facts(), found, err
}
