// This file is `wayleave doctor`: what is set and from where, what holds, and what a person should look at.
package serving

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/webfetch"
)

// probeTime bounds each look at the network.
const probeTime = 3 * time.Second

// Doctor is the command.
type Doctor struct {
	serveFlags
	JSON bool `setting:"-" help:"As JSON: version, settings, limits, checks."`
}

// check is one line of the report.
type check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, info, warn or fail
	Detail string `json:"detail"`
}

type checkup struct {
	cli.Build
	Config   string        `json:"config_file,omitempty"`
	Settings []cli.Setting `json:"settings"`
	Limits   []cli.Setting `json:"limits"`
	Checks   []check       `json:"checks"`
}

func (d *checkup) add(name, status, format string, args ...any) {
	d.Checks = append(d.Checks, check{name, status, fmt.Sprintf(format, args...)})
}

// Run reports. It fails where a check does.
func (c *Doctor) Run(s *cli.Session) error {
	d := &checkup{Build: s.Build, Config: s.Settings.File, Settings: s.Settings.All, Limits: c.limits(s.Settings.All)}
	done := s.Err.Progress("looking")
	c.configuration(s, d)
	folder := c.dataFolder(s, d)
	c.egress(s.Ctx, d)
	c.certificates(d)
	c.listener(s.Ctx, d, folder)
	c.memory(d)
	done()
	if c.JSON {
		if err := s.Out.JSON(d); err != nil {
			return err
		}
	} else {
		d.print(s.Out)
	}
	for _, k := range d.Checks {
		if k.Status == "fail" {
			return cli.ErrTold
		}
	}
	return nil
}

func (d *checkup) print(out *cli.Output) {
	out.Printf("wayleave %s (%s, %s)\n", d.Version, d.Platform, d.Go)
	if d.Config != "" {
		out.Printf("configuration file: %s\n", d.Config)
	}
	out.Printf("\nsettings\n")
	columns(out, d.Settings)
	out.Printf("\nlimits\n")
	columns(out, d.Limits)
	out.Printf("\nchecks\n")
	for _, k := range d.Checks {
		out.Printf("  %-4s  %-12s %s\n", k.Status, k.Name, k.Detail)
	}
}

func columns(out *cli.Output, all []cli.Setting) {
	for _, set := range all {
		value := set.Value
		if value == "" {
			value = "-"
		}
		out.Printf("  %-20s %-28s %s\n", set.Name, value, set.Origin)
	}
}

// limits are the library's options as they are in force, under the library's names.
func (c *Doctor) limits(set []cli.Setting) []cli.Setting {
	timeout := webfetch.DefaultTimeout
	if c.Timeout != nil {
		timeout = time.Duration(*c.Timeout)
	}
	limit := func(name string, value any) cli.Setting {
		out := cli.Setting{Name: name, Value: fmt.Sprint(value), Origin: "fixed"}
		for _, s := range set {
			if cli.Key(s.Name) == strings.TrimSuffix(name, "_ms") {
				out.Origin = s.Origin
			}
		}
		return out
	}
	return []cli.Setting{
		limit("page_chars", page.Or(c.PageChars, webfetch.DefaultPageChars)),
		limit("max_body_bytes", page.Or(c.MaxBodyBytes, webfetch.DefaultMaxBodyBytes)),
		limit("timeout_ms", timeout.Milliseconds()),
		limit("max_redirects", page.Or(c.MaxRedirects, webfetch.DefaultMaxRedirects)),
		limit("user_agent", page.Or(c.UserAgent, webfetch.DefaultUserAgent)),
		limit("per_minute", c.PerMinute),
		limit("per_host", c.PerHost),
		limit("per_host_second", c.PerHostSecond),
		limit("max_bytes", fmt.Sprintf("%d, at most %d", webfetch.DefaultWindowBytes, webfetch.MaxWindowBytes)),
		limit("result_bytes", webfetch.MaxTextBytes),
	}
}

// configuration checks what serve would refuse.
func (c *Doctor) configuration(s *cli.Session, d *checkup) {
	_, err := c.service(s.Build)
	if err == nil {
		_, err = c.Front()
	}
	if err == nil {
		_, err = page.Each("trusted-proxy", c.TrustedProxy, page.ParseNetwork)
	}
	if err != nil {
		d.add("settings", "fail", "%v", err)
		return
	}
	d.add("settings", "ok", "serve would take them")
	if c.AllowPrivateHosts {
		d.add("policy", "warn", "every private host may be read; --allow-host names single ones")
	}
}

// dataFolder looks at the folder and what is in it; nil where there is none that could be used.
func (c *Doctor) dataFolder(s *cli.Session, d *checkup) *datafolder.Folder {
	path, err := c.Path(s)
	if err != nil {
		d.add("data", "fail", "%v", err)
		return nil
	}
	folder, err := datafolder.Look(path)
	if errors.Is(err, fs.ErrNotExist) {
		d.add("data", "info", "%s is not there yet; the first start makes it", path)
		return nil
	}
	if err != nil {
		d.add("data", "fail", "%v", err)
		return nil
	}
	for _, w := range folder.Warnings() {
		d.add("data", "warn", "%s", w)
	}
	if len(folder.Warnings()) == 0 {
		d.add("data", "ok", "%s, %s", folder.Path(), folder.Mode())
	}
	if !c.theInstall(s, d, folder) {
		return folder
	}
	in, err := install.Open(s.Ctx, c.Where(s, folder))
	if err != nil {
		d.add("install", "fail", "%v", err)
		return folder
	}
	defer in.Close()
	agents, tokens, err := in.Agents.List(s.Ctx, nil)
	if err != nil {
		d.add("tokens", "fail", "%v", err)
		return folder
	}
	live := 0
	for _, t := range tokens {
		if t.Revoked.IsZero() {
			live++
		}
	}
	switch {
	case live == 0:
		d.add("tokens", "warn", "no token works; `wayleave agents token new %s` makes one", agent.Local)
	default:
		d.add("tokens", "ok", "%d that work, %d agents", live, len(agents))
	}
	hosts, err := in.Allowed.List(s.Ctx)
	switch {
	case err != nil:
		d.add("allowed", "fail", "%v", err)
	case len(hosts) > 0:
		d.add("allowed", "info", "%d private hosts or networks; `wayleave allow` lists them", len(hosts))
	}
	return folder
}

