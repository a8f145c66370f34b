package mcpserver

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// signed is a digest that all processes of an install share.
func signed(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// able is a handshake of a client that shows forms.
var able = strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)

func (w *world) ableSession(t *testing.T, token string) string {
	t.Helper()
	a := w.do(t, ask{token: token, body: able})
	session := a.header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatalf("initialize: %d %s", a.status, a.raw)
	}
	return session
}

// asks begins a call that asks a person, and gives the name of its question and, later, what the call was told.
func (w *world) asks(t *testing.T, session string, id int) (name string, told <-chan string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.http.URL, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"permit"}}`, id)))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Authorization": "Bearer tok-a", "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(res.Body)
	names, end := make(chan string, 1), make(chan string, 1)
	go func() {
		defer res.Body.Close()
		for lines.Scan() {
			var m struct {
				ID     any
				Method string
				Result struct{ Content []struct{ Text string } }
			}
			data, found := strings.CutPrefix(lines.Text(), "data: ")
			if !found || json.Unmarshal([]byte(data), &m) != nil {
				continue
			}
			switch {
			case m.Method == "elicitation/create":
				names <- fmt.Sprint(m.ID)
			case len(m.Result.Content) > 0:
				end <- m.Result.Content[0].Text
			}
		}
		close(end)
	}()
	select {
	case name = <-names:
	case got := <-end:
		t.Fatalf("the call ended without a question: %s", got)
	}
	return name, end
}

// say answers a question by its name.
func (w *world) say(t *testing.T, token, session, name, answer string) int {
	t.Helper()
	id, err := json.Marshal(name)
	if err != nil {
		t.Fatal(err)
	}
	return w.legacy(t, token, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":%q}}}`, id, answer)).status
}

// TM-062: a person's yes is for the question that it was said to, whichever process it reaches.
func TestTM062AnswerIsForTheQuestionThatWasShown(t *testing.T) {
	shared := new(memorySessions)
	a, b := newWorldWith(t, Options{Sessions: shared, Sign: signed}), newWorldWith(t, Options{Sessions: shared, Sign: signed})
	session := a.ableSession(t, "tok-a")
	atA, toldA := a.asks(t, session, 2)
	atB, toldB := b.asks(t, session, 3)
	if atA == atB {
		t.Fatalf("two questions of one session have the name %s", atA)
	}
	// What was said to A's question comes to B: B's own question has no answer by it, and A's has.
	if status := b.say(t, "tok-a", session, atA, "once"); status != http.StatusAccepted {
		t.Fatalf("an answer is taken with %d", status)
	}
	if got := <-b.tools.answers; got != "agent_a apr_1 once" {
		t.Errorf("B was told %q", got)
	}
	select {
	case got := <-toldB:
		t.Fatalf("B's own question was answered: %q", got)
	default:
	}
	b.say(t, "tok-a", session, atB, "deny")
	if got := <-toldB; got != "answer deny" {
		t.Errorf("B's call was told %q", got)
	}
	a.say(t, "tok-a", session, atA, "once")
	if got := <-toldA; got != "answer once" {
		t.Errorf("A's call was told %q", got)
	}
	// A successor takes what is said after the process that asked has gone, and what is said twice is its question's to judge.
	c := newWorldWith(t, Options{Sessions: shared, Sign: signed})
	c.say(t, "tok-a", session, atA, "once")
	if got := <-c.tools.answers; got != "agent_a apr_1 once" {
		t.Errorf("the successor was told %q", got)
	}
}

