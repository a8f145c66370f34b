// This file is `wayleave serve`: it takes a data folder, opens the listener, and serves until it is told to stop.
package serving

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/clientblock"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/webhook"
)

// Serve is the command.
type Serve struct{ serveFlags }

// serveFlags are all facts of a serving process.
type serveFlags struct {
	serviceFlags
	place.DataFlags
	place.ListenFlags
	TrustedProxy  []string `help:"Proxies whose X-Forwarded-For is believed." placeholder:"CIDR"`
	MetricsListen string   `help:"Address and port where metrics are served in Prometheus's format, apart from the agents' door. Default: nowhere." placeholder:"ADDR"`
	MetricsOpen   bool     `help:"Let --metrics-listen be an address that other machines reach."`
	AuditFile     string   `help:"File to which checkpoints of the audit are added: one that who writes to the database cannot change. Default: the log alone." placeholder:"FILE"`
	Webhook       string   `setting:"secret" help:"Address of your own that is told when somebody is needed and where the audit stands: ids and times, signed. Default: the log alone." placeholder:"URL"`
	WebhookKey    string   `setting:"secret" help:"Key that signs what --webhook is told, 16 bytes or more. It belongs into the variable WAYLEAVE_WEBHOOK_KEY, not on a command line." placeholder:"KEY"`
}