// egress looks at how pages are reached.
func (c *Doctor) egress(ctx context.Context, d *checkup) {
	if c.EgressProxy != nil {
		proxy, err := url.Parse(*c.EgressProxy)
		if err != nil {
			d.add("proxy", "fail", "--egress-proxy is not a URL")
			return
		}
		d.add("proxy", "info", "pages are asked for through %s, which looks names up: they are judged by pattern and literal address only", proxy.Host)
		port := proxy.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[proxy.Scheme]
		}
		reach, cancel := context.WithTimeout(ctx, probeTime)
		defer cancel()
		if conn, err := new(net.Dialer).DialContext(reach, "tcp", net.JoinHostPort(proxy.Hostname(), port)); err != nil {
			d.add("proxy", "warn", "it cannot be reached now: %v", err)
		} else {
			conn.Close()
			d.add("proxy", "ok", "it can be reached")
		}
		return
	}
	prefixes, err := net.InterfaceAddrs()
	if err != nil {
		d.add("interfaces", "fail", "this machine's own addresses cannot be listed, so nothing can be fetched: %v", err)
	} else {
		d.add("interfaces", "ok", "%d own addresses, refused like private ones", len(prefixes))
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	const name = "example.com" // reserved for such use, and looked up by nothing else here
	if _, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name); err != nil {
		d.add("names", "warn", "%s cannot be looked up now: %v", name, err)
	} else {
		d.add("names", "ok", "%s can be looked up", name)
	}
}

// certificates says whose word counts for the certificates of sites.
func (c *Doctor) certificates(d *checkup) {
	if c.CAFile != "" {
		if _, err := page.Authorities(c.CAFile); err == nil { // else said under settings
			d.add("certificates", "ok", "the system's authorities and those of %s", c.CAFile)
		}
		return
	}
	if system, err := x509.SystemCertPool(); err != nil || system.Equal(x509.NewCertPool()) {
		d.add("certificates", "warn", "this system has no authorities, so no https page can be read; install them (often a package ca-certificates) or name a PEM file with --ca-file")
		return
	}
	d.add("certificates", "ok", "the system's authorities")
}

// listener asks a server that may be running whether it is well.
func (c *Doctor) listener(ctx context.Context, d *checkup, folder *datafolder.Folder) {
	at, owned := datafolder.Server{}, false
	if folder != nil {
		var err error
		if at, owned, err = folder.Owner(); err != nil {
			d.add("server", "warn", "%v", err)
		}
	}
	if owned && at.Listen != "" && !place.SameListener(at.Listen, c.Listen) {
		d.add("server", "info", "the one of this data folder is at %s; --listen %s looks at it", at.URL, at.Listen)
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil || port == "0" {
		return
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	scheme, trust, err := "http", (*tls.Config)(nil), error(nil)
	if c.TLSCert != "" {
		scheme = "https"
		if trust, err = trustOwn(c.TLSCert, c.TLSKey); err != nil {
			return // said under settings
		}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		d.add("server", "fail", "--listen %s: %v", strconv.Quote(c.Listen), err)
		return
	}
	transport := &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		d.add("server", "info", "none at %s", c.Listen)
		return
	case err != nil:
		d.add("server", "warn", "the one at %s does not answer: %v", c.Listen, err)
		return
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		switch {
		case owned && (at.Listen == "" || place.SameListener(at.Listen, c.Listen)):
			d.add("server", "ok", "ready at %s", c.Listen)
		default:
			d.add("server", "warn", "one answers at %s, and not for the data folder looked at here, whose tokens and allowed hosts it does not know: give --data as serve has it", c.Listen)
		}
	case http.StatusServiceUnavailable:
		d.add("server", "fail", "the one at %s is not ready; its log says why", c.Listen)
	default:
		d.add("server", "warn", "something else answers at %s (%d)", c.Listen, response.StatusCode)
	}
}

// trustOwn trusts exactly the certificate that serve would show, whatever name it is for.
func trustOwn(certFile, keyFile string) (*tls.Config, error) {
	pair, err := cli.ReadPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(pair.Leaf)
	trust := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	switch {
	case len(pair.Leaf.DNSNames) > 0:
		trust.ServerName = strings.TrimPrefix(pair.Leaf.DNSNames[0], "*.")
		if trust.ServerName != pair.Leaf.DNSNames[0] {
			trust.ServerName = "any." + trust.ServerName
		}
	case len(pair.Leaf.IPAddresses) > 0:
		trust.ServerName = pair.Leaf.IPAddresses[0].String()
	}
	return trust, nil
}

func (c *Doctor) memory(d *checkup) {
	switch err := undumpable(); {
	case err != nil:
		d.add("memory", "warn", "%v", err)
	case runtime.GOOS == "linux":
		d.add("memory", "ok", "serve and mcp hide their memory from other processes of this user")
	default:
		d.add("memory", "info", "on %s other processes of this user can read a server's memory", strings.ToLower(runtime.GOOS))
	}
}
