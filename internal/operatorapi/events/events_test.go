package events

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// rows are changes by their times, which a look finds as a database would: a change is there from its commit on.
type rows struct {
	mu      sync.Mutex
	changes []change
	fail    error
	looks   int
}

type change struct {
	Event
	committed time.Time
}

func (r *rows) Now(context.Context) (time.Time, error) { return time.Now(), nil }

func (r *rows) Since(_ context.Context, t time.Time) ([]Event, time.Time, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks++
	var out []Event
	for _, c := range r.changes {
		if !c.At.Before(t) && !c.committed.After(time.Now()) {
			out = append(out, c.Event)
		}
	}
	return out, time.Now(), r.fail
}

// happen adds a change of now, which is committed after a while.
func (r *rows) happen(row string, late time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, change{Event{At: time.Now(), Kind: "call", Row: row, Agent: "a", Stage: "began"}, time.Now().Add(late)})
}

// client is what one stream sent.
type client struct {
	mu   sync.Mutex
	text strings.Builder
	dead bool
	stop func()
	end  chan error
}

func (c *client) got() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// ids are those of the calls that the client was told, in order.
func (c *client) ids() []string {
	var out []string
	for line := range strings.Lines(c.got()) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "id: "); ok && strings.Contains(id, ".call.") {
			out = append(out, id)
		}
	}
	return out
}

// rowsOf are the rows that ids are about.
func rowsOf(ids []string) []string {
	var out []string
	for _, id := range ids {
		out = append(out, strings.Split(id, ".")[2])
	}
	return out
}

func (c *client) last() string {
	lines := strings.Split(c.got(), "\n")
	for _, line := range slices.Backward(lines) {
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			return id
		}
	}
	return ""
}

func connect(t *testing.T, h *Hub, cursor string) *client {
	ctx, stop := context.WithCancel(t.Context())
	c := &client{stop: stop, end: make(chan error, 1)}
	go func() {
		c.end <- h.Serve(ctx, Stream{Cursor: cursor,
			Encode: func(e Event) ([]byte, bool) { return []byte(`{"row":"` + e.Row + `"}`), e.Agent != "secret" },
			Alive: func(context.Context) bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return !c.dead
			},
			Send: func(p []byte) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				_, err := c.text.Write(p)
				return err
			}})
	}()
	return c
}

func start(t *testing.T) (*Hub, *rows) {
	r := &rows{}
	h := New(r, slog.New(slog.NewTextHandler(io.Discard, nil)))
	go h.Run(t.Context())
	return h, r
}

func TestEachChangeIsToldOnceInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := start(t)
		a, b := connect(t, h, ""), connect(t, h, "")
		time.Sleep(1500 * time.Millisecond)
		for _, row := range []string{"1", "2", "3"} {
			r.happen(row, 0)
			time.Sleep(700 * time.Millisecond)
		}
		time.Sleep(20 * time.Second)
		for _, c := range []*client{a, b} {
			if got := rowsOf(c.ids()); !slices.Equal(got, []string{"1", "2", "3"}) {
				t.Errorf("told %v", got)
			}
			if !strings.HasPrefix(c.got(), "id: ") || !strings.Contains(c.got(), "event: ready\ndata: {}\n\n") || !strings.Contains(c.got(), ": still here\n\n") {
				t.Errorf("stream %q", c.got())
			}
		}
	})
}

// TestALateCommitIsToldToo: the order of commits is not that of times.
func TestALateCommitIsToldToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := start(t)
		c := connect(t, h, "")
		time.Sleep(1500 * time.Millisecond)
		r.happen("slow", 4*time.Second)
		time.Sleep(time.Second)
		r.happen("quick", 0)
		time.Sleep(10 * time.Second)
		if got := rowsOf(c.ids()); !slices.Equal(got, []string{"quick", "slow"}) {
			t.Errorf("told %v", got)
		}
	})
}

