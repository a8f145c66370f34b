// This file keeps legacy sessions beyond one process: what a client said at its handshake is stored, and a process that
// does not know a session says it again to its own protocol library.
package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
)

// Sessions remembers legacy sessions for the processes that did not open them. A session is known by a name made from
// its id; whoever reads the name cannot use the session.
type Sessions interface {
	// Opened keeps a handshake: the client's initialize message.
	Opened(ctx context.Context, s Session) error
	// Find gives the handshake of a session that is of this token and was used within idle, and notes that it is used.
	Find(ctx context.Context, name, token string, idle time.Duration) (Session, bool, error)
	// Used notes that a session is used.
	Used(ctx context.Context, name string) error
	// Ended forgets it.
	Ended(ctx context.Context, name string) error
}

// Session is a legacy session as it is kept.
type Session struct {
	Name       string // of sessionName
	Agent      string // id
	Token      string // id
	Initialize []byte // the client's message, whole
}

// sessionName is how a session's id is known outside of this package.
func sessionName(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("mcp session " + id))
	return fmt.Sprintf("mses_%x", sum[:16])
}

// adoptKey is where a request says under which id its session is to be opened.
type adoptKey struct{}

// protocolFor gives the library's server for a request that opens a session: the one of all, or for a session that is
// adopted one of its own, since the library lets a server choose ids and not a request.
func (s *Server) protocolFor(r *http.Request) *mcp.Server {
	id, ok := r.Context().Value(adoptKey{}).(string)
	if !ok {
		return s.mcp
	}
	server, _ := s.newProtocol(nil, func() string { return id })
	s.adoption.Lock()
	defer s.adoption.Unlock()
	s.adopted[id] = server
	return server
}

// adopt opens a session that another process opened, and says whether there was one. The error is the store's.
func (s *Server) adopt(ctx context.Context, id string, who agent.Identity) (bool, error) {
	if s.o.Sessions == nil || id == "" || len(id) > maxSessionID {
		return false, nil
	}
	s.adopting.Lock()
	defer s.adopting.Unlock()
	if s.session(id) != nil {
		return true, nil // somebody else did meanwhile, or it is another token's: who asks finds out
	}
	kept, ok, err := s.o.Sessions.Find(ctx, sessionName(id), who.TokenID, s.o.Limits.SessionIdle)
	if err != nil || !ok {
		return false, err
	}
	if end, room := s.roster.room(who.TokenID); !room {
		return false, nil
	} else if end != "" {
		s.endSession(end)
	}
	if err := s.say(context.WithValue(ctx, adoptKey{}, id), "", kept.Initialize, who); err != nil {
		return false, err
	}
	s.roster.add(id, who.TokenID)
	return true, s.confirm(ctx, id, who)
}

// maxSessionID bounds what is looked up; the library's own ids have 26 characters.
const maxSessionID = 128

// confirm ends a session's handshake. The client says so too, but perhaps to another process.
func (s *Server) confirm(ctx context.Context, id string, who agent.Identity) error {
	return s.say(ctx, id, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), who)
}

// say hands the library a message as if the client had sent it, and drops the answer.
func (s *Server) say(ctx context.Context, session string, message []byte, who agent.Identity) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/mcp", bytes.NewReader(message))
	if err != nil {
		return fmt.Errorf("replay a handshake: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set(sessionHeader, session)
	}
	answer := &unheard{header: make(http.Header)}
	s.verified(who, s.legacy).ServeHTTP(answer, r)
	if answer.status >= http.StatusBadRequest {
		return fmt.Errorf("replay a handshake: status %d: %s", answer.status, strings.TrimSpace(answer.said.String()))
	}
	return nil
}

// unheard is an answer that nobody reads.
type unheard struct {
	header http.Header
	status int
	said   bytes.Buffer
}

func (u *unheard) Header() http.Header { return u.header }
func (u *unheard) WriteHeader(status int) {
	if u.status == 0 {
		u.status = status
	}
}
func (u *unheard) Write(p []byte) (int, error) {
	u.WriteHeader(http.StatusOK)
	if room := 4096 - u.said.Len(); room > 0 {
		u.said.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
func (u *unheard) Flush() {}

var _ io.Writer = (*unheard)(nil)
