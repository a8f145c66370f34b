package clienttest

import (
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// callLine is what the server logs of a call.
var callLine = regexp.MustCompile(`(?m)^\{.*"msg":"call".*\}$`)

// reportLine is a driver's report, whole.
var reportLine = regexp.MustCompile(`^\{.*\}\n`)

// W-088: a client that gives up stops the fetch, whichever era it speaks: by a notice in the older one, by closing the
// response in the newer one. The site is left within a second.
func TestGivingUpStopsTheFetchInBothEras(t *testing.T) {
	t.Parallel()
	for era, revision := range map[string]string{"legacy": "2025-11-25", "modern": "2026-07-28"} {
		t.Run(era, func(t *testing.T) {
			page := newSite(t)
			s := serve(t, program(t), "--allow-host", page.host())
			orders := s.overHTTP()
			orders["era"], orders["afterMs"], orders["call"] = era, 300, map[string]any{"url": page.URL + "/slow"}
			rep, gaveUp := giveUp(t, orders, page)
			if rep.Protocol != revision {
				t.Errorf("the client spoke %q, want %s", rep.Protocol, revision)
			}
			if rep.Error == nil || rep.Error.Message != "the driver gave up" {
				t.Errorf("the call ended with %+v, want the client's own giving up", rep.Error)
			}
			select {
			case <-page.left:
				t.Logf("the site was left %s after the client's report", time.Since(gaveUp).Round(time.Millisecond))
			case <-time.After(20 * time.Second):
				t.Error("the site's connection was still open long after the client had given up")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if line, _ := s.output.await(ctx, callLine); !strings.Contains(line, `"outcome":"cancelled"`) {
				t.Errorf("the log says of the call %q, want that it was cancelled\n%s", line, s.log())
			}
		})
	}
}

// giveUp runs the official client until it has given up, and leaves it connected until the test ends.
func giveUp(t *testing.T, orders map[string]any, page *site) (report, time.Time) {
	t.Helper()
	requireClients(t)
	node, err := shop.node()
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(orders)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), clientTimeout)
	cmd := exec.CommandContext(ctx, node, inClients("cancel.mjs"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, errs := newLines(), newLines()
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		in.Close()
		if err := <-ended; err != nil {
			t.Errorf("the client ended with %v\n%s", err, errs.text())
		}
		cancel()
	})
	if _, err := io.WriteString(in, string(line)+"\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-page.arrived:
	case err := <-ended:
		ended <- err
		t.Fatal("the client ended before the site was asked")
	case <-ctx.Done():
		t.Fatal("the site was never asked")
	}
	if _, err := io.WriteString(in, "give up\n"); err != nil {
		t.Fatal(err)
	}
	text, ok := out.await(ctx, reportLine)
	gaveUp := time.Now()
	if !ok {
		t.Fatal("the client reported nothing")
	}
	var rep report
	if err := json.Unmarshal([]byte(text), &rep); err != nil {
		t.Fatal(err)
	}
	return rep, gaveUp
}
