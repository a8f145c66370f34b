package wayleave

// Many calls wait for one question, several people answer it at once, a yes comes late or for another run, the client that
// asked is gone: at most one effect comes of a yes, and none of anything else.

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/store/storetest"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
)

// owners are people who may answer.
func (in *served) owners(t *testing.T, n int) (all []person) {
	t.Helper()
	for range n {
		_, link, err := in.beside.People.NewLink(t.Context(), "", "test")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, in.signIn(t, link.Reveal(), ""))
	}
	return all
}

// opened waits for the one question that is open.
func (in *served) opened(t *testing.T) approval.Approval {
	t.Helper()
	var open []approval.Approval
	in.until(t, "one question is open", func() bool {
		var err error
		if open, err = in.beside.Approvals.List(t.Context(), approval.Filter{Open: true, Limit: 10}); err != nil {
			t.Fatal(err)
		}
		return len(open) == 1
	})
	return open[0]
}

func TestTM059ManyEqualCallsAndPeopleAtOnceAreOneEffect(t *testing.T) {
	in, set := launchTools(t, time.Second)
	token := in.token(t, "alice")
	people := in.owners(t, 4)
	for round, revision := range []string{"2026-07-28", "2025-11-25", "2026-07-28", "2025-11-25"} {
		w := in.wire(t, token, revision)
		arguments := fmt.Sprintf(`{"text":"piece %d"}`, round)
		before := len(published(set))
		said := make([]string, 16)
		var calls, answers sync.WaitGroup
		for i := range said {
			calls.Go(func() {
				var err error
				if said[i], err = w.call(t.Context(), tooltest.PublishTool, arguments); err != nil {
					t.Error(err)
				}
			})
		}
		id := in.opened(t).ID
		won := make([]bool, len(people))
		for i, p := range people {
			answers.Go(func() {
				answer := []string{"once", "deny"}[i%2]
				res, text := p.do(t, http.MethodPost, "/api/approvals/"+id+"/answer", `{"answer":"`+answer+`"}`)
				switch won[i] = res.StatusCode == http.StatusOK; {
				case !won[i] && res.StatusCode != http.StatusConflict:
					t.Errorf("%s: %d %s", answer, res.StatusCode, text)
				}
			})
		}
		answers.Wait()
		calls.Wait()
		var winners []int
		for i, is := range won {
			if is {
				winners = append(winners, i)
			}
		}
		if len(winners) != 1 {
			t.Fatalf("round %d: answered by %v", round, winners)
		}
		effects := 0
		if winners[0]%2 == 0 {
			effects = 1
		}
		if got := len(published(set)) - before; got != effects {
			t.Errorf("round %d: %d effects, want %d", round, got, effects)
		}
		tell := map[int]string{0: "denied: ", 1: "publish: delivered"}[effects]
		for i, s := range said { // one that came after the answer asks anew
			if !strings.Contains(s, tell) && !strings.Contains(s, "approval_required: ") {
				t.Errorf("round %d, call %d: %s", round, i, s)
			}
		}
		if _, err := in.beside.Approvals.DenyAll(t.Context(), nil, approval.Reply{Channel: approval.Terminal, By: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(tooltest.Twice(set.World.Entries())) != 0 {
		t.Errorf("twice: %+v", set.World.Entries())
	}
	storetest.Invariants(t, in.beside.DB)
}

// A yes that comes after its time, or to the question of another run, lets nothing run; and a client that left is not needed.
func TestTM059ALateYesAndAnotherRunsAreNone(t *testing.T) {
	var ahead atomic.Int64 // the database's clock jumps
	jump := func(d time.Duration) { ahead.Add(d.Microseconds()) }
	set := tooltest.NewSet(tooltest.NewWorld(), func(context.Context, string) (string, error) { return "", nil })
	in := launch(t, Options{extend: func(p *parts) {
		p.catalog, p.plugs, p.wait = tooltest.Catalog(), set.Plugs(), 50*time.Millisecond
		p.now = func() int64 { return time.Now().UnixMicro() + ahead.Load() }
	}})
	w := in.wire(t, in.token(t, "alice"), "2026-07-28")
	owner := in.owners(t, 1)[0]
	say := func(id, answer string) int {
		res, _ := owner.do(t, http.MethodPost, "/api/approvals/"+id+"/answer", `{"answer":"`+answer+`"}`)
		return res.StatusCode
	}
	said := func(arguments, begins string) {
		t.Helper()
		got, err := w.call(t.Context(), tooltest.PublishTool, arguments)
		if err != nil || !strings.Contains(got, `"text":"`+begins) {
			t.Errorf("%s: %v %s", begins, err, got)
		}
	}
	const piece = `{"text":"the piece"}`
	said(piece, "approval_required: ")
	late := in.opened(t).ID
	jump(approval.OpenFor)
	if got := say(late, "once"); got != http.StatusConflict {
		t.Errorf("after its time: %d", got)
	}
	in.until(t, "the process lives after the jump", func() bool { return in.ledger.Health().Alive })
	said(piece, "unanswered: ")
	said(piece, "approval_required: ")
	good := in.opened(t).ID
	if got := say(good, "once"); got != http.StatusOK {
		t.Errorf("in time: %d", got)
	}
	jump(approval.GoodFor + time.Second)
	in.until(t, "the process lives after the jump", func() bool { return in.ledger.Health().Alive })
	said(piece, "approval_required: ") // an old yes is none
	if len(set.World.Entries()) != 0 {
		t.Fatalf("the world: %+v", set.World.Entries())
	}
	// The client leaves while it waits; the yes that comes then is for the next who makes the same call.
	again := in.opened(t).ID
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, _ = w.call(ctx, tooltest.PublishTool, piece)
	if got := say(again, "once"); got != http.StatusOK {
		t.Errorf("after the client left: %d", got)
	}
	other := in.wire(t, in.token(t, "bob"), "2026-07-28")
	if got, err := other.call(t.Context(), tooltest.PublishTool, piece); err != nil || !strings.Contains(got, `"text":"approval_required: `) {
		t.Errorf("another run's yes: %v %s", err, got)
	}
	said(piece, "publish: delivered")
	said(piece, "approval_required: ")
	if got := len(published(set)); got != 1 {
		t.Errorf("%d effects", got)
	}
	storetest.Invariants(t, in.beside.DB)
}
