// This file keeps offers: what each caller was told that it may call, as a fingerprint for each audience and tool.
package ledgerstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/bindingrows"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Offer resolves the tools for an agent and writes the offers of an audience where they differ: a tool that is off has
// none. The resolutions are in the order of the tools. ErrNotFound: no such agent.
func (s *Store) Offer(ctx context.Context, agent, audience string, tools []ledger.Tool) ([]binding.Resolution, error) {
	var list []binding.Resolution
	var stale []int
	look := func(tx *sqldb.Tx) (err error) {
		list, stale, err = s.compare(tx, agent, audience, tools)
		return err
	}
	if err := s.db.Read(ctx, look); err != nil || len(stale) == 0 {
		return list, err
	}
	err := s.db.Certain(ctx, sqldb.Calls, func(tx *sqldb.Tx) error {
		if err := look(tx); err != nil {
			return err
		}
		// Two listings of one audience at once write in the same order, so that neither waits for the other in a ring.
		slices.SortFunc(stale, func(a, b int) int { return strings.Compare(tools[a].Name, tools[b].Name) })
		for _, i := range stale {
			if err := writeOffer(tx, audience, tools[i].Name, list[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// compare resolves tools and says which of their offers are not as they should be.
func (s *Store) compare(tx *sqldb.Tx, agent, audience string, tools []ledger.Tool) (list []binding.Resolution, stale []int, err error) {
	offered := make(map[string]string)
	if err := tx.All("SELECT tool, fingerprint FROM offers WHERE audience=$1", []any{audience}, func(scan func(...any) error) error {
		var tool, fingerprint string
		err := scan(&tool, &fingerprint)
		offered[tool] = fingerprint
		return err
	}); err != nil {
		return nil, nil, err
	}
	facts := make(map[string]binding.Facts)
	for i, t := range tools {
		f, known := facts[t.Capability]
		if !known {
			var found bool
			if f, found, err = bindingrows.Of(tx, agent, t.Capability); err != nil {
				return nil, nil, err
			}
			if !found {
				return nil, nil, ledger.ErrNotFound
			}
			facts[t.Capability] = f
		}
		r := s.resolve(f, t.Capability, t.Name, t.Profile)
		list = append(list, r)
		was, there := offered[t.Name]
		if there != (r.Off == "") || there && was != r.Binding.Fingerprint() {
			stale = append(stale, i)
		}
	}
	return list, stale, nil
}

// writeOffer makes the offer of a tool what a resolution says: a row, or none.
func writeOffer(tx *sqldb.Tx, audience, tool string, r binding.Resolution) error {
	if r.Off != "" {
		_, err := tx.Exec("DELETE FROM offers WHERE audience=$1 AND tool=$2", audience, tool)
		return err
	}
	facts, err := json.Marshal(r.Binding)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO offers(audience, tool, agent_id, fingerprint, facts, made_at) VALUES($1,$2,$3,$4,$5,now_us())
 ON CONFLICT(audience, tool) DO UPDATE SET agent_id=excluded.agent_id, fingerprint=excluded.fingerprint, facts=excluded.facts, made_at=excluded.made_at
 WHERE offers.fingerprint<>excluded.fingerprint`, audience, tool, r.Binding.Agent, r.Binding.Fingerprint(), string(facts))
	return err
}

// offerRow is what an audience was told of a tool.
type offerRow struct{ fingerprint, facts sql.Null[string] }

// binding gives what was offered; nil where nothing was.
func (o offerRow) binding() *binding.Binding {
	if !o.fingerprint.Valid {
		return nil
	}
	b, ok := binding.Parse(o.fingerprint.V)
	var full binding.Binding
	if json.Unmarshal([]byte(o.facts.V), &full) == nil && full.Fingerprint() == o.fingerprint.V {
		return &full
	}
	if !ok {
		return nil
	}
	return &b
}

// Resolve gives what a tool is bound to now. ErrNotFound: no such agent.
func (s *Store) Resolve(ctx context.Context, agent string, t ledger.Tool) (r binding.Resolution, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		f, found, err := bindingrows.Of(tx, agent, t.Capability)
		if err == nil && !found {
			err = ledger.ErrNotFound
		}
		if err == nil {
			r = s.resolve(f, t.Capability, t.Name, t.Profile)
		}
		return err
	})
	return r, err
}

// Epoch is the number of configuration writes.
func (s *Store) Epoch(ctx context.Context) (int64, error) { return settings.Now(ctx, s.db) }
