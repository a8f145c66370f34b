package tooltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/tool"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
)

func TestWithoutARightNothingReachesTheWorld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world")
	for range 2 { // the second one opens what is there
		w, err := tooltest.OpenWorld(path)
		if err != nil {
			t.Fatal(err)
		}
		s := tooltest.NewSet(w, nil)
		for _, p := range s.Plugs() {
			if p.Name() != tooltest.PressTool {
				continue
			}
			args, bad := p.Parse(json.RawMessage(`{"text":"a","inputs":1}`))
			if bad != nil {
				t.Fatal(bad.Result.Text())
			}
			// Without a right to send it sends nothing, whatever it is told by.
			if _, err := args.Run(t.Context(), tool.Where{Call: "call_1"}, refuse); !errors.Is(err, errRefused) {
				t.Errorf("it ran on: %v", err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := tooltest.ReadWorld(path); err != nil || len(all) != 0 {
		t.Errorf("the world has %v, %v", all, err)
	}
}

func TestTwiceFindsWhatWasSentTwice(t *testing.T) {
	all := []tooltest.Entry{{Call: "a", Input: 1}, {Call: "a", Input: 2}, {Call: "b", Input: 1}}
	if got := tooltest.Twice(all); len(got) != 0 {
		t.Errorf("found %v", got)
	}
	if got := tooltest.Twice(append(all, tooltest.Entry{Call: "a", Input: 2, Text: "other"})); len(got) != 1 || got[0].Input != 2 {
		t.Errorf("found %v", got)
	}
}

func TestAnOracleCountsItsQuestions(t *testing.T) {
	o := tooltest.NewOracle(t)
	for n := int64(1); n <= 2; n++ {
		if got, err := o.Send(t.Context(), "a & b"); err != nil || got != "the answer to a & b" || o.Asked() != n {
			t.Errorf("answered %q, %v, after %d questions", got, err, o.Asked())
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := o.Send(gone, "x"); err == nil || o.Asked() != 2 {
		t.Errorf("a caller that left asks: %v", err)
	}
}

var errRefused = errors.New("refused")

func refuse(context.Context) (ledger.Permit, error) { return ledger.Permit{}, errRefused }
