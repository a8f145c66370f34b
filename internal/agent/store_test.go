package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/datafolder"
)

func folder(t *testing.T) *datafolder.Folder {
	t.Helper()
	f, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func at(clock *time.Time) func() time.Time { return func() time.Time { return *clock } }

func TestTokenWorksUntilItIsRevoked(t *testing.T) {
	f := folder(t)
	server, cli := NewStore(f, nil), NewStore(f, nil)
	if _, err := server.Verify("wl_tools_x", "192.0.2.7"); !errors.Is(err, ErrUnknownToken) {
		t.Fatalf("an empty store: %v", err)
	}
	tok, text, err := cli.NewToken("alice", ScopeTools)
	if err != nil {
		t.Fatal(err)
	}
	who, err := server.Verify(text.Reveal(), "192.0.2.7")
	if err != nil || who != (Identity{Agent: "alice", TokenID: tok.ID, Scope: ScopeTools}) {
		t.Fatalf("the server does not see a token made beside it: %+v, %v", who, err)
	}
	if !server.Live(tok.ID) {
		t.Fatal("a working token is not live")
	}
	if _, err := cli.Revoke(tok.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Verify(text.Reveal(), "192.0.2.7"); !errors.Is(err, ErrUnknownToken) {
		t.Fatalf("TM-044: a revoked token at the next request: %v", err)
	}
	if server.Live(tok.ID) {
		t.Fatal("a revoked token is live")
	}
}

func TestTM044TokenIsStoredHashedAndRecognisable(t *testing.T) {
	f := folder(t)
	s := NewStore(f, nil)
	for _, scope := range Scopes() {
		_, text, err := s.NewToken("alice", scope)
		if err != nil {
			t.Fatal(err)
		}
		plain := text.Reveal()
		if !strings.HasPrefix(plain, "wl_"+string(scope)+"_") || len(plain) < 60 || len(plain) > maxToken {
			t.Errorf("a token of scope %s has %d characters and begins %.12s", scope, len(plain), plain)
		}
		if strings.Contains(fmt.Sprintf("%v %+v", text, text), plain) {
			t.Error("the token prints itself")
		}
		if _, err := s.Verify(plain, "192.0.2.7"); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(f.Path(), "*"))
		if err != nil {
			t.Fatal(err)
		}
		random := plain[strings.LastIndex(plain, "_")+1:]
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(data), random) || strings.Contains(string(data), random[:12]) {
				t.Errorf("%s holds a part of the token", filepath.Base(name))
			}
		}
	}
}

func TestTokensOfStrangers(t *testing.T) {
	s := NewStore(folder(t), nil)
	tok, text, err := s.NewToken("alice", ScopeTools)
	if err != nil {
		t.Fatal(err)
	}
	plain := text.Reveal()
	for _, bad := range []string{"", " ", plain[1:], plain + "0", plain[:len(plain)-1], strings.ToUpper(plain), tok.ID, tok.Hash,
		" " + plain, plain + "\n", "wl_", strings.Repeat("wl_", 1<<16), strings.Replace(plain, "tools", "harness", 1)} {
		if _, err := s.Verify(bad, "192.0.2.7"); !errors.Is(err, ErrUnknownToken) {
			t.Errorf("Verify of %.20q: %v", bad, err)
		}
	}
}

func appendTo(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(old, text...), 0o600)
}

func TestFileThatCannotBeReadLetsNobodyIn(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"not JSON":     func(p string) error { return os.WriteFile(p, []byte("{"), 0o600) },
		"unknown key":  func(p string) error { return os.WriteFile(p, []byte(`{"version":1,"tokenz":[]}`), 0o600) },
		"next version": func(p string) error { return os.WriteFile(p, []byte(`{"version":2}`), 0o600) },
		"no version":   func(p string) error { return os.WriteFile(p, []byte(`{}`), 0o600) },
		"null":         func(p string) error { return os.WriteFile(p, []byte(`null`), 0o600) },
		"empty":        func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"more behind":  func(p string) error { return appendTo(p, "{}") },
		"list twice": func(p string) error {
			return os.WriteFile(p, []byte(`{"version":1,"agents":[],"tokens":[],"tokens":[]}`), 0o600)
		},
		"loose mode": func(p string) error { return os.Chmod(p, 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			f := folder(t)
			s := NewStore(f, nil)
			tok, text, err := s.NewToken("alice", ScopeTools)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Verify(text.Reveal(), "192.0.2.7"); err != nil {
				t.Fatal(err)
			}
			if err := spoil(filepath.Join(f.Path(), agentsFile)); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second look must not take the first one's failure for an empty list
				_, err := s.Verify(text.Reveal(), "192.0.2.7")
				if err == nil || errors.Is(err, ErrUnknownToken) {
					t.Fatalf("Verify: %v", err)
				}
			}
			if s.Live(tok.ID) {
				t.Fatal("a token is live whose file cannot be read")
			}
			if _, _, err := s.NewToken("bob", ScopeTools); err == nil {
				t.Fatal("a token was added to a file that could not be read")
			}
		})
	}
}

