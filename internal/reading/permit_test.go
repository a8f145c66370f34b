package reading

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/ledger/ledgertest"
)

// permits gives permits of a ledger that keeps its rows in memory: there are no others.
func permits(t testing.TB) func(context.Context) (ledger.Permit, error) {
	t.Helper()
	world := ledgertest.New(func(f binding.Facts, capability, tool, profile string) binding.Resolution {
		return binding.Resolution{Binding: binding.Binding{Agent: f.Agent.ID, Capability: capability, Provider: "direct", Class: effect.Observation, Meter: binding.Install}}
	}, time.Now)
	world.SetAgent(binding.Agent{ID: "agent_1", Slug: "a"})
	store := world.Store()
	up := make(chan int64, 1)
	l, err := ledger.New(store, ledger.Options{DigestKey: bytes.Repeat([]byte("k"), 32), Changed: func(epoch int64) {
		select {
		case up <- epoch:
		default:
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-up:
	case err := <-ended:
		t.Fatal(err)
	}
	run, err := l.OpenRun(t.Context(), ledger.Opening{Agent: "agent_1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Offer(t.Context(), "agent_1", run.Audience, []ledger.Tool{{Name: "web_fetch", Capability: "read"}}); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) (ledger.Permit, error) {
		c, err := l.Admit(ctx, ledger.Ask{Run: run.ID, Agent: "agent_1", Audience: run.Audience, Tool: "web_fetch", Capability: "read",
			Class: effect.Observation, Digest: []byte("d"), Args: []byte("{}"), Unit: true, Bound: time.Minute}, nil)
		if err != nil {
			return ledger.Permit{}, err
		}
		t.Cleanup(func() { _, _ = c.Settle(ledger.Done(nil)); c.Delivered(true) })
		return c.Dispatch(ctx)
	}
}
