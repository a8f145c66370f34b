package operatorapi

// Bodies that never come whole, or are none: whoever sends them holds no connection for long, and is told what is wrong.

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
	"github.com/wayleave/wayleave/internal/tool"
)

// ask sends a head and what there is of a body, and gives the answer within two minutes, without its body.
func ask(t *testing.T, dial func() (net.Conn, error), head, body string) *http.Response {
	t.Helper()
	conn, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	go fmt.Fprint(conn, head, "\r\n\r\n", body)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Errorf("%.60q: no answer: %v", head, err)
		return &http.Response{}
	}
	_ = res.Body.Close()
	return res
}

// head is a request's up to what says how its body comes.
func (w *world) head(row route.Row, who string) string {
	r := w.request(w.creds[who], row.Method, w.path(row), "")
	r.Header.Set("Content-Type", "application/json")
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.URL.RequestURI(), r.Host)
	_ = r.Header.Write(&b)
	return b.String()
}

func TestTM048ABodyThatNeverComesHoldsNoOperation(t *testing.T) {
	newWorld(t) // filled outside: there time goes on
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		client := w.serve(t, time.Hour) // what bounds it is ours
		dial := func() (net.Conn, error) {
			return client.Transport.(*http.Transport).DialContext(t.Context(), "tcp", home)
		}
		for _, row := range route.Table() {
			for _, who := range []string{"nobody", "owner", "tools of alice", "harness of alice"} {
				if _, known := w.creds[who]; !known {
					t.Fatalf("nobody is %q", who)
				}
				for _, framed := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
					res := ask(t, dial, w.head(row, who)+framed, map[bool]string{true: "{", false: "1\r\n{\r\n"}[framed[0] == 'C'])
					if refusal, _ := expect(row, who); refusal == 0 && res.StatusCode != http.StatusRequestTimeout {
						t.Errorf("%s of %s, %s: %d", row.ID, who, framed, res.StatusCode)
					}
				}
			}
		}
	})
}

func TestABodyThatIsNotWhatItsHeadersSayIsTheClientsFault(t *testing.T) {
	w := newWorld(t)
	client := w.serve(t, time.Minute)
	dial := func() (net.Conn, error) {
		return client.Transport.(*http.Transport).DialContext(t.Context(), "tcp", home)
	}
	for _, row := range route.Table() {
		for _, who := range []string{"owner", "tools of alice", "harness of alice"} {
			if refusal, _ := expect(row, who); refusal != 0 {
				continue
			}
			for name, body := range map[string]string{"no size": "zz\r\n{}\r\n", "negative": "-1\r\n{}\r\n", "huge": "ffffffffffffffff1\r\n{}\r\n", "no end of chunk": "2\r\n{}xx\r\n"} {
				if res := ask(t, dial, w.head(row, who)+"Transfer-Encoding: chunked", body); res.StatusCode != http.StatusBadRequest || res.Header.Get("Content-Type") != gate.ProblemType {
					t.Errorf("%s of %s, %s: %d", row.ID, who, name, res.StatusCode)
				}
			}
		}
	}
	if strings.Contains(w.logged.String(), `"level":"ERROR"`) {
		t.Errorf("it stands in the log as a fault of ours: %s", w.logged)
	}
}

// The answer about a fault sends the operator to the log, so the log has the cause.
func TestTheLogHasTheCauseOfAFault(t *testing.T) {
	w := newWorld(t)
	w.fake.answer = func(tool.Caller, string, json.RawMessage) (tool.Result, error) {
		return tool.Result{}, &tool.Fault{Code: "internal_error", Text: "it did not work", Err: errors.New("the shelf fell down")}
	}
	got := w.do("tools of alice", "POST", "/api/runs/run_alice/tool-calls", bodies["call-tool"])
	if got.status != http.StatusInternalServerError || strings.Contains(got.body, "shelf") || !strings.Contains(w.logged.String(), "the shelf fell down") {
		t.Errorf("%d %s; the log: %s", got.status, got.body, w.logged)
	}
}
