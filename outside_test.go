package wayleave

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
	"github.com/wayleave/wayleave/internal/webhook"
)

// receiver is a program of the operator's.
type receiver struct {
	mu     sync.Mutex
	told   []webhook.Message
	bodies bytes.Buffer
	status int
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	var m webhook.Message
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		m.Kind = err.Error()
	}
	r.told = append(r.told, m)
	r.bodies.Write(append(body, '\n'))
	w.WriteHeader(r.status)
}

func (r *receiver) of(kind string) (found []webhook.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.told {
		if m.Kind == kind {
			found = append(found, m)
		}
	}
	return found
}

// TM-119, ruling 37: who is needed, and where the audit stands, is told outside the database, and no content with it.
func TestTM119TheWebhookAndTheFileAreTold(t *testing.T) {
	heard := &receiver{status: http.StatusNoContent}
	program := httptest.NewServer(heard)
	t.Cleanup(program.Close)
	file := filepath.Join(t.TempDir(), "checkpoints")
	set := tooltest.NewSet(tooltest.NewWorld(), tooltest.NewOracle(t).Send)
	in := launch(t, Options{AuditFile: file, Webhook: program.URL + "/hook?canary-path", WebhookKey: "canary-key-of-a-webhook",
		extend: func(p *parts) {
			p.catalog, p.plugs, p.wait = tooltest.Catalog(), set.Plugs(), 20*time.Millisecond
		}})
	w := in.wire(t, in.token(t, "alice"), "2026-07-28")
	set.Script.At(tooltest.Input(1), func(context.Context) error { return tooltest.ErrBroken })
	if said, err := w.call(t.Context(), tooltest.PressTool, `{"text":"canary-press"}`); err != nil || !strings.Contains(said, "uncertain") {
		t.Fatal(said, err)
	}
	in.until(t, "told of the effect", func() bool { return len(heard.of("effect_uncertain")) == 1 })
	other := in.wire(t, in.token(t, "bob"), "2026-07-28")
	if said, err := other.call(t.Context(), tooltest.PublishTool, `{"text":"canary-piece"}`); err != nil || !strings.Contains(said, "approval_required") {
		t.Fatal(said, err)
	}
	in.until(t, "told of the question", func() bool { return len(heard.of("approval")) == 1 })
	if err := in.stop(); err != nil {
		t.Fatal(err)
	}

	uncertain, question := heard.of("effect_uncertain")[0], heard.of("approval")[0]
	if !strings.HasPrefix(uncertain.Subject, "call_") || !strings.HasPrefix(uncertain.Run, "run_") || !strings.HasPrefix(question.Subject, "apr_") ||
		uncertain.Install != in.beside.Label || uncertain.ID == "" || uncertain.At.IsZero() || !strings.HasPrefix(uncertain.Answer, "http") {
		t.Errorf("%+v\n%+v", uncertain, question)
	}
	told := heard.of(webhook.Checkpoint)
	if len(told) == 0 {
		t.Fatal("nobody was told where the audit stands")
	}
	for name, text := range map[string]func() ([]byte, error){
		"file":    func() ([]byte, error) { return os.ReadFile(file) },
		"webhook": func() ([]byte, error) { return []byte(told[len(told)-1].Checkpoint), nil },
	} {
		said, err := text()
		if err != nil {
			t.Fatal(err)
		}
		points, err := audit.ReadCheckpoints(bytes.NewReader(said))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		last := points[len(points)-1]
		var link int64
		var hash string
		if err := in.beside.DB.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One("SELECT link, hash FROM audit WHERE link IS NOT NULL ORDER BY link DESC LIMIT 1", nil, &link, &hash)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if last.Link != link || last.Hash != hash || last.Install != in.beside.Label {
			t.Errorf("%s: the chain ends at %d %s, told was %+v", name, link, hash, last)
		}
	}
	if strings.Contains(heard.bodies.String(), "canary") {
		t.Errorf("content or a secret was told: %s", heard.bodies.String())
	}
}

// A webhook that does not hear is told again, is left alone for a while, and is given up after an hour.
func TestTM119AWebhookThatDoesNotHear(t *testing.T) {
	heard := &receiver{status: http.StatusServiceUnavailable}
	program := httptest.NewServer(heard)
	t.Cleanup(program.Close)
	var log bytes.Buffer
	s := &Service{o: Options{Webhook: program.URL + "/canary", WebhookKey: "canary-key-of-a-webhook"}, log: slog.New(slog.NewTextHandler(&log, nil))}
	o, err := s.outsiders()
	if err != nil {
		t.Fatal(err)
	}
	o.install = func() string { return "quiet-otter" }
	fresh, old := ledger.Notice{ID: "notice_1", Kind: "approval", Created: time.Now()}, ledger.Notice{ID: "notice_2", Kind: "approval", Created: time.Now().Add(-2 * tellFor)}
	if err := o.notice(t.Context(), fresh); err == nil || errors.Is(err, webhook.ErrNotHeard) {
		t.Errorf("it was heard: %v", err)
	}
	if err := o.notice(t.Context(), fresh); !errors.Is(err, webhook.ErrNotHeard) || len(heard.of("approval")) != 1 {
		t.Errorf("it was asked again at once: %v", err)
	}
	o.silent.Store(time.Now().Add(-2 * tellRest).UnixNano())
	if err := o.notice(t.Context(), old); err != nil || len(heard.of("approval")) != 2 || !strings.Contains(log.String(), "notice_2") {
		t.Errorf("after an hour it is %v: %s", err, log.String())
	}
	o.silent.Store(0)
	heard.status = http.StatusOK
	if err := o.notice(t.Context(), fresh); err != nil || len(heard.of("approval")) != 3 {
		t.Errorf("it hears again: %v", err)
	}
	if strings.Contains(log.String(), "canary") {
		t.Errorf("the log has what is secret: %s", log.String())
	}
}

func TestWhereNothingCanBeToldServiceDoesNotStart(t *testing.T) {
	for name, o := range map[string]Options{
		"a file in no folder": {AuditFile: filepath.Join(t.TempDir(), "nowhere", "x")},
		"a short key":         {Webhook: "https://hooks.example/x", WebhookKey: "short"},
		"in the clear":        {Webhook: "http://hooks.example/x", WebhookKey: "canary-key-of-a-webhook"},
	} {
		o.Data = filepath.Join(t.TempDir(), "data")
		if s, err := New(t.Context(), o); err == nil {
			t.Errorf("%s: it was made", name)
			_ = s.Close()
		}
	}
}
