package reasons_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/reasons"
)

func TestLinesAreReadAsWritten(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	earlier := now.Add(-time.Second)
	text := reasons.Lines(now, ledger.Reason{Stage: reasons.Offer, Fact: "one\ntwo"}, ledger.Reason{At: earlier, Stage: reasons.Outcome, Fact: "done", Ref: "run_1"})
	got := reasons.Read(text + "no JSON\n")
	want := []ledger.Reason{{At: now, Stage: reasons.Offer, Fact: "one\ntwo"}, {At: earlier, Stage: reasons.Outcome, Fact: "done", Ref: "run_1"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestWords(t *testing.T) {
	was := binding.Binding{Capability: "read", Provider: "direct", ConnectionOwner: binding.Install, ConnectionVersion: 2, RunLimit: 5, Meter: "m"}
	now := was
	now.Provider = "other"
	for got, want := range map[string]string{
		reasons.Bound("web_fetch", was):                                                                  "web_fetch is read by direct: the install's connection version 2, no account",
		reasons.Counted(3, 9, "m", was):                                                                  "call 3 of the run, at most 9; one read unit of m: at most 5 a run, no limit a minute",
		reasons.Counted(3, ledger.MostToolCalls, binding.Uncounted, was):                                 "call 3 of the run; counted against no limit",
		reasons.Refused(&ledger.Refusal{Code: "stale_offer", Facts: ledger.Facts{Was: &was, Now: &now}}): "the offer is stale: the provider is other, it was direct",
		reasons.Refused(&ledger.Refusal{Code: "stale_offer"}):                                            "it was not offered to this caller",
		reasons.Withheld("web_fetch", &now):                                                              "the binding changed while the call ran: web_fetch is read by other: the install's connection version 2, no account now; its content is withheld",
		reasons.Withheld("web_fetch", nil):                                                               "the binding changed while the call ran: web_fetch is no longer offered; its content is withheld",
		reasons.Refused(&ledger.Refusal{Code: "nothing known"}):                                          "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
