// This file is the questions that a legacy client shows while its call waits. The protocol library would number them from 1
// in each process and for each connection, so that an answer which comes to another process, or to a successor, would be
// taken for an answer to that one's own question. Here a question has a name that only a server of this install can have
// given, and a process takes the answer to a question that another one asked for what it is.
package mcpserver

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/tool"
)

// questions are those that this process shows. A scope is whose they are: a session, or the client at the pipes.
type questions struct {
	// sign gives a keyed digest, the same in every process of the install.
	sign func(parts ...string) string

	mu   sync.Mutex
	open map[string]chan *mcp.ElicitResult // by name; nil is an answer that is an error
}

func newQuestions(sign func(parts ...string) string) *questions {
	if sign == nil { // no other process could have asked
		key := make([]byte, sha256.Size)
		_, _ = rand.Read(key) // it does not fail: the runtime ends the process first
		sign = func(parts ...string) string {
			h := hmac.New(sha256.New, key)
			for _, p := range parts {
				h.Write([]byte(p))
				h.Write([]byte{0})
			}
			return hex.EncodeToString(h.Sum(nil))
		}
	}
	return &questions{sign: sign, open: make(map[string]chan *mcp.ElicitResult)}
}

const (
	// namedQuestion begins the name of a question on the wire: the question's id, a part that makes each showing another one,
	// and the mark follow, with dots between.
	namedQuestion = "wayleave-question."
	// markChars are how many digits of the keyed digest stand in a name: 128 bits.
	markChars = 32
	// takeTime bounds the taking of an answer.
	takeTime = 10 * time.Second
)

func (q *questions) name(scope, question, showing string) string {
	return namedQuestion + question + "." + showing + "." + q.sign("mcp question", scope, question, showing)[:markChars]
}

// ask gives a question a name and waits for nothing: the answer comes by the channel until end is called.
func (q *questions) ask(scope, question string) (name string, answer <-chan *mcp.ElicitResult, end func()) {
	var showing [8]byte
	_, _ = rand.Read(showing[:])
	name = q.name(scope, question, hex.EncodeToString(showing[:]))
	got := make(chan *mcp.ElicitResult, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open[name] = got
	return name, got, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.open, name)
	}
}

// asked gives the question of a name that was given for this scope; false for any other text.
func (q *questions) asked(scope, name string) (question string, ok bool) {
	rest, ok := strings.CutPrefix(name, namedQuestion)
	parts := strings.Split(rest, ".")
	if !ok || len(parts) != 3 || !hmac.Equal([]byte(name), []byte(q.name(scope, parts[0], parts[1]))) {
		return "", false
	}
	return parts[0], true
}

// give hands an answer to the call that waits for it here. Only the first one counts.
func (q *questions) give(name string, got *mcp.ElicitResult) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	waits, ok := q.open[name]
	if ok {
		select {
		case waits <- got:
		default:
		}
	}
	return ok
}

// response is a message of a client that answers one of ours.
type response struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Result *mcp.ElicitResult `json:"result"`
}

// responses reads the answers in a message, or in a batch of them. What is none, or cannot be read, is left out.
func responses(body []byte) (all []response, batch bool) {
	if !bytes.Contains(body, []byte(namedQuestion)) {
		return nil, false
	}
	var raw []json.RawMessage // which must not be the body's own bytes: what is read into it would change them
	if batch = bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")); !batch {
		raw = []json.RawMessage{body}
	} else if json.Unmarshal(body, &raw) != nil {
		return nil, true
	}
	for _, one := range raw {
		var r response
		if json.Unmarshal(one, &r) != nil {
			r.Result = nil // an answer that is no form's: who asked learns that nobody answered
		}
		if r.Method == "" && len(r.ID) > 0 {
			all = append(all, r)
		}
	}
	return all, batch
}

// takeAnswers takes the answers to questions of ours that a message of a legacy client holds. It says whether the message
// was one such answer and nothing else, which the library need not see. who is whose token or pipe the message came by.
func (s *Server) takeAnswers(ctx context.Context, scope string, who tool.Caller, body []byte) (done bool) {
	all, batch := responses(body)
	for _, r := range all {
		var name string
		if json.Unmarshal(r.ID, &name) != nil || !strings.HasPrefix(name, namedQuestion) {
			continue
		}
		done = !batch
		question, ok := s.questions.asked(scope, name)
		switch {
		case !ok:
			s.log.Info("an answer to a question that was not asked there", "agent", who.Slug, "token", who.Token)
		case s.questions.give(name, r.Result):
		case r.Result != nil:
			// The client's next message does not wait for the database.
			s.closing.Go(func() { s.takeFor(ctx, who, question, r.Result) })
		}
	}
	return done
}

// takeFor takes an answer to a question that another process asked, or this one for a call that has ended. Whether it
// counts is for who keeps the question to say.
func (s *Server) takeFor(ctx context.Context, who tool.Caller, question string, got *mcp.ElicitResult) {
	answer := "deny" // declining is the person's no
	switch got.Action {
	case "accept":
		answer, _ = got.Content[answerKey].(string)
	case "decline":
	default: // the form was closed
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTime)
	defer cancel()
	level, err := slog.LevelInfo, s.tools.Answered(ctx, who, question, answer)
	if err != nil {
		level = slog.LevelWarn
	}
	s.log.Log(ctx, level, "an answer to a question that another process asked", "question", question, "agent", who.Slug, "token", who.Token, "error", err)
}
