package weburl

// Trying several addresses of a host: no dead one delays the others for long (Happy Eyeballs, RFC 8305).

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"
)

const (
	// attemptDelay is how long an attempt runs before the next one starts beside it (RFC 8305, 5).
	attemptDelay = 250 * time.Millisecond
	// maxAttempts bounds the connections that one dial opens, however many addresses a name has.
	maxAttempts = 12
)

// order is the addresses to try for a network: IPv4 unmapped, each once, the two families in turn, beginning with the
// one that the resolver put first.
func order(addrs []netip.Addr, network string) []netip.Addr {
	var first, second []netip.Addr
	for _, a := range addrs {
		a = a.Unmap()
		switch {
		case network == "tcp4" && !a.Is4(), network == "tcp6" && a.Is4():
		case slices.Contains(first, a), slices.Contains(second, a):
		case len(first) == 0 || a.Is4() == first[0].Is4():
			first = append(first, a)
		default:
			second = append(second, a)
		}
	}
	ordered := make([]netip.Addr, 0, len(first)+len(second))
	for i := range max(len(first), len(second)) {
		if i < len(first) {
			ordered = append(ordered, first[i])
		}
		if i < len(second) {
			ordered = append(ordered, second[i])
		}
	}
	return ordered[:min(len(ordered), maxAttempts)]
}

// attempt is what came of connecting to one address.
type attempt struct {
	conn net.Conn
	err  error
}

// race connects to the addresses in order. The next attempt starts when one failed or after attemptDelay, or sooner
// where the context would end before the last address had its turn. The first connection wins and the others are closed.
// A refusal ends the race, since it means that a socket leads where it should not.
func race(ctx context.Context, host string, addrs []netip.Addr, dial func(context.Context, netip.Addr) (net.Conn, error)) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	delay := attemptDelay
	if deadline, ok := ctx.Deadline(); ok {
		delay = min(delay, time.Until(deadline)/time.Duration(len(addrs)))
	}
	results := make(chan attempt)
	try := func(a netip.Addr) {
		conn, err := dial(ctx, a)
		select {
		case results <- attempt{conn, err}:
		case <-ctx.Done(): // another one won, or the caller left
			if conn != nil {
				conn.Close()
			}
		}
	}
	next, running := 0, 0
	var failed error // the first failure, of the address that the resolver preferred
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case r := <-results:
			running--
			if r.err == nil {
				return r.conn, nil
			}
			if refusal := (*Error)(nil); errors.As(r.err, &refusal) {
				return nil, refusal
			}
			if failed == nil {
				failed = r.err
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("connect to %s: %w", host, ctx.Err())
		}
		if next < len(addrs) {
			go try(addrs[next])
			next++
			running++
			timer.Reset(delay)
		} else if running == 0 {
			return nil, fmt.Errorf("connect to %s, %d of %d addresses tried: %w", host, next, len(addrs), failed)
		}
	}
}
