package webfetch

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/testsite"
)

func TestTM010LargePagesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewConversions(2)
		var inside, most atomic.Int32
		done := make(chan error)
		for range 20 {
			go func() {
				leave, err := c.enter(t.Context(), largePage)
				if err == nil {
					most.Store(max(most.Load(), inside.Add(1)))
					<-time.After(time.Second)
					inside.Add(-1)
					leave()
				}
				done <- err
			}()
		}
		began := time.Now()
		for range 20 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if most.Load() != 2 || time.Since(began) != 10*time.Second {
			t.Errorf("%d at once, %v in all", most.Load(), time.Since(began))
		}
	})
}

func TestConversionsThatDoNotWait(t *testing.T) {
	full := NewConversions(1)
	if _, err := full.enter(t.Context(), largePage); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		bound *Conversions
		size  int
	}{
		"a small page": {full, largePage - 1}, "no bound": {NewConversions(0), 1 << 30}, "none given": {nil, 1 << 30},
	} {
		leave, err := c.bound.enter(t.Context(), c.size)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		leave()
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := full.enter(over, largePage); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up: %v", err)
	}
}

// TestWaitForATurnCountsInTheDeadline: what others convert can make a page late, never hang a call.
func TestWaitForATurnCountsInTheDeadline(t *testing.T) {
	testsite.LeavesNothing(t)
	page := func(size int) string { return "<p>" + strings.Repeat("words ", size/6) }
	site := testsite.Serve(t, testsite.Routes(func(r testsite.Request) testsite.Answer {
		size := 1 << 10
		if r.Target == "/large" {
			size = 2 * largePage
		}
		return testsite.Answer{Fields: []string{"Content-Type: text/html"}, Body: page(size)}
	}))
	turns := NewConversions(1)
	leave, err := turns.enter(t.Context(), largePage)
	if err != nil {
		t.Fatal(err)
	}
	f := siteWorld(site).fetcher(t, Options{Conversions: turns, Timeout: new(300 * time.Millisecond)})
	_, err = f.Fetch(t.Context(), Request{URL: "http://site.test/large"})
	wantCode(t, err, CodeTimeout)
	f = siteWorld(site).fetcher(t, Options{Conversions: turns})
	raw, err := f.Fetch(t.Context(), Request{URL: "http://site.test/large", Format: FormatRaw})
	if err != nil || raw.Via != ViaRaw {
		t.Errorf("raw text has no tree: %v", err)
	}
	leave()
	for range 2 { // the turn is given back
		if got, err := f.Fetch(t.Context(), Request{URL: "http://site.test/large"}); err != nil || got.TotalChars < largePage {
			t.Errorf("page %v, error %v", got, err)
		}
	}
}
