// Package webhook tells a program of the operator's what a person should hear when nobody looks: that somebody is needed, and
// where the audit stands.
//
// The one rule: what goes out is ids, kinds and times, signed. Nothing that an agent, a page or a person wrote is in it, and
// nothing that comes back is read.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/wayleave/wayleave/internal/secret"
)

const (
	// SignatureHeader has sha256= and the HMAC-SHA256 of the body under the key, in hexadecimal.
	SignatureHeader = "Wayleave-Signature"
	// minKey is the least length of a key in bytes.
	minKey = 16
	// Checkpoint is the kind of a message that says where the audit stands; the other kinds are those of notices.
	Checkpoint = "audit_checkpoint"
	// patience bounds one message: connecting, sending and the answer's head.
	patience = 5 * time.Second
)

// Message is what is told.
type Message struct {
	// Kind is that of a notice (effect_uncertain, approval), or Checkpoint.
	Kind    string    `json:"kind"`
	Install string    `json:"install"` // the install's label
	At      time.Time `json:"at"`
	// ID is the notice's: one that could not be told comes again under it. Subject and Run are ids of rows.
	ID      string `json:"id,omitempty"`
	Subject string `json:"subject_id,omitempty"`
	Run     string `json:"run_id,omitempty"`
	// Answer is the address of the pages where a person deals with it.
	Answer string `json:"answer_at,omitempty"`
	// Checkpoint is a line that `wayleave audit verify --against` reads.
	Checkpoint string `json:"checkpoint,omitempty"`
}

// ErrNotHeard says that the other side does not hear now, and that it was not tried again yet.
var ErrNotHeard = errors.New("the webhook did not hear a moment ago")

// Options of a teller. URL and Key are required.
type Options struct {
	// URL is https, or http to this machine.
	URL string
	// Key signs: at least 16 bytes.
	Key secret.Value
	// Roots are the authorities that the receiver's certificate may come from; nil means the system's.
	Roots *x509.CertPool
}

// Teller tells. It is safe for concurrent use.
type Teller struct {
	url    string
	key    secret.Value
	client *http.Client
}

// New checks the options and sends nothing. The error names the option and what it takes, and never its value: an address may
// hold a secret.
func New(o Options) (*Teller, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return nil, errors.New("the webhook is no address; give https://HOST[:PORT]/PATH without a user name")
	case u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())):
		return nil, errors.New("the webhook is neither https nor on this machine; give https://HOST[:PORT]/PATH")
	case len(o.Key.Reveal()) < minKey:
		return nil, fmt.Errorf("the webhook's key has less than %d bytes; give a longer one, such as 32 random letters", minKey)
	}
	return &Teller{url: u.String(), key: o.Key, client: &http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 1,
			IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 16 << 10},
	}}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Tell sends one message, once. Any answer but a 2xx is an error; a redirect is not followed.
func (t *Teller) Tell(ctx context.Context, m Message) error {
	m.At = m.At.UTC()
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("webhook: the address cannot be asked")
	}
	sum := hmac.New(sha256.New, []byte(t.key.Reveal()))
	sum.Write(body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "wayleave")
	r.Header.Set(SignatureHeader, "sha256="+hex.EncodeToString(sum.Sum(nil)))
	res, err := t.client.Do(r)
	if err != nil {
		return fmt.Errorf("webhook: %w", unaddressed(err))
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10)
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("webhook: it answered %d", res.StatusCode)
	}
	return nil
}

// unaddressed is an error without the address, which may hold a secret.
func unaddressed(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
