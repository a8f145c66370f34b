// Package pagestore keeps the pages of runs in the database, sealed and bounded.
package pagestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/reading"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/webfetch"
)

// Bounds of kept pages. A zero field means its default.
type Bounds struct {
	RunBytes int64         // text of one run's pages; default 16 MiB. The page that was used longest ago goes.
	RunPages int64         // pages of a run that are kept or remembered; default 256
	Idle     time.Duration // since a page was last read; default one hour
}

// useEvery is how exactly the last use of a page is known: reading on need not write each time.
const useEvery = time.Minute

// Store is a reading.Shelf and an operatorapi.Pages.
type Store struct {
	db     *sqldb.DB
	sealer seal.Sealer
	bounds Bounds
}

// New makes a store.
func New(db *sqldb.DB, s seal.Sealer, b Bounds) *Store {
	if b.RunBytes == 0 {
		b.RunBytes = 16 << 20
	}
	if b.RunPages == 0 {
		b.RunPages = 256
	}
	if b.Idle == 0 {
		b.Idle = time.Hour
	}
	return &Store{db: db, sealer: s, bounds: b}
}

func place(id string) seal.Place { return seal.Place{Table: "kept_pages", Column: "body", Row: id} }

// Take gives a run's page by a key of it, nil where there is none.
func (s *Store) Take(ctx context.Context, run, key string) (*reading.Kept, error) {
	return s.take(ctx, "", run, key)
}

// Tagged is Take for a page that its site can be asked about.
func (s *Store) Tagged(ctx context.Context, run, key string) (*reading.Kept, error) {
	return s.take(ctx, " AND p.tagged = 1", run, key)
}

func (s *Store) take(ctx context.Context, and, run, key string) (*reading.Kept, error) {
	var (
		id                  string
		body                []byte
		snapshot, used, now int64
	)
	found, err := s.db.One(ctx, `SELECT p.id, p.body, p.snapshot, p.used_at, now_us() FROM kept_pages k JOIN kept_pages p ON p.id = coalesce(k.alias_of, k.id)
WHERE k.run_id = $1 AND k.page_key = $2 AND p.body IS NOT NULL AND p.expires_at > now_us()`+and, []any{run, key}, &id, &body, &snapshot, &used, &now)
	if err != nil || !found {
		return nil, err
	}
	if now-used >= useEvery.Microseconds() {
		err := s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`UPDATE kept_pages SET used_at = now_us(), expires_at = now_us() + $2 WHERE id = $1`, id, s.bounds.Idle.Microseconds())
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	plain, err := s.sealer.Open(place(id), body)
	if err != nil {
		return nil, fmt.Errorf("kept page %s: %w", id, err)
	}
	page, err := reading.Decode(plain)
	if err != nil {
		return nil, fmt.Errorf("kept page %s: %w", id, err)
	}
	return &reading.Kept{Page: page, Snapshot: int(snapshot)}, nil
}

// Put keeps a page under its keys.
func (s *Store) Put(ctx context.Context, at reading.Place, keys []string, p *webfetch.Page) (reading.Put, error) {
	plain, err := reading.Encode(p)
	if err != nil {
		return reading.Put{}, err
	}
	id, sum, size := rowid.New("page"), reading.Sum(p), int64(len(plain))
	var body any // NULL for a page that alone is over the bound
	if size <= s.bounds.RunBytes {
		if body, err = s.sealer.Seal(place(id), plain); err != nil {
			return reading.Put{}, fmt.Errorf("seal a page: %w", err)
		}
	}
	var put reading.Put
	// The call's result is written after it, and no answer is given before that.
	keep := func(tx *sqldb.Tx) (err error) {
		was := put // of an attempt that came to its commit
		defer func() {
			if err != nil {
				put = was
			}
		}()
		put = reading.Put{Snapshot: 1, SHA256: sum}
		// The run's row is locked so that two pages of one run cannot both find room. SQLite has one writer.
		if tx.Dialect() == sqldb.Postgres {
			var id string
			if _, err = tx.One(`SELECT id FROM runs WHERE id = $1 FOR UPDATE`, []any{at.Run}, &id); err != nil {
				return err
			}
		}
		shelf, err := look(tx, at.Run, keys[0])
		if err != nil || shelf.ended { // what a run keeps goes with its end, and nothing comes after
			return err
		}
		if shelf.row.V == id { // an attempt whose commit was in doubt did happen
			put = was
			return nil
		}
		if put.Known = shelf.sum.Valid; put.Known {
			put.Snapshot = int(shelf.snapshot.V)
			if put.Changed = shelf.sum.V != sum; put.Changed {
				put.Snapshot++
			}
		}
		if shelf.row.Valid && !shelf.alias.Valid && body != nil && shelf.bytes+size <= s.bounds.RunBytes {
			return s.replace(tx, at, shelf, keys[1:], keeping{id, put.Snapshot, sum, body, size, p})
		}
		if shelf.row.Valid {
			if _, err = tx.Exec(`DELETE FROM kept_pages WHERE run_id = $1 AND (page_key = $2 OR alias_of = $3)`, at.Run, keys[0], shelf.row.V); err != nil {
				return err
			}
		}
		if body != nil && shelf.bytes+size > s.bounds.RunBytes {
			if err := s.makeRoom(tx, at.Run, size); err != nil {
				return err
			}
		}
		kept := keeping{id, put.Snapshot, sum, body, size, p}
		if err := s.insert(tx, at, id, keys[0], nil, kept); err != nil {
			return err
		}
		if err := s.aliases(tx, at, keys[1:], kept); err != nil {
			return err
		}
		if shelf.rows+int64(len(keys)) <= s.bounds.RunPages {
			return nil
		}
		return s.forget(tx, at.Run)
	}
	for n := 0; ; n++ {
		if err = s.db.Ahead(ctx, keep); !errors.Is(err, sqldb.ErrAway) || n == len(outlasting) {
			return put, err
		}
		select {
		case <-time.After(outlasting[n]):
		case <-ctx.Done():
			return put, err
		}
	}
}

