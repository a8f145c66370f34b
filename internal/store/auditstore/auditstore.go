// Package auditstore keeps the audit in the database.
//
// The one rule: Append is called inside the transaction that makes what the entry tells.
package auditstore

import (
	"fmt"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Append writes an entry. It is linked into the chain afterwards, so that appending waits for nobody.
func Append(tx *sqldb.Tx, e audit.Entry) error {
	detail, err := e.Check()
	if err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO audit (id, at, actor, verb, subject, detail) VALUES ($1, now_us(), $2, $3, $4, $5)",
		rowid.New("audit"), e.Actor, e.Verb, e.Subject, detail); err != nil {
		return fmt.Errorf("append to the audit: %w", err)
	}
	return nil
}
