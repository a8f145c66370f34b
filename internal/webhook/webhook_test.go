package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/secret"
)

const key = "canary-key-of-the-webhook"

func TestWhatIsNoWebhookIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ url, key, want string }{
		"empty":          {"", key, "no address"},
		"no scheme":      {"hooks.example/x", key, "no address"},
		"a user":         {"https://canary:canary@hooks.example/x", key, "no address"},
		"a fragment":     {"https://hooks.example/x#canary", key, "no address"},
		"in the clear":   {"http://hooks.example/canary", key, "neither https"},
		"another scheme": {"ftp://127.0.0.1/canary", key, "neither https"},
		"a short key":    {"https://hooks.example/x", "canary", "16 bytes"},
		"no key":         {"https://hooks.example/x", "", "16 bytes"},
	} {
		if _, err := New(Options{URL: c.url, Key: secret.New(c.key)}); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, url := range []string{"https://hooks.example/x?y=z", "http://127.0.0.1:9/x", "http://[::1]:9/x", "http://localhost/x"} {
		if _, err := New(Options{URL: url, Key: secret.New(key)}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TM-119: a message is signed, is sent where the operator said and nowhere else, and brings nothing back.
func TestTM119MessageIsSignedAndFollowsNoRedirect(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	var answer atomic.Int64
	type heard struct {
		body []byte
		head http.Header
	}
	got := make(chan heard, 10)
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- heard{body, r.Header}
		w.Header().Set("Location", other.URL)
		w.WriteHeader(int(answer.Load()))
		_, _ = io.WriteString(w, strings.Repeat("canary-answer ", 10_000))
	}))
	defer receiver.Close()
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	teller, err := New(Options{URL: receiver.URL + "/hook?canary-path", Key: secret.New(key), Roots: roots})
	if err != nil {
		t.Fatal(err)
	}
	m := Message{Kind: "effect_uncertain", Install: "quiet-otter", At: time.Date(2026, 11, 30, 6, 0, 0, 0, time.FixedZone("", 3600)), ID: "notice_1", Subject: "call_1", Run: "run_1", Answer: "https://wayleave.example/needs-you"}
	for status, ok := range map[int]bool{200: true, 204: true, 302: false, 307: false, 400: false, 500: false} {
		answer.Store(int64(status))
		err := teller.Tell(t.Context(), m)
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%d: %v", status, err)
		}
		h := <-got
		sum := hmac.New(sha256.New, []byte(key))
		sum.Write(h.body)
		if h.head.Get(SignatureHeader) != "sha256="+hex.EncodeToString(sum.Sum(nil)) || h.head.Get("Content-Type") != "application/json" || h.head.Get("Authorization") != "" {
			t.Errorf("%d: the head is %v", status, h.head)
		}
		var back Message
		if err := json.Unmarshal(h.body, &back); err != nil || back.Subject != m.Subject || !back.At.Equal(m.At) || !strings.Contains(string(h.body), "2026-11-30T05:00:00Z") {
			t.Errorf("%s, %v", h.body, err)
		}
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
	unknown, err := New(Options{URL: receiver.URL + "/hook?canary-path", Key: secret.New(key)})
	if err != nil {
		t.Fatal(err)
	}
	if err := unknown.Tell(t.Context(), m); err == nil || strings.Contains(err.Error(), "canary") || len(got) != 0 {
		t.Errorf("a receiver whose certificate nobody knows: %v", err)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if err := teller.Tell(ctx, m); err == nil {
		t.Error("it was told although its time was over")
	}
}

func TestReceiverThatHangsIsLeft(t *testing.T) {
	end := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}))
	defer hanging.Close()
	defer close(end)
	teller, err := New(Options{URL: hanging.URL, Key: secret.New(key)})
	if err != nil {
		t.Fatal(err)
	}
	teller.client.Timeout = 20 * time.Millisecond
	if err := teller.Tell(t.Context(), Message{Kind: "x"}); err == nil {
		t.Error("it was heard")
	}
}
