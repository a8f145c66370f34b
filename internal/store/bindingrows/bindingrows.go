// Package bindingrows reads the rows that decide what a tool is bound to: the agent, its connection, the install's, and who
// has paused them.
//
// The one rule: they are read in one query, inside the transaction that acts on the answer.
package bindingrows

import (
	"database/sql"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Columns are read from agents a and what Joins adds.
const Columns = `a.id, a.slug, a.state, a.grants_version, a.paused_at, a.paused_by, g.paused_at, g.paused_by,
 own.mode, own.provider, own.version, own.run_limit, own.minute_limit,
 shared.mode, shared.provider, shared.version, shared.run_limit, shared.minute_limit`

// Joins adds the install's row and both connections for a capability, which is a column or a parameter.
func Joins(capability string) string {
	return strings.ReplaceAll(` LEFT JOIN settings g ON g.id=1
 LEFT JOIN connections own ON own.owner=a.id AND own.capability=CAPABILITY
 LEFT JOIN connections shared ON shared.owner='install' AND shared.capability=CAPABILITY`, "CAPABILITY", capability)
}

// Row is what Columns scan into.
type Row struct {
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

// Into gives where Columns go.
func (f *Row) Into() []any {
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

// Facts is what was read.
func (f *Row) Facts() binding.Facts {
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
	return binding.Pause{By: by.V, At: time.UnixMicro(at.V).UTC()}
}

// Of reads an agent's facts for one capability; found is false for an agent that is not there.
func Of(tx *sqldb.Tx, agent, capability string) (f binding.Facts, found bool, err error) {
	var row Row
	found, err = tx.One(`SELECT `+Columns+` FROM agents a`+Joins("$2")+` WHERE a.id=$1`, []any{agent, capability}, row.Into()...)
	return row.Facts(), found, err
}