// outlasting are the pauses in which a server of the database that is away is waited for. A page was paid for before it is
// kept; a server that is started anew is back by then.
var outlasting = [...]time.Duration{50 * time.Millisecond, 300 * time.Millisecond, time.Second, 2 * time.Second}

// keeping is a page that is being kept.
type keeping struct {
	id       string
	snapshot int
	sum      string
	body     any
	size     int64
	*webfetch.Page
}

// replace puts a page in the place of the one that was kept under its key, where there is room: the database writes over
// what it has, and need not free it first.
func (s *Store) replace(tx *sqldb.Tx, at reading.Place, was shelf, aliases []string, p keeping) error {
	if was.rows > 1 {
		if _, err := tx.Exec(`DELETE FROM kept_pages WHERE run_id = $1 AND alias_of = $2`, at.Run, was.row.V); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(`UPDATE kept_pages SET id = $2, call_id = $3, snapshot = $4, sha256 = $5, body = $6, chars = $7, bytes = $8, kept_at = now_us(), used_at = now_us(),
expires_at = now_us() + $9, tagged = $10 WHERE id = $1`, was.row.V, p.id, at.Call, p.snapshot, p.sum, p.body, p.TotalChars, p.size, s.bounds.Idle.Microseconds(), reading.Tagged(p.Page)); err != nil {
		return err
	}
	if err := s.aliases(tx, at, aliases, p); err != nil || was.rows+int64(len(aliases)) <= s.bounds.RunPages {
		return err
	}
	return s.forget(tx, at.Run)
}

func (s *Store) insert(tx *sqldb.Tx, at reading.Place, id, key string, of any, p keeping) error {
	_, err := tx.Exec(`INSERT INTO kept_pages(id, run_id, call_id, page_key, alias_of, snapshot, sha256, body, chars, bytes, kept_at, used_at, expires_at, tagged)
VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now_us(), now_us(), now_us() + $11, $12) ON CONFLICT DO NOTHING`,
		id, at.Run, at.Call, key, of, p.snapshot, p.sum, p.body, p.TotalChars, p.size, s.bounds.Idle.Microseconds(), of == nil && reading.Tagged(p.Page))
	return err
}

// aliases names a page by further keys. An alias gives way to another alias' page, never to a page that was asked for
// under this address.
func (s *Store) aliases(tx *sqldb.Tx, at reading.Place, keys []string, p keeping) error {
	named := p
	named.body, named.size = nil, 0
	for _, key := range keys {
		if _, err := tx.Exec(`DELETE FROM kept_pages WHERE run_id = $1 AND page_key = $2 AND alias_of IS NOT NULL`, at.Run, key); err != nil {
			return err
		}
		if err := s.insert(tx, at, rowid.New("page"), key, p.id, named); err != nil {
			return err
		}
	}
	return nil
}

// forget lets go of the pages of a run that were used longest ago, beyond what it may have.
func (s *Store) forget(tx *sqldb.Tx, run string) error {
	_, err := tx.Exec(`DELETE FROM kept_pages WHERE run_id = $1 AND id IN (SELECT id FROM kept_pages WHERE run_id = $1 ORDER BY used_at DESC, id DESC LIMIT 1000000 OFFSET $2)`,
		run, s.bounds.RunPages)
	return err
}

// shelf is what a run has of a page, and of all pages.
type shelf struct {
	row, alias  sql.Null[string] // the row with the page's key, and that which it is another name of
	sum         sql.Null[string] // the hash of the text that it leads to
	snapshot    sql.Null[int64]
	bytes, rows int64
	ended       bool // the run, or it is gone
}

func look(tx *sqldb.Tx, run, key string) (s shelf, err error) {
	var ended sql.Null[int64]
	_, err = tx.One(`SELECT k.id, k.alias_of, p.sha256, p.snapshot, (SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM kept_pages WHERE run_id = $1 AND body IS NOT NULL),
(SELECT count(*) FROM kept_pages WHERE run_id = $1), (SELECT CASE WHEN state = 'ended' THEN 1 ELSE 0 END FROM runs WHERE id = $1)
FROM (SELECT 1 AS one) o LEFT JOIN kept_pages k ON k.run_id = $1 AND k.page_key = $2 LEFT JOIN kept_pages p ON p.id = coalesce(k.alias_of, k.id)`,
		[]any{run, key}, &s.row, &s.alias, &s.sum, &s.snapshot, &s.bytes, &s.rows, &ended)
	s.ended = !ended.Valid || ended.V != 0
	return s, err
}

// makeRoom lets go of a run's text, longest unused first, until a page of that size fits.
func (s *Store) makeRoom(tx *sqldb.Tx, run string, size int64) error {
	var all int64
	if _, err := tx.One(`SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM kept_pages WHERE run_id = $1 AND body IS NOT NULL`, []any{run}, &all); err != nil {
		return err
	}
	for all+size > s.bounds.RunBytes {
		var id string
		var bytes int64
		found, err := tx.One(`SELECT id, bytes FROM kept_pages WHERE run_id = $1 AND body IS NOT NULL ORDER BY used_at, id LIMIT 1`, []any{run}, &id, &bytes)
		if err != nil || !found {
			return err
		}
		if _, err := tx.Exec(`UPDATE kept_pages SET body = NULL WHERE id = $1`, id); err != nil {
			return err
		}
		all -= bytes
	}
	return nil
}

// Kept lists what a run has kept, newest first.
func (s *Store) Kept(ctx context.Context, run string) (list []operatorapi.KeptPage, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		list = nil
		return tx.All(shown+`, NULL FROM kept_pages WHERE run_id = $1 AND alias_of IS NULL AND body IS NOT NULL AND expires_at > now_us() ORDER BY kept_at DESC, id DESC LIMIT $2`,
			[]any{run, s.bounds.RunPages}, func(scan func(...any) error) error {
				p, _, err := scanned(scan)
				list = append(list, p)
				return err
			})
	})
	return list, err
}

