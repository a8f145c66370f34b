// This file says where a server listens and how clients reach it.
package place

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave"
	"github.com/wayleave/wayleave/internal/cli"
)

// ListenFlags say where a server is.
type ListenFlags struct {
	Listen      string   `default:"127.0.0.1:7477" help:"Address and port (default 127.0.0.1:7477). Beyond loopback it takes --tls-cert or --behind-proxy." placeholder:"ADDR"`
	PublicURL   []string `name:"public-url" help:"Where clients reach the server, if not at the listener; the first is the one that is printed." placeholder:"URL"`
	BehindProxy bool     `help:"A proxy in front of the listener does TLS and lets nobody past it."`
	TLSCert     string   `name:"tls-cert" help:"Certificate chain, PEM." placeholder:"FILE"`
	TLSKey      string   `name:"tls-key" help:"Its private key, PEM." placeholder:"FILE"`
}

// Endpoint is where a client finds a server of these flags that runs already.
func (c ListenFlags) Endpoint(ctx context.Context) (string, error) {
	f, err := c.Front(ctx)
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil || port == "0" {
		return "", cli.Misused("--listen %s: the port is not known; give --url", strconv.Quote(c.Listen))
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	own, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
	if err != nil {
		return "", cli.Misused("--listen %s is a name; give --url", strconv.Quote(c.Listen))
	}
	return f.URL(own), nil
}

// Pages is where people reach a server: its public URL, else the install's own name at the listener's port. endpoint is
// where the running one says that it is, empty where none runs: then it is where one of these flags would be.
func (c ListenFlags) Pages(ctx context.Context, endpoint, label string) (string, error) {
	if endpoint == "" || len(c.PublicURL) > 0 {
		var err error
		if endpoint, err = c.Endpoint(ctx); err != nil {
			return "", err
		}
	}
	base := strings.TrimSuffix(endpoint, "/mcp")
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("the server says that it is at %q", endpoint)
	}
	if len(c.PublicURL) > 0 || !Loopback(u.Hostname()) {
		return base, nil
	}
	return u.Scheme + "://" + label + ".wayleave.localhost:" + u.Port(), nil
}

// Front is how clients reach the listener.
type Front struct {
	TLS    *tls.Config // nil for plain HTTP
	public string      // the URL to print; empty for the listener's own
	hosts  []string    // names in Host headers, beside loopback's
	proxy  bool        // a proxy in front does TLS
}

// Into says it to the service.
func (f Front) Into(o *wayleave.Options) {
	o.Hosts, o.PublicURL = f.hosts, f.public
	o.Secure = f.TLS != nil || f.proxy || strings.HasPrefix(f.public, "https:")
}

// Front checks the flags about the listener.
func (c ListenFlags) Front(ctx context.Context) (Front, error) {
	f := Front{proxy: c.BehindProxy}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return f, cli.Misused("--listen %s: give an address and a port, such as %s", strconv.Quote(c.Listen), DefaultListen)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return f, cli.Misused("--listen %s: the port is 0 to 65535", strconv.Quote(c.Listen))
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return f, cli.Misused("--tls-cert and --tls-key go together")
	}
	if c.TLSCert != "" {
		pair, err := cli.ReadPair(ctx, c.TLSCert, c.TLSKey)
		if err != nil {
			return f, cli.Misused("--tls-cert, --tls-key: %v", err)
		}
		f.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	}
	if !Loopback(host) && f.TLS == nil && !c.BehindProxy {
		return f, cli.Misused("--listen %s is reached from other machines, and tokens would cross the network in the clear: give --tls-cert and --tls-key, or --behind-proxy if a proxy does TLS, or listen on 127.0.0.1", c.Listen)
	}
	for _, text := range c.PublicURL {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return f, cli.Misused("--public-url %s is not http(s)://HOST[:PORT]", strconv.Quote(text))
		}
		f.hosts = append(f.hosts, u.Host)
		if f.public == "" {
			f.public = u.Scheme + "://" + u.Host
		}
	}
	return f, nil
}

// Loopback says whether a listener's host is of this machine alone, as far as can be said without looking it up.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// URL is where a client on this machine, or beyond the proxy, finds the endpoint.
func (f Front) URL(own netip.AddrPort) string {
	base := f.public
	if base == "" {
		scheme := "http"
		if f.TLS != nil {
			scheme = "https"
		}
		if own.Addr().IsUnspecified() {
			own = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), own.Port())
		}
		base = scheme + "://" + own.String()
	}
	return base + "/mcp"
}

// DefaultListen is loopback: a door to the network is a decision.
const DefaultListen = "127.0.0.1:7477"
