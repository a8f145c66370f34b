// This file is what people prove themselves with, and how often somebody tried to.
package peoplestore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/people"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const credentialColumns = "c.id, c.person_id, c.kind, c.label, c.created_at, c.used_at, c.expires_at, c.ended_at"

// credentialRow is where the columns of a credential are read into.
type credentialRow struct {
	c                    people.Credential
	kind                 string
	label                *string
	created              int64
	used, expires, ended *int64
}

func (r *credentialRow) dest() []any {
	return []any{&r.c.ID, &r.c.Person, &r.kind, &r.label, &r.created, &r.used, &r.expires, &r.ended}
}

func (r *credentialRow) credential() people.Credential {
	c := r.c
	c.Kind, c.Created, c.Used, c.Expires, c.Ended = people.Kind(r.kind), instant(&r.created), instant(r.used), instant(r.expires), instant(r.ended)
	if r.label != nil {
		c.Label = *r.label
	}
	return c
}

// keptFor is how long a credential that is over stays, for whoever wonders what it was.
const keptFor = 30 * 24 * time.Hour

// keep writes a credential and gives it as it is kept. The person's that were over long ago go, so that signing in does
// not fill a table.
func keep(tx *sqldb.Tx, person string, kind people.Kind, f people.Fresh) (people.Credential, error) {
	if _, err := tx.Exec("DELETE FROM person_credentials WHERE person_id = $1 AND (ended_at < now_us() - $2 OR expires_at < now_us() - $2)", person, keptFor.Microseconds()); err != nil {
		return people.Credential{}, err
	}
	var r credentialRow
	_, err := tx.One(`INSERT INTO person_credentials (id, person_id, kind, hash, confirm, label, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, now_us(), now_us() + $7)
		RETURNING id, person_id, kind, label, created_at, used_at, expires_at, ended_at`,
		[]any{f.ID, person, string(kind), f.Hash, text(f.Confirm), text(f.Label), lasting(f.Life)}, r.dest()...)
	return r.credential(), err
}

// lasting is a time in microseconds, nil for ever: what is added to nothing is nothing, on both databases.
func lasting(d time.Duration) *int64 {
	if d == 0 {
		return nil
	}
	us := d.Microseconds()
	return &us
}

// text is nil for an empty text.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// AddLink keeps a sign-in link.
func (s *Store) AddLink(ctx context.Context, name string, first people.Person, f people.Fresh, by string) (p people.Person, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		if name != "" {
			p, _, err = find(tx, "p.name = $1", name)
		} else if p, _, err = find(tx, "p.role = 'owner' AND p.state = 'active' ORDER BY p.created_at, p.id LIMIT 1"); errors.Is(err, people.ErrNotFound) {
			p, err = add(tx, first, by)
		}
		switch {
		case err != nil:
			return err
		case p.Disabled:
			return people.ErrDisabled
		}
		if _, err := tx.Exec("UPDATE person_credentials SET ended_at = now_us() WHERE person_id = $1 AND kind = 'link' AND ended_at IS NULL", p.ID); err != nil {
			return err
		}
		if _, err := keep(tx, p.ID, people.Link, f); err != nil {
			return err
		}
		return auditstore.Append(tx, audit.Entry{Actor: by, Verb: "person.link_made", Subject: p.ID, Detail: map[string]any{"credential": f.ID}})
	})
	return p, err
}

// Redeem ends a link and begins a session. It takes part in the settings lock, so that no session begins beside the
// disabling of its person.
func (s *Store) Redeem(ctx context.Context, link string, f people.Fresh, old string) (p people.Person, c people.Credential, err error) {
	err = s.db.Write(ctx, sqldb.Calls, func(tx *sqldb.Tx) error {
		var person string
		found, err := tx.One("UPDATE person_credentials SET ended_at = now_us(), used_at = now_us() WHERE kind = 'link' AND hash = $1 AND ended_at IS NULL AND expires_at > now_us() RETURNING person_id",
			[]any{link}, &person)
		if err != nil {
			return err
		}
		if !found {
			return people.ErrLinkGone
		}
		p, c, err = begin(tx, person, f, old, "link")
		if errors.Is(err, people.ErrNotFound) {
			return people.ErrLinkGone
		}
		return err
	})
	return p, c, err
}

