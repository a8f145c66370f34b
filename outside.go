// This file is what a service tells to places outside its database: that somebody is needed, and where the audit stands.
package wayleave

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/webhook"
)

const (
	// tellFor is how long a webhook that does not hear is told the same notice again.
	tellFor = time.Hour
	// tellRest is how long it is left alone after it did not hear, so that what waits behind it is not held up for long.
	tellRest = 30 * time.Second
)

// outsiders hear what a service tells; the log always does.
type outsiders struct {
	log     *slog.Logger
	answers *addresses
	install func() string
	hook    *webhook.Teller // nil without one
	silent  atomic.Int64    // when the webhook last did not hear, in nanoseconds since 1970
	// checkpoints hear where the audit stands.
	checkpoints []func(audit.Checkpoint) error
}

func (s *Service) outsiders() (*outsiders, error) {
	o := &outsiders{log: s.log, answers: &s.answers, install: func() string { return s.install.Label }}
	if s.o.AuditFile != "" {
		tell, err := audit.AppendTo(s.o.AuditFile)
		if err != nil {
			return nil, err
		}
		o.checkpoints = append(o.checkpoints, tell)
	}
	if s.o.Webhook != "" {
		hook, err := webhook.New(webhook.Options{URL: s.o.Webhook, Key: secret.New(s.o.WebhookKey), Roots: s.o.Fetch.RootCAs})
		if err != nil {
			return nil, err
		}
		o.hook = hook
		o.checkpoints = append(o.checkpoints, func(c audit.Checkpoint) error {
			return hook.Tell(context.Background(), webhook.Message{Kind: webhook.Checkpoint, Install: c.Install, At: c.At, Checkpoint: c.String()})
		})
	}
	return o, nil
}

// notice tells a notice; a person reads it where questions are answered. An error, and the ledger brings it again.
func (o *outsiders) notice(ctx context.Context, n ledger.Notice) error {
	at := o.answers.people()
	o.log.Warn("somebody is needed", "kind", n.Kind, "subject", n.Subject, "run", n.Run, "at", at)
	if o.hook == nil {
		return nil
	}
	if rest := time.Since(time.Unix(0, o.silent.Load())); rest < tellRest {
		return webhook.ErrNotHeard
	}
	err := o.hook.Tell(ctx, webhook.Message{Kind: n.Kind, Install: o.install(), At: n.Created, ID: n.ID, Subject: n.Subject, Run: n.Run, Answer: at})
	if err == nil {
		return nil
	}
	o.silent.Store(time.Now().UnixNano())
	if time.Since(n.Created) > tellFor {
		o.log.Error("the webhook was not told; the notice stays on the pages", "notice", n.ID, "kind", n.Kind, "error", err)
		return nil
	}
	return err
}
