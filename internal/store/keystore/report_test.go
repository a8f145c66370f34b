package keystore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/secret"
)

// levels gives what a doctor would say, a line each.
func levels(st Status) string {
	var all []string
	for _, f := range st.Findings() {
		all = append(all, string(f.Level)+": "+f.Text)
	}
	return strings.Join(all, "\n")
}

func examine(t *testing.T, s *stage, p *Store, source *keyfile.Source, data string) Status {
	t.Helper()
	st, err := Examine(t.Context(), p.db, source, data)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestTM101DoctorNamesTheState in each state of keys that are in order; those that are not are TestTM107's.
func TestTM101DoctorNamesTheState(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		empty := &Store{db: s.place.Open(t)}
		if got := levels(examine(t, s, empty, s.source(), "")); !strings.HasPrefix(got, "ok: there is no keyset yet") || strings.Contains(got, "\n") {
			t.Errorf("before the first start:\n%s", got)
		}
		p := s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		data := filepath.Dir(s.file)

		st := examine(t, s, p, s.source(), t.TempDir())
		if got := levels(st); !strings.HasPrefix(got, "ok: the master key is "+st.Under) || strings.Contains(got, "\n") {
			t.Errorf("elsewhere:\n%s", got)
		}
		if st.Keyset != p.present().id || st.Primary != p.keys.Primary() || st.Present != values || st.Older+st.Lost != 0 || !st.Since.Equal(s.place.Clock.Now()) {
			t.Errorf("%+v", st)
		}
		if got := levels(examine(t, s, p, s.source(), data)); strings.Count(got, "\n") != 1 || !strings.Contains(got, "warn: the master key lies in the data folder") {
			t.Errorf("beside the data:\n%s", got)
		}
		given := keyfile.New(s.file, mustMaster(t, s).Text())
		if got := levels(examine(t, s, p, given, data)); !strings.Contains(got, "the variable "+keyfile.Variable) || !strings.Contains(got, "warn: the key file "+s.file+" is not in use") {
			t.Errorf("in the variable, with a file left:\n%s", got)
		}
		rotate(t, p)
		if got := levels(examine(t, s, p, s.source(), "")); !strings.Contains(got, fmt.Sprintf("warn: a rotation is under way since %s, and a running server finishes it by itself: %d values are to be sealed anew", s.place.Clock.Now().Format(time.RFC3339), values)) {
			t.Errorf("in a rotation:\n%s", got)
		}
		finish(t, p, Finishing{Alone: true})
		if got := levels(examine(t, s, p, s.source(), "")); strings.Contains(got, "warn") {
			t.Errorf("after it:\n%s", got)
		}
		write(t, p.db, "UPDATE mcp_sessions SET initialize = $1 WHERE id = 'session_001'", append([]byte{1, 9, 9, 9, 9}, make([]byte, 40)...))
		if got := levels(examine(t, s, p, s.source(), "")); !strings.Contains(got, "bad: 1 values are sealed under keys that are not there (in mcp_sessions.initialize)") {
			t.Errorf("with a lost value:\n%s", got)
		}
		if got := levels(examine(t, s, p, keyfile.New("", secret.Value{}), "")); !strings.HasPrefix(got, "bad: the keys do not open: there is no master key") {
			t.Errorf("without a key:\n%s", got)
		}
		write(t, p.db, "DELETE FROM keysets")
		if got := levels(examine(t, s, p, s.source(), "")); !strings.HasPrefix(got, "bad: the keys do not open: the keyset is gone") {
			t.Errorf("without a keyset:\n%s", got)
		}
	})
}

// leases are the ledger's, in memory.
type leases struct {
	mu    sync.Mutex
	owner map[string]string
	fence int64
	taken []string
}

func (l *leases) Acquire(_ context.Context, resource, process, _ string, _ time.Duration) (int64, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner[resource] != "" {
		return 0, false, nil
	}
	l.fence++
	l.owner[resource] = process
	l.taken = append(l.taken, process)
	return l.fence, true, nil
}

func (l *leases) Extend(_ context.Context, resource string, fence int64, _ time.Duration) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owner[resource] != "" && l.fence == fence, nil
}

func (l *leases) Release(_ context.Context, resource string, fence int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fence == fence {
		delete(l.owner, resource)
	}
	return nil
}

// TestServersFinishRotationsByThemselves: a command rotates and goes; of two servers one does the work, and both know the
// new key.
func TestServersFinishRotationsByThemselves(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p, q := s.open(t, nil), s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		command := s.open(t, nil)
		rotate(t, command)
		l := &leases{owner: make(map[string]string)}
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		over := make(chan struct{})
		var once sync.Once
		dropped := func(name string) {
			if name == "drop.after_commit" {
				once.Do(func() { close(over) })
			}
		}
		p.o.Point, q.o.Point = dropped, dropped
		var all sync.WaitGroup
		for name, one := range map[string]*Store{"p": p, "q": q} {
			all.Go(func() {
				if err := one.Run(ctx, l, name); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		select {
		case <-over:
		case <-ctx.Done():
			t.Error("nobody finished the rotation")
		}
		cancel()
		all.Wait()
		if len(l.taken) == 0 || len(l.owner) != 0 {
			t.Errorf("taken by %v, held now: %v", l.taken, l.owner)
		}
		for _, one := range []*Store{p, q, command} {
			if err := one.Look(); err != nil {
				t.Fatal(err)
			}
			settled(t, one, values)
		}
	})
}