// Begin begins a session by password.
func (s *Store) Begin(ctx context.Context, person, encoded string, f people.Fresh, old string, subjects ...string) (p people.Person, c people.Credential, err error) {
	err = s.db.Write(ctx, sqldb.Calls, func(tx *sqldb.Tx) error {
		_, is, err := find(tx, "p.id = $1", person)
		if err != nil {
			return err
		}
		if is == "" || is != encoded {
			return people.ErrNotFound
		}
		if p, c, err = begin(tx, person, f, old, "password"); err != nil {
			return err
		}
		return takeBack(tx, subjects)
	})
	return p, c, err
}

// begin ends the session that a browser brought along and keeps the new one.
func begin(tx *sqldb.Tx, person string, f people.Fresh, old, by string) (people.Person, people.Credential, error) {
	p, _, err := find(tx, "p.id = $1 AND p.state = 'active'", person)
	if err != nil {
		return people.Person{}, people.Credential{}, err
	}
	if old != "" {
		if _, err := tx.Exec("UPDATE person_credentials SET ended_at = now_us() WHERE kind = 'session' AND hash = $1 AND ended_at IS NULL", old); err != nil {
			return people.Person{}, people.Credential{}, err
		}
	}
	c, err := keep(tx, person, people.Session, f)
	if err != nil {
		return people.Person{}, people.Credential{}, err
	}
	return p, c, auditstore.Append(tx, audit.Entry{Actor: people.Actor(person), Verb: "person.signed_in", Subject: f.ID, Detail: map[string]any{"by": by, "from": f.From}})
}

// AddToken keeps a person's token.
func (s *Store) AddToken(ctx context.Context, person string, f people.Fresh, by string) (c people.Credential, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		if _, _, err := find(tx, "p.id = $1 AND p.state = 'active'", person); err != nil {
			return err
		}
		if c, err = keep(tx, person, people.Token, f); err != nil {
			return err
		}
		return changed(tx, by, "person.token_created", person, map[string]any{"credential": f.ID, "label": f.Label})
	})
	return c, err
}

// works is the condition that a credential works now, with the idle time of sessions in $1.
const works = "c.ended_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > now_us()) AND (c.kind <> 'session' OR coalesce(c.used_at, c.created_at) > now_us() - $1)"

// noteEvery is how exactly it is noted when a credential was used.
const noteEvery = time.Minute

// Find finds a credential that works.
func (s *Store) Find(ctx context.Context, kind people.Kind, hash string, idle time.Duration) (p people.Person, c people.Credential, confirm string, err error) {
	var second *string
	var now int64
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		var r personRow
		var rc credentialRow
		found, err := tx.One("SELECT "+personColumns+", "+credentialColumns+", c.confirm, now_us() FROM person_credentials c JOIN people p ON p.id = c.person_id WHERE c.hash = $2 AND c.kind = $3 AND p.state = 'active' AND "+works,
			[]any{idle.Microseconds(), hash, string(kind)}, append(append(r.dest(), rc.dest()...), &second, &now)...)
		if err := missing(found, err); err != nil {
			return err
		}
		c = rc.credential()
		p, err = r.person()
		return err
	})
	if err != nil {
		return people.Person{}, people.Credential{}, "", err
	}
	if instant(&now).Sub(c.Used) >= noteEvery {
		err = s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
			n, err := tx.Exec("UPDATE person_credentials SET used_at = now_us() WHERE id = $1 AND ended_at IS NULL", c.ID)
			return missing(n == 1, err) // it ended in between
		})
		if err != nil {
			return people.Person{}, people.Credential{}, "", err
		}
		c.Used = instant(&now)
	}
	if second != nil {
		confirm = *second
	}
	return p, c, confirm, nil
}

