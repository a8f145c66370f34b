package webfetch

// HTTP/2 frames that bring nothing: the protocol library takes them without end, and writes a line to the standard log
// for each one that it has no use for.

import (
	"bytes"
	"log"
	"testing"

	"golang.org/x/net/http2"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/internal/testsite"
)

func TestTM009HTTP2FloodsEndBeforeTheDeadline(t *testing.T) {
	for _, fault := range testsite.FloodsHTTP2() {
		t.Run(fault.Name, func(t *testing.T) {
			testsite.LeavesNothing(t)
			logged := standardLog(t)
			site, opts := http2Site(t, fault.Script)
			f := tlsWorld(site).fetcher(t, opts)
			var err error
			var grown int64
			ends(t, func() {
				grown = testsite.HeapGrowth(func() { _, err = f.Fetch(t.Context(), Request{URL: "https://site.test/"}) })
			})
			if e := wantCode(t, err, CodeUnavailable); e.Reason != string(hop.IdleFrames) {
				t.Errorf("reason %q", e.Reason)
			}
			if site.Accepted() != 1 || grown > bombGrowth {
				t.Errorf("%d connections; the heap grew by %d bytes", site.Accepted(), grown)
			}
			if logged.Len() > 0 {
				t.Errorf("the log of the program got %d bytes: %.200q", logged.Len(), logged)
			}
		})
	}
}

// Real servers name other ways to themselves and send kinds of frames that are made up on purpose.
func TestHTTP2FramesThatAreNotForClientsArePassedOver(t *testing.T) {
	testsite.LeavesNothing(t)
	logged := standardLog(t)
	site, opts := http2Site(t, func(h *testsite.HTTP2) {
		strange := func() {
			h.Frames.WriteRawFrame(0x0a, 0, 0, []byte("\x00\x00h2=\":443\""))
			h.Frames.WriteRawFrame(0xbb, 0xff, 0, make([]byte, 1<<14))
			h.Frames.WritePriority(1, http2.PriorityParam{Weight: 1})
		}
		strange()
		stream := h.Request()
		strange()
		h.Headers(stream, false, ":status", "200", "content-type", "text/plain")
		for _, word := range []string{"one ", "two ", "three"} {
			strange()
			h.Frames.WriteData(stream, false, []byte(word))
		}
		strange()
		h.Frames.WriteData(stream, true, nil)
		h.Request()
	})
	page, err := tlsWorld(site).fetcher(t, opts).Fetch(t.Context(), Request{URL: "https://site.test/"})
	if err != nil || page.Content != "one two three" {
		t.Errorf("page %+v, error %v", page, err)
	}
	if logged.Len() > 0 {
		t.Errorf("the log of the program got %q", logged)
	}
}

// standardLog collects what reaches the program's standard log while the test runs.
func standardLog(t *testing.T) *bytes.Buffer {
	t.Helper()
	var logged bytes.Buffer
	before := log.Writer()
	log.SetOutput(&logged)
	t.Cleanup(func() { log.SetOutput(before) })
	return &logged
}
