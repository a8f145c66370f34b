package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// server is one process that serves: a test reads what it was asked and writes what it answers.
type server struct {
	net.Conn
	lines *bufio.Reader
}

// halfPipe is a pipe whose writing end can be closed alone, as a socket's.
type halfPipe struct {
	net.Conn
	ended chan struct{}
}

func (h halfPipe) CloseWrite() error {
	close(h.ended)
	return nil
}

func (s *server) hear(t *testing.T, want string) {
	t.Helper()
	got, err := s.lines.ReadString('\n')
	if err != nil || !strings.Contains(got, want) {
		t.Fatalf("the server heard %q (%v), want %q", got, err, want)
	}
}

func (s *server) say(t *testing.T, l string) {
	t.Helper()
	if _, err := io.WriteString(s, l+"\n"); err != nil {
		t.Error(err)
	}
}

// stage is a client, its relay, and servers that come one after the other.
type stage struct {
	in      *io.PipeWriter
	out     *bufio.Reader
	servers chan *server
	halves  chan halfPipe
	ended   chan error
}

func newStage(t *testing.T, dial func(ctx context.Context) error) *stage {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := &stage{in: inW, out: bufio.NewReader(outR), servers: make(chan *server, 4), halves: make(chan halfPipe, 4), ended: make(chan error, 1)}
	r := &Relay{Dial: func(ctx context.Context) (Conn, error) {
		if dial != nil {
			if err := dial(ctx); err != nil {
				return nil, err
			}
		}
		ours, theirs := net.Pipe()
		half := halfPipe{ours, make(chan struct{})}
		s.servers <- &server{theirs, bufio.NewReader(theirs)}
		s.halves <- half
		return half, nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() { s.ended <- r.Run(ctx, inR, outW); outW.Close() }()
	return s
}

func (s *stage) ask(t *testing.T, l string) {
	t.Helper()
	if _, err := io.WriteString(s.in, l+"\n"); err != nil {
		t.Error(err)
	}
}

func (s *stage) read(t *testing.T) string {
	t.Helper()
	l, err := s.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const (
	hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`
	done  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func request(id int, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, id, method)
}

func answer(id int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"text":%q}}`, id, text)
}

func TestLinesAreCarriedBothWays(t *testing.T) {
	s := newStage(t, nil)
	first := <-s.servers
	for i := range 3 {
		go s.ask(t, request(i, "tools/call"))
		first.hear(t, fmt.Sprintf(`"id":%d`, i))
		go first.say(t, `{"jsonrpc":"2.0","method":"notifications/progress"}`)
		if got := s.read(t); !strings.Contains(got, "progress") {
			t.Fatal(got)
		}
		go first.say(t, answer(i, "hi"))
		if got := s.read(t); !strings.Contains(got, "hi") {
			t.Fatal(got)
		}
	}
}

func TestNextServerHearsTheHandshakeAndTheClientHearsItOnce(t *testing.T) {
	s := newStage(t, nil)
	first := <-s.servers
	go func() { s.ask(t, hello); s.ask(t, done) }()
	first.hear(t, "initialize")
	go first.say(t, answer(0, "first"))
	if got := s.read(t); !strings.Contains(got, "first") {
		t.Fatal(got)
	}
	first.hear(t, "initialized")
	_ = first.Close()

	second := <-s.servers
	second.hear(t, "initialize")
	second.say(t, answer(0, "second"))
	second.hear(t, "initialized")
	go s.ask(t, request(1, "tools/list"))
	second.hear(t, `"id":1`)
	go second.say(t, answer(1, "list"))
	if got := s.read(t); !strings.Contains(got, "list") {
		t.Fatalf("the client heard the second handshake: %s", got)
	}
	// The id of the handshake is the client's to use again.
	go s.ask(t, request(0, "ping"))
	second.hear(t, `"id":0`)
	go second.say(t, answer(0, "pong"))
	if got := s.read(t); !strings.Contains(got, "pong") {
		t.Fatal(got)
	}
}

func TestTM055CallIsNotCarriedTwice(t *testing.T) {
	s := newStage(t, nil)
	first := <-s.servers
	go func() { s.ask(t, request(1, "tools/call")); s.ask(t, request(2, "tools/list")) }()
	first.hear(t, `"id":1`)
	first.hear(t, `"id":2`)
	_ = first.Close()

	var told struct {
		ID    int
		Error struct {
			Code int
			Data struct{ Code string }
		}
	}
	if err := json.Unmarshal([]byte(s.read(t)), &told); err != nil || told.ID != 1 || told.Error.Code != -32603 || told.Error.Data.Code != "abandoned" {
		t.Fatalf("%+v, %v", told, err)
	}
	second := <-s.servers
	second.hear(t, `"id":2`) // what only asks is asked again
	go second.say(t, answer(2, "list"))
	if got := s.read(t); !strings.Contains(got, "list") {
		t.Fatal(got)
	}
}

func TestAnswersComeAfterTheClientHasAskedItsLast(t *testing.T) {
	s := newStage(t, nil)
	first, half := <-s.servers, <-s.halves
	go func() { s.ask(t, request(1, "tools/call")); s.in.Close() }()
	first.hear(t, `"id":1`)
	<-half.ended
	go func() { first.say(t, answer(1, "at last")); _ = first.Close() }()
	if got := s.read(t); !strings.Contains(got, "at last") {
		t.Fatal(got)
	}
	if err := <-s.ended; err != nil {
		t.Fatal(err)
	}
}

func TestServerThatEndsAfterTheLastQuestionIsNotReplaced(t *testing.T) {
	s := newStage(t, nil)
	first, half := <-s.servers, <-s.halves
	go func() { s.ask(t, request(1, "tools/call")); s.in.Close() }()
	first.hear(t, `"id":1`)
	<-half.ended
	_ = first.Close()
	if got := s.read(t); !strings.Contains(got, "abandoned") {
		t.Fatal(got)
	}
	if err := <-s.ended; err != nil || len(s.servers) != 0 {
		t.Fatalf("%v, %d further servers", err, len(s.servers))
	}
}

func TestAnotherServerIsLookedForUntilThereIsOne(t *testing.T) {
	tries := 0
	s := newStage(t, func(context.Context) error {
		if tries++; tries < 4 {
			return errors.New("not yet")
		}
		return nil
	})
	<-s.servers
	if tries != 4 {
		t.Fatalf("%d tries", tries)
	}
}

func TestFinalErrorIsNotTriedAgain(t *testing.T) {
	tries := 0
	s := newStage(t, func(context.Context) error {
		tries++
		return &Final{errors.New("the keys are locked")}
	})
	if err := <-s.ended; err == nil || err.Error() != "the keys are locked" || tries != 1 {
		t.Fatalf("%v after %d tries", err, tries)
	}
}

func FuzzLinesOfStrangers(f *testing.F) {
	for _, l := range []string{hello, done, request(1, "tools/call"), `{"id":null,"method":"x"}`, `{"id":{},"method":1}`, `[`, "\x00", `{"id":"` + strings.Repeat("x", 300) + `"}`} {
		f.Add([]byte(l))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := &Relay{out: io.Discard, pending: make(map[string]asked)}
		r.note(raw)
		r.answer(raw)
		r.abandon()
		for _, l := range r.introduction() {
			if len(l) == 0 {
				t.Fatal("an empty line would be sent")
			}
		}
	})
}
