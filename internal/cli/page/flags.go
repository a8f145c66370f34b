// This file holds the flags that several commands share, and what the library makes of them.
package page

import (
	"context"
	"crypto/x509"
	"errors"
	"net/netip"
	"strconv"
	"time"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// PolicyFlags say which addresses may be asked for.
type PolicyFlags struct {
	AllowedHosts      []string   `help:"Only these hosts: example.com, *.example.com, *. Default: any public host." placeholder:"HOST"`
	BlockedHosts      []string   `help:"Never these hosts." placeholder:"HOST"`
	AllowPrivateHosts bool       `help:"Also private and local hosts (never cloud metadata). For work against localhost."`
	AllowHost         []string   `help:"Also this private host or network: HOST[:PORT] or CIDR[:PORT]. May be given again." placeholder:"HOST"`
	BlockedNetworks   []string   `help:"Networks that nobody may reach, whatever else is said." placeholder:"CIDR"`
	AllowedPorts      []cli.Port `help:"Only these ports. Default: all but those of other protocols." placeholder:"PORT"`
}

// Policy checks every value; the error names the flag.
func (p PolicyFlags) Policy() (*weburl.Policy, error) {
	out := &weburl.Policy{AllowPrivateHosts: p.AllowPrivateHosts}
	for _, n := range p.AllowedPorts {
		out.AllowedPorts = append(out.AllowedPorts, uint16(n))
	}
	var err error
	if out.AllowedHosts, err = Each("allowed-hosts", p.AllowedHosts, weburl.ParseHostPattern); err != nil {
		return nil, err
	}
	if out.BlockedHosts, err = Each("blocked-hosts", p.BlockedHosts, weburl.ParseHostPattern); err != nil {
		return nil, err
	}
	if out.Permitted, err = Each("allow-host", p.AllowHost, weburl.ParsePermit); err != nil {
		return nil, err
	}
	if out.BlockedNetworks, err = Each("blocked-networks", p.BlockedNetworks, ParseNetwork); err != nil {
		return nil, err
	}
	return out, nil
}

// Each parses every text of a list; the error names the flag.
func Each[T any](flag string, texts []string, parse func(string) (T, error)) ([]T, error) {
	var out []T
	for _, text := range texts {
		value, err := parse(text)
		if err != nil {
			return nil, cli.Misused("--%s %s: %v", flag, strconv.Quote(text), err)
		}
		out = append(out, value)
	}
	return out, nil
}

// ParseNetwork reads a CIDR, or an address as the network of itself.
func ParseNetwork(text string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), nil
	}
	ip, err := netip.ParseAddr(text)
	if err != nil || ip.Zone() != "" {
		return netip.Prefix{}, errors.New("is not a network such as 10.0.0.0/8")
	}
	return netip.PrefixFrom(ip, ip.BitLen()), nil
}

// ReadFlags say how pages are read. They are the library's options under the library's names.
type ReadFlags struct {
	PolicyFlags
	PageChars    *int          `help:"Most characters of a window (1–200000; default 20000)." placeholder:"N"`
	MaxBodyBytes *int64        `help:"Most decoded bytes of a body (1–100000000; default 5000000)." placeholder:"N"`
	Timeout      *cli.Duration `aliases:"timeout-ms" help:"For all of a fetch, such as 30s or 500ms (1ms–10m; default 30s). A bare number is milliseconds, and below 1000 refused: it looks like seconds." placeholder:"D"`
	MaxRedirects *int          `help:"Redirects that are followed (0–20; default 5)." placeholder:"N"`
	Robots       string        `enum:"ignore,obey" default:"ignore" help:"obey: each site's robots.txt is asked for first and kept to (RFC 9309); ignore: none is. --robots-obey and --robots-ignore choose for single sites."`
	RobotsObey   []string      `help:"Sites whose robots.txt is obeyed: example.com, *.example.com. The most specific pattern counts." placeholder:"HOST"`
	RobotsIgnore []string      `help:"Sites whose robots.txt is not." placeholder:"HOST"`
	UserAgent    *string       `help:"What sites see. Default: Wayleave's own." placeholder:"TEXT"`
	EgressProxy  *string       `setting:"secret" help:"Proxy that every request goes through. Names are then judged by pattern only." placeholder:"URL"`
	CAFile       string        `name:"ca-file" help:"PEM file of authorities that site certificates may come from, beside the system's." placeholder:"FILE"`
}

// Options checks what the library does not.
func (r ReadFlags) Options(ctx context.Context) (webfetch.Options, error) {
	policy, err := r.Policy()
	if err != nil {
		return webfetch.Options{}, err
	}
	o := webfetch.Options{Policy: policy, PageChars: r.PageChars, MaxBodyBytes: r.MaxBodyBytes, MaxRedirects: r.MaxRedirects, UserAgent: r.UserAgent, EgressProxy: r.EgressProxy}
	if o.Robots, err = r.robots(); err != nil {
		return webfetch.Options{}, err
	}
	if r.Timeout != nil {
		d := time.Duration(*r.Timeout)
		o.Timeout = &d
	}
	if r.CAFile != "" {
		if o.RootCAs, err = Authorities(ctx, r.CAFile); err != nil {
			return webfetch.Options{}, err
		}
	}
	return o, nil
}

// Obedience is the choice that the flags make.
func (r ReadFlags) Obedience() (c webfetch.RobotsChoice, err error) {
	c.Obey = r.Robots == "obey"
	if c.Obeyed, err = Each("robots-obey", r.RobotsObey, weburl.ParseHostPattern); err != nil {
		return c, err
	}
	c.Ignored, err = Each("robots-ignore", r.RobotsIgnore, weburl.ParseHostPattern)
	return c, err
}

// robots is nil where no site's file is obeyed.
func (r ReadFlags) robots() (*webfetch.Robots, error) {
	c, err := r.Obedience()
	if err != nil {
		return nil, err
	}
	made, err := webfetch.NewRobots(c)
	if err != nil {
		return nil, OptionMisused(err)
	}
	if !c.Obey && len(c.Obeyed) == 0 {
		return nil, nil
	}
	return made, nil
}

// Authorities are the system's and those of a PEM file.
func Authorities(ctx context.Context, path string) (*x509.CertPool, error) {
	pem, err := cli.ReadFile(ctx, path)
	if err != nil {
		return nil, cli.Misused("--ca-file: %v", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, cli.Misused("--ca-file %s holds no PEM certificate", path)
	}
	return pool, nil
}

// OptionMisused makes a library's complaint about an option one about the flag of that name.
func OptionMisused(err error) error {
	var bad *webfetch.OptionError
	if errors.As(err, &bad) {
		name := bad.Option
		if name == "timeout_ms" { // the one option whose flag has another name
			name = "--timeout: " + name
		}
		return cli.Misused("%s is %s, must be %s", name, bad.Value, bad.Want)
	}
	return err
}

// Or is what was given, or the default.
func Or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
