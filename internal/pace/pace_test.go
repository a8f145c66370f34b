package pace

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestTM014AtMostSoManyInFlightPerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(4, 0)
		release := make(chan struct{})
		var inside, most, done atomic.Int32
		for range 50 {
			go func() {
				leave, err := p.Enter(t.Context(), "site.example")
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), inside.Add(1)))
				<-release
				inside.Add(-1)
				done.Add(1)
				leave()
			}()
		}
		synctest.Wait()
		if n := inside.Load(); n != 4 {
			t.Errorf("%d are in flight, want 4", n)
		}
		close(release)
		synctest.Wait()
		if most.Load() != 4 || done.Load() != 50 {
			t.Errorf("most in flight %d, done %d; want 4 and 50", most.Load(), done.Load())
		}
	})
}

func TestTM014AtMostSoManyBegunInAnySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(4, 10)
		var begun []time.Time
		for range 35 {
			leave, err := p.Enter(t.Context(), "site.example")
			if err != nil {
				t.Fatal(err)
			}
			begun = append(begun, time.Now())
			leave()
		}
		for i := 10; i < len(begun); i++ {
			if d := begun[i].Sub(begun[i-10]); d < time.Second {
				t.Errorf("requests %d and %d are %v apart: more than 10 in a second", i-10, i, d)
			}
		}
		if took := begun[34].Sub(begun[0]); took != 3*time.Second {
			t.Errorf("35 requests took %v, want 3s: polite, not slower than it must be", took)
		}
	})
}

func TestPaceOfOneHostDoesNotHoldAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1)
		start := time.Now()
		for i := range 20 {
			leave, err := p.Enter(t.Context(), fmt.Sprintf("h%d.example", i))
			if err != nil {
				t.Fatal(err)
			}
			defer leave()
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("20 hosts took %v", took)
		}
	})
}

func TestPaceWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, p := range map[string]*Pace{"a slot": New(1, 0), "the rate": New(0, 1)} {
			leave, err := p.Enter(t.Context(), "site.example")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			start := time.Now()
			if _, err := p.Enter(ctx, "site.example"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("waiting for %s: %v", name, err)
			}
			if took := time.Since(start); took != 100*time.Millisecond {
				t.Errorf("waiting for %s ended after %v", name, took)
			}
			cancel()
			leave()
		}
	})
}

// Calls that are given up while they wait must not cost the calls behind them anything.
func TestPaceForgetsThoseWhoGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(2, 2)
		for range 2 {
			leave, _ := p.Enter(t.Context(), "site.example")
			leave()
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range 100 {
			go p.Enter(ctx, "site.example")
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		start := time.Now()
		leave, err := p.Enter(t.Context(), "site.example")
		if err != nil {
			t.Fatal(err)
		}
		leave()
		if took := time.Since(start); took != time.Second {
			t.Errorf("the next call began after %v, want 1s", took)
		}
	})
}

func TestPaceDoesNotPileUpHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(4, 10)
		for i := range 10_000 {
			leave, err := p.Enter(t.Context(), fmt.Sprintf("h%d.example", i))
			if err != nil {
				t.Fatal(err)
			}
			leave()
			time.Sleep(time.Millisecond)
		}
		if n := len(p.lanes); n > 2100 {
			t.Errorf("%d hosts are remembered after 10 s, want those of about 2 s", n)
		}
	})
}
