// This file holds the flags that several commands share, and what the library makes of them.
package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// policyFlags say which addresses may be asked for.
type policyFlags struct {
	AllowedHosts      []string `help:"Only these hosts: example.com, *.example.com, *. Default: any public host." placeholder:"HOST"`
	BlockedHosts      []string `help:"Never these hosts." placeholder:"HOST"`
	AllowPrivateHosts bool     `help:"Also private and local hosts (never cloud metadata). For work against localhost."`
	AllowHost         []string `help:"Also this private host or network: HOST[:PORT] or CIDR[:PORT]. May be given again." placeholder:"HOST"`
	BlockedNetworks   []string `help:"Networks that nobody may reach, whatever else is said." placeholder:"CIDR"`
	AllowedPorts      []port   `help:"Only these ports. Default: all but those of other protocols." placeholder:"PORT"`
}

// policy checks every value; the error names the flag.
func (p policyFlags) policy() (*weburl.Policy, error) {
	out := &weburl.Policy{AllowPrivateHosts: p.AllowPrivateHosts}
	for _, n := range p.AllowedPorts {
		out.AllowedPorts = append(out.AllowedPorts, uint16(n))
	}
	var err error
	if out.AllowedHosts, err = each("allowed-hosts", p.AllowedHosts, weburl.ParseHostPattern); err != nil {
		return nil, err
	}
	if out.BlockedHosts, err = each("blocked-hosts", p.BlockedHosts, weburl.ParseHostPattern); err != nil {
		return nil, err
	}
	if out.Permitted, err = each("allow-host", p.AllowHost, weburl.ParsePermit); err != nil {
		return nil, err
	}
	if out.BlockedNetworks, err = each("blocked-networks", p.BlockedNetworks, parseNetwork); err != nil {
		return nil, err
	}
	return out, nil
}

func each[T any](flag string, texts []string, parse func(string) (T, error)) ([]T, error) {
	var out []T
	for _, text := range texts {
		value, err := parse(text)
		if err != nil {
			return nil, misused("--%s %s: %v", flag, strconv.Quote(text), err)
		}
		out = append(out, value)
	}
	return out, nil
}

// parseNetwork reads a CIDR, or an address as the network of itself.
func parseNetwork(text string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), nil
	}
	ip, err := netip.ParseAddr(text)
	if err != nil || ip.Zone() != "" {
		return netip.Prefix{}, errors.New("is not a network such as 10.0.0.0/8")
	}
	return netip.PrefixFrom(ip, ip.BitLen()), nil
}

// readFlags say how pages are read. They are the library's options under the library's names.
type readFlags struct {
	policyFlags
	PageChars    *int      `help:"Most characters of a window (1–200000; default 20000)." placeholder:"N"`
	MaxBodyBytes *int64    `help:"Most decoded bytes of a body (1–100000000; default 5000000)." placeholder:"N"`
	Timeout      *duration `aliases:"timeout-ms" help:"For all of a fetch, such as 30s or 500ms (1ms–10m; default 30s). A bare number is milliseconds, and below 1000 refused: it looks like seconds." placeholder:"D"`
	MaxRedirects *int      `help:"Redirects that are followed (0–20; default 5)." placeholder:"N"`
	UserAgent    *string   `help:"What sites see. Default: Wayleave's own." placeholder:"TEXT"`
	EgressProxy  *string   `setting:"secret" help:"Proxy that every request goes through. Names are then judged by pattern only." placeholder:"URL"`
	CAFile       string    `name:"ca-file" help:"PEM file of authorities that site certificates may come from, beside the system's." placeholder:"FILE"`
}

// options checks what the library does not.
func (r readFlags) options() (webfetch.Options, error) {
	policy, err := r.policy()
	if err != nil {
		return webfetch.Options{}, err
	}
	o := webfetch.Options{Policy: policy, PageChars: r.PageChars, MaxBodyBytes: r.MaxBodyBytes, MaxRedirects: r.MaxRedirects, UserAgent: r.UserAgent, EgressProxy: r.EgressProxy}
	if r.Timeout != nil {
		d := time.Duration(*r.Timeout)
		o.Timeout = &d
	}
	if r.CAFile != "" {
		if o.RootCAs, err = authorities(r.CAFile); err != nil {
			return webfetch.Options{}, err
		}
	}
	return o, nil
}

func authorities(path string) (*x509.CertPool, error) {
	pem, err := readFile(path)
	if err != nil {
		return nil, misused("--ca-file: %v", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, misused("--ca-file %s holds no PEM certificate", path)
	}
	return pool, nil
}

// optionMisused makes a library's complaint about an option one about the flag of that name.
func optionMisused(err error) error {
	var bad *webfetch.OptionError
	if errors.As(err, &bad) {
		name := bad.Option
		if name == "timeout_ms" { // the one option whose flag has another name
			name = "--timeout: " + name
		}
		return misused("%s is %s, must be %s", name, bad.Value, bad.Want)
	}
	return err
}

// duration is a time with a unit, or a number of milliseconds: the option is named timeout_ms elsewhere. Under its short
// name a small bare number is refused, for whoever writes 20 there means seconds.
type duration time.Duration

const leastBare = 1000

// UnmarshalText reads a flag, variable or key.
func (d *duration) UnmarshalText(text []byte) error {
	if ms, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		if ms > int64(1<<62)/int64(time.Millisecond) || ms < 0 {
			return fmt.Errorf("%d ms is out of range", ms)
		}
		if ms > 0 && ms < leastBare {
			return fmt.Errorf("%d would be milliseconds: write %ds for seconds, or %dms", ms, ms, ms)
		}
		*d = duration(time.Duration(ms) * time.Millisecond)
		return nil
	}
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a time such as 30s or 500ms", text)
	}
	*d = duration(parsed)
	return nil
}

func (d duration) String() string { return time.Duration(d).String() }

// timeoutMS is the long name of --timeout, under which a bare number has its unit in the name.
const timeoutMS = "timeout-ms"

// withUnit gives a bare number the unit that its flag's name says.
func withUnit(flag, value string) string {
	if _, err := strconv.ParseUint(value, 10, 63); err == nil && flag == timeoutMS {
		return value + "ms"
	}
	return value
}

// withUnits is withUnit for a command line: kong does not say by which of its names a flag was given.
func withUnits(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break
		}
		if value, ok := strings.CutPrefix(a, "--"+timeoutMS+"="); ok {
			out[i] = "--" + timeoutMS + "=" + withUnit(timeoutMS, value)
		}
		if a == "--"+timeoutMS && i+1 < len(out) {
			out[i+1] = withUnit(timeoutMS, out[i+1])
		}
	}
	return out
}

// port is a port that may be asked for.
type port uint16

// UnmarshalText reads a flag, variable or key.
func (p *port) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 16)
	if err != nil || n == 0 {
		return fmt.Errorf("%q is not a port from 1 to 65535", text)
	}
	*p = port(n)
	return nil
}
