package rowid

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestAnIDIsAPrefixAndTwentySixPlainLetters(t *testing.T) {
	id := New("call")
	prefix, rest, found := strings.Cut(id, "_")
	if !found || prefix != "call" || len(rest) != 26 {
		t.Fatalf("the id is %q", id)
	}
	if strings.Trim(rest, "0123456789abcdefghjkmnpqrstvwxyz") != "" {
		t.Errorf("%q has letters that look like others", rest)
	}
}

func TestIDsSortByTheirTime(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var ids []string
	for _, d := range []time.Duration{-40 * 365 * 24 * time.Hour, 0, time.Millisecond, time.Second, time.Minute, 24 * time.Hour, 100 * 365 * 24 * time.Hour} {
		ids = append(ids, at("run", start.Add(d)))
	}
	if !slices.IsSorted(ids) {
		t.Errorf("not in order: %v", ids)
	}
}

// A UUID of version 7 has its version in the first half of the seventh byte and its variant in the top bits of the ninth.
func TestIDsAreUUIDsOfVersionSeven(t *testing.T) {
	for range 100 {
		raw, err := alphabet.DecodeString(strings.TrimPrefix(New("x"), "x_"))
		if err != nil || len(raw) != 16 || raw[6]>>4 != 7 || raw[8]>>6 != 2 {
			t.Fatalf("%x, %v", raw, err)
		}
	}
}

func TestIDsMadeAtOnceDiffer(t *testing.T) {
	const makers, each = 8, 2000
	var all [makers][]string
	var done sync.WaitGroup
	now := time.Now()
	for i := range makers {
		done.Go(func() {
			for range each {
				all[i] = append(all[i], at("call", now))
			}
		})
	}
	done.Wait()
	seen := make(map[string]bool, makers*each)
	for _, ids := range all {
		for _, id := range ids {
			if seen[id] {
				t.Fatalf("%s was made twice", id)
			}
			seen[id] = true
		}
	}
}
