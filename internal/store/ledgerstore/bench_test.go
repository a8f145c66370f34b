package ledgerstore

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// BenchmarkAdmit admits queries, sixteen in flight, all in one run or each in its own. PostgreSQL syncs unless the
// variable of dbtest says otherwise; SQLite always does.
func BenchmarkAdmit(b *testing.B) {
	for _, d := range dbtest.Dialects {
		for _, runs := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d runs", d, runs), func(b *testing.B) { inFlight(b, d, runs, func(st *stage, a ledger.Admission) { st.admit(a) }) })
		}
	}
}

// BenchmarkCall admits and settles queries, sixteen in flight in one run.
func BenchmarkCall(b *testing.B) {
	for _, d := range dbtest.Dialects {
		b.Run(string(d), func(b *testing.B) {
			inFlight(b, d, 1, func(st *stage, a ledger.Admission) {
				st.admit(a)
				_, err := st.s.Settle(context.Background(), done(a))
				must(st, err)
			})
		})
	}
}

func inFlight(b *testing.B, d sqldb.Dialect, runs int, do func(*stage, ledger.Admission)) {
	db, clock := dbtest.Open(b, d)
	st := newStage(b, db, clock)
	ids := []string{st.run}
	for len(ids) < runs {
		ids = append(ids, st.open())
	}
	work := make(chan ledger.Admission, 16)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for a := range work {
				do(st, a)
			}
		})
	}
	b.ResetTimer()
	for i := range b.N {
		a := st.ask(asking)
		a.Run = ids[i%len(ids)]
		work <- a
	}
	close(work)
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
