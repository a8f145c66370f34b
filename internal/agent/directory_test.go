package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// oneToken is rows with a single token, which can fail.
type oneToken struct {
	Rows  // what is not named here is not called
	agent Agent
	token Token
	now   time.Time
	epoch int64
	fails error
	asked []string
	noted map[string]Use
}

func (r *oneToken) Holder(_ context.Context, hash string) (Agent, Token, Moment, error) {
	r.asked = append(r.asked, hash)
	switch {
	case r.fails != nil:
		return Agent{}, Token{}, Moment{}, r.fails
	case hash != r.token.Hash:
		return Agent{}, Token{}, Moment{}, ErrNotFound
	}
	return r.agent, r.token, Moment{r.epoch, r.now}, nil
}

func (r *oneToken) Moment(context.Context) (Moment, error) { return Moment{r.epoch, r.now}, r.fails }

func (r *oneToken) Works(context.Context, string) (bool, error) { return true, r.fails }

func (r *oneToken) NoteUses(_ context.Context, uses map[string]Use) error {
	if r.fails == nil {
		r.noted = uses
	}
	return r.fails
}

func alone(text string) *oneToken {
	return &oneToken{agent: Agent{ID: "agent_1", Slug: "alice"}, token: Token{ID: "tok_1", AgentID: "agent_1", Agent: "alice", Scope: ScopeTools, Hash: hash(text)},
		epoch: 1, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func TestNobodyIsLetInWhileTheDatabaseCannotBeAsked(t *testing.T) {
	text := mint(ScopeTools).Reveal()
	r := alone(text)
	d := NewDirectory(r)
	r.fails = errors.New("gone")
	if _, err := d.Verify(text, ""); err == nil || errors.Is(err, ErrUnknownToken) {
		t.Fatalf("a database that does not answer says nothing of the token: %v", err)
	}
	if d.Live("tok_1") {
		t.Fatal("live, and nobody knows")
	}
	r.fails = nil
	if _, err := d.Verify(text, ""); err != nil || !d.Live("tok_1") {
		t.Fatalf("the failure was kept: %v", err)
	}
}

// TestTM044WhatWasFoundHoldsUntilTheNextConfigurationWrite: the dear question is asked once for each state.
func TestTM044WhatWasFoundHoldsUntilTheNextConfigurationWrite(t *testing.T) {
	text := mint(ScopeTools).Reveal()
	r := alone(text)
	d := NewDirectory(r)
	verify := func(want error, asked int) {
		t.Helper()
		if _, err := d.Verify(text, ""); !errors.Is(err, want) || (err == nil) != (want == nil) || len(r.asked) != asked {
			t.Fatalf("%v, asked %d times", err, len(r.asked))
		}
	}
	verify(nil, 1)
	verify(nil, 1)
	r.epoch++
	verify(nil, 2)
	verify(nil, 2)
	r.token.Revoked, r.epoch = r.now, r.epoch+1
	verify(ErrUnknownToken, 3)
	verify(ErrUnknownToken, 4) // what opens nothing is not kept
	r.token.Revoked, r.agent.Disabled, r.epoch = time.Time{}, true, r.epoch+1
	verify(ErrDisabled, 5)
	r.agent.Disabled, r.epoch = false, r.epoch+1
	verify(nil, 6)
	r.fails = errors.New("gone")
	if _, err := d.Verify(text, ""); err == nil || errors.Is(err, ErrUnknownToken) {
		t.Fatalf("what was found is believed although nobody knows whether it still holds: %v", err)
	}
}

func TestUsesThatCouldNotBeNotedAreNotedLater(t *testing.T) {
	text := mint(ScopeTools).Reveal()
	r := alone(text)
	d := NewDirectory(r)
	first := r.now
	if _, err := d.Verify(text, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	r.fails = errors.New("gone")
	if err := d.Flush(t.Context()); err == nil {
		t.Fatal("the failure was swallowed")
	}
	r.fails = nil
	if err := d.Flush(t.Context()); err != nil || r.noted["tok_1"] != (Use{first, "192.0.2.1"}) {
		t.Fatalf("%+v, %v", r.noted, err)
	}
	r.noted = nil
	if err := d.Flush(t.Context()); err != nil || r.noted != nil {
		t.Fatalf("noted twice: %+v, %v", r.noted, err)
	}
}

// FuzzTM044Verify holds what strangers send against the one token there is.
func FuzzTM044Verify(f *testing.F) {
	const real = "wl_tools_0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b"
	for _, s := range []string{real, "", "wl_", "wl_tools_", real + "0", real[1:], strings.ToUpper(real), real + "\x00", "wl_\xff\xfe", "wl_person_" + real, strings.Repeat("wl_", 999)} {
		f.Add(s, "192.0.2.1:99")
	}
	f.Add(real, strings.Repeat("\xf0\x9f\x98\x80", 99))
	f.Fuzz(func(t *testing.T, bearer, from string) {
		r := alone(real)
		d := NewDirectory(r)
		who, err := d.Verify(bearer, from)
		if bearer == real {
			if err != nil || who.TokenID != "tok_1" {
				t.Fatalf("%+v, %v", who, err)
			}
		} else if !errors.Is(err, ErrUnknownToken) || who != (Identity{}) {
			t.Fatalf("%q: %+v, %v", bearer, who, err)
		}
		if len(bearer) > maxToken && len(r.asked) > 0 {
			t.Fatal("a text that is too long was looked for")
		}
		for _, h := range r.asked {
			if !hexHash.MatchString(h) {
				t.Fatalf("the database was asked for %q", h)
			}
		}
		if err != nil && (len(err.Error()) > 300 || (len(bearer) > 8 && strings.Contains(err.Error(), bearer))) {
			t.Fatalf("the error repeats what was sent: %v", err)
		}
		for _, use := range d.used {
			if len(use.From) > maxAddress || !utf8.ValidString(use.From) {
				t.Fatalf("kept address %q", use.From)
			}
		}
	})
}

// FuzzSlug: what passes is safe wherever a name stands.
func FuzzSlug(f *testing.F) {
	for _, s := range []string{"alice", "", "-", "a\n", "é", "../x", strings.Repeat("a", 41), "a' OR 1=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		err := CheckSlug(s)
		if err == nil && (s == "" || len(s) > MaxSlug || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || s[0] == '-') {
			t.Fatalf("%q passed", s)
		}
		if err != nil && (len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\n\x1b")) {
			t.Fatalf("%q: the error is not one short line: %q", s, err)
		}
	})
}
