// This file decides, before a byte of a body is read, whether a request may come in: the name it used for us, the page
// that sent it, and where it came from.
package mcpserver

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// loopbackNames are the names of this machine that no DNS answer can point here from a page's own origin: browsers
// resolve them themselves.
var loopbackNames = []string{"localhost", "wayleave.localhost"}

// guard judges Host, Origin and forwarded addresses.
type guard struct {
	hosts   []string // lower case, host or host:port
	proxies []netip.Prefix
}

func newGuard(hosts []string, proxies []netip.Prefix) (guard, error) {
	g := guard{proxies: proxies}
	for _, h := range hosts {
		h = strings.ToLower(strings.TrimSpace(h))
		if h == "" || strings.ContainsAny(h, "/@ *") {
			return guard{}, fmt.Errorf("host %q is not HOST or HOST:PORT", h)
		}
		g.hosts = append(g.hosts, h)
	}
	return g, nil
}

// host says whether a client may address us by this Host header. A name that is not listed is a rebound DNS name, or a
// proxy that is not configured.
func (g guard) host(r *http.Request) bool {
	full := strings.ToLower(r.Host)
	if slices.Contains(g.hosts, full) {
		return true
	}
	name := bare(full)
	if slices.Contains(g.hosts, name) || slices.Contains(loopbackNames, name) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	// An address cannot be rebound; it must be the one that the connection came in on, or loopback, as where a
	// container's port is published on it.
	if ip.Unmap().IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && addrOf(local.String()) == ip.Unmap()
}

// bare is a host without port, brackets and trailing dot.
func bare(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimSuffix(strings.Trim(host, "[]"), ".")
}

func addrOf(hostport string) netip.Addr {
	ip, _ := netip.ParseAddr(bare(hostport))
	return ip.Unmap().WithZone("")
}

// origin says whether the page that sent a request, if one did, is ours: no other page may use a token that it got
// hold of from inside someone's browser. Without an Origin header no page sent it.
func (g guard) origin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	u, err := url.Parse(values[0])
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Path != "" || u.User != nil {
		return false
	}
	// Host was judged before, so an origin that equals it is an origin of ours.
	return strings.EqualFold(u.Host, r.Host)
}

// from is the address that a request came from: the connection's, or what a trusted proxy says of it. Whatever anyone
// else forwards is ignored.
func (g guard) from(r *http.Request) string {
	peer := addrOf(r.RemoteAddr)
	if !peer.IsValid() {
		return ""
	}
	if !g.trusted(peer) {
		return peer.String()
	}
	// The right-most entry was written by the proxy nearest to us; entries further left only count as long as those
	// to their right are trusted proxies too.
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		ip, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		peer = ip.Unmap()
		if !g.trusted(peer) {
			break
		}
	}
	return peer.String()
}

func (g guard) trusted(ip netip.Addr) bool {
	return slices.ContainsFunc(g.proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// bearer is the token of a request; ok is false where there is none, or not exactly one.
func bearer(r *http.Request) (token string, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, found := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !found || !strings.EqualFold(scheme, "bearer") || token == "" || strings.ContainsAny(token, " \t,") {
		return "", false
	}
	return token, true
}