func TestLastUseIsKeptAcrossProcesses(t *testing.T) {
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := folder(t)
	server := NewStore(f, at(&clock))
	tok, text, err := server.NewToken("alice", ScopeTools)
	if err != nil {
		t.Fatal(err)
	}
	lastUse := func(s *Store) time.Time {
		t.Helper()
		_, tokens, err := s.List()
		if err != nil || len(tokens) != 1 || tokens[0].ID != tok.ID {
			t.Fatalf("%+v, %v", tokens, err)
		}
		if use := tokens[0].LastUse; !use.At.IsZero() && use.From != "192.0.2.7" {
			t.Fatalf("used from %q", use.From)
		}
		return tokens[0].LastUse.At
	}
	if got := lastUse(server); !got.IsZero() {
		t.Fatalf("a fresh token was used at %v", got)
	}
	clock = clock.Add(time.Minute)
	if _, err := server.Verify(text.Reveal(), "192.0.2.7"); err != nil {
		t.Fatal(err)
	}
	if got := lastUse(server); !got.Equal(clock) {
		t.Fatalf("own view: %v", got)
	}
	if err := server.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := lastUse(NewStore(f, nil)); !got.Equal(clock) {
		t.Fatalf("another process: %v", got)
	}
}

func TestManyProcessesMakeTokens(t *testing.T) {
	f := folder(t)
	const makers, each = 6, 5
	var wg sync.WaitGroup
	for i := range makers {
		wg.Go(func() {
			s := NewStore(f, nil)
			for range each {
				if _, _, err := s.NewToken(fmt.Sprintf("agent-%d", i), ScopeTools); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	agents, tokens, err := NewStore(f, nil).List()
	if err != nil || len(agents) != makers || len(tokens) != makers*each {
		t.Fatalf("%d agents, %d tokens, %v", len(agents), len(tokens), err)
	}
	for i := 1; i < len(agents); i++ {
		if agents[i-1].Slug >= agents[i].Slug {
			t.Fatal("agents are not in order")
		}
	}
}

func TestSlugs(t *testing.T) {
	for _, good := range []string{"local", "a", "0", "a-b-2", strings.Repeat("a", MaxSlug)} {
		if err := CheckSlug(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-a", "A", "a b", "a_b", "a\n", "é", "../x", strings.Repeat("a", MaxSlug+1)} {
		err := CheckSlug(bad)
		if err == nil {
			t.Errorf("%q passed", bad)
		} else if len(err.Error()) > 250 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error is not one short line: %v", bad, err)
		}
		if _, _, err := NewStore(folder(t), nil).NewToken(bad, ScopeTools); err == nil {
			t.Errorf("a token was made for %q", bad)
		}
	}
	if _, err := ParseScope("admin"); err == nil || !strings.Contains(err.Error(), "tools, harness") {
		t.Errorf("ParseScope: %v", err)
	}
}

func TestRevoke(t *testing.T) {
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := NewStore(folder(t), at(&clock))
	one, oneText, err := s.NewToken("alice", ScopeTools)
	if err != nil {
		t.Fatal(err)
	}
	two, twoText, err := s.NewToken("alice", ScopeHarness)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Revoke("tok_none"); err == nil {
		t.Fatal("an unknown id was revoked")
	}
	if _, err := s.Revoke(""); err == nil {
		t.Fatal("an empty id revoked something")
	}
	got, err := s.Revoke(twoText.Reveal())
	if err != nil || got.ID != two.ID {
		t.Fatalf("revoking by the token itself: %+v, %v", got, err)
	}
	first := got.Revoked
	clock = clock.Add(time.Hour)
	if got, err = s.Revoke(two.ID); err != nil || !got.Revoked.Equal(first) {
		t.Fatalf("revoking again: %+v, %v", got, err)
	}
	if who, err := s.Verify(oneText.Reveal(), "192.0.2.7"); err != nil || who.TokenID != one.ID {
		t.Fatalf("the other token: %+v, %v", who, err)
	}
}
