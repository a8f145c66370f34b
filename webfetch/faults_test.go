package webfetch

// Every fault of a hostile or broken server, over real sockets: the right code, in time, within memory, in one
// request, and nothing left behind.

import (
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/testsite"
)

const (
	// soon is the processor time that a hostile page may cost. It is generous for the race detector.
	soon = 10 * time.Second
	// bombGrowth is by how much the heap may grow over a hostile body at the default limits.
	bombGrowth = 20 << 20
)

func TestTM009BrokenAnswersAreUnavailable(t *testing.T) {
	for _, fault := range testsite.Broken() {
		t.Run(fault.Name, func(t *testing.T) {
			testsite.LeavesNothing(t)
			site := testsite.Serve(t, fault.Script)
			f := siteWorld(site).fetcher(t, Options{})
			var err error
			var page *Page
			ends(t, func() {
				grown := testsite.HeapGrowth(func() { page, err = f.Fetch(t.Context(), Request{URL: "http://site.test/"}) })
				if grown > bombGrowth {
					t.Errorf("the heap grew by %d bytes", grown)
				}
			})
			e := wantCode(t, err, CodeUnavailable)
			if page != nil || !e.Retryable || e.Status != 502 || e.Reason == "" || e.URL != "http://site.test/" {
				t.Errorf("page %v, error %+v", page, e)
			}
			if n := site.Accepted(); n != 1 {
				t.Errorf("%d connections were made, want 1", n)
			}
		})
	}
}

func TestTM009StalledAnswersEndAtTheDeadline(t *testing.T) {
	for _, fault := range testsite.Stalled() {
		t.Run(fault.Name, func(t *testing.T) {
			t.Parallel()
			site := testsite.Serve(t, fault.Script)
			f := siteWorld(site).fetcher(t, Options{Timeout: new(200 * time.Millisecond)})
			ends(t, func() {
				_, err := f.Fetch(t.Context(), Request{URL: "http://site.test/"})
				e := wantCode(t, err, CodeTimeout)
				if e.Timeout != 200*time.Millisecond || e.Status != 504 || !e.Retryable || e.URL != "http://site.test/" {
					t.Errorf("error %+v", e)
				}
			})
			if n := site.Accepted(); n != 1 {
				t.Errorf("%d connections were made, want 1", n)
			}
		})
	}
}

func TestStalledAnswersLeaveNothing(t *testing.T) {
	testsite.LeavesNothing(t)
	for _, fault := range testsite.Stalled() {
		site := testsite.Serve(t, fault.Script)
		f := siteWorld(site).fetcher(t, Options{Timeout: new(50 * time.Millisecond)})
		if _, err := f.Fetch(t.Context(), Request{URL: "http://site.test/"}); err == nil {
			t.Errorf("%s: no error", fault.Name)
		}
	}
}

func TestTM009BombsAreTooLargeWithinMemory(t *testing.T) {
	for _, fault := range testsite.Bombs() {
		t.Run(fault.Name, func(t *testing.T) {
			testsite.LeavesNothing(t)
			site := testsite.Serve(t, fault.Script)
			f := siteWorld(site).fetcher(t, Options{})
			var err error
			var grown int64
			ends(t, func() {
				grown = testsite.HeapGrowth(func() { _, err = f.Fetch(t.Context(), Request{URL: "http://site.test/"}) })
			})
			e := wantCode(t, err, CodeTooLarge)
			if e.LimitBytes != DefaultMaxBodyBytes || e.Status != 200 || e.Retryable || e.ContentType != "text/plain" {
				t.Errorf("error %+v", e)
			}
			most := int64(bombGrowth)
			if strings.Contains(fault.Name, "br") {
				most += 16 << 20 // the format lets a server demand a window of that size
			}
			t.Logf("the heap grew by %.1f MB", float64(grown)/(1<<20))
			if grown > most {
				t.Errorf("the heap grew by %d bytes, at most %d are allowed", grown, most)
			}
		})
	}
}
