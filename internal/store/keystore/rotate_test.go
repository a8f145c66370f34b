package keystore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

func rotate(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Rotate(t.Context(), who); err != nil {
		t.Fatal(err)
	}
}

func finish(t *testing.T, s *Store, f Finishing) Progress {
	t.Helper()
	p, err := s.Finish(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// settled fails unless everything is under one key, which is the one that seals, and opens.
func settled(t *testing.T, s *Store, values int64) {
	t.Helper()
	if got := heads(t, s.db); len(got) != 1 || got[s.keys.Primary()] != values {
		t.Errorf("values by key: %v; %s seals, and there are %d", got, s.keys.Primary(), values)
	}
	if n := whole(t, s); n != values {
		t.Errorf("%d values open of %d", n, values)
	}
	if len(s.keys.Keys()) != 1 {
		t.Errorf("keys: %v", s.keys.Keys())
	}
	if n := count(t, s.db, "SELECT count(*) FROM keysets WHERE retired_at IS NULL"); n != 1 {
		t.Errorf("%d keysets", n)
	}
	if n := count(t, s.db, "SELECT count(*) FROM keysets WHERE retired_at IS NOT NULL AND wrapped <> $1", []byte{}); n != 0 {
		t.Errorf("%d retired keysets still have their keys", n)
	}
}

func TestRotationReseals(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		settled(t, p, values)
		old, digest, audit := p.keys.Primary(), p.DigestKey(), p.AuditKey()
		if got := finish(t, p, Finishing{}); !got.Dropped || got.Resealed != 0 {
			t.Errorf("with nothing to do: %+v", got)
		}

		rotate(t, p)
		if got := heads(t, p.db); got[old] != values {
			t.Errorf("rotating alone re-sealed: %v", got)
		}
		whole(t, p)
		var told []Progress
		got := finish(t, p, Finishing{Tell: func(p Progress) { told = append(told, p) }})
		if !got.Dropped || got.Resealed != values || got.Damaged != 0 || got.Primary == old || len(got.Old) != 0 {
			t.Errorf("%+v", got)
		}
		if len(told) < 10 || told[0].Old[0] != old || told[0].Wait == 0 {
			t.Errorf("told %d times, first %+v", len(told), told[0])
		}
		settled(t, p, values)

		// A start finds the same keys of digests and of the audit.
		again := s.open(t, nil)
		if string(again.DigestKey()) != string(digest) || string(again.AuditKey()) != string(audit) {
			t.Error("the digest key or the audit key changed")
		}
		settled(t, again, values)
	})
}

// before gives the keyset as it is now, without a source: what a process has that will not hear of a change.
func before(t *testing.T, s *stage, p *Store) *seal.Keyset {
	t.Helper()
	m, err := s.source().Master()
	if err != nil {
		t.Fatal(err)
	}
	r := p.present()
	k, err := seal.Unwrap(m, r.id, r.wrapped)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const agent1 = "INSERT INTO agents (id, slug, name, state, grants_version, created_at) VALUES ('agent_1', 'one', 'One', 'active', 1, 1)"

// session writes one sealed value.
func session(t *testing.T, db *sqldb.DB, id string, keys seal.Sealer) {
	t.Helper()
	box, err := keys.Seal(seal.Place{Table: "mcp_sessions", Column: "initialize", Row: id}, []byte(id))
	if err != nil {
		t.Fatal(err)
	}
	write(t, db, "INSERT INTO mcp_sessions (id, agent_id, token_id, initialize, used_at) VALUES ($1, 'agent_1', '', $2, 1)", id, box)
}

// TestOldKeyStaysUntilNobodyCanSealWithIt: five minutes by the database's clock, whatever is re-sealed before.
func TestOldKeyStaysUntilNobodyCanSealWithIt(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		write(t, p.db, agent1)
		old := before(t, s, p)
		rotate(t, p)
		began := s.place.Clock.Now()
		waits := 0
		p.sleep = func(_ context.Context, d time.Duration) error {
			if waits++; waits == 2 { // a transaction that began before Rotate commits now, with a value under the old key
				session(t, p.db, "late", old)
			}
			s.place.Clock.Advance(d)
			return nil
		}
		got := finish(t, p, Finishing{})
		if after := s.place.Clock.Now().Sub(began); after < grace || after > grace+looked {
			t.Errorf("the old key was dropped after %s", after)
		}
		if !got.Dropped || got.Resealed != 3 || waits < 2 {
			t.Errorf("%+v after %d waits", got, waits)
		}
		settled(t, p, 3)
		// Where nobody else has the database open, nobody is waited for.
		rotate(t, p)
		p.sleep = func(context.Context, time.Duration) error { t.Error("it waits for nobody"); return nil }
		finish(t, p, Finishing{Alone: true})
		settled(t, p, 3)
	})
}

