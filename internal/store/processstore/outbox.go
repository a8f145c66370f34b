// This file hands out notices: what a person must hear, written by the transaction that causes it.
package processstore

import (
	"context"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// mostClaimed is how many notices are claimed at once.
const mostClaimed = 1000

// AskNotices finds the notices that wait; its parameter is how many.
const AskNotices = "SELECT id FROM notices WHERE sent_at IS NULL AND (claimed_until IS NULL OR claimed_until<now_us()) ORDER BY created_at, id LIMIT $1"

// Claim takes waiting notices for a time, oldest first. Whoever claims sends; what is not marked as sent comes again.
func (s *Store) Claim(ctx context.Context, process string, ttl time.Duration, limit int) (list []ledger.Notice, err error) {
	if limit <= 0 || limit > mostClaimed {
		limit = mostClaimed
	}
	waiting, err := s.db.IDs(ctx, AskNotices, limit)
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	err = s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		list = nil
		for _, id := range waiting {
			var n ledger.Notice
			var created int64
			mine, err := tx.One(`UPDATE notices SET claimed_by=$2, claimed_until=now_us()+$3
 WHERE id=$1 AND sent_at IS NULL AND (claimed_until IS NULL OR claimed_until<now_us()) RETURNING id, kind, subject_id, run_id, created_at`,
				[]any{id, process, ttl.Microseconds()}, &n.ID, &n.Kind, &n.Subject, &n.Run, &created)
			if err != nil {
				return err
			}
			if mine {
				n.Created = time.UnixMicro(created).UTC()
				list = append(list, n)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Sent says that notices were heard.
func (s *Store) Sent(ctx context.Context, ids []string) error {
	return s.db.Each(ctx, ids, func(tx *sqldb.Tx, id string) error {
		_, err := tx.Exec("UPDATE notices SET sent_at=now_us() WHERE id=$1 AND sent_at IS NULL", id)
		return err
	})
}
