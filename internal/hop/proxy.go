package hop

// Going out through an operator's HTTP proxy: plain requests in absolute form, TLS through CONNECT. The proxy looks the
// names up, so only patterns and literal addresses were judged before; its own address is the operator's and is not.

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
)

// connectProxy connects to the proxy and, for a tunnel, through it to address.
func (t *Transport) connectProxy(ctx context.Context, tunnel bool, address string) (net.Conn, error) {
	port := t.Proxy.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[t.Proxy.Scheme]
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(t.Proxy.Hostname(), port))
	if err == nil && t.Proxy.Scheme == "https" {
		conn, err = t.handshake(ctx, conn, t.Proxy.Hostname(), []string{"http/1.1"})
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ProxyGone, err)
	}
	if !tunnel {
		return conn, nil
	}
	unhook := context.AfterFunc(ctx, func() { conn.Close() })
	defer unhook()
	if err := openTunnel(conn, address, proxyCredentials(t.Proxy)); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// openTunnel asks the proxy for a tunnel. Nothing can have been read ahead of it: in TLS the client speaks first.
func openTunnel(conn net.Conn, address string, credentials []field) error {
	if err := writeRequest(conn, http.MethodConnect, address, address, credentials); err != nil {
		return err
	}
	h, err := newHeadReader(conn).readFinal()
	switch {
	case err != nil:
		return err
	case h.status == http.StatusProxyAuthRequired:
		return ProxyAuth
	case h.status/100 != 2:
		return ProxyRefused
	}
	return nil
}

// proxyCredentials are for the proxy alone; the site behind it never sees them.
func proxyCredentials(proxy *url.URL) []field {
	if proxy.User == nil {
		return nil
	}
	password, _ := proxy.User.Password()
	pair := base64.StdEncoding.EncodeToString([]byte(proxy.User.Username() + ":" + password))
	return []field{{"Proxy-Authorization", "Basic " + pair}}
}
