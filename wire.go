// This file is where everything is put together: rows under rules, rules under capabilities, capabilities behind the
// pipeline, the pipeline behind the doors.
package wayleave

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/catalogdata"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/doorstep"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/mcpserver"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/reading"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/pagestore"
	"github.com/wayleave/wayleave/internal/store/sessionstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/store/watchstore"
	"github.com/wayleave/wayleave/internal/tool"
	"github.com/wayleave/wayleave/internal/tool/fetchtool"
	"github.com/wayleave/wayleave/webfetch"
)

// parts are what a test may extend.
type parts struct {
	catalog catalogdata.Catalog
	plugs   []tool.Plug
	policy  func(ctx context.Context, agent string) (approval.Policy, error)
	ledger  ledger.Options
	now     func() int64  // SQLite's clock
	wait    time.Duration // for a person, in a call
	// rows is what the ledger sees of its rows; nil means as they are.
	rows func(ledger.Store) ledger.Store
}

// sessionIdle is how long a legacy MCP session, and the run of one, lives without a call.
const sessionIdle = 30 * time.Minute

func (s *Service) wire(ctx context.Context) (err error) {
	p := parts{catalog: catalogdata.Built(), ledger: ledger.Options{Label: "wayleave", Version: s.o.Version, Log: s.log}}
	if s.o.PerMinute > 0 {
		for i := range p.catalog.Providers {
			if p.catalog.Providers[i].Name == "direct" {
				p.catalog.Providers[i].MinuteLimit = int64(s.o.PerMinute)
			}
		}
	}
	if s.o.extend != nil {
		s.o.extend(&p)
	}
	outside, err := s.outsiders()
	if err != nil {
		return err
	}
	folder, err := datafolder.Open(s.o.Data)
	if err != nil {
		return err
	}
	for _, w := range folder.Warnings() {
		s.log.Warn("the data folder", "warning", w)
	}
	in, err := install.Open(ctx, install.Options{Folder: folder, Database: secret.New(s.o.Database), KeyFile: s.o.KeyFile, Key: secret.New(s.o.Key),
		Catalog: p.catalog, Now: p.now, Log: s.log})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Close())
		}
	}()
	s.install = in
	s.answers.public, s.answers.label, s.answers.secure = s.o.PublicURL, in.Label, s.o.Secure

	rows, approvals, trail := in.Rows, in.Approvals, in.Trail
	p.ledger.DigestKey = in.Keys.DigestKey()
	p.ledger.Notify = outside.notice
	p.ledger.Changed = func(int64) { s.door.Changed() }
	var kept ledger.Store = rows
	if p.rows != nil {
		kept = p.rows(rows)
	}
	if s.ledger, err = ledger.New(kept, p.ledger); err != nil {
		return err
	}
	pages := pagestore.New(in.DB, in.Keys.Keys(), pagestore.Bounds{})
	reader, err := s.reader(pages)
	if err != nil {
		return err
	}
	plugs := append([]tool.Plug{fetchtool.New(reader)}, p.plugs...)
	pipeline, err := tool.New(tool.Options{Ledger: s.ledger, Rows: rows, Approvals: approvals, Policy: p.policy, Wait: p.wait, AnswerBase: s.answers.people, Log: s.log,
		Plugs: func(context.Context, string) ([]tool.Plug, error) { return plugs, nil }})
	if err != nil {
		return err
	}
	s.meters = newMeters(s.o.Version, s.ledger)
	counted := s.meters.counting(pipeline)

	names, err := s.hosts()
	if err != nil {
		return err
	}
	sessions := sessionstore.New(in.DB, in.Keys.Keys())
	s.door, err = mcpserver.New(counted, in.Agents, mcpserver.Options{Version: s.o.Version, Log: s.o.Log, Hosts: names, TrustedProxies: s.o.TrustedProxies,
		Sessions: sessions, Sign: s.name, Limits: mcpserver.Limits{SessionIdle: sessionIdle}})
	if err != nil {
		return err
	}
	step, err := doorstep.New(names, s.o.TrustedProxies)
	if err != nil {
		return err
	}
	s.api, err = operatorapi.New(operatorapi.Deps{SignIns: in.People, People: in.People, Agents: in.Agents, Settings: in.Settings, Approvals: approvals,
		Ledger: s.ledger, Rows: rows, Tools: known{counted, plugs, pipeline.Told}, Hosts: in.Allowed, Pages: pages, Watch: watchstore.New(in.DB).Titled(in.Keys.Keys()), Audit: auditRows{trail}},
		operatorapi.Options{Version: s.o.Version, Label: in.Label, Names: step, Base: s.answers.people, MCP: s.answers.mcp, Secure: s.o.Secure,
			Unavailable: unavailable, Catalog: p.catalog, Log: s.o.Log})
	if err != nil {
		return err
	}
	s.chores = append(s.chores, s.expire(sessions),
		s.asProcess("keys", func(ctx context.Context, process string) error { return in.Keys.Run(ctx, rows, process) }),
		s.asProcess("audit", func(ctx context.Context, process string) error {
			keeper, err := audit.NewKeeper(trail, rows, process, in.Keys.AuditKey(), audit.KeeperOptions{Install: in.Label, Log: s.log, Tell: outside.checkpoints})
			if err != nil {
				return err
			}
			return keeper.Run(ctx)
		}))
	return nil
}

