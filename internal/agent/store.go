// This file keeps agents and tokens in two JSON files of the data folder. A file is read again when it was replaced,
// so a token made by another process works, and a revoked one stops, at the next request.
package agent

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wayleave/wayleave/internal/secret"
)

// Store reads and changes agents and tokens. It is safe for concurrent use, in one process and in several.
type Store struct {
	files Files
	now   func() time.Time

	mu     sync.Mutex          // guards what follows
	seen   fs.FileInfo         // identity of the file that byHash was read from; nil for none
	byHash map[string]Identity // tokens that work
	live   map[string]bool     // ids of tokens that work
	used   map[string]Use      // uses since the last Flush, by token id
	failed error               // why byHash could not be read; every token is refused while it is set
}

// NewStore opens the agents of a data folder. now gives the time; nil means the system's clock.
func NewStore(files Files, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{files: files, now: now, used: make(map[string]Use)}
}

// Verify finds who a bearer token speaks for, and notes that it was used, and from which address. ErrUnknownToken says that it is not (or no longer) a token of this
// install; any other error, that the store could not be read, in which case nobody is let in.
func (s *Store) Verify(bearer, from string) (Identity, error) {
	if !plausible(bearer) {
		return Identity{}, ErrUnknownToken
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return Identity{}, err
	}
	// The key is a hash of what the caller sent, so how long the look-up takes says nothing about any token.
	who, ok := s.byHash[hash(bearer)]
	if !ok {
		return Identity{}, ErrUnknownToken
	}
	s.used[who.TokenID] = Use{At: s.now().UTC(), From: from}
	return who, nil
}

// Live says whether a token still works: what ends long streams of a token that was revoked meanwhile.
func (s *Store) Live(tokenID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refresh() == nil && s.live[tokenID]
}

// refresh reads the file again if it is another one than last time. s.mu is held.
func (s *Store) refresh() error {
	info, err := s.files.Stat(agentsFile)
	if err != nil {
		return fmt.Errorf("look at %s: %w", agentsFile, err)
	}
	if same(s.seen, info) && s.byHash != nil {
		return s.failed
	}
	b, info, err := readBook(s.files)
	s.seen, s.failed = info, err
	s.byHash, s.live = make(map[string]Identity), make(map[string]bool)
	for _, t := range b.Tokens {
		if t.Revoked.IsZero() {
			s.byHash[t.Hash] = Identity{Agent: t.Agent, TokenID: t.ID, Scope: t.Scope}
			s.live[t.ID] = true
		}
	}
	return err
}

// same says whether two looks at a file saw the same one. A replaced file differs in its inode, an edited one in its
// time or size.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

// EnsureAgent makes the agent if it is not there, and says whether it did.
func (s *Store) EnsureAgent(slug string) (made bool, err error) {
	if err := CheckSlug(slug); err != nil {
		return false, err
	}
	err = s.change(func(b *book) error {
		made = b.ensure(slug, s.now().UTC())
		return nil
	})
	return made, err
}

func (b *book) ensure(slug string, now time.Time) bool {
	if slices.ContainsFunc(b.Agents, func(a Agent) bool { return a.Slug == slug }) {
		return false
	}
	b.Agents = append(b.Agents, Agent{Slug: slug, Created: now})
	slices.SortFunc(b.Agents, func(x, y Agent) int { return strings.Compare(x.Slug, y.Slug) })
	return true
}

// NewToken makes a token, and the agent if it is not there. The secret is given here and never again.
func (s *Store) NewToken(slug string, scope Scope) (Token, secret.Value, error) {
	if err := CheckSlug(slug); err != nil {
		return Token{}, secret.Value{}, err
	}
	if _, err := ParseScope(string(scope)); err != nil {
		return Token{}, secret.Value{}, err
	}
	text := mint(scope)
	t := Token{ID: "tok_" + random(idBytes), Agent: slug, Scope: scope, Hash: hash(text.Reveal()), Created: s.now().UTC()}
	err := s.change(func(b *book) error {
		b.ensure(slug, t.Created)
		b.Tokens = append(b.Tokens, t)
		return nil
	})
	if err != nil {
		return Token{}, secret.Value{}, err
	}
	return t, text, nil
}

// Revoke ends a token by its id, or, given the token itself, by that. It says which one it was; revoking one that was
// revoked already is no error.
func (s *Store) Revoke(idOrToken string) (Token, error) {
	var found Token
	err := s.change(func(b *book) error {
		byHash := ""
		if plausible(idOrToken) {
			byHash = hash(idOrToken)
		}
		i := slices.IndexFunc(b.Tokens, func(t Token) bool { return t.ID == idOrToken || t.Hash == byHash })
		if i < 0 {
			return fmt.Errorf("no token has that id; `wayleave agents token list` shows them")
		}
		if b.Tokens[i].Revoked.IsZero() {
			b.Tokens[i].Revoked = s.now().UTC()
		}
		found = b.Tokens[i]
		return nil
	})
	return found, err
}

func (s *Store) change(edit func(*book) error) error {
	return s.files.Update(agentsFile, func(old []byte) ([]byte, error) {
		b, err := parseBook(s.files, old)
		if err != nil {
			return nil, err
		}
		if err := edit(&b); err != nil {
			return nil, err
		}
		return json.MarshalIndent(b, "", "  ")
	})
}

// List gives all agents by slug and all tokens by time of making, revoked ones too, with their last use.
func (s *Store) List() ([]Agent, []Token, error) {
	b, _, err := readBook(s.files)
	if err != nil {
		return nil, nil, err
	}
	uses, err := readUses(s.files)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range b.Tokens {
		t := &b.Tokens[i]
		t.LastUse = uses[t.ID]
		if u := s.used[t.ID]; u.At.After(t.LastUse.At) {
			t.LastUse = u
		}
	}
	return b.Agents, b.Tokens, nil
}

// Flush writes the uses that Verify saw. It is for a ticker and for the end of a server: a use may be lost in a crash,
// never a token.
func (s *Store) Flush() error {
	s.mu.Lock()
	pending := s.used
	s.used = make(map[string]Use)
	s.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	return s.files.Update(usesFile, func(old []byte) ([]byte, error) {
		uses := make(map[string]Use)
		if old != nil {
			if err := json.Unmarshal(old, &uses); err != nil {
				return nil, damagedUses(s.files, err)
			}
		}
		for id, use := range pending {
			if use.At.After(uses[id].At) {
				uses[id] = use
			}
		}
		return json.Marshal(uses)
	})
}
