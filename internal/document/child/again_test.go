package child

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/document"
)

func TestWhatIsLeftForASecondTime(t *testing.T) {
	const second, mb = time.Second, int64(1_000_000)
	whole := budget{2 * second, 100 * mb, 20 * second}
	for _, c := range []struct {
		name  string
		spent cost
		want  budget // zero: no second time
	}{
		{"killed before it began", cost{outside: true}, whole},
		{"killed amidst", cost{second / 2, 30 * mb, 3 * second, true}, budget{3 * second / 2, 100 * mb, 17 * second}},
		{"killed by all memory that it may have", cost{second, 100 * mb, second, true}, budget{second, 100 * mb, 19 * second}},
		{"ended by itself", cost{cpu: second}, budget{}},
		{"its CPU is used", cost{2 * second, 0, 3 * second, true}, budget{}},
		{"more than its CPU, between two looks", cost{2*second + 1, 0, 3 * second, true}, budget{}},
		{"its memory is used", cost{0, 100*mb + 1, second, true}, budget{}},
		{"its time is used", cost{0, 0, 20 * second, true}, budget{}},
	} {
		rest, due := whole.rest(c.spent)
		if rest != c.want || due != (c.want != budget{}) {
			t.Errorf("%s: %+v, %v", c.name, rest, due)
		}
		if due && (rest.cpu+c.spent.cpu > whole.cpu || rest.wall+c.spent.wall > whole.wall) {
			t.Errorf("%s: both times cost more than one may", c.name)
		}
	}
}

// onMessage does something whenever a pool logs.
type onMessage struct {
	slog.Handler
	do func(string)
}

func (onMessage) Enabled(context.Context, slog.Level) bool { return true }

func (h onMessage) Handle(_ context.Context, r slog.Record) error {
	h.do(r.Message)
	return nil
}

// reading is a pool, and the children of it that were given a document, in order. Each of the first kills is killed once it
// reads, or before.
func reading(t *testing.T, o Options, kills int, when func(*process)) (p *Pool, asked func() []*process) {
	t.Helper()
	var mu sync.Mutex
	var all []*process
	o.asks = func(c *process) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, c)
		if len(all) <= kills {
			when(c)
		}
	}
	p = pool(t, o)
	return p, func() []*process {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func dead(c *process) {
	kill(c.cmd)
	<-c.ended
}

func TestADocumentWhoseChildIsKilledIsReadAgain(t *testing.T) {
	var told []string
	log := slog.New(onMessage{slog.DiscardHandler, func(s string) { told = append(told, s) }})
	p, asked := reading(t, Options{Size: 1, Log: log}, 1, dead)
	got, err := p.Read(t.Context(), "any", []byte("innocent"))
	if err != nil || got.Markdown != "innocent" {
		t.Errorf("%v %q", err, got.Markdown)
	}
	if all := asked(); len(all) != 2 || all[0] == all[1] || !all[0].gone() || all[1].gone() {
		t.Errorf("%d children were asked", len(all))
	}
	if len(told) != 2 {
		t.Errorf("told %q", told)
	}
	if got, err := p.Read(t.Context(), "any", []byte("next")); err != nil || got.Markdown != "next" || len(asked()) != 3 {
		t.Errorf("the next: %v %q", err, got.Markdown)
	}
}

func TestADocumentWhoseChildrenAreKilledIsNotReadAThirdTime(t *testing.T) {
	p, asked := reading(t, Options{Size: 2}, 2, dead)
	if text, err := p.Read(t.Context(), "any", []byte("innocent")); reason(err) != document.Failed || text.Markdown != "" {
		t.Errorf("%v", err)
	}
	if n := len(asked()); n != 2 {
		t.Errorf("%d children were asked", n)
	}
	if got, err := p.Read(t.Context(), "any", []byte("next")); err != nil || got.Markdown != "next" {
		t.Errorf("the next: %v", err)
	}
}

// TestTM011BothTimesHaveOneBudget: a document that loops, whose child is killed once it has cost something, is ended within
// what is left, and one that has had all of it is not read again, nor one that broke its reader.
func TestTM011BothTimesHaveOneBudget(t *testing.T) {
	const long = 10 * time.Minute
	const whole, some = 2 * time.Second, 50 * time.Millisecond // far apart: a busy machine looks late
	p, asked := reading(t, Options{Size: 1, CPU: whole, Wall: long}, 1, func(c *process) {
		before, ok := c.counted()
		if !ok {
			return
		}
		go func() {
			for {
				if at, ok := c.counted(); !ok || at.cpu-before.cpu > some {
					break
				}
			}
			kill(c.cmd)
		}()
	})
	_, watched, err := p.Holds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if watched {
		if _, err := p.Read(t.Context(), "loop", nil); reason(err) != document.TooCostly {
			t.Errorf("%v", err)
		}
		all := asked()
		if n := len(all); n != 2 {
			t.Fatalf("%d children were asked", n)
		}
		if first, second := all[0].budget, all[1].budget; first.cpu != whole || second.cpu > whole-some {
			t.Errorf("%v, then %v of CPU", first.cpu, second.cpu)
		}
	}
	for does, want := range map[string]document.Reason{
		"loop": document.TooCostly, "hog": document.TooCostly, "panic": document.Failed, "exit": document.Failed,
		"truncated": document.Failed, "other frame": document.Failed,
	} {
		if does == "loop" && !watched {
			continue
		}
		o := Options{Size: 1, CPU: long, Wall: 3 * time.Second}
		if does == "loop" {
			o = Options{Size: 1, CPU: 300 * time.Millisecond, Wall: long}
		}
		p, asked := reading(t, o, 0, nil)
		if _, err := p.Read(t.Context(), does, nil); reason(err) != want {
			t.Errorf("%s: %v", does, err)
		}
		if n := len(asked()); n != 1 {
			t.Errorf("%s: %d children were asked", does, n)
		}
	}
}

// TestACancelledCallIsNotReadAgain: nor does closing the pool, which kills what reads, begin anything.
func TestACancelledCallIsNotReadAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, asked := reading(t, Options{Size: 1}, 1, func(c *process) {
		cancel()
		dead(c)
	})
	if _, err := p.Read(ctx, "any", nil); err == nil {
		t.Error("it was read")
	}
	if n := len(asked()); n != 1 {
		t.Errorf("%d children were asked", n)
	}

	closing := make(chan struct{})
	p, asked = reading(t, Options{Size: 1}, 1, func(*process) { close(closing) })
	failed := make(chan error, 1)
	go func() {
		_, err := p.Read(context.Background(), "sleep", nil)
		failed <- err
	}()
	<-closing
	ended, end := context.WithCancel(t.Context())
	end()
	p.Close(ended)
	if err := <-failed; err == nil || len(asked()) != 1 {
		t.Errorf("%v, %d children were asked", err, len(asked()))
	}
}
