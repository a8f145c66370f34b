//go:build unix

// This file is the test's side: it makes an install, starts processes and watches them.
package killtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/ledgerstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/store/storetest"
)

// patience is how long a test waits for what must come.
const patience = 90 * time.Second

// stage is an install with an agent that has listed its tools, and one run.
type stage struct {
	install
	t    *testing.T
	db   *sqldb.DB
	rows *ledgerstore.Store
	run  string

	place dbtest.Place
}

// realTime is now_us() as the product has it.
const realTime = `CREATE OR REPLACE FUNCTION now_us() RETURNS BIGINT LANGUAGE sql VOLATILE AS
 $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT $$`

func newStage(t *testing.T, d sqldb.Dialect) *stage {
	t.Helper()
	place := dbtest.New(t, d)
	s := &stage{install: install{Dialect: d, Address: place.Address, World: filepath.Join(t.TempDir(), "world")}, t: t, place: place}
	var err error
	s.db, err = s.install.open()
	s.must(err)
	t.Cleanup(func() { s.must(s.db.Close()) })
	if d == sqldb.Postgres { // these processes live in the time that passes, not in that of a test
		s.must(s.db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			_, err := tx.Exec(realTime)
			return err
		}))
	}
	storetest.Observe(t, s.db)
	s.rows, err = rows(s.db, nil)
	s.must(err)
	s.must(s.db.Write(t.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`INSERT INTO agents(id, slug, name, state, grants_version, created_at) VALUES($1,'one','One','active',1,now_us())`, agent)
		return err
	}))
	s.list()
	s.run = s.open("explicit").ID
	return s
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) list() {
	s.t.Helper()
	_, err := s.rows.Offer(s.t.Context(), agent, "agent:"+agent, tools())
	s.must(err)
}

func (s *stage) open(kind string) ledger.Run {
	s.t.Helper()
	r, err := s.rows.OpenRun(s.t.Context(), ledger.NewRun{Agent: agent, Kind: kind, Audience: "agent:" + agent, Deadline: time.Hour, MaxCalls: 1 << 30})
	s.must(err)
	return r
}

// eventually waits for what must come, by looking.
func (s *stage) eventually(what string, so func() bool) {
	s.t.Helper()
	if !s.within(patience, so) {
		s.t.Fatalf("it did not come to it in %v that %s", patience, what)
	}
}

// within looks until something is so, or the time is over.
func (s *stage) within(d time.Duration, so func() bool) bool {
	s.t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	end := time.NewTimer(d)
	defer end.Stop()
	for !so() {
		select {
		case <-again.C:
		case <-end.C:
			return false
		}
	}
	return true
}

// count is the number that a query gives.
func (s *stage) count(query string, args ...any) (n int64) {
	s.t.Helper()
	s.must(s.db.Read(s.t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.One(query, args, &n)
		return err
	}))
	return n
}

// bury calls the processes of a label dead, as somebody does once their time is over.
func (s *stage) bury(label string) {
	s.t.Helper()
	var ids []string
	s.must(s.db.Read(s.t.Context(), func(tx *sqldb.Tx) error {
		return tx.All("SELECT id FROM processes WHERE label=$1", []any{label}, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	}))
	for _, id := range ids {
		s.must(s.rows.Retire(s.t.Context(), id))
	}
}

// child is a process that was started.
type child struct {
	s     *stage
	label string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{} // closed when it is over
	err   error         // how it ended; read after ended

	mu   sync.Mutex // guards said
	said []string
}

func (s *stage) start(o orders) *child {
	s.t.Helper()
	if o.install == (install{}) {
		o.install = s.install
	}
	text, err := json.Marshal(o)
	s.must(err)
	self, err := os.Executable()
	s.must(err)
	c := &child{s: s, label: o.Label, cmd: exec.Command(self), ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), role+"="+string(text))
	c.cmd.Stderr = os.Stderr
	// In a group of its own: if this test ends while the process is stopped, the kernel ends it, since nobody could wake it.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.stdin, err = c.cmd.StdinPipe()
	s.must(err)
	out, err := c.cmd.StdoutPipe()
	s.must(err)
	s.must(c.cmd.Start())
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.mu.Lock()
			c.said = append(c.said, lines.Text())
			c.mu.Unlock()
		}
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	s.t.Cleanup(func() {
		_ = c.cmd.Process.Signal(syscall.SIGCONT)
		_ = c.cmd.Process.Kill()
		<-c.ended
	})
	return c
}

// dies waits until the process has been killed at its point.
func (c *child) dies(point string) {
	c.s.t.Helper()
	c.wait()
	c.mu.Lock()
	said := strings.Join(c.said, "\n")
	c.mu.Unlock()
	var exit *exec.ExitError
	if !errors.As(c.err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || said != "dying "+point {
		c.s.t.Fatalf("%s should have been killed at %s; it ended with %v and said %q", c.label, point, c.err, said)
	}
}

// ends closes the process's input and waits until it has ended in order.
func (c *child) ends() {
	c.s.t.Helper()
	_ = c.stdin.Close()
	c.wait()
	if c.err != nil {
		c.s.t.Errorf("%s ended with %v", c.label, c.err)
	}
}

func (c *child) wait() {
	c.s.t.Helper()
	end := time.NewTimer(patience)
	defer end.Stop()
	select {
	case <-c.ended:
	case <-end.C:
		c.s.t.Fatalf("%s did not end in %v", c.label, patience)
	}
}

// process is a ledger of the test's own, for the agent that asks again. It ends with the test.
func (s *stage) process() *ledger.Ledger {
	s.t.Helper()
	o := options("test")
	o.TTL = time.Minute // it is not to be called dead on a busy machine
	l, err := ledger.New(s.rows, o)
	s.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			s.t.Errorf("the test's own process ended with %v", err)
		}
	})
	return l
}

// quiet sweeps until nothing is in flight, and then asks what must hold.
func (s *stage) quiet() (events, map[string]row) {
	s.t.Helper()
	s.eventually("nothing is in flight", func() bool {
		_, err := s.rows.Sweep(s.t.Context(), ledger.Retention{})
		s.must(err)
		return s.count("SELECT count(*) FROM tool_calls WHERE state IN ('admitted','dispatched')") == 0 &&
			s.count("SELECT count(*) FROM tool_calls t JOIN processes p ON p.id=t.owner WHERE p.dead=1 AND t.delivery=0 AND t.state<>'refused'") == 0
	})
	storetest.Quiet(s.t, s.db)
	return compare(s.t, s.db, s.World)
}
