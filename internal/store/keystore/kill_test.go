package keystore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// errCut is what a process says that a test cut off.
var errCut = errors.New("cut off")

// cut runs do, with a point that ends it when it is reached for the nth time, counted over all names. It gives the name,
// empty where do came to its end before.
func cut(nth int, do func(point func(string)) error) (at string, err error) {
	defer func() {
		if p := recover(); p != nil && p != any(errCut) {
			panic(p)
		}
		if at != "" {
			err = nil
		}
	}()
	n := 0
	err = do(func(name string) {
		if at != "" {
			panic(errCut) // a process that was cut off does nothing more
		}
		if n++; n == nth {
			at = name
			panic(errCut)
		}
	})
	return at, err
}

// rotation is one whole rotation of a process that is alone.
func rotation(ctx context.Context, s *Store) error {
	if len(s.keys.Keys()) == 1 {
		if err := s.Rotate(ctx, who); err != nil {
			return err
		}
	}
	_, err := s.Finish(ctx, Finishing{Alone: true})
	return err
}

// TestTM107RotationGoesOnAfterACut at each point that there is, before and after each commit: everything opens at every
// time, and whoever starts next finishes.
func TestTM107RotationGoesOnAfterACut(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		points := make(map[string]int)
		step := 1
		if s.place.Dialect == sqldb.Postgres { // each takes a second there; the code is the same
			step = 5
		}
		for nth := 1; ; nth += step {
			at, err := cut(nth, func(point func(string)) error { return rotation(t.Context(), s.open(t, point)) })
			if err != nil {
				t.Fatalf("at %q: %v", at, err)
			}
			next := s.open(t, nil)
			if n := whole(t, next); n != values {
				t.Fatalf("cut at %s, the %dth: %d values open of %d", at, nth, n, values)
			}
			if err := rotation(t.Context(), next); err != nil {
				t.Fatalf("after a cut at %s: %v", at, err)
			}
			settled(t, next, values)
			if at == "" {
				break
			}
			points[at]++
		}
		t.Logf("cut at %v", points)
		if s.place.Dialect == sqldb.SQLite {
			for _, name := range []string{"rotate.before_commit", "rotate.after_commit", "reseal.before_commit", "reseal.batch", "drop.before_commit", "drop.after_commit"} {
				if points[name] == 0 {
					t.Errorf("never cut at %s", name)
				}
			}
		}
	})
}

// TestFirstStartAfterACut: whatever was left, the next start has one working install.
func TestFirstStartAfterACut(t *testing.T) {
	for _, d := range dbtest.Dialects {
		for nth := 1; nth <= 2; nth++ {
			t.Run(fmt.Sprintf("%s %d", d, nth), func(t *testing.T) {
				s := (&stage{place: dbtest.Place{Dialect: d}}).sibling(t)
				at, err := cut(nth, func(point func(string)) error { _, err := s.try(t, s.source(), point); return err })
				if err != nil || at == "" {
					t.Fatalf("%q: %v", at, err)
				}
				settled(t, s.open(t, nil), 2)
				settled(t, s.open(t, nil), 2)
			})
		}
	}
}

// TestRewrapAfterACut at each point: the key file and the database end up together.
func TestRewrapAfterACut(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		points := make(map[string]int)
		for nth := 1; ; nth++ {
			at, err := cut(nth, func(point func(string)) error { _, err := s.open(t, point).Rewrap(t.Context(), who); return err })
			if err != nil {
				t.Fatal(err)
			}
			next := s.open(t, nil)
			if n := whole(t, next); n != values {
				t.Errorf("cut at %s: %d values open of %d", at, n, values)
			}
			m, err := s.source().Master()
			if err != nil || m.Fingerprint() != next.present().master {
				t.Errorf("cut at %s: the file has %s, the database %s: %v", at, m.Fingerprint(), next.present().master, err)
			}
			if _, err := next.Rewrap(t.Context(), who); err != nil {
				t.Errorf("cut at %s: the next rewrap: %v", at, err)
			}
			settled(t, next, values)
			if at == "" {
				break
			}
			points[at]++
		}
		for _, name := range []string{"rewrap.staged", "rewrap.before_commit", "rewrap.after_commit", "rewrap.adopted"} {
			if points[name] == 0 {
				t.Errorf("never cut at %s; cut at %v", name, points)
			}
		}
	})
}

// The variables of a child that rotates and is killed.
const (
	childDialect = "WAYLEAVE_TEST_KEYS_DIALECT"
	childAddress = "WAYLEAVE_TEST_KEYS_ADDRESS"
	childFile    = "WAYLEAVE_TEST_KEYS_FILE"
	childPoint   = "WAYLEAVE_TEST_KEYS_POINT"
)

// TestMain is also the child: it rotates and rewraps, and kills itself at a point.
func TestMain(m *testing.M) {
	if os.Getenv(childDialect) == "" {
		os.Exit(m.Run())
	}
	if err := child(context.Background()); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("done")
}

func child(ctx context.Context) error {
	var db *sqldb.DB
	var err error
	if os.Getenv(childDialect) == string(sqldb.SQLite) {
		db, err = sqldb.OpenSQLite(ctx, os.Getenv(childAddress), nil)
	} else {
		db, err = sqldb.OpenPostgres(ctx, os.Getenv(childAddress))
	}
	if err != nil {
		return err
	}
	name, nth, _ := strings.Cut(os.Getenv(childPoint), "#")
	left, err := strconv.Atoi(nth)
	if err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	s, err := Open(ctx, db, keyfile.New(os.Getenv(childFile), secret.Value{}), Options{Point: func(at string) {
		if at != name {
			return
		}
		if left--; left == 0 {
			fmt.Println("killed")
			_ = self.Kill()
			select {}
		}
	}})
	if err != nil {
		return err
	}
	if err := rotation(ctx, s); err != nil {
		return err
	}
	_, err = s.Rewrap(ctx, who)
	return err
}

// TestTM107RotationGoesOnAfterAKill: a process of its own is killed at each kind of point, and another one goes on.
func TestTM107RotationGoesOnAfterAKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		values := fill(t, p.db, p.keys, "text", "control") + 2
		if err := p.db.Close(); err != nil {
			t.Fatal(err)
		}
		for _, point := range []string{"rotate.before_commit#1", "rotate.after_commit#1", "reseal.before_commit#1", "reseal.batch#1", "reseal.before_commit#7", "reseal.batch#12",
			"drop.before_commit#1", "drop.after_commit#1", "rewrap.staged#1", "rewrap.before_commit#1", "rewrap.after_commit#1", "rewrap.adopted#1"} {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			cmd := exec.CommandContext(ctx, self, "-test.run=^$")
			cmd.Env = append(os.Environ(), childDialect+"="+string(s.place.Dialect), childAddress+"="+s.place.Address, childFile+"="+s.file, childPoint+"="+point)
			out, err := cmd.Output()
			cancel()
			if last := lastLine(out); err == nil || last != "killed" {
				t.Fatalf("%s: the child was not killed: %v, %q", point, err, out)
			}
			next := s.open(t, nil)
			if n := whole(t, next); n != values {
				t.Errorf("%s: %d values open of %d", point, n, values)
			}
			if err := rotation(t.Context(), next); err != nil {
				t.Errorf("%s: %v", point, err)
			}
			settled(t, next, values)
			if err := next.db.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func lastLine(out []byte) (last string) {
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() {
		last = lines.Text()
	}
	return last
}
