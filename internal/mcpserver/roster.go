// This file counts what each token has under way, and knows whose a legacy session is. It decides; it closes nothing.
package mcpserver

import (
	"context"
	"sync"
	"time"
)

// roster is who is inside. It is safe for concurrent use.
type roster struct {
	limits Limits
	now    func() time.Time

	mu       sync.Mutex
	tokens   map[string]*presence // by token id; gone when nothing of the token is left
	sessions map[string]*session  // by session id
}

type presence struct {
	requests, calls, sessions int
	streams                   map[*standing]bool
}

// standing is a stream that stays open until its client, its token or the server ends.
type standing struct{ end context.CancelFunc }

type session struct {
	token string
	busy  int       // requests and streams of the session that are under way
	used  time.Time // when the last of them ended
	told  time.Time // when other processes were told of a use
}

func newRoster(l Limits) *roster {
	return &roster{limits: l, now: time.Now, tokens: make(map[string]*presence), sessions: make(map[string]*session)}
}

func (r *roster) of(token string) *presence {
	p := r.tokens[token]
	if p == nil {
		p = &presence{streams: make(map[*standing]bool)}
		r.tokens[token] = p
	}
	return p
}

func (r *roster) tidy(token string) {
	if p := r.tokens[token]; p != nil && p.requests == 0 && p.calls == 0 && p.sessions == 0 && len(p.streams) == 0 {
		delete(r.tokens, token)
	}
}

// request counts one HTTP request of a token until leave is called. ok is false where the token has too many under way.
func (r *roster) request(token string) (leave func(), ok bool) {
	return r.count(token, func(p *presence) *int { return &p.requests })
}

// call is request for a tool call, which in a legacy session goes on when the client of its request has left.
func (r *roster) call(token string) (leave func(), ok bool) {
	return r.count(token, func(p *presence) *int { return &p.calls })
}

func (r *roster) count(token string, of func(*presence) *int) (leave func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.of(token)
	n := of(p)
	if *n >= r.limits.CallsPerToken {
		return nil, false
	}
	*n++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		*n--
		r.tidy(token)
	}, true
}

// stream counts one standing stream of a token until leave is called; end is called when the token is revoked.
func (r *roster) stream(token string, end context.CancelFunc) (leave func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.of(token)
	if len(p.streams) >= r.limits.StreamsPerToken {
		r.tidy(token)
		return nil, false
	}
	st := &standing{end: end}
	p.streams[st] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(p.streams, st)
		r.tidy(token)
	}, true
}

// join finds a session for one request. ok is false for a session that is not there and for another token's, which a
// caller cannot tell apart.
func (r *roster) join(id, token string) (leave func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[id]
	if s == nil || s.token != token {
		return nil, false
	}
	s.busy++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		s.busy--
		s.used = r.now()
	}, true
}

// tellEvery is how exactly other processes know when a session was used.
const tellEvery = time.Minute

// due says whether other processes are to be told that a session is used, and takes it that they are.
func (r *roster) due(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[id]
	if s == nil || r.now().Sub(s.told) < tellEvery {
		return false
	}
	s.told = r.now()
	return true
}

// room makes place for a further session of a token: it names a session to end first, where there are too many, and
// says whether there is place at all.
func (r *roster) room(token string) (end string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.tokens[token]
	switch {
	case p != nil && p.sessions >= r.limits.SessionsPerToken:
		end = r.idlest(func(s *session) bool { return s.token == token })
		return end, end != ""
	case len(r.sessions) >= r.limits.Sessions:
		end = r.idlest(func(*session) bool { return true })
		return end, end != ""
	}
	return "", true
}

func (r *roster) idlest(of func(*session) bool) (id string) {
	var oldest time.Time
	for i, s := range r.sessions {
		if s.busy == 0 && of(s) && (id == "" || s.used.Before(oldest)) {
			id, oldest = i, s.used
		}
	}
	return id
}

// add notes a session that was just opened.
func (r *roster) add(id, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessions[id] != nil {
		return
	}
	r.sessions[id] = &session{token: token, used: r.now(), told: r.now()}
	r.of(token).sessions++
}

// remove forgets a session.
func (r *roster) remove(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[id]
	if s == nil {
		return
	}
	delete(r.sessions, id)
	r.of(s.token).sessions--
	r.tidy(s.token)
}

// over names the sessions whose time is over: idle too long, or of a token that is not live any more. It ends the
// standing streams of such tokens.
func (r *roster) over(now time.Time, live func(token string) bool) (ids []string) {
	r.mu.Lock()
	tokens := make([]string, 0, len(r.tokens))
	for t := range r.tokens {
		tokens = append(tokens, t)
	}
	r.mu.Unlock()

	// Asking may read a file, so it is done without the lock.
	dead := make(map[string]bool)
	for _, t := range tokens {
		if !live(t) {
			dead[t] = true
		}
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	for t := range dead {
		if p := r.tokens[t]; p != nil {
			for st := range p.streams {
				st.end()
			}
		}
	}
	for id, s := range r.sessions {
		if dead[s.token] || s.busy == 0 && now.Sub(s.used) >= r.limits.SessionIdle {
			ids = append(ids, id)
		}
	}
	return ids
}

// counts gives what is inside, for tests and readiness.
func (r *roster) counts() (requests, streams, sessions int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.tokens {
		requests += p.requests
		streams += len(p.streams)
	}
	return requests, streams, len(r.sessions)
}
