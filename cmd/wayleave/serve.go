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
	TrustedProxy []string `help:"Proxies whose X-Forwarded-For is believed." placeholder:"CIDR"`
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
	o.Hosts = front.hosts
	if o.TrustedProxies, err = each("trusted-proxy", c.TrustedProxy, parseNetwork); err != nil {
		return err
	}
	store, folder, err := c.store(s)
	if err != nil {
		return err
	}
	o.Data, o.PermitCommand = folder.Path(), c.permitCommand(s)
	release, err := folder.Own()
	if errors.Is(err, datafolder.ErrOwned) {
		return fmt.Errorf("%s: %w; stop it, or name another folder with --data", folder.Path(), err)
	}
	if err != nil {
		return err
	}
	defer release()

	listener, err := new(net.ListenConfig).Listen(s.ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	defer listener.Close()
	own, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		return fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	o.Listeners = func() []netip.AddrPort { return []netip.AddrPort{own} }
	service, err := wayleave.New(o)
	if err != nil {
		return optionMisused(err)
	}
	hidden(o.Log)
	withdraw, err := folder.Announce(datafolder.Server{URL: front.url(own), Listen: own.String()})
	if err != nil {
		return err
	}
	defer func() {
		if err := withdraw(); err != nil {
			o.Log.Warn("at the end", "error", err)
		}
	}()
	c.announce(s, store, front.url(own))
	if front.tls != nil {
		listener = tls.NewListener(listener, front.tls)
	}
	return service.Run(s.ctx, listener)
}

// front is how clients reach the listener.
type front struct {
	tls    *tls.Config // nil for plain HTTP
	public string      // the URL to print; empty for the listener's own
	hosts  []string    // names in Host headers, beside loopback's
}

// front checks the flags about the listener.
func (c listenFlags) front() (front, error) {
	var f front
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
func (c *serveCommand) announce(s *session, store *agent.Store, endpoint string) {
	s.out.printf("wayleave %s serves %s\n", thisBuild().Version, endpoint)
	for _, set := range s.settings.all {
		if set.Origin != "default" {
			s.out.printf("  %s = %s (%s)\n", set.Name, set.Value, set.Origin)
		}
	}
	agents, _, err := store.List()
	if err != nil {
		s.err.printf("warning: %v\n", err)
		return
	}
	attach, others := c.attachLine(s, endpoint), strings.Join(clientblock.Names()[1:], ", ")
	if len(agents) > 0 {
		s.out.printf("\n`%s` prints a block for Claude Code with a fresh token (also: %s).\n", attach, others)
		return
	}
	_, token, err := store.NewToken(agent.Local, agent.ScopeTools)
	if err != nil {
		s.err.printf("warning: %v\n", err)
		return
	}
	generic, _ := clientblock.Of("generic")
	s.out.printf("\nThis is the first start: here is agent %q with a token that is not shown again.\nPut this into your agent's MCP configuration:\n\n%s\n", agent.Local,
		generic.Block(clientblock.Place{URL: endpoint, Token: token}))
	s.out.printf("Then ask the agent: \"Read https://example.com/ with web_fetch and tell me its first heading.\"\n"+
		"Other clients: `%s` (also: %s). Without an agent: `%s fetch https://example.com/`.\n", attach, others, calledAs())
}

// hidden hides the process's memory from others of the same user, and says where that is not possible.
func hidden(log *slog.Logger) {
	if err := undumpable(); err != nil {
		log.LogAttrs(context.Background(), slog.LevelWarn, "other processes of this user can read this one's memory", slog.Any("error", err))
	}
}
