// This file hands out notices: what a person must hear, written by the transaction that causes it.
package ledgerstore

import (
	"context"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// noticeUncertain is the kind of notice that an effect of unknown outcome leaves.
const noticeUncertain = "effect_uncertain"

const askNotices = "SELECT id FROM notices WHERE sent_at IS NULL AND (claimed_until IS NULL OR claimed_until<now_us()) ORDER BY created_at, id LIMIT $1"

func leaveNotice(tx *sqldb.Tx, kind, subject, run string, now int64) error {
	_, err := tx.Exec("INSERT INTO notices(id, kind, subject_id, run_id, created_at) VALUES($1,$2,$3,$4,$5)", rowid.New("notice"), kind, subject, run, now)
	return err
}

// Claim takes waiting notices for a time, oldest first. Whoever claims sends; what is not marked as sent comes again.
func (s *Store) Claim(ctx context.Context, process string, ttl time.Duration, limit int) (list []ledger.Notice, err error) {
	var waiting []string
	ask := func(tx *sqldb.Tx) error {
		waiting = nil
		return tx.All(askNotices, []any{atMost(limit)}, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			waiting = append(waiting, id)
			return err
		})
	}
	if err := s.db.Read(ctx, ask); err != nil || len(waiting) == 0 {
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
				n.Created = clock(created)
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
	return s.write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		for _, id := range ids {
			if _, err := tx.Exec("UPDATE notices SET sent_at=now_us() WHERE id=$1 AND sent_at IS NULL", id); err != nil {
				return err
			}
		}
		return nil
	})
}