// Run serves until an interrupt or termination signal.
func (c *Serve) Run(s *cli.Session) error {
	o, err := c.service(s.Ctx, s.Build)
	if err != nil {
		return err
	}
	if o.Log, err = c.logger(s); err != nil {
		return err
	}
	front, err := c.Front(s.Ctx)
	if err != nil {
		return err
	}
	front.Into(&o)
	if o.TrustedProxies, err = page.Each("trusted-proxy", c.TrustedProxy, page.ParseNetwork); err != nil {
		return err
	}
	if err := errors.Join(c.metricsAddress(), c.outside()); err != nil {
		return err
	}
	o.AuditFile, o.Webhook, o.WebhookKey = c.AuditFile, c.Webhook, c.WebhookKey
	if err := warn(s, c.DataFlags); err != nil {
		return err
	}
	folder, err := c.Folder(s)
	if err != nil {
		return err
	}
	c.DataFlags.Into(s, folder, &o)
	o.PermitCommand = c.PermitCommand(s)
	if o.Database == "" && os.Getenv("GOMAXPROCS") == "" {
		// The commits of SQLite wait for the disk in a system call. It holds one of the scheduler's processors until that is
		// noticed, which takes about as long: one more keeps the machine's at work.
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
	own, err := take(s.Ctx, ownerPlan{folder: folder, options: o, front: front, listen: c.Listen, metrics: c.MetricsListen, documents: documents(s, o.Log)})
	switch {
	case errors.Is(err, datafolder.ErrOwned):
		where := ""
		if at, _, lookErr := folder.Owner(); lookErr == nil && at.URL != "" {
			where = ", which serves " + at.URL
		}
		return fmt.Errorf("%s: %w%s; stop it, or name another folder with --data", folder.Path(), err, where)
	case err != nil:
		return page.OptionMisused(err)
	}
	hidden(o.Log)
	c.announce(s, own)
	return errors.Join(own.run(s.Ctx), own.leave())
}

// warn tells what of the database's address a person should know, before anything is sent there.
func warn(s *cli.Session, d place.DataFlags) error {
	warnings, err := d.Warnings(s.Settings)
	for _, w := range warnings {
		s.Err.Printf("warning: %s\n", w)
	}
	if err != nil {
		return cli.Misused("--database: %v", err)
	}
	return nil
}

// metricsAddress refuses a listener of metrics that strangers could reach: it asks for no credential.
func (c serveFlags) metricsAddress() error {
	if c.MetricsListen == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(c.MetricsListen)
	if err != nil {
		return cli.Misused("--metrics-listen %s: give an address and a port, such as 127.0.0.1:9477", strconv.Quote(c.MetricsListen))
	}
	if !place.Loopback(host) && !c.MetricsOpen {
		return cli.Misused("--metrics-listen %s is reached from other machines and asks for no credential: listen on 127.0.0.1, or give --metrics-open where only your collector can reach it", c.MetricsListen)
	}
	return nil
}

// outside refuses, before a folder is made, a webhook that could not be told.
func (c serveFlags) outside() error {
	if c.Webhook == "" && c.WebhookKey == "" {
		return nil
	}
	if _, err := webhook.New(webhook.Options{URL: c.Webhook, Key: secret.New(c.WebhookKey)}); err != nil {
		return cli.Misused("--webhook, --webhook-key: %v", err)
	}
	return nil
}

// announce says where the server is and what to do with it. The first start makes an agent and prints its block.
func (c *Serve) announce(s *cli.Session, own *owner) {
	at, _, err := own.folder.Owner()
	if err != nil {
		s.Err.Printf("warning: %v\n", err)
	}
	endpoint := at.URL
	s.Out.Printf("wayleave %s serves %s\n", s.Build.Version, endpoint)
	for _, set := range s.Settings.All {
		if set.Origin != "default" {
			s.Out.Printf("  %s = %s (%s)\n", set.Name, set.Value, set.Origin)
		}
		if set.Name == "database" && set.Origin == "flag --database" { // the commands below do not repeat what may hold a password
			defer s.Out.Printf("Commands beside this server need its database's address too: put it into the variable WAYLEAVE_DATABASE.\n")
		}
	}
	in, err := c.Open(s)
	if err != nil {
		s.Err.Printf("warning: %v\n", err)
		return
	}
	defer in.Close()
	agents, _, err := in.Agents.List(s.Ctx, nil)
	if err != nil {
		s.Err.Printf("warning: %v\n", err)
		return
	}
	attach, others := c.attachLine(s, endpoint), strings.Join(clientblock.Names()[1:], ", ")
	people := fmt.Sprintf("What agents do, and the questions that they ask: `%s sign-in%s` prints a link.\n", place.CalledAs(), c.Again())
	if len(agents) > 0 {
		s.Out.Printf("\n`%s` prints a block for Claude Code with a fresh token (also: %s).\n%s", attach, others, people)
		return
	}
	_, token, err := place.NewToken(s.Ctx, in, agent.Local, agent.ScopeTools)
	if err != nil {
		s.Err.Printf("warning: %v\n", err)
		return
	}
	generic, _ := clientblock.Of("generic")
	s.Out.Printf("\nThis is the first start: here is agent %q with a token that is not shown again.\nPut this into your agent's MCP configuration:\n\n%s\n", agent.Local,
		generic.Block(clientblock.Place{URL: endpoint, Token: token}))
	s.Out.Printf("Then ask the agent: \"Read https://example.com/ with web_fetch and tell me its first heading.\"\n"+
		"Other clients: `%s` (also: %s). Without an agent: `%s fetch https://example.com/`.\n%s", attach, others, place.CalledAs(), people)
}

// hidden hides the process's memory from others of the same user, and says where that is not possible.
func hidden(log *slog.Logger) {
	if err := undumpable(); err != nil {
		log.LogAttrs(context.Background(), slog.LevelWarn, "other processes of this user can read this one's memory", slog.Any("error", err))
	}
}

// attachLine is the command that attaches a client to this server: what came from flags is said again, since variables
// and the per-user folder are found without.
func (c *Serve) attachLine(s *cli.Session, endpoint string) string {
	line, url := place.CalledAs()+" attach claude", ""
	for _, set := range s.Settings.All {
		if !strings.HasPrefix(set.Origin, "flag ") {
			continue
		}
		switch set.Name {
		case "config", "data":
			line += " --" + set.Name + " " + place.ShellWord(place.Absolute(set.Value))
		case "listen", "public-url", "tls-cert":
			url = " --url " + place.ShellWord(endpoint)
		}
	}
	return line + url
}
