package auditstore

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
)

// faults writes a report's faults as kind from-to.
func faults(r audit.Report) string {
	var all []string
	for _, f := range r.Faults {
		all = append(all, fmt.Sprintf("%s %d-%d", f.Kind, f.Link, f.To))
	}
	return strings.Join(all, ", ")
}

// TestTM104ChangeIsNamed: 250 entries, with checkpoints at 100, 200 and 250; each case does what a person with the
// database and without the key can do.
func TestTM104ChangeIsNamed(t *testing.T) {
	forged := strings.Repeat("0", 64)
	for _, c := range []struct {
		name    string
		tamper  func(t *testing.T, s *stage)
		without string // faults, without a checkpoint from elsewhere
		with    string // with the one at 250
	}{
		{"nothing", func(t *testing.T, s *stage) {}, "", ""},
		{"an actor", exec("UPDATE audit SET actor = 'person:person_2' WHERE link = 7"), "changed 7-7", ""},
		{"a verb", exec("UPDATE audit SET verb = 'agent.looked' WHERE link = 1"), "changed 1-1", ""},
		{"a subject", exec("UPDATE audit SET subject = 'agent_9' WHERE link = 250"), "changed 250-250", ""},
		{"a detail", exec("UPDATE audit SET detail = '{\"x\":1}' WHERE link = 100"), "changed 100-100", ""},
		{"a time", exec("UPDATE audit SET at = at + 1 WHERE link = 7"), "changed 7-7", ""},
		{"an id", exec("UPDATE audit SET id = 'audit_x' WHERE link = 7"), "changed 7-7", ""},
		{"a hash", exec("UPDATE audit SET hash = '" + forged + "' WHERE link = 7"), "changed 7-7, order 8-8", ""},
		{"a prev", exec("UPDATE audit SET prev = '" + forged + "' WHERE link = 7"), "order 7-7, changed 7-7", ""},
		{"three of them", exec("UPDATE audit SET actor = 'x' WHERE link IN (3, 4, 99)"), "changed 3-3, changed 4-4, changed 99-99", ""},
		{"two rows swapped", exec("UPDATE audit SET link = -1 WHERE link = 7", "UPDATE audit SET link = 7 WHERE link = 8", "UPDATE audit SET link = 8 WHERE link = -1"),
			"order 7-7, changed 7-7, order 8-8, changed 8-8, order 9-9", ""},
		{"a row deleted", exec("DELETE FROM audit WHERE link = 7"), "missing 7-7", ""},
		{"rows deleted", exec("DELETE FROM audit WHERE link BETWEEN 95 AND 105"), "missing 95-105", ""},
		{"two places", exec("DELETE FROM audit WHERE link IN (7, 200)"), "missing 7-7, missing 200-200", ""},
		{"a row deleted and the rest moved up", exec("DELETE FROM audit WHERE link = 249", "UPDATE audit SET link = 249 WHERE link = 250"),
			"order 249-249, changed 249-249, cut 250-250", ""},
		{"the beginning deleted", exec("DELETE FROM audit WHERE link <= 50"), "missing 1-50", ""},
		{"all deleted", exec("DELETE FROM audit"), "cut 1-250", ""},
		{"a row unlinked", exec("UPDATE audit SET link = NULL, prev = NULL, hash = NULL WHERE link = 7"), "missing 7-7", ""},
		{"the end deleted", exec("DELETE FROM audit WHERE link > 240"), "cut 241-250", ""},
		{"the end deleted with its checkpoint", exec("DELETE FROM audit WHERE link > 240", "DELETE FROM audit_checkpoints WHERE link > 240"), "", "cut 241-250"},
		{"all deleted with the checkpoints", exec("DELETE FROM audit", "DELETE FROM audit_checkpoints"), "", "cut 1-250"},
		{"a row put in at the end", exec("INSERT INTO audit (id, at, actor, verb, subject, detail, link, prev, hash) SELECT 'audit_x', at, actor, verb, subject, detail, 251, hash, '" + forged + "' FROM audit WHERE link = 250"),
			"changed 251-251", ""},
		{"a copy put in at the end", exec("INSERT INTO audit (id, at, actor, verb, subject, detail, link, prev, hash) SELECT 'audit_x', at, actor, verb, subject, detail, 251, prev, hash FROM audit WHERE link = 250"),
			"order 251-251, changed 251-251", ""},
		{"a checkpoint changed", exec("UPDATE audit_checkpoints SET hash = '" + forged + "' WHERE link = 200"), "forked 200-200", ""},
		{"a checkpoint put in", exec("INSERT INTO audit_checkpoints (link, at, hash) VALUES (300, 1, '" + forged + "')"), "cut 251-300", ""},
		{"linked anew with another key", func(t *testing.T, s *stage) { s.relink(t, 1, otherKey) }, "relink 1-250", ""},
		{"linked anew from the middle", func(t *testing.T, s *stage) { s.relink(t, 120, otherKey) }, "relink 120-250", ""},
		{"a row deleted, the rest linked anew", func(t *testing.T, s *stage) {
			s.tamper(t, "DELETE FROM audit WHERE link = 120")
			s.relink(t, 121, otherKey)
		}, "relink 120-249, cut 250-250", ""},
		// Who has the key too leaves no trace but outside.
		{"linked anew with the right key", func(t *testing.T, s *stage) {
			s.tamper(t, "UPDATE audit SET actor = 'x' WHERE link = 120", "DELETE FROM audit_checkpoints")
			s.relink(t, 120, key)
		}, "", "forked 250-250"},
		{"linked anew with the right key, checkpoints kept", func(t *testing.T, s *stage) {
			s.tamper(t, "UPDATE audit SET actor = 'x' WHERE link = 120")
			s.relink(t, 120, key)
		}, "forked 200-200, forked 250-250", "forked 200-200, forked 250-250, forked 250-250"},
		{"a false statement of a purge", exec("DELETE FROM audit WHERE link <= 50",
			"INSERT INTO audit (id, at, actor, verb, subject, detail) SELECT 'audit_x', at, 'system', 'audit.purged', 'audit', '{\"through\":50,\"hash\":\"' || prev || '\",\"seal\":\""+forged+"\"}' FROM audit WHERE link = 51"),
			"missing 1-50", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s *stage) {
				for _, n := range []int{100, 100, 50} {
					fillFast(t, s, n)
					s.clock.Advance(time.Minute)
					s.step(t, s.keeper)
				}
				if len(s.told) != 3 || s.told[2].Link != 250 {
					t.Fatalf("checkpoints: %+v", s.told)
				}
				c.tamper(t, s)
				r := s.verify(t)
				if got := faults(r); got != c.without || r.OK() != (c.without == "") || r.Outside != 0 {
					t.Errorf("%s\nexpected %s\n%+v", got, c.without, r)
				}
				with := c.with
				if with == "" {
					with = c.without
				}
				r = s.verify(t, s.told[2])
				if got := faults(r); got != with || r.Outside != 1 {
					t.Errorf("against a checkpoint from elsewhere: %s\nexpected %s\n%+v", got, with, r)
				}
				for _, f := range r.Faults {
					if f.Text == "" || !strings.Contains(f.Text, fmt.Sprint(f.Link)) && !strings.Contains(f.Text, fmt.Sprint(f.To)) {
						t.Errorf("the sentence does not name the place: %+v", f)
					}
				}
			})
		})
	}
}