// reader makes the read capability.
func (s *Service) reader(shelf reading.Shelf) (*reading.Reader, error) {
	sources := &readers{o: s.o, allowed: s.install.Allowed, log: s.log, byID: make(map[string]*agentReader)}
	// An invalid option fails here and not at the first call.
	if _, err := webfetch.Direct(s.o.Fetch); err != nil {
		return nil, err
	}
	description, pageChars := "", 0
	var timeout time.Duration
	if s.o.Fetch.Description != nil {
		description = *s.o.Fetch.Description
	}
	if s.o.Fetch.PageChars != nil {
		pageChars = *s.o.Fetch.PageChars
	}
	if s.o.Fetch.Timeout != nil {
		timeout = *s.o.Fetch.Timeout
	}
	return reading.New(reading.Options{Sources: sources.source, Shelf: shelf, Digest: s.name, Timeout: timeout, Description: description,
		PermitCommand: s.o.PermitCommand, RobotsSetting: robotsSetting, PageChars: pageChars,
		Abilities: webfetch.Abilities{Documents: s.o.Fetch.Documents != nil, MainContent: s.o.Fetch.Converter == nil}})
}

// robotsSetting is how an operator exempts a site from its robots.txt, as a refusal tells it.
const robotsSetting = "wayleave serve --robots-ignore"

// name gives the name under which something is kept: keyed, so that it says nothing to who reads the database.
func (s *Service) name(parts ...string) string {
	h := hmac.New(sha256.New, s.install.Keys.DigestKey())
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hosts are the names that the doors answer to, beside loopback's: those that were given, and the install's own.
func (s *Service) hosts() ([]string, error) {
	names := append([]string{s.install.Label + "." + localhost}, s.o.Hosts...)
	if s.o.PublicURL != "" {
		u, err := url.Parse(s.o.PublicURL)
		if err != nil || u.Host == "" {
			return nil, errors.New("wayleave: PublicURL is not http(s)://HOST[:PORT]")
		}
		names = append(names, u.Host)
	}
	return names, nil
}

// expire drops legacy sessions whose time is over.
func (s *Service) expire(sessions *sessionstore.Store) func(context.Context) {
	return func(ctx context.Context) {
		tick := time.NewTicker(time.Minute)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := sessions.Expire(ctx, sessionIdle); err != nil && ctx.Err() == nil {
					s.log.Error("drop sessions whose time is over", "error", err)
				}
			}
		}
	}
}

// asProcess does work that is done under the ledger's name for this process, anew where that changed.
func (s *Service) asProcess(what string, do func(ctx context.Context, process string) error) func(context.Context) {
	return func(ctx context.Context) {
		look := time.NewTicker(time.Second)
		defer look.Stop()
		for ctx.Err() == nil {
			process := s.ledger.Health().Process
			if process != "" {
				if err := s.while(ctx, process, look.C, do); err != nil && ctx.Err() == nil {
					s.log.Error("work in the background ended; it is begun again", "what", what, "error", err)
				}
			}
			select {
			case <-look.C:
			case <-ctx.Done():
			}
		}
	}
}

// while does work for as long as the process has a name.
func (s *Service) while(ctx context.Context, process string, look <-chan time.Time, do func(context.Context, string) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- do(ctx, process) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-look:
			if s.ledger.Health().Process != process {
				stop()
			}
		}
	}
}

// unavailable says whether an error means that the database did not answer.
func unavailable(err error) bool {
	return errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, sqldb.ErrInDoubt) || errors.Is(err, sqldb.ErrClosed) || errors.Is(err, ledger.ErrStore)
}

// loopbackOf gives the address at which a program on this machine reaches a listener.
func loopbackOf(own netip.AddrPort) netip.AddrPort {
	if own.Addr().IsUnspecified() {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), own.Port())
	}
	return own
}
