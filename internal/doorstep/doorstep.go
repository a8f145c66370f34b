// Package doorstep judges an HTTP request by its envelope alone, before anything of it is read: the name that it used
// for us, and where it came from.
//
// The one rule: a name that is not listed is not ours. It is a DNS name that was pointed here, or a proxy that nobody
// configured.
package doorstep

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// loopbackNames are the names of this machine that no DNS answer can point here from a page's own origin: browsers
// resolve them themselves.
var loopbackNames = []string{"localhost", "wayleave.localhost"}

// Names are what a server answers to.
type Names struct {
	hosts   []string // lower case, host or host:port
	proxies []netip.Prefix
}

// New takes further names beside loopback's (HOST or HOST:PORT), and the proxies whose X-Forwarded-For is believed.
func New(hosts []string, proxies []netip.Prefix) (Names, error) {
	n := Names{proxies: proxies}
	for _, h := range hosts {
		h = strings.ToLower(strings.TrimSpace(h))
		if h == "" || strings.ContainsAny(h, "/@ *") {
			return Names{}, fmt.Errorf("host %q is not HOST or HOST:PORT", h)
		}
		n.hosts = append(n.hosts, h)
	}
	return n, nil
}

// Listed says whether the request's Host is one of the further names: those that people are sent to.
func (n Names) Listed(r *http.Request) bool {
	full := strings.ToLower(r.Host)
	return slices.Contains(n.hosts, full) || slices.Contains(n.hosts, bare(full))
}

// Ours says whether a client may address us by the request's Host: a listed name, loopback, or the very address that
// the connection came in on.
func (n Names) Ours(r *http.Request) bool {
	if n.Listed(r) {
		return true
	}
	name := bare(strings.ToLower(r.Host))
	if slices.Contains(loopbackNames, name) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	// An address cannot be rebound; it must be the one that the connection came in on, or loopback, as where a container's
	// port is published on it.
	if ip.Unmap().IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && addrOf(local.String()) == ip.Unmap()
}

// bare is a host without port, brackets and trailing dot; empty where what should be a port is none.
func bare(host string) string {
	if h, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return ""
		}
		host = h
	}
	return strings.TrimSuffix(strings.Trim(host, "[]"), ".")
}

func addrOf(hostport string) netip.Addr {
	ip, _ := netip.ParseAddr(bare(hostport))
	return ip.Unmap().WithZone("")
}

// From is the address that a request came from: the connection's, or what a trusted proxy says of it. Whatever anyone
// else forwards is ignored. It is empty where the connection has no address.
func (n Names) From(r *http.Request) string {
	peer := addrOf(r.RemoteAddr)
	if !peer.IsValid() {
		return ""
	}
	if !n.trusted(peer) {
		return peer.String()
	}
	// The right-most entry was written by the proxy nearest to us; entries further left only count as long as those to
	// their right are trusted proxies too.
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		ip, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		peer = ip.Unmap()
		if !n.trusted(peer) {
			break
		}
	}
	return peer.String()
}

func (n Names) trusted(ip netip.Addr) bool {
	return slices.ContainsFunc(n.proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}
