// Package peoplestore keeps people, their credentials and how often somebody tried to sign in.
//
// The one rule: a credential is found together with its person, so none works for somebody who is disabled.
package peoplestore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/people"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Store is a people.Rows.
type Store struct{ db *sqldb.DB }

// New opens the people of a migrated database.
func New(db *sqldb.DB) *Store { return &Store{db} }

const personColumns = "p.id, p.name, p.role, p.agents, p.password, p.state, p.created_at"

// personRow is where the columns of a person are read into.
type personRow struct {
	p                   people.Person
	role, agents, state string
	password            *string
	created             int64
}

func (r *personRow) dest() []any {
	return []any{&r.p.ID, &r.p.Name, &r.role, &r.agents, &r.password, &r.state, &r.created}
}

func (r *personRow) person() (people.Person, error) {
	p := r.p
	p.Role, p.HasPassword, p.Disabled, p.Created = people.Role(r.role), r.password != nil, r.state != "active", instant(&r.created)
	if r.agents == all {
		p.Agents.All = true
		return p, nil
	}
	if err := json.Unmarshal([]byte(r.agents), &p.Agents.List); err != nil {
		return people.Person{}, fmt.Errorf("the list of agents of person %s cannot be read: %w", p.ID, err)
	}
	return p, nil
}

// all stands in the column of agents for every agent; else a JSON list of ids stands there.
const all = "all"

func encode(a people.Agents) (string, error) {
	if a.All {
		return all, nil
	}
	list := append([]string{}, a.List...) // never null
	slices.Sort(list)
	text, err := json.Marshal(slices.Compact(list))
	return string(text), err
}

// instant reads a time of the database, zero for none.
func instant(us *int64) time.Time {
	if us == nil {
		return time.Time{}
	}
	return time.UnixMicro(*us).UTC()
}

// missing makes a row that is not there an error.
func missing(found bool, err error) error {
	if err == nil && !found {
		return people.ErrNotFound
	}
	return err
}

// find finds a person with their encoded password.
func find(tx *sqldb.Tx, where string, args ...any) (people.Person, string, error) {
	var r personRow
	found, err := tx.One("SELECT "+personColumns+" FROM people p WHERE "+where, args, r.dest()...)
	if err := missing(found, err); err != nil {
		return people.Person{}, "", err
	}
	p, err := r.person()
	if err != nil || r.password == nil {
		return p, "", err
	}
	return p, *r.password, nil
}

// All lists people.
func (s *Store) All(ctx context.Context) ([]people.Person, error) {
	out := []people.Person{}
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		return tx.All("SELECT "+personColumns+" FROM people p ORDER BY p.name", nil, func(scan func(...any) error) error {
			var r personRow
			if err := scan(r.dest()...); err != nil {
				return err
			}
			p, err := r.person()
			out = append(out, p)
			return err
		})
	})
	return out, err
}

// One finds a person.
func (s *Store) One(ctx context.Context, id string) (p people.Person, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, _, err = find(tx, "p.id = $1", id)
		return err
	})
	return p, err
}

// ByName finds a person and their encoded password.
func (s *Store) ByName(ctx context.Context, name string) (p people.Person, password string, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, password, err = find(tx, "p.name = $1", name)
		return err
	})
	return p, password, err
}

// changed says in a transaction that people were changed, and by whom.
func changed(tx *sqldb.Tx, by, verb, subject string, detail map[string]any) error {
	if err := settings.Changed(tx); err != nil {
		return err
	}
	return auditstore.Append(tx, audit.Entry{Actor: by, Verb: verb, Subject: subject, Detail: detail})
}

// Add makes a person.
func (s *Store) Add(ctx context.Context, p people.Person, by string) (out people.Person, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		out, err = add(tx, p, by)
		return err
	})
	return out, err
}