// TestAStreamGoesOnWhereItWasCut: nothing is left out, what comes again has the id that it had, and a late commit before
// the cursor is told as well.
func TestAStreamGoesOnWhereItWasCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := start(t)
		c := connect(t, h, "")
		time.Sleep(1500 * time.Millisecond)
		r.happen("slow", 4*time.Second)
		time.Sleep(500 * time.Millisecond)
		r.happen("before", 0)
		time.Sleep(2 * time.Second)
		cursor := c.last()
		c.stop()
		if err := <-c.end; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		first := c.ids()
		time.Sleep(time.Minute)
		r.happen("meanwhile", 0)
		time.Sleep(time.Minute)
		d := connect(t, h, cursor)
		time.Sleep(3 * time.Second)
		r.happen("after", 0)
		time.Sleep(3 * time.Second)
		if got := rowsOf(d.ids()); !slices.Equal(got, []string{"slow", "before", "meanwhile", "after"}) {
			t.Errorf("told %v", got)
		}
		if !slices.Contains(d.ids(), first[0]) {
			t.Errorf("%s came again as %v", first[0], d.ids())
		}
	})
}

func TestAnOldCursorBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := start(t)
		r.happen("old", 0)
		long := mark(time.Now())
		time.Sleep(Reach + time.Minute)
		for _, cursor := range []string{long, "garbage", "-5.x", strings.Repeat("9", 30), mark(time.Now().Add(time.Hour))} {
			c := connect(t, h, cursor)
			synctest.Wait()
			if !strings.Contains(c.got(), "event: reset\n") || len(c.ids()) != 0 {
				t.Errorf("cursor %q: %q", cursor, c.got())
			}
			c.stop()
			<-c.end
		}
	})
}

// TestADeadCredentialEndsItsStream, at the next heartbeat.
func TestADeadCredentialEndsItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := start(t)
		c := connect(t, h, "")
		time.Sleep(Heartbeat + time.Second)
		c.mu.Lock()
		c.dead = true
		c.mu.Unlock()
		began := time.Now()
		if err := <-c.end; err != nil || time.Since(began) > Heartbeat {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// TestAListenerThatDoesNotReadIsLetGo, and the others are not.
func TestAListenerThatDoesNotReadIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := start(t)
		deaf := h.Listen()
		c := connect(t, h, "")
		time.Sleep(1500 * time.Millisecond)
		for range buffer + 10 {
			r.happen("x", 0)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		n := 0
		for range deaf.Events() {
			n++
		}
		if n != buffer || len(c.ids()) != buffer+10 {
			t.Errorf("%d and %d", n, len(c.ids()))
		}
		deaf.Close() // once more is no harm
	})
}

func TestNobodyListensNobodyLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := start(t)
		time.Sleep(time.Hour)
		if r.looks != 0 {
			t.Errorf("%d looks", r.looks)
		}
		c := connect(t, h, "")
		time.Sleep(10 * time.Second)
		c.stop()
		<-c.end
		time.Sleep(2 * time.Second)
		looks := r.looks
		time.Sleep(time.Hour)
		if looks == 0 || r.looks != looks {
			t.Errorf("%d, then %d looks", looks, r.looks)
		}
	})
}

// TestADatabaseThatIsAwayIsAskedAgain: what changed meanwhile is told afterwards.
func TestADatabaseThatIsAwayIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := start(t)
		c := connect(t, h, "")
		time.Sleep(1500 * time.Millisecond)
		r.mu.Lock()
		r.fail = errors.New("away")
		r.mu.Unlock()
		r.happen("1", 0)
		time.Sleep(30 * time.Second)
		r.mu.Lock()
		r.fail = nil
		r.mu.Unlock()
		time.Sleep(3 * time.Second)
		if got := rowsOf(c.ids()); !slices.Equal(got, []string{"1"}) {
			t.Errorf("told %v", got)
		}
	})
}

func TestTheEndOfTheHubEndsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(&rows{}, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.Run(ctx); close(done) }()
		c := connect(t, h, "")
		synctest.Wait()
		stop()
		<-done
		if err := <-c.end; err != nil {
			t.Error(err)
		}
		if _, open := <-h.Listen().Events(); open {
			t.Error("a hub that ended takes listeners")
		}
	})
}

func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", "1764400000123456.call.call_1.ended", "0.x", "-1.x", "99999999999999999999.x", "12", "\n", "1764400000123456", "1764400000123456.a\nid: 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		at, ok := Cursor(id)
		if !ok {
			return
		}
		if us := at.UnixMicro(); us <= 0 || us >= 1e18 {
			t.Errorf("%q is %v", id, at)
		}
		e := Event{At: at, Kind: "call", Row: "r", Stage: "s"}
		if back, ok := Cursor(e.ID()); !ok || !back.Equal(at) {
			t.Errorf("%q comes back as %v", id, back)
		}
	})
}
