// This file is `wayleave serve`: it takes a data folder, opens the listener, and serves until it is told to stop.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/clientblock"
	"github.com/wayleave/wayleave/internal/datafolder"
)

// defaultListen is loopback: a door to the network is a decision.
const defaultListen = "127.0.0.1:7477"

type serveCommand struct{ serveFlags }

// serveFlags are all facts of a serving process.
type serveFlags struct {
	serviceFlags
	dataFlags
	listenFlags
	TrustedProxy  []string `help:"Proxies whose X-Forwarded-For is believed." placeholder:"CIDR"`
	MetricsListen string   `help:"Address and port where metrics are served in Prometheus's format, apart from the agents' door. Default: nowhere." placeholder:"ADDR"`
	MetricsOpen   bool     `help:"Let --metrics-listen be an address that other machines reach."`
}

// listenFlags say where a server is.
type listenFlags struct {
	Listen      string   `default:"127.0.0.1:7477" help:"Address and port (default 127.0.0.1:7477). Beyond loopback it takes --tls-cert or --behind-proxy." placeholder:"ADDR"`
	PublicURL   []string `name:"public-url" help:"Where clients reach the server, if not at the listener; the first is the one that is printed." placeholder:"URL"`
	BehindProxy bool     `help:"A proxy in front of the listener does TLS and lets nobody past it."`
	TLSCert     string   `name:"tls-cert" help:"Certificate chain, PEM." placeholder:"FILE"`
	TLSKey      string   `name:"tls-key" help:"Its private key, PEM." placeholder:"FILE"`
}

// endpoint is where a client finds a server of these flags that runs already.
func (c listenFlags) endpoint() (string, error) {
	f, err := c.front()
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil || port == "0" {
		return "", misused("--listen %s: the port is not known; give --url", strconv.Quote(c.Listen))
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	own, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
	if err != nil {
		return "", misused("--listen %s is a name; give --url", strconv.Quote(c.Listen))
	}
	return f.url(own), nil
}

// Run serves until an interrupt or termination signal.
func (c *serveCommand) Run(s *session) error {
	o, err := c.service()
	if err != nil {
		return err
	}
	if o.Log, err = c.logger(s); err != nil {
		return err
	}
	front, err := c.front()
	if err != nil {
		return err
	}
	front.into(&o)
	if o.TrustedProxies, err = each("trusted-proxy", c.TrustedProxy, parseNetwork); err != nil {
		return err
	}
	if err := c.metricsAddress(); err != nil {
		return err
	}
	folder, err := c.folder(s)
	if err != nil {
		return err
	}
	c.dataFlags.into(s, folder, &o)
	o.PermitCommand = c.permitCommand(s)
	own, err := take(s.ctx, ownerPlan{folder: folder, options: o, front: front, listen: c.Listen, metrics: c.MetricsListen})
	switch {
	case errors.Is(err, datafolder.ErrOwned):
		return fmt.Errorf("%s: %w; stop it, or name another folder with --data", folder.Path(), err)
	case err != nil:
		return optionMisused(err)
	}
	hidden(o.Log)
	c.announce(s, own)
	return errors.Join(own.run(s.ctx), own.leave())
}

// metricsAddress refuses a listener of metrics that strangers could reach: it asks for no credential.
func (c *serveCommand) metricsAddress() error {
	if c.MetricsListen == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(c.MetricsListen)
	if err != nil {
		return misused("--metrics-listen %s: give an address and a port, such as 127.0.0.1:9477", strconv.Quote(c.MetricsListen))
	}
	if !loopback(host) && !c.MetricsOpen {
		return misused("--metrics-listen %s is reached from other machines and asks for no credential: listen on 127.0.0.1, or give --metrics-open where only your collector can reach it", c.MetricsListen)
	}
	return nil
}

// front is how clients reach the listener.
type front struct {
	tls    *tls.Config // nil for plain HTTP
	public string      // the URL to print; empty for the listener's own
	hosts  []string    // names in Host headers, beside loopback's
	proxy  bool        // a proxy in front does TLS
}

// into says it to the service.
func (f front) into(o *wayleave.Options) {
	o.Hosts, o.PublicURL = f.hosts, f.public
	o.Secure = f.tls != nil || f.proxy || strings.HasPrefix(f.public, "https:")
}

// front checks the flags about the listener.
func (c listenFlags) front() (front, error) {
	f := front{proxy: c.BehindProxy}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return f, misused("--listen %s: give an address and a port, such as %s", strconv.Quote(c.Listen), defaultListen)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return f, misused("--listen %s: the port is 0 to 65535", strconv.Quote(c.Listen))
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return f, misused("--tls-cert and --tls-key go together")
	}
	if c.TLSCert != "" {
		pair, err := readPair(c.TLSCert, c.TLSKey)
		if err != nil {
			return f, misused("--tls-cert, --tls-key: %v", err)
		}
		f.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	}
	if !loopback(host) && f.tls == nil && !c.BehindProxy {
		return f, misused("--listen %s is reached from other machines, and tokens would cross the network in the clear: give --tls-cert and --tls-key, or --behind-proxy if a proxy does TLS, or listen on 127.0.0.1", c.Listen)
	}
	for _, text := range c.PublicURL {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return f, misused("--public-url %s is not http(s)://HOST[:PORT]", strconv.Quote(text))
		}
		f.hosts = append(f.hosts, u.Host)
		if f.public == "" {
			f.public = u.Scheme + "://" + u.Host
		}
	}
	return f, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// url is where a client on this machine, or beyond the proxy, finds the endpoint.