func add(tx *sqldb.Tx, p people.Person, by string) (people.Person, error) {
	if err := agentsAreThere(tx, p.Agents); err != nil {
		return people.Person{}, err
	}
	agents, err := encode(p.Agents)
	if err != nil {
		return people.Person{}, err
	}
	n, err := tx.Exec("INSERT INTO people (id, name, role, agents, state, created_at) VALUES ($1, $2, $3, $4, 'active', now_us()) ON CONFLICT (name) DO NOTHING",
		p.ID, p.Name, string(p.Role), agents)
	if err != nil {
		return people.Person{}, err
	}
	if n == 0 {
		return people.Person{}, people.ErrNameTaken
	}
	if err := changed(tx, by, "person.created", p.ID, map[string]any{"name": p.Name, "role": string(p.Role), "agents": agents}); err != nil {
		return people.Person{}, err
	}
	out, _, err := find(tx, "p.id = $1", p.ID)
	return out, err
}

func agentsAreThere(tx *sqldb.Tx, a people.Agents) error {
	for _, id := range a.List {
		var one int64
		found, err := tx.One("SELECT 1 FROM agents WHERE id = $1", []any{id}, &one)
		if err != nil {
			return err
		}
		if !found {
			return people.ErrUnknownAgent
		}
	}
	return nil
}

// Change lets edit change role, agents and state.
func (s *Store) Change(ctx context.Context, id, by string, edit func(*people.Person)) (after people.Person, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		before, _, err := find(tx, "p.id = $1", id)
		if err != nil {
			return err
		}
		after = before
		after.Agents.List = slices.Clone(before.Agents.List)
		edit(&after)
		was, err := encode(before.Agents)
		if err != nil {
			return err
		}
		is, err := encode(after.Agents)
		if err != nil {
			return err
		}
		if was == is && before.Role == after.Role && before.Disabled == after.Disabled {
			return nil
		}
		if err := agentsAreThere(tx, after.Agents); err != nil {
			return err
		}
		if before.May(people.Owner, "") && !after.May(people.Owner, "") {
			if err := anotherOwner(tx, id); err != nil {
				return err
			}
		}
		state := "active"
		if after.Disabled {
			state = "disabled"
		}
		if _, err := tx.Exec("UPDATE people SET role = $2, agents = $3, state = $4 WHERE id = $1", id, string(after.Role), is, state); err != nil {
			return err
		}
		if after.Disabled { // what is over does not come back with the person
			if _, err := tx.Exec("UPDATE person_credentials SET ended_at = now_us() WHERE person_id = $1 AND ended_at IS NULL", id); err != nil {
				return err
			}
		}
		verb := "person.changed"
		switch {
		case after.Disabled && !before.Disabled:
			verb = "person.disabled"
		case before.Disabled && !after.Disabled:
			verb = "person.enabled"
		}
		if err := changed(tx, by, verb, id, map[string]any{"name": after.Name, "role": string(after.Role), "agents": is}); err != nil {
			return err
		}
		after, _, err = find(tx, "p.id = $1", id)
		return err
	})
	return after, err
}

func anotherOwner(tx *sqldb.Tx, id string) error {
	var one int64
	found, err := tx.One("SELECT 1 FROM people WHERE role = 'owner' AND state = 'active' AND id <> $1 LIMIT 1", []any{id}, &one)
	if err == nil && !found {
		return people.ErrLastOwner
	}
	return err
}

// SetPassword keeps an encoded password.
func (s *Store) SetPassword(ctx context.Context, id, encoded, keep, by string) error {
	return s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		n, err := tx.Exec("UPDATE people SET password = $2 WHERE id = $1", id, encoded)
		if err := missing(n == 1, err); err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE person_credentials SET ended_at = now_us() WHERE person_id = $1 AND kind IN ('link', 'session') AND id <> $2 AND ended_at IS NULL", id, keep); err != nil {
			return err
		}
		return changed(tx, by, "person.password_set", id, nil)
	})
}
