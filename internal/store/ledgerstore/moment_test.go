package ledgerstore

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// abandon leaves an effect that was admitted by a process that then ends.
func (st *stage) abandon() (call string) {
	st.Helper()
	a := st.ask(pressing)
	a.Process = "process_" + a.ID
	must(st, st.s.Register(st.ctx, a.Process, "gone", "1", ttl))
	st.admit(a)
	must(st, st.s.Retire(st.ctx, a.Process))
	return a.ID
}

// TestASweptEffectIsNoAnswer: an effect that was never sent is nobody's answer, whenever it is swept. On PostgreSQL each
// statement has a state of its own: the sweep is made to come between two.
func TestASweptEffectIsNoAnswer(t *testing.T) {
	db, clock := dbtest.OpenPatient(t)
	st := newStage(t, db, clock)
	gone := st.abandon()
	held := dbtest.Hold(t, db, "LOCK TABLE reconciliations IN ACCESS EXCLUSIVE MODE") // which a call is read with
	type answer struct {
		ledger.Admitted
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		got, err := st.s.Admit(context.Background(), st.ask(pressing))
		answered <- answer{got, err}
	}()
	dbtest.AwaitWaiters(t, db, 1)
	if done, err := st.s.conclude(st.ctx, gone); err != nil || !done {
		t.Fatalf("swept: %t, %v", done, err)
	}
	held.Undo()
	if got := <-answered; got.err != nil || got.Kind != ledger.Fresh {
		t.Errorf("the same effect again is answered as %d, %v, with %s/%s; want a new call", got.Kind, got.err, got.Record.State, got.Record.Outcome)
	}
	st.invariants()
}

// TestASweepAndTheSameEffectAgain: many times at once, on both databases.
func TestASweepAndTheSameEffectAgain(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, one, clock)
		other := st.store(two, nil)
		for range 60 {
			st.run = st.open()
			gone := st.abandon()
			var both sync.WaitGroup
			both.Go(func() {
				if _, err := other.SweepCall(context.Background(), gone); err != nil {
					t.Error(err)
				}
			})
			both.Go(func() {
				for range 4 {
					got, err := st.s.Admit(context.Background(), st.ask(pressing))
					if err != nil || got.Kind != ledger.Fresh && got.Record.State.Final() {
						t.Errorf("answered as %d, %v, with %s/%s", got.Kind, err, got.Record.State, got.Record.Outcome)
					}
				}
			})
			both.Wait()
		}
		st.invariants()
	})
}

// TestTwoThatCancelAnEffect: whoever asks is told that it was stopped, also where another did it at the same moment.
func TestTwoThatCancelAnEffect(t *testing.T) {
	db, clock := dbtest.OpenPatient(t)
	st := newStage(t, db, clock)
	a := st.ask(pressing)
	st.admit(a)
	held := dbtest.Hold(t, db, "SELECT id FROM tool_calls WHERE id=$1 FOR UPDATE", a.ID)
	stopped := make(chan bool, 2)
	for range 2 {
		go func() {
			did, err := st.s.Cancel(context.Background(), agentID, st.run, a.ID)
			if err != nil {
				t.Error(err)
			}
			stopped <- did
		}()
	}
	dbtest.AwaitWaiters(t, db, 2)
	held.Undo()
	for range 2 {
		if !<-stopped {
			t.Error("one was told that it was too late")
		}
	}
}

// TestARunThatEndsWhileItIsAskedFor: the time of a run may be over when its opening has waited for who made it; then there
// is a new one, and no fault.
func TestARunThatEndsWhileItIsAskedFor(t *testing.T) {
	db, clock := dbtest.OpenPatient(t)
	st := newStage(t, db, clock)
	held := dbtest.Hold(t, db, `INSERT INTO runs(id, agent_id, kind, implicit_key, audience, conversation_id, state, deadline, max_tool_calls, created_at)
 VALUES('run_short', $1, 'implicit', 'key', 'agent:one', 'conv', 'open', $2, 10, $3)`, agentID, clock.Micros()+1_000_000, clock.Micros())
	type opened struct {
		ledger.Run
		err error
	}
	answered := make(chan opened, 1)
	go func() {
		r, err := st.s.OpenRun(context.Background(), ledger.NewRun{Agent: agentID, Kind: "implicit", ImplicitKey: "key", Deadline: time.Hour, MaxCalls: 10})
		answered <- opened{r, err}
	}()
	dbtest.AwaitWaiters(t, db, 1)
	clock.Advance(2 * time.Second)
	held.Commit()
	if got := <-answered; got.err != nil || got.ID == "run_short" || !got.Open {
		t.Errorf("opened %+v, %v", got.Run, got.err)
	}
}

// TestTwoThatDeleteARun: what its calls counted is uncounted once, though both took it out of the same minute.
func TestTwoThatDeleteARun(t *testing.T) {
	db, clock := dbtest.OpenPatient(t)
	st := newStage(t, db, clock)
	read := func() {
		a := st.ask(asking)
		st.admit(a)
		_, err := st.s.Settle(st.ctx, done(a))
		must(t, err)
	}
	gone := st.run
	for range 3 {
		read()
	}
	_, err := st.s.EndRun(st.ctx, agentID, gone, "ended")
	must(t, err)
	st.run = st.open()
	for range 5 {
		read()
	}
	clock.Advance(2 * time.Minute)
	held := dbtest.Hold(t, db, "SELECT used FROM minute_meters FOR UPDATE")
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, err := st.s.DeleteRun(context.Background(), gone, "person:1"); err != nil {
				t.Error(err)
			}
		})
	}
	dbtest.AwaitWaiters(t, db, 2)
	held.Undo()
	both.Wait()
	if n := st.count("SELECT used FROM minute_meters"); n != 5 {
		t.Errorf("the minute has %d units of 5 calls", n)
	}
	st.invariants()
}