// TestOthersWorkWhileKeysRotate: a second process seals and opens all the time, and hears of nothing but by itself.
func TestOthersWorkWhileKeysRotate(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p, q := s.open(t, nil), s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		var written atomic.Int64
		stop, pass := make(chan struct{}), make(chan struct{}, 3)
		var all sync.WaitGroup
		// What is sealed is written within five minutes. Here these pass at once, and so wait for writes under way.
		var minutes sync.RWMutex
		p.sleep = func(_ context.Context, d time.Duration) error {
			minutes.Lock()
			defer minutes.Unlock()
			s.place.Clock.Advance(d)
			return nil
		}
		for worker := range 3 {
			all.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					case <-pass: // one write for each page that is re-sealed, so that the two keep pace
					}
					id := fmt.Sprintf("worker_%d_%d", worker, n)
					place := seal.Place{Table: "mcp_sessions", Column: "initialize", Row: id}
					minutes.RLock()
					box, err := q.keys.Seal(place, []byte(id))
					if err == nil {
						err = q.db.Write(context.Background(), sqldb.Free, func(tx *sqldb.Tx) error {
							_, err := tx.Exec("INSERT INTO mcp_sessions (id, agent_id, token_id, initialize, used_at) VALUES ($1, 'agent_1', '', $2, 1)", id, box)
							return err
						})
					}
					minutes.RUnlock()
					if err != nil {
						t.Errorf("write: %v", err)
						return
					}
					written.Add(1)
					old := fmt.Sprintf("call_%03d", n%rows)
					if err := q.db.Read(context.Background(), func(tx *sqldb.Tx) error {
						_, err := tx.One("SELECT args FROM tool_calls WHERE id = $1", []any{old}, &box)
						return err
					}); err != nil {
						t.Errorf("read: %v", err)
						return
					}
					if plain, err := q.keys.Open(seal.Place{Table: "tool_calls", Column: "args", Row: old}, box); err != nil || !strings.HasPrefix(string(plain), "tool_callsargs"+old) {
						t.Errorf("open: %q, %v", plain, err)
						return
					}
				}
			})
		}
		for range 3 {
			rotate(t, p)
			finish(t, p, Finishing{Tell: func(Progress) {
				for range 3 {
					select {
					case pass <- struct{}{}:
					default: // they are behind
					}
				}
			}})
		}
		close(stop)
		all.Wait()
		if written.Load() < 30 {
			t.Errorf("the others wrote %d values", written.Load())
		}
		settled(t, p, values+written.Load())
		if n := whole(t, q); n != values+written.Load() {
			t.Errorf("the other process opens %d", n)
		}
	})
}

// TestProcessThatMissedARotationDoesNotSealWithTheOldKey: it was stopped, and wakes when the old key is gone.
func TestProcessThatMissedARotationDoesNotSealWithTheOldKey(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p, q := s.open(t, nil), s.open(t, nil)
		write(t, p.db, agent1)
		rotate(t, p)
		session(t, q.db, "within thirty seconds", q.keys)
		finish(t, p, Finishing{})
		session(t, q.db, "long after", q.keys)
		settled(t, p, 4)
		// Without the database, nothing is sealed; what was sealed before still opens.
		s.place.Clock.Advance(looked)
		if err := q.db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := q.keys.Seal(digestPlace(), nil); !errors.Is(err, seal.ErrStale) {
			t.Errorf("%v", err)
		}
	})
}

// TestTwoProcessesFinishOneRotation at the same time: nothing is lost, and both see that it is over.
func TestTwoProcessesFinishOneRotation(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p, q := s.open(t, nil), s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		rotate(t, p)
		s.place.Clock.Advance(grace)
		var all sync.WaitGroup
		var resealed atomic.Int64
		for _, one := range []*Store{p, q} {
			all.Go(func() {
				got, err := one.Finish(t.Context(), Finishing{})
				if err != nil || !got.Dropped {
					t.Errorf("%+v, %v", got, err)
				}
				resealed.Add(got.Resealed)
			})
		}
		all.Wait()
		if resealed.Load() != values {
			t.Errorf("re-sealed %d of %d", resealed.Load(), values)
		}
		settled(t, p, values)
		settled(t, q, values)
	})
}

// TestRotationsOfOneProcessLoseNoKey: a rotation that was begun from keys that are no more does not take a new key away,
// under which something may be sealed.
func TestRotationsOfOneProcessLoseNoKey(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		var p *Store
		first := true
		p = s.open(t, func(at string) {
			if at == "rotate.made" && first {
				first = false
				if err := p.Rotate(t.Context(), who); err != nil {
					t.Error(err)
				}
			}
		})
		if err := p.Rotate(t.Context(), who); !errors.Is(err, ErrMoved) {
			t.Errorf("the rotation that was overtaken: %v", err)
		}
		if n := len(before(t, s, s.open(t, nil)).Keys()); n != 2 {
			t.Errorf("%d keys after one rotation", n)
		}
	})
}

func TestTwoRotationsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p, q := s.open(t, nil), s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		var all sync.WaitGroup
		var moved, done atomic.Int64
		for _, one := range []*Store{p, q, p, q} {
			all.Go(func() {
				switch err := one.Rotate(t.Context(), who); {
				case err == nil:
					done.Add(1)
				case errors.Is(err, ErrMoved):
					moved.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if done.Load() == 0 || done.Load()+moved.Load() != 4 {
			t.Errorf("%d rotated, %d were told that another did", done.Load(), moved.Load())
		}
		if n := int64(len(before(t, s, s.open(t, nil)).Keys())); n != done.Load()+1 {
			t.Errorf("%d keys after %d rotations", n, done.Load())
		}
		finish(t, q, Finishing{})
		settled(t, q, values)
	})
}

// TestDamagedValueKeepsItsKey: it may open after a repair; only a person gives it up.
func TestDamagedValueKeepsItsKey(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		old := p.keys.Primary()
		// A value in a row where it was not sealed, and one that was never sealed at all.
		write(t, p.db, "UPDATE tool_calls SET late = (SELECT o.late FROM tool_calls o WHERE o.id = 'call_002') WHERE id = 'call_001'")
		write(t, p.db, "UPDATE kept_pages SET body = $1 WHERE id = 'page_005'", []byte("plain text"))
		s.place.Clock.Advance(time.Second)
		rotate(t, p)
		got, err := p.Finish(t.Context(), Finishing{Alone: true})
		if !errors.Is(err, ErrDamaged) || got.Dropped || got.Damaged != 2 || got.Resealed != values-2 {
			t.Fatalf("%+v, %v", got, err)
		}
		if !strings.Contains(err.Error(), "call_001") {
			t.Errorf("the error does not name the first: %v", err)
		}
		if n := heads(t, p.db); n[old] != 1 || len(p.keys.Keys()) != 2 {
			t.Errorf("%v, keys %v", n, p.keys.Keys())
		}
		st, err := Examine(t.Context(), p.db, s.source(), "")
		if err != nil || st.Older != 1 || st.Lost != 1 || len(st.LostIn) != 1 || st.LostIn[0] != "kept_pages.body" || len(st.Old) != 1 {
			t.Errorf("%+v, %v", st, err)
		}
		if got := finish(t, p, Finishing{Alone: true, GiveUp: true}); !got.Dropped || got.Damaged != 2 {
			t.Errorf("%+v", got)
		}
		opened, damaged, at, err := p.Verify(t.Context())
		if err != nil || opened != values-2 || damaged != 2 || len(at) != 2 || at[0].Row != "call_001" || at[1].Row != "page_005" {
			t.Errorf("%d open, %d do not: %v, %v", opened, damaged, at, err)
		}
		// What is under no key of the install keeps none.
		rotate(t, p)
		if got := finish(t, p, Finishing{Alone: true}); !got.Dropped || got.Damaged != 2 || got.Resealed != values-2 {
			t.Errorf("%+v", got)
		}
	})
}

func TestFinishStopsWhereTheWorkIsNotItsOwn(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		fill(t, p.db, p.keys, "text", "control")
		rotate(t, p)
		for _, left := range []int{0, 3, 8} {
			asked := 0
			got, err := p.Finish(t.Context(), Finishing{Held: func(context.Context) (bool, error) { asked++; return asked <= left, nil }})
			if err != nil || got.Dropped || asked != left+1 {
				t.Errorf("%d steps: %+v, %v", asked, got, err)
			}
		}
		gone := errors.New("no database")
		if _, err := p.Finish(t.Context(), Finishing{Held: func(context.Context) (bool, error) { return false, gone }}); !errors.Is(err, gone) {
			t.Error(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Finish(ended, Finishing{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestValueWrittenMeanwhileStays: between the reading of a page and its writing, others write.
func TestValueWrittenMeanwhileStays(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		rotate(t, p)
		place := seal.Place{Table: "mcp_sessions", Column: "initialize", Row: "session_001"}
		fresh, err := p.keys.Seal(place, []byte("newer"))
		if err != nil {
			t.Fatal(err)
		}
		// Held is asked when a page is read and not yet written. The first two are of settings; the third has the session,
		// and the seventh the result, after two pages each of sessions and arguments.
		asked := 0
		got := finish(t, p, Finishing{Alone: true, Held: func(context.Context) (bool, error) {
			switch asked++; asked {
			case 3:
				write(t, p.db, "UPDATE mcp_sessions SET initialize = $1 WHERE id = 'session_001'", fresh)
			case 7:
				write(t, p.db, "UPDATE tool_calls SET result = NULL WHERE id = 'call_001'")
			}
			return true, nil
		}})
		if got.Resealed != values-2 {
			t.Errorf("%+v of %d", got, values)
		}
		settled(t, p, values-1)
		var box []byte
		if err := p.db.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One("SELECT initialize FROM mcp_sessions WHERE id = 'session_001'", nil, &box)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if plain, err := p.keys.Open(place, box); err != nil || string(plain) != "newer" {
			t.Errorf("%q, %v", plain, err)
		}
	})
}
