// Package allowed keeps the private hosts that a person allowed agents to read while the service runs.
//
// The one rule: only a person's command writes here. Each host is checked before it is kept, and a file that cannot be
// read allows nothing.
package allowed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/wayleave/wayleave/weburl"
)

// Store reads and changes the list. It is safe for concurrent use, in one process and in several.
type Store struct {
	files Files
	now   func() time.Time

	mu   sync.Mutex // guards what follows
	seen fs.FileInfo
	read bool
	book book
	why  error // why the book could not be read
}

// NewStore opens the list of a data folder. now gives the time; nil means the system's clock.
func NewStore(files Files, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{files: files, now: now}
}

// For gives what an agent is allowed, and a text that is another one when that changed. The error says why nothing can
// be allowed now.
func (s *Store) For(agent string) (permits []weburl.Permit, edition string, err error) {
	hosts, err := s.List()
	if err != nil {
		return nil, "", err
	}
	for _, h := range hosts {
		if h.Agent != "" && h.Agent != agent {
			continue
		}
		p, err := weburl.ParsePermit(h.Host)
		if err != nil {
			return nil, "", err // cannot be: parse has read it
		}
		permits = append(permits, p)
		edition += p.String() + "\n"
	}
	return permits, edition, nil
}

// List gives all hosts in the order in which they were allowed.
func (s *Store) List() ([]Host, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := s.files.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", file, err)
	}
	if !s.read || !same(s.seen, info) {
		var data []byte
		data, s.seen, err = s.files.Read(file)
		s.book, s.why = book{}, err
		if err == nil {
			s.book, s.why = parse(s.files, data)
		}
		s.read = true
	}
	return slices.Clone(s.book.Hosts), s.why
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

// ErrNotAllowed says that a host that was to be removed is not on the list.
var ErrNotAllowed = errors.New("is not on the list")

// Allow adds a host for an agent (empty: for every agent) and gives it as it is kept. One that is there already is no
// error.
func (s *Store) Allow(host, agent string) (Host, error) {
	p, err := weburl.ParsePermit(host)
	if err != nil {
		return Host{}, err
	}
	out := Host{Host: p.String(), Agent: agent, Created: s.now().UTC()}
	err = s.change(func(b *book) error {
		if i := find(b, out); i >= 0 {
			out = b.Hosts[i]
			return nil
		}
		b.Hosts = append(b.Hosts, out)
		return nil
	})
	return out, err
}

// Remove takes a host off the list.
func (s *Store) Remove(host, agent string) (Host, error) {
	p, err := weburl.ParsePermit(host)
	if err != nil {
		return Host{}, err
	}
	out := Host{Host: p.String(), Agent: agent}
	err = s.change(func(b *book) error {
		i := find(b, out)
		if i < 0 {
			return ErrNotAllowed
		}
		out = b.Hosts[i]
		b.Hosts = slices.Delete(b.Hosts, i, i+1)
		return nil
	})
	return out, err
}

func find(b *book, h Host) int {
	return slices.IndexFunc(b.Hosts, func(x Host) bool { return x.Host == h.Host && x.Agent == h.Agent })
}

func (s *Store) change(edit func(*book) error) error {
	return s.files.Update(file, func(old []byte) ([]byte, error) {
		b, err := parse(s.files, old)
		if err != nil {
			return nil, err
		}
		if err := edit(&b); err != nil {
			return nil, err
		}
		return json.MarshalIndent(b, "", "  ")
	})
}