// Of lists a person's sessions and tokens.
func (s *Store) Of(ctx context.Context, person string, idle time.Duration) ([]people.Credential, error) {
	out := []people.Credential{}
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		return tx.All("SELECT "+credentialColumns+" FROM person_credentials c WHERE c.person_id = $2 AND c.kind IN ('session', 'token') AND "+works+" ORDER BY c.created_at DESC, c.id DESC",
			[]any{idle.Microseconds(), person}, func(scan func(...any) error) error {
				var r credentialRow
				if err := scan(r.dest()...); err != nil {
					return err
				}
				out = append(out, r.credential())
				return nil
			})
	})
	return out, err
}

// End ends one credential of a person's.
func (s *Store) End(ctx context.Context, person, id, by string) error {
	return s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		var kind string
		found, err := tx.One("UPDATE person_credentials SET ended_at = now_us() WHERE id = $1 AND person_id = $2 AND ended_at IS NULL RETURNING kind", []any{id, person}, &kind)
		if err != nil {
			return err
		}
		if !found { // it has ended, or is not this person's
			found, err = tx.One("SELECT kind FROM person_credentials WHERE id = $1 AND person_id = $2", []any{id, person}, &kind)
			return missing(found, err)
		}
		return auditstore.Append(tx, audit.Entry{Actor: by, Verb: "person." + kind + "_ended", Subject: person, Detail: map[string]any{"credential": id}})
	})
}

// EndAll ends all credentials of a person's of some kinds.
func (s *Store) EndAll(ctx context.Context, person string, kinds []people.Kind, by string) (n int, err error) {
	err = s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		if _, _, err := find(tx, "p.id = $1", person); err != nil {
			return err
		}
		n = 0
		for _, k := range kinds {
			ended, err := tx.Exec("UPDATE person_credentials SET ended_at = now_us() WHERE person_id = $1 AND kind = $2 AND ended_at IS NULL AND (expires_at IS NULL OR expires_at > now_us())", person, string(k))
			if err != nil {
				return err
			}
			n += int(ended)
		}
		return auditstore.Append(tx, audit.Entry{Actor: by, Verb: "person.signed_out_everywhere", Subject: person, Detail: map[string]any{"ended": n}})
	})
	return n, err
}

// errTooOften undoes what an attempt counted for other subjects.
var errTooOften = errors.New("tried too often")

// Attempt counts a sign-in, unless there were too many.
func (s *Store) Attempt(ctx context.Context, limit int, window time.Duration, subjects ...string) (wait time.Duration, err error) {
	subjects = slices.Sorted(slices.Values(subjects)) // every process takes the rows in one order
	err = s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		wait = 0
		if _, err := tx.Exec("DELETE FROM sign_in_attempts WHERE since <= now_us() - $1", window.Microseconds()); err != nil {
			return err
		}
		for _, subject := range subjects {
			n, err := tx.Exec("INSERT INTO sign_in_attempts (subject, used, since) SELECT $1, 1, now_us() WHERE $2 >= 1 ON CONFLICT (subject) DO UPDATE SET used = sign_in_attempts.used + 1 WHERE sign_in_attempts.used < $2", subject, limit)
			if err != nil {
				return err
			}
			if n == 1 {
				continue
			}
			var left int64
			if _, err := tx.One("SELECT since + $2 - now_us() FROM sign_in_attempts WHERE subject = $1", []any{subject, window.Microseconds()}, &left); err != nil {
				return err
			}
			wait = max(wait, time.Duration(left)*time.Microsecond, time.Second)
		}
		if wait > 0 {
			return errTooOften
		}
		return nil
	})
	if errors.Is(err, errTooOften) {
		return wait, nil
	}
	return 0, err
}

// takeBack is for a sign-in that was right: it was no wrong one of the address, and ends the count of the name, which is
// the first subject.
func takeBack(tx *sqldb.Tx, subjects []string) error {
	for _, subject := range slices.Sorted(slices.Values(subjects)) { // in the order of Attempt, so that the two never wait in a ring
		statement := "UPDATE sign_in_attempts SET used = used - 1 WHERE subject = $1 AND used > 0"
		if subject == subjects[0] {
			statement = "DELETE FROM sign_in_attempts WHERE subject = $1"
		}
		if _, err := tx.Exec(statement, subject); err != nil {
			return err
		}
	}
	return nil
}
