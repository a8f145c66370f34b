package tool_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/tool"
)

func TestAKeptAnswerReadsBack(t *testing.T) {
	in := tool.Stored{Text: "ask: 1 answer\n…", Image: &tool.ImageRef{Artifact: "art_1", MIME: "image/jpeg"}, Structured: []byte(`{"count":1}`), Output: []byte(`{"a":[1,2]}`)}
	b, err := in.Encode()
	if err != nil {
		t.Fatal(err)
	}
	out, err := tool.DecodeStored(b)
	if err != nil || out.Text != in.Text || *out.Image != *in.Image || string(out.Structured) != string(in.Structured) || string(out.Output) != string(in.Output) {
		t.Errorf("read back as %+v, %v", out, err)
	}
	if _, err := tool.DecodeStored(nil); !errors.Is(err, tool.ErrNotStored) {
		t.Errorf("nothing: %v", err)
	}
	for _, bad := range []string{"{", `{"v":2,"text":"newer"}`, `{"text":"without a version"}`} {
		if got, err := tool.DecodeStored([]byte(bad)); err == nil || errors.Is(err, tool.ErrNotStored) {
			t.Errorf("%s reads as %+v", bad, got)
		}
	}
}

func TestWhatPeopleAreToldOfACall(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		kept, err := tool.Stored{Text: "ask: 1 answer", Output: []byte(`{"a":1}`)}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			r       ledger.Record
			text    string
			isError bool
		}{
			{ledger.Record{ID: "call_1", State: effect.Dispatched, Class: effect.Query}, "", false},
			{ledger.Record{ID: "call_1", State: effect.Succeeded, Result: kept}, "ask: 1 answer", false},
			{ledger.Record{ID: "call_1", State: effect.Succeeded, Withheld: true, IsError: true}, "binding_changed: the settings of ", true},
			{ledger.Record{ID: "call_1", State: effect.Uncertain, Class: effect.Query, IsError: true, Code: "abandoned"}, "abandoned: ", true},
			{ledger.Record{ID: "call_1", State: effect.Refused, IsError: true, Code: "rate_limit", Why: []ledger.Reason{{Fact: "60 of 60 are used"}}},
				"rate_limit: nothing was sent; 60 of 60 are used\nnext: wait · ", true},
			{ledger.Record{ID: "call_1", State: effect.Refused, IsError: true, Code: "rate_limit", Why: []ledger.Reason{{Fact: "refused as rate_limit (host a.example): 60 of 60 are used"}}},
				"rate_limit: nothing was sent; 60 of 60 are used\nnext: wait · ", true},
			{ledger.Record{ID: "call_1", State: effect.Refused, IsError: true, Code: "denied", Why: []ledger.Reason{{Fact: "refused as denied"}}},
				"denied: nothing was sent; the call was refused\nnext: ", true},
		} {
			got, err := s.Told(c.r)
			if err != nil || !strings.HasPrefix(got.Text, c.text) || (got.Text == "") != (c.text == "") {
				t.Errorf("%s is told as %q, %v", c.r.State, got.Text, err)
			}
			if c.isError != (got.Error != nil) || c.isError && (got.Output != nil || !strings.Contains(string(got.Error), `"tool_call_id":"call_1"`)) {
				t.Errorf("%s has the keys %s and the output %s", c.r.State, got.Error, got.Output)
			}
		}
	})
}

func TestAPipelineIsMadeWhole(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		whole := tool.Options{Ledger: s.ledger, Rows: s.rows, Approvals: s.approvals, Plugs: nil}
		for name, change := range map[string]func(*tool.Options){
			"Ledger":    func(o *tool.Options) { o.Ledger = nil },
			"Approvals": func(o *tool.Options) { o.Approvals = nil },
			"Plugs":     func(*tool.Options) {},
			"Wait":      func(o *tool.Options) { o.Wait = -1 },
		} {
			o := whole
			change(&o)
			if name == "Wait" {
				o.Plugs = plugsOf(s)
			}
			if _, err := tool.New(o); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("without %s: %v", name, err)
			}
		}
	})
}
