// This file knows under which addresses people and agents reach the service.
package wayleave

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// localhost is the name below which each install has a label of its own: cookies do not know ports, so a program on
// another port of a shared name would get them.
const localhost = "wayleave.localhost"

// addresses are those of one service. The listener's own is known once it serves.
type addresses struct {
	public, label string
	secure        bool

	mu  sync.Mutex
	own netip.AddrPort
}

func (a *addresses) set(listener net.Addr) {
	own, err := netip.ParseAddrPort(listener.String())
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.own = loopbackOf(own)
}

func (a *addresses) listener() (netip.AddrPort, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.own, a.own.IsValid()
}

func (a *addresses) scheme() string {
	if a.secure {
		return "https"
	}
	return "http"
}

// people is where people are sent, without a slash at its end; empty where nobody is served.
func (a *addresses) people() string {
	own, served := a.listener()
	switch {
	case a.public != "":
		return a.public
	case !served:
		return ""
	case own.Addr().IsLoopback():
		return fmt.Sprintf("%s://%s.%s:%d", a.scheme(), a.label, localhost, own.Port())
	}
	return a.scheme() + "://" + own.String()
}

// mcp is the agents' door.
func (a *addresses) mcp() string {
	own, served := a.listener()
	switch {
	case a.public != "":
		return a.public + "/mcp"
	case !served:
		return ""
	}
	return a.scheme() + "://" + own.String() + "/mcp"
}
