// This file is `wayleave agents`: who may call. It works on the data folder, beside a running server.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/wayleave/wayleave"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/secret"
)

// dataFlags name the install: its data folder, and what is kept elsewhere.
type dataFlags struct {
	Data     string `help:"Data folder. Default: the system's per-user one." placeholder:"DIR"`
	Database string `setting:"secret" help:"PostgreSQL, for several servers: postgres://USER@HOST:PORT/NAME. A password belongs into the variable WAYLEAVE_DATABASE, not on a command line. Default: SQLite in the data folder." placeholder:"URL"`
	KeyFile  string `name:"key-file" help:"File of the master key. Default: master.key in the data folder. The variable WAYLEAVE_MASTER_KEY may hold the key itself." placeholder:"FILE"`
}

// path is the folder named, or the system's.
func (d dataFlags) path(s *session) (string, error) {
	if d.Data != "" {
		return d.Data, nil
	}
	path, err := datafolder.Default(runtime.GOOS, s.getenv)
	if err != nil {
		return "", &usageError{err}
	}
	return path, nil
}

// where says how the install of a folder is opened.
func (d dataFlags) where(s *session, folder *datafolder.Folder) install.Options {
	return install.Options{Folder: folder, Database: secret.New(d.Database), KeyFile: d.KeyFile, Key: secret.New(s.getenv(keyfile.Variable))}
}

// folder opens the folder, which is made where it is not there.
func (d dataFlags) folder(s *session) (*datafolder.Folder, error) {
	path, err := d.path(s)
	if err != nil {
		return nil, err
	}
	folder, err := datafolder.Open(path)
	if err != nil {
		return nil, err
	}
	for _, w := range folder.Warnings() {
		s.err.printf("warning: %s\n", w)
	}
	return folder, nil
}

// into says to the service where its install is.
func (d dataFlags) into(s *session, folder *datafolder.Folder, o *wayleave.Options) {
	o.Data, o.Database, o.KeyFile, o.Key = folder.Path(), d.Database, d.KeyFile, s.getenv(keyfile.Variable)
}

// open opens the install; the folder is made where it is not there.
func (d dataFlags) open(s *session) (*install.Install, error) {
	folder, err := d.folder(s)
	if err != nil {
		return nil, err
	}
	return install.Open(s.ctx, d.where(s, folder))
}

// look opens an install that is there; a missing folder has none and is not made.
func (d dataFlags) look(s *session) (*install.Install, error) {
	path, err := d.path(s)
	if err != nil {
		return nil, err
	}
	folder, err := datafolder.Look(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no data folder at %s; `wayleave serve` and `wayleave agents token new` make one, --data names another", path)
	}
	if err != nil {
		return nil, err
	}
	return install.Open(s.ctx, d.where(s, folder))
}

// byCLI is who changes something by a command, in the audit: whoever may read the master key.
const byCLI = "cli"

type agentsCommand struct {
	List  agentsListCommand `cmd:"" default:"withargs" help:"List agents (what agents alone does)."`
	Token tokenCommand      `cmd:"" help:"Make, list and revoke tokens."`
}

type tokenCommand struct {
	New    tokenNewCommand    `cmd:"" help:"Make a token, and the agent if it is not there. The token is shown once."`
	List   tokenListCommand   `cmd:"" help:"List tokens. The tokens themselves are not kept and cannot be shown."`
	Revoke tokenRevokeCommand `cmd:"" help:"Revoke a token: it fails from the next request on."`
}

type agentsListCommand struct {
	dataFlags
	JSON bool `setting:"-" help:"As JSON."`
}

// Run lists agents.
func (c *agentsListCommand) Run(s *session) error {
	in, err := c.look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	agents, tokens, err := in.Agents.List(s.ctx, nil)
	if err != nil {
		return err
	}
	type line struct {
		Agent    string    `json:"agent"`
		Created  time.Time `json:"created"`
		Tokens   int       `json:"tokens"` // that work
		LastUsed time.Time `json:"last_used,omitzero"`
	}
	lines := []line{}
	for _, a := range agents {
		l := line{Agent: a.Slug, Created: a.Created}
		for _, t := range tokens {
			if t.Agent != a.Slug {
				continue
			}
			if t.Revoked.IsZero() {
				l.Tokens++
			}
			if t.LastUse.At.After(l.LastUsed) {
				l.LastUsed = t.LastUse.At
			}
		}
		lines = append(lines, l)
	}
	if c.JSON {
		return s.out.jsonIndented(lines)
	}
	return table(s, "AGENT\tCREATED\tTOKENS\tLAST USED", func(row func(...any)) {
		for _, l := range lines {
			row(l.Agent, when(l.Created), l.Tokens, when(l.LastUsed))
		}
	})
}