func TestTM062NamesThatNobodyGaveAnswerNothing(t *testing.T) {
	shared := new(memorySessions)
	a, b := newWorldWith(t, Options{Sessions: shared, Sign: signed}), newWorldWith(t, Options{Sessions: shared, Sign: signed})
	session, other, foreign := a.ableSession(t, "tok-a"), a.ableSession(t, "tok-a"), a.ableSession(t, "tok-b")
	name, told := a.asks(t, session, 2)
	parts := strings.Split(name, ".")
	for what, forged := range map[string]string{
		"another question": strings.Join([]string{parts[0], "apr_2", parts[2], parts[3]}, "."),
		"another showing":  strings.Join([]string{parts[0], parts[1], "0000000000000000", parts[3]}, "."),
		"another mark":     name[:len(name)-1] + "_",
		"no mark":          strings.Join(parts[:3], "."),
		"more":             name + ".x",
		"nothing":          namedQuestion,
		"a number":         "1",
	} {
		if status := b.say(t, "tok-a", session, forged, "once"); status != http.StatusAccepted {
			t.Errorf("%s: %d", what, status)
		}
	}
	// The right name in another session, of the same token or another one.
	b.say(t, "tok-a", other, name, "once")
	b.say(t, "tok-b", foreign, name, "once")
	// An error, a closed form and a body of the wrong shape are no answers.
	for _, end := range []string{`"error":{"code":-1,"message":"no"}`, `"result":{"action":"cancel"}`, `"result":{"action":7}`, `"result":[]`} {
		b.legacy(t, "tok-a", session, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,%s}`, name, end))
	}
	b.say(t, "tok-a", session, name, "deny")
	if got := <-b.tools.answers; got != "agent_a apr_1 deny" || len(b.tools.answers) != 0 {
		t.Errorf("B was told %q and %d more", got, len(b.tools.answers))
	}
	select {
	case got := <-told:
		t.Fatalf("the call was answered: %q", got)
	default:
	}
	a.legacy(t, "tok-a", session, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"error":{"code":-1,"message":"no"}}`, name))
	if got := <-told; got != "no answer" {
		t.Errorf("the call was told %q", got)
	}
}

func TestAnswersInABatch(t *testing.T) {
	w := newWorld(t, Limits{})
	old := strings.Replace(able, "2025-11-25", "2025-03-26", 1)
	session := w.do(t, ask{body: old}).header.Get("Mcp-Session-Id")
	name, told := w.asks(t, session, 2)
	got := w.do(t, ask{header: map[string]string{"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-03-26"},
		body: fmt.Sprintf(`[{"jsonrpc":"2.0","id":%q,"result":{"action":"decline"}},{"jsonrpc":"2.0","id":9,"method":"ping"}]`, name)})
	if got.status != http.StatusOK || !strings.Contains(got.raw, `"id":9`) {
		t.Errorf("the rest of the batch: %d %s", got.status, got.raw)
	}
	if got := <-told; got != "answer deny" {
		t.Errorf("the call was told %q", got)
	}
}

// Over pipes the client stays and the process behind them changes.
func TestAnswerOverPipesIsForTheQuestionThatWasShown(t *testing.T) {
	begin := func(p *pipe) string {
		t.Helper()
		p.send(t, able, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"permit"}}`)
		p.read(t)
		q := p.read(t)
		name, ok := q.ID.(string)
		if !ok || !strings.Contains(q.raw, `"elicitation/create"`) {
			t.Fatalf("no question: %s", q.raw)
		}
		return name
	}
	said := func(name, answer string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"answer":%q}}}`, name, answer)
	}
	first := startStdioWith(t, Options{Sign: signed})
	old := begin(first)
	next := startStdioWith(t, Options{Sign: signed})
	now := begin(next)
	next.send(t, said(old, "once"))
	if got := <-next.tools.answers; got != "agent_local apr_1 once" {
		t.Errorf("the successor was told %q", got)
	}
	next.send(t, said(now, "deny"))
	if got := next.read(t); !strings.Contains(got.raw, "answer deny") {
		t.Errorf("its own call was told %s", got.raw)
	}
	first.send(t, said(old, "once"))
	if got := first.read(t); !strings.Contains(got.raw, "answer once") {
		t.Errorf("the first call was told %s", got.raw)
	}
}