func exec(statements ...string) func(t *testing.T, s *stage) {
	return func(t *testing.T, s *stage) { s.tamper(t, statements...) }
}

func TestReportSaysWhatWasSeen(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		if r := s.verify(t); r.Rows != 0 || r.Waiting != 0 || !r.OK() || !r.Oldest.IsZero() {
			t.Errorf("an empty audit: %+v", r)
		}
		s.add(t, 5)
		oldest := s.clock.Now().Add(-4 * time.Millisecond)
		if r := s.verify(t); r.Rows != 0 || r.Waiting != 5 || !r.Oldest.Equal(oldest) || !r.OK() {
			t.Errorf("before the first link: %+v", r)
		}
		s.clock.Advance(time.Hour)
		s.step(t, s.keeper)
		s.add(t, 2)
		r := s.verify(t)
		if r.Rows != 5 || r.First != 1 || r.Head.Link != 5 || len(r.Head.Hash) != 64 || r.Marks != 1 || r.Waiting != 2 || !r.OK() {
			t.Errorf("%+v", r)
		}
		if _, err := audit.Verify(t.Context(), s.store, key, "another", []audit.Checkpoint{s.told[0]}); err == nil || !strings.Contains(err.Error(), install) {
			t.Errorf("a checkpoint of another install: %v", err)
		}
		if r, err := audit.Verify(t.Context(), s.store, otherKey, install, nil); err != nil || faults(r) != "relink 1-5" {
			t.Errorf("with another key: %s, %v", faults(r), err)
		}
		if _, err := audit.Verify(t.Context(), s.store, key[:5], install, nil); err == nil {
			t.Error("with a short key")
		}
	})
}

// TestVerifyReadsATextFromElsewhere and says in sentences what it saw, and what it cannot have seen.
func TestVerifyReadsATextFromElsewhere(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		s.add(t, 3)
		s.step(t, s.keeper)
		s.add(t, 1)
		judge := func(against io.Reader) string {
			t.Helper()
			r, err := Verify(t.Context(), s.db, key, install, against)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(r.Sentences(), "\n")
		}
		said := judge(nil)
		for _, want := range []string{"3 entries are linked, 1 to 3", s.told[0].Hash, "1 entries are not linked yet", "holds in itself", "--against"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not in\n%s", want, said)
			}
		}
		if said := judge(strings.NewReader(s.log.String())); !strings.Contains(said, "agrees with 1 checkpoints from elsewhere") || strings.Contains(said, "--against") {
			t.Errorf("%s", said)
		}
		s.tamper(t, "DELETE FROM audit WHERE link = 3", "DELETE FROM audit_checkpoints")
		if said := judge(strings.NewReader(s.log.String())); !strings.Contains(said, "cut: the chain ends at row 2 and stood at 3") || strings.Contains(said, "holds") {
			t.Errorf("%s", said)
		}
		if _, err := Verify(t.Context(), s.db, key, install, strings.NewReader("nothing")); !errors.Is(err, audit.ErrNoCheckpoint) {
			t.Errorf("%v", err)
		}
	})
}

// TestManyFaultsAreCounted and the first are named; a chain of several pages is judged as one.
func TestManyFaultsAreCounted(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		fillFast(t, s, 2300)
		s.step(t, s.keeper)
		if r := s.verify(t); r.Rows != 2300 || !r.OK() {
			t.Fatalf("%+v", r)
		}
		s.tamper(t, "UPDATE audit SET actor = 'x' WHERE link % 10 = 5 OR link IN (1000, 1001, 2001)")
		r := s.verify(t)
		if r.Count != 233 || len(r.Faults) != 20 || r.Faults[0].Link != 5 || r.Faults[19].Link != 195 {
			t.Errorf("%d faults, named %s", r.Count, faults(r))
		}
	})
}
