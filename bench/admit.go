package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/ledgerstore"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// callers is how many admissions are in flight.
const callers = 16

// admitting compares admissions whose commits are shared with one commit each, on one hot run, and reports PostgreSQL's.
func admitting() error {
	dir, err := os.MkdirTemp("", "wayleave-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := sqldb.OpenSQLite(ctx, filepath.Join(dir, "bench.db"), nil)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := schema.Up(ctx, db); err != nil {
		return err
	}
	gate, err := newGate(ctx, db, 1)
	if err != nil {
		return err
	}
	var ratios, grouped []float64
	for round := range rounds + 1 {
		each, err := gate.perSecond(ctx, new(sync.Mutex)) // nobody else's commit to share
		if err != nil {
			return err
		}
		together, err := gate.perSecond(ctx, nil)
		if err != nil {
			return err
		}
		if round > 0 {
			ratios, grouped = append(ratios, together/each), append(grouped, together)
		}
	}
	fmt.Printf("\nAdmissions on SQLite (WAL, synchronous=FULL), one hot run, %d in flight: %.0f/s; commits shared ÷ one commit each %.1f\n", callers, median(grouped), median(ratios))

	var rate float64
	if err := onPostgres(func(address string) error {
		pg, err := sqldb.OpenPostgres(ctx, address)
		if err != nil {
			return err
		}
		defer pg.Close()
		gate, err := newGate(ctx, pg, callers)
		if err != nil {
			return err
		}
		rate, err = gate.perSecond(ctx, nil)
		return err
	}); err != nil {
		return err
	}
	fmt.Printf("Admissions on PostgreSQL (fsync and synchronous_commit on), %d runs, one minute meter, %d in flight: %.0f/s\n", callers, callers, rate)
	return nil
}

// gate admits queries of one agent.
type gate struct {
	store *ledgerstore.Store
	runs  []string
	turn  atomic.Int64
}

const (
	benchAgent    = "agent_bench"
	benchAudience = "agent:" + benchAgent
	benchProcess  = "process_bench"
)

func newGate(ctx context.Context, db *sqldb.DB, runs int) (*gate, error) {
	resolve := func(f binding.Facts, capability, tool, profile string) binding.Resolution {
		return binding.Resolution{Binding: binding.Binding{Agent: f.Agent.ID, GrantsVersion: f.Agent.GrantsVersion, Capability: capability, ConnectionOwner: binding.Install,
			Provider: "bench", AccountOwner: "none", Class: effect.Query, Meter: binding.Install, RunLimit: 1 << 40, MinuteLimit: 1 << 40}}
	}
	store, err := ledgerstore.New(db, dbtest.Sealer(), resolve, ledgerstore.Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`INSERT INTO agents(id, slug, name, state, grants_version, created_at) VALUES($1, 'bench', 'Bench', 'active', 1, now_us())`, benchAgent)
		return err
	}); err != nil {
		return nil, err
	}
	if err := store.Register(ctx, benchProcess, "bench", "1", time.Hour); err != nil {
		return nil, err
	}
	g := &gate{store: store}
	for range runs {
		r, err := store.OpenRun(ctx, ledger.NewRun{Agent: benchAgent, Kind: "explicit", Audience: benchAudience, Deadline: time.Hour, MaxCalls: 1 << 40})
		if err != nil {
			return nil, err
		}
		g.runs = append(g.runs, r.ID)
	}
	_, err = store.Offer(ctx, benchAgent, benchAudience, []ledger.Tool{{Name: "ask", Capability: "search"}})
	return g, err
}

// perSecond admits for a second and says how many; one lets a single admission in at a time.
func (g *gate) perSecond(ctx context.Context, one *sync.Mutex) (float64, error) {
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	began := time.Now()
	for range callers {
		all.Go(func() {
			for time.Since(began) < time.Second {
				n := g.turn.Add(1)
				id := rowid.New("call")
				ask := ledger.Admission{Nonce: id, Process: benchProcess, Ask: ledger.Ask{ID: id, Run: g.runs[int(n)%len(g.runs)], Agent: benchAgent, Audience: benchAudience, Tool: "ask",
					Capability: "search", Class: effect.Query, Digest: []byte(id), Args: []byte(`{"query":"bench"}`), Unit: true, Bound: time.Minute, Source: ledger.Source{}}}
				if one != nil {
					one.Lock()
				}
				_, err := g.store.Admit(ctx, ask)
				if one != nil {
					one.Unlock()
				}
				if err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(began).Seconds(), nil
}
