package weburl_test

// Several addresses, slow ones and deadlines, on a fake clock.

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/weburl"
)

// timetable notes when each address was tried, in milliseconds since the start.
type timetable struct {
	mu      sync.Mutex // guards tried
	start   time.Time
	tried   []string
	answers map[string]time.Duration // when an address connects; others never do
}

func (tt *timetable) connect(ctx context.Context, address string) (string, error) {
	tt.mu.Lock()
	host, _, _ := strings.Cut(address, ":80")
	tt.tried = append(tt.tried, fmt.Sprintf("%s@%d", host, time.Since(tt.start).Milliseconds()))
	tt.mu.Unlock()
	after, answers := tt.answers[host]
	switch {
	case after < 0:
		return "", errors.New("connection refused")
	case answers:
		<-time.After(after) // takes no notice of its context, as a connection that is just made
		return address, nil
	}
	<-ctx.Done()
	return "", ctx.Err()
}

func TestAttemptsOverlapAndTheFirstConnectionWins(t *testing.T) {
	for name, c := range map[string]struct {
		addrs   string
		answers map[string]time.Duration
		timeout time.Duration
		tried   string
		took    time.Duration
		fails   bool
	}{
		"families take turns, in the resolver's order": {
			addrs: "2606:4700::1 2606:4700::2 93.184.216.1 93.184.216.2", answers: map[string]time.Duration{"93.184.216.2": 0},
			tried: "[2606:4700::1]@0 93.184.216.1@250 [2606:4700::2]@500 93.184.216.2@750", took: 750 * time.Millisecond,
		},
		"a failure starts the next at once": {
			addrs: "93.184.216.1 93.184.216.2", answers: map[string]time.Duration{"93.184.216.1": -1, "93.184.216.2": 0},
			tried: "93.184.216.1@0 93.184.216.2@0",
		},
		"a slow address may still win": {
			addrs: "93.184.216.1 93.184.216.2", answers: map[string]time.Duration{"93.184.216.1": 300 * time.Millisecond, "93.184.216.2": time.Second},
			tried: "93.184.216.1@0 93.184.216.2@250", took: 300 * time.Millisecond,
		},
		"a short deadline is shared": {
			addrs: "93.184.216.1 93.184.216.2 93.184.216.3 93.184.216.4", answers: map[string]time.Duration{"93.184.216.4": 0}, timeout: 100 * time.Millisecond,
			tried: "93.184.216.1@0 93.184.216.2@25 93.184.216.3@50 93.184.216.4@75", took: 75 * time.Millisecond,
		},
		"the deadline ends it": {
			addrs: "93.184.216.1 93.184.216.2", timeout: time.Second,
			tried: "93.184.216.1@0 93.184.216.2@250", took: time.Second, fails: true,
		},
		"without a deadline there is one": {
			addrs: "93.184.216.1", tried: "93.184.216.1@0", took: 30 * time.Second, fails: true,
		},
		"each address once, mapped ones as IPv4": {
			addrs: "93.184.216.1 ::ffff:93.184.216.1 93.184.216.1", answers: map[string]time.Duration{"93.184.216.1": -1},
			tried: "93.184.216.1@0", fails: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt := &timetable{start: time.Now(), answers: c.answers}
				n := &fakeNetwork{connect: tt.connect}
				d := fakeDialer(&weburl.Policy{}, resolves(map[string]string{"many.test": c.addrs}), n)
				ctx := t.Context()
				if c.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.timeout)
					defer cancel()
				}
				conn, err := d.DialContext(ctx, "tcp", "many.test:80")
				if took := time.Since(tt.start); took != c.took || (err != nil) != c.fails {
					t.Errorf("took %v, want %v: %v", took, c.took, err)
				}
				if c.timeout > 0 && c.fails && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the deadline is not in %v", err)
				}
				if conn != nil {
					conn.Close()
				}
				<-time.After(time.Minute) // every attempt has ended by now, and its connection is closed
				synctest.Wait()
				if open := n.open.Load(); open != 0 {
					t.Errorf("%d connections left open", open)
				}
				tt.mu.Lock()
				defer tt.mu.Unlock()
				if tried := strings.Join(tt.tried, " "); tried != c.tried {
					t.Errorf("tried %s, want %s", tried, c.tried)
				}
			})
		})
	}
}

func TestManyAddressesAreAllJudgedAndFewAreTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var many []string
		for i := range 1_000 {
			many = append(many, netip.AddrFrom4([4]byte{93, 184, byte(i >> 8), byte(i)}).String())
		}
		n := &fakeNetwork{connect: func(context.Context, string) (string, error) { return "", errors.New("connection refused") }}
		r := resolves(map[string]string{"many.test": strings.Join(many, " "), "mostly.test": strings.Join(append(many, "10.0.0.1"), " ")})
		d := fakeDialer(&weburl.Policy{}, r, n)
		if _, err := d.DialContext(t.Context(), "tcp", "many.test:80"); err == nil || len(n.dials()) != 12 {
			t.Errorf("%v after %d attempts, want 12", err, len(n.dials()))
		}
		if rule, err := dial(t, d, "mostly.test:80"); rule != weburl.RuleAddress || len(n.dials()) != 12 {
			t.Errorf("%q, %v after %d attempts", rule, err, len(n.dials()))
		}
	})
}

func TestCancellingEndsADialAtEveryStage(t *testing.T) {
	for _, stage := range []string{"look-up", "connection"} {
		synctest.Test(t, func(t *testing.T) {
			n := &fakeNetwork{connect: (&timetable{start: time.Now()}).connect}
			d := fakeDialer(&weburl.Policy{}, nil, n)
			d.Resolver = resolves(map[string]string{"slow.test": "93.184.216.34"})
			if stage == "look-up" {
				d.Resolver = stuckResolver{}
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			start := time.Now()
			_, err := d.DialContext(ctx, "tcp", "slow.test:80")
			if !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
				t.Errorf("%s: %v after %v", stage, err, time.Since(start))
			}
			if stage == "look-up" && !slices.Equal(n.dials(), []string{}) {
				t.Errorf("dialled %v", n.dials())
			}
		})
	}
}

func TestSlowResolverIsLeftAfterTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := fakeDialer(&weburl.Policy{}, nil, &fakeNetwork{})
		d.Resolver = stuckResolver{}
		start := time.Now()
		_, err := d.DialContext(t.Context(), "tcp", "slow.test:80")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// stuckResolver never answers before its context ends.
type stuckResolver struct{}

func (stuckResolver) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
