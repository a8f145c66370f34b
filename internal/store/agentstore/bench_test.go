package agentstore_test

import (
	"testing"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/store/dbtest"
)

// BenchmarkVerify is what each request pays for a revocation that counts at once: one look, and no cache.
func BenchmarkVerify(b *testing.B) {
	for _, dialect := range dbtest.Dialects {
		b.Run(string(dialect), func(b *testing.B) {
			db, _ := dbtest.Open(b, dialect)
			d := open(db)
			a, _, err := d.EnsureAgent(b.Context(), "alice", by)
			if err != nil {
				b.Fatal(err)
			}
			_, text, err := d.NewToken(b.Context(), a.ID, agent.ScopeTools, by)
			if err != nil {
				b.Fatal(err)
			}
			bearer := text.Reveal()
			b.Run("alone", func(b *testing.B) {
				for b.Loop() {
					if _, err := d.Verify(bearer, from); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("many", func(b *testing.B) {
				b.SetParallelism(8)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if _, err := d.Verify(bearer, from); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		})
	}
}