func (f front) url(own netip.AddrPort) string {
	base := f.public
	if base == "" {
		scheme := "http"
		if f.tls != nil {
			scheme = "https"
		}
		if own.Addr().IsUnspecified() {
			own = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), own.Port())
		}
		base = scheme + "://" + own.String()
	}
	return base + "/mcp"
}

// announce says where the server is and what to do with it. The first start makes an agent and prints its block.
func (c *serveCommand) announce(s *session, own *owner) {
	at, _, err := own.folder.Owner()
	if err != nil {
		s.err.printf("warning: %v\n", err)
	}
	endpoint := at.URL
	s.out.printf("wayleave %s serves %s\n", thisBuild().Version, endpoint)
	for _, set := range s.settings.all {
		if set.Origin != "default" {
			s.out.printf("  %s = %s (%s)\n", set.Name, set.Value, set.Origin)
		}
	}
	in, err := c.open(s)
	if err != nil {
		s.err.printf("warning: %v\n", err)
		return
	}
	defer in.Close()
	agents, _, err := in.Agents.List(s.ctx, nil)
	if err != nil {
		s.err.printf("warning: %v\n", err)
		return
	}
	attach, others := c.attachLine(s, endpoint), strings.Join(clientblock.Names()[1:], ", ")
	people := fmt.Sprintf("What agents do, and the questions that they ask: `%s sign-in%s` prints a link.\n", calledAs(), c.again())
	if len(agents) > 0 {
		s.out.printf("\n`%s` prints a block for Claude Code with a fresh token (also: %s).\n%s", attach, others, people)
		return
	}
	_, token, err := newToken(s, in, agent.Local, agent.ScopeTools)
	if err != nil {
		s.err.printf("warning: %v\n", err)
		return
	}
	generic, _ := clientblock.Of("generic")
	s.out.printf("\nThis is the first start: here is agent %q with a token that is not shown again.\nPut this into your agent's MCP configuration:\n\n%s\n", agent.Local,
		generic.Block(clientblock.Place{URL: endpoint, Token: token}))
	s.out.printf("Then ask the agent: \"Read https://example.com/ with web_fetch and tell me its first heading.\"\n"+
		"Other clients: `%s` (also: %s). Without an agent: `%s fetch https://example.com/`.\n%s", attach, others, calledAs(), people)
}

// hidden hides the process's memory from others of the same user, and says where that is not possible.
func hidden(log *slog.Logger) {
	if err := undumpable(); err != nil {
		log.LogAttrs(context.Background(), slog.LevelWarn, "other processes of this user can read this one's memory", slog.Any("error", err))
	}
}