// KeptWhole gives one page with all of it. ledger.ErrNotFound: the run has none of that id, or not any more.
func (s *Store) KeptWhole(ctx context.Context, run, id string) (p operatorapi.KeptPage, err error) {
	var body []byte
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		found := false
		err := tx.All(shown+`, body FROM kept_pages WHERE run_id = $1 AND id = $2 AND body IS NOT NULL AND expires_at > now_us()`, []any{run, id}, func(scan func(...any) error) (err error) {
			found = true
			p, body, err = scanned(scan)
			return err
		})
		if err == nil && !found {
			return ledger.ErrNotFound
		}
		return err
	})
	if err != nil {
		return operatorapi.KeptPage{}, err
	}
	if p.Page, err = s.sealer.Open(place(id), body); err != nil {
		return operatorapi.KeptPage{}, fmt.Errorf("kept page %s: %w", id, err)
	}
	return p, nil
}

const shown = `SELECT id, call_id, sha256, snapshot, chars, bytes, kept_at, used_at, expires_at`

func scanned(scan func(...any) error) (p operatorapi.KeptPage, body []byte, err error) {
	var snapshot, kept, used, expires int64
	err = scan(&p.ID, &p.Call, &p.SHA256, &snapshot, &p.Chars, &p.Bytes, &kept, &used, &expires, &body)
	p.Snapshot, p.Kept, p.Used, p.Expires = int(snapshot), time.UnixMicro(kept).UTC(), time.UnixMicro(used).UTC(), time.UnixMicro(expires).UTC()
	return p, body, err
}
