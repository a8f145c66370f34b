package weburl

// The dialer: the only door through which a page's address becomes a connection.

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Resolver looks names up; *net.Resolver is one. It must return when its context ends.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// dialLimit ends a look-up with its connection attempts where the caller set no earlier deadline. net/http takes the
// deadline of a request off the context that it dials with.
const dialLimit = 30 * time.Second

// Dialer connects to hosts that the policy allows. It looks a name up once and judges every answer: one that is refused
// refuses the name. It connects only to an address that was judged, and judges again what the socket is connected to.
// Nothing is looked up for a host that is refused as it stands, nor for an address.
//
// The zero Dialer refuses everything, for want of a policy. A Dialer may be used by several goroutines; its fields are
// set before the first use, and it is not copied after.
type Dialer struct {
	Policy   *Policy  // nil refuses everything
	Resolver Resolver // nil: net.DefaultResolver

	// Listeners are this install's own sockets, asked for at each connection. They are never connected to, whatever the
	// policy permits; an unspecified address stands for every address of this machine. May be nil.
	Listeners func() []netip.AddrPort

	// Interfaces lists the machine's own addresses with their networks; nil asks the system. Own addresses and the IPv6
	// /64 networks around them count as private, also where they look public. The list is used for 5 seconds. If it
	// cannot be had, nothing is connected to.
	Interfaces func() ([]netip.Prefix, error)

	// Connect opens a TCP connection to an IP address and port; nil uses the system's sockets. It must end with its
	// context while it connects. What it returns is judged by its RemoteAddr.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)

	machine machine
}

// target is a host and port that the policy allowed.
type target struct {
	host   string     // canonical, without trailing dot
	lookup string     // what the resolver is asked for, with the trailing dot if there was one
	addr   netip.Addr // valid where the host is an address
	port   uint16
}

// DialContext connects to address, a host and port as in net.Dial; network is "tcp", "tcp4" or "tcp6". It has the form
// that http.Transport takes. A refusal is an [*Error], to be found with errors.As; a failure to look up or to connect
// is another error, and the context's own when it ended.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, fmt.Errorf("dial %s: only tcp is spoken", network)
	}
	t, err := d.allowed(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	addrs, err := d.resolve(ctx, t)
	if err != nil {
		return nil, err
	}
	addrs = order(addrs, network)
	if len(addrs) == 0 {
		return nil, fmt.Errorf("connect to %s: no address for %s", t.host, network)
	}
	return race(ctx, t.host, addrs, func(ctx context.Context, a netip.Addr) (net.Conn, error) { return d.connect(ctx, t, a) })
}

// CheckURL judges all of a URL that can be judged without a look-up: the policy, and for an address also whether it is
// this machine's. It is what stands in front of an egress proxy, which looks names up itself. The error is an [*Error],
// but where the machine's own addresses cannot be listed.
func (d *Dialer) CheckURL(u *URL) error {
	if u == nil {
		u = &URL{}
	}
	return d.check(target{host: u.host, addr: u.addr, port: u.port})
}

// allowed reads a dial address and judges what needs no look-up.
func (d *Dialer) allowed(address string) (target, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return target{}, invalid(RuleHost, "", "the address to dial is not a host and port")
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return target{}, invalid(RulePort, "", "the port to dial is not a number")
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	t := target{port: uint16(port)}
	var refusal *Error
	if t.host, t.addr, refusal = canonicalHost(host); refusal != nil {
		return target{}, refusal
	}
	t.lookup = t.host
	if strings.HasSuffix(host, ".") {
		t.lookup += "."
	}
	return t, d.check(t)
}

func (d *Dialer) check(t target) error {
	if err := d.Policy.checkHost(t.host, t.addr, t.port); err != nil {
		return err
	}
	if t.addr.IsValid() {
		return d.judge(t, t.addr)
	}
	if t.host == "localhost" || strings.HasSuffix(t.host, ".localhost") {
		// Whoever resolves it, it is this machine (RFC 6761, 6.3).
		for _, loopback := range []netip.Addr{netip.IPv6Loopback(), netip.AddrFrom4([4]byte{127, 0, 0, 1})} {
			if err := d.judgeListener(t, loopback); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolve answers addresses that were all judged and allowed.
func (d *Dialer) resolve(ctx context.Context, t target) ([]netip.Addr, error) {
	if t.addr.IsValid() {
		return []netip.Addr{t.addr}, nil
	}
	var resolver Resolver = net.DefaultResolver
	if d.Resolver != nil {
		resolver = d.Resolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", t.lookup)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", t.host, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("look up %s: no address", t.host)
	}
	for _, a := range addrs {
		if err := d.judge(t, a); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

// judge decides about one address of an allowed host.
func (d *Dialer) judge(t target, a netip.Addr) error {
	if err := d.judgeListener(t, a); err != nil {
		return err
	}
	own, err := d.own()
	if err != nil {
		return err
	}
	f := d.Policy.judge(t.host, a, t.port, own.private(a))
	switch {
	case f == nil:
		return nil
	case t.addr.IsValid():
		return f.ofLiteral(t.host, a)
	}
	return f.ofName(t.host, a)
}

// judgeListener refuses the sockets of this install, before anything that a policy could lift.
func (d *Dialer) judgeListener(t target, a netip.Addr) error {
	if d.Listeners == nil {
		return nil
	}
	own, err := d.own()
	if err != nil {
		return err
	}
	if !own.listens(d.Listeners(), bare(a), t.port) {
		return nil
	}
	refusal := disallowed(RuleOwn, t.host, "port "+strconv.Itoa(int(t.port))+" of the host "+quote(t.host)+" is a listener of this install")
	refusal.Address = a
	return refusal
}

func (d *Dialer) own() (ownAddresses, error) {
	own, err := d.machine.addresses(d.Interfaces)
	if err != nil {
		return nil, fmt.Errorf("list this machine's addresses, without which nothing is connected to: %w", err)
	}
	return own, nil
}

// connect makes one attempt. The address is judged where the system is about to connect and again on the connected
// socket: what a list of answers said does not matter then, only where the bytes would go.
func (d *Dialer) connect(ctx context.Context, t target, a netip.Addr) (net.Conn, error) {
	open := d.Connect
	if open == nil {
		open = (&net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			return d.judgeSocket(t, at, err)
		}}).DialContext
	}
	conn, err := open(ctx, "tcp", netip.AddrPortFrom(a, t.port).String())
	if err != nil {
		return nil, err
	}
	at, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err := d.judgeSocket(t, at, err); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// judgeSocket judges the address of a socket, which must be one and have the port that was asked for.
func (d *Dialer) judgeSocket(t target, at netip.AddrPort, err error) error {
	if err != nil || at.Port() != t.port {
		return disallowed(RuleAddress, t.host, "the connection to "+quote(t.host)+" leads to another place than was asked for")
	}
	return d.judge(t, at.Addr())
}
