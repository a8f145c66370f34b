// This file uses approvals up: inside the admission that they are for, or in vain.
package ledgerstore

import (
	"database/sql"
	"fmt"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// matches is the condition under which an approval is for what it is presented with: $2 to $6.
const matches = "agent_id=$2 AND run_id=$3 AND tool=$4 AND digest=$5 AND profile_hash=$6"

// spent is what a presented approval turned out to be.
type spent struct {
	ok   bool
	fact string
}

// useUp spends the approval of an admission: one that a person gave, for exactly this, whose time is not over.
func useUp(tx *sqldb.Tx, e entry, now int64) (spent, error) {
	p := e.Approval
	if p.Agent != e.Agent || p.Run != e.Run {
		return spent{}, nil
	}
	var by, channel sql.Null[string]
	ok, err := tx.One("UPDATE approvals SET state='used', used_by=$7 WHERE id=$1 AND "+matches+" AND state='approved' AND good_until>$8 RETURNING answered_by, channel",
		[]any{p.ID, p.Agent, p.Run, p.Tool, p.Digest, p.Profile, e.ID, now}, &by, &channel)
	if !ok || err != nil {
		return spent{}, err
	}
	fact := "a person allowed it once"
	if channel.Valid {
		fact = fmt.Sprintf("%s allowed it once by %s", by.V, channel.V)
	}
	return spent{ok: true, fact: fact}, nil
}

// burn makes an approval void that was presented for something else, or after its time. Only its own agent can burn it; a
// question that is still open for exactly this stays open.
func burn(tx *sqldb.Tx, a ledger.Ask, now int64) error {
	p := a.Approval
	_, err := tx.Exec("UPDATE approvals SET state='void' WHERE id=$1 AND agent_id=$7 AND state IN ('open','approved') AND (NOT ("+matches+") OR (state='approved' AND good_until<=$8))",
		p.ID, p.Agent, p.Run, p.Tool, p.Digest, p.Profile, a.Agent, now)
	return err
}
