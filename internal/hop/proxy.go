package hop

// Going out through an operator's HTTP proxy: plain requests in absolute form, TLS through CONNECT. The proxy looks the
// names up, so only patterns and literal addresses were judged before; its own address is the operator's and is not.

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
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
		return nil, fmt.Errorf("%w: %w", unreached(err), err)
	}
	if !tunnel {
		return conn, nil
	}
	unhook := context.AfterFunc(ctx, func() { conn.Close() })
	defer unhook()
	if err := t.openTunnel(conn, address); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// unreached is the fault of a proxy to which there is no connection. A name that does not exist and a certificate that is
// not taken stay as they are; a connection that fails may be made the next time.
func unreached(err error) error {
	told := Fault(string(ProxyGone) + ": " + Reason(err))
	name, _ := errors.AsType[*net.DNSError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	if name != nil && name.IsNotFound || certificate || plain {
		return lasting{told}
	}
	return told
}

// openTunnel asks the proxy for a tunnel. Nothing can have been read ahead of it: in TLS the client speaks first.
func (t *Transport) openTunnel(conn net.Conn, address string) error {
	if err := writeRequest(conn, http.MethodConnect, address, address, proxyCredentials(t.Proxy)); err != nil {
		return err
	}
	h, err := newHeadReader(conn).readFinal()
	switch {
	case errors.Is(err, NotHTTP):
		return lasting{ProxyUnclear}
	case err != nil:
		return fmt.Errorf("%w: %w", Fault(string(ProxyGone)+": "+Reason(err)), err)
	case h.status == http.StatusProxyAuthRequired:
		return t.unauthorized()
	case h.status/100 == 2:
		return nil
	case h.status >= 500, h.status == http.StatusRequestTimeout, h.status == http.StatusTooManyRequests:
		return ProxyFailed
	}
	return lasting{ProxyRefused}
}

// unauthorized is the fault of a proxy that answered 407.
func (t *Transport) unauthorized() error {
	if t.Proxy.User == nil {
		return lasting{ProxyBare}
	}
	return lasting{ProxyAuth}
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