type tokenNewCommand struct {
	dataFlags
	Agent string `arg:"" name:"slug" help:"The agent: lower-case letters, digits, hyphens."`
	Scope string `setting:"-" default:"tools" help:"What the token may do: tools (list and call tools) or harness (open, end and show the agent's runs and reconcile their calls; not call tools)."`
	JSON  bool   `setting:"-" help:"As JSON: agent, scope, token, id."`
}

// Run makes a token and prints it.
func (c *tokenNewCommand) Run(s *session) error {
	scope, err := agent.ParseScope(c.Scope)
	if err != nil {
		return misused("--scope: %v", err)
	}
	if err := agent.CheckSlug(c.Agent); err != nil {
		return &usageError{err}
	}
	in, _, err := c.beside(s)
	if err != nil {
		return err
	}
	defer in.Close()
	token, text, err := newToken(s, in, c.Agent, scope)
	if err != nil {
		return err
	}
	if c.JSON {
		return s.out.jsonIndented(struct {
			Agent string      `json:"agent"`
			Scope agent.Scope `json:"scope"`
			Token string      `json:"token"`
			ID    string      `json:"id"`
		}{token.Agent, token.Scope, text.Reveal(), token.ID})
	}
	s.err.printf("token %s of agent %s, scope %s; it is not kept and not shown again:\n", token.ID, token.Agent, token.Scope)
	s.out.printf("%s\n", text.Reveal())
	return nil
}

// newToken makes a token, and its agent where it is not there.
func newToken(s *session, in *install.Install, slug string, scope agent.Scope) (agent.Token, secret.Value, error) {
	a, _, err := in.Agents.EnsureAgent(s.ctx, slug, byCLI)
	if err != nil {
		return agent.Token{}, secret.Value{}, err
	}
	return in.Agents.NewToken(s.ctx, a.ID, scope, byCLI)
}

type tokenListCommand struct {
	dataFlags
	Agent string `arg:"" optional:"" name:"slug" help:"Only this agent's."`
	JSON  bool   `setting:"-" help:"As JSON."`
}

// Run lists tokens.
func (c *tokenListCommand) Run(s *session) error {
	in, err := c.look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	_, tokens, err := in.Agents.List(s.ctx, nil)
	if err != nil {
		return err
	}
	type line struct {
		ID       string      `json:"id"`
		Agent    string      `json:"agent"`
		Scope    agent.Scope `json:"scope"`
		Created  time.Time   `json:"created"`
		LastUsed time.Time   `json:"last_used,omitzero"`
		LastFrom string      `json:"last_from,omitempty"`
		Revoked  time.Time   `json:"revoked,omitzero"`
	}
	lines := []line{}
	for _, t := range tokens {
		if c.Agent == "" || t.Agent == c.Agent {
			lines = append(lines, line{t.ID, t.Agent, t.Scope, t.Created, t.LastUse.At, t.LastUse.From, t.Revoked})
		}
	}
	if c.JSON {
		return s.out.jsonIndented(lines)
	}
	return table(s, "ID\tAGENT\tSCOPE\tCREATED\tLAST USED\tFROM\tREVOKED", func(row func(...any)) {
		for _, l := range lines {
			row(l.ID, l.Agent, l.Scope, when(l.Created), when(l.LastUsed), l.LastFrom, when(l.Revoked))
		}
	})
}

type tokenRevokeCommand struct {
	dataFlags
	Token string `arg:"" name:"id" help:"The token's id, or the token itself, or - to read it from standard input."`
	JSON  bool   `setting:"-" help:"As JSON."`
}

// Run revokes a token.
func (c *tokenRevokeCommand) Run(s *session) error {
	what := c.Token
	if what == "-" { // keeps a token out of the process list
		var line [256]byte
		n, err := s.in.Read(line[:])
		if n == 0 {
			return fmt.Errorf("read the token from standard input: %w", err)
		}
		what = strings.TrimSpace(string(line[:n]))
	}
	in, err := c.look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	token, err := in.Agents.Revoke(s.ctx, "", what, byCLI)
	if errors.Is(err, agent.ErrNotFound) {
		return errors.New("no token has that id; `wayleave agents token list` shows them")
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return s.out.jsonIndented(map[string]any{"id": token.ID, "agent": token.Agent, "revoked": token.Revoked})
	}
	s.out.printf("token %s of agent %s is revoked\n", token.ID, token.Agent)
	return nil
}

// table writes columns for people.
func table(s *session, head string, rows func(row func(...any))) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, head)
	rows(func(cells ...any) {
		for i, c := range cells {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, c)
		}
		fmt.Fprintln(w)
	})
	if err := w.Flush(); err != nil {
		return err
	}
	return s.out.print(b.String())
}

func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
