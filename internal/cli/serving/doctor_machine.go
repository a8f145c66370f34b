// This file is what doctor sees of the machine and its network: how pages are reached, whose certificates count, who
// listens, and what the system is.
package serving

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/webfetch"
)

// throughProxy asks the egress proxy for a way to a name that never exists, so that nobody else is asked for anything, and
// says what came of it.
func (c *Doctor) throughProxy(ctx context.Context) (status, detail string) {
	reach, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	o, err := c.Options(reach)
	if err != nil { // said under settings
		return "warn", "it was not asked: the settings do not hold"
	}
	_, err = webfetch.Fetch(reach, webfetch.Request{URL: "https://wayleave.invalid/"}, webfetch.Options{EgressProxy: o.EgressProxy, RootCAs: o.RootCAs, UserAgent: o.UserAgent})
	e, ok := errors.AsType[*webfetch.Error](err)
	switch {
	case !ok, e.Code == webfetch.CodeTimeout:
		return "warn", "it gave no answer within " + probeTime.String()
	case hop.Lasting(err) && !errors.Is(err, hop.ProxyRefused):
		return "fail", "no page can be read: " + e.Reason
	case strings.HasPrefix(e.Reason, string(hop.ProxyGone)):
		return "warn", "it cannot be reached now" + strings.TrimPrefix(e.Reason, string(hop.ProxyGone))
	}
	return "ok", "it can be reached, and asks for no other credentials" // that it has no way to there is as it should be
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
		status, detail := c.throughProxy(ctx)
		d.add("proxy", status, "%s", detail)
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
func (c *Doctor) certificates(s *cli.Session, d *checkup) {
	if c.CAFile != "" {
		if _, err := page.Authorities(s.Ctx, c.CAFile); err == nil { // else said under settings
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

// listener asks a server that may be running whether it is well: the one at --listen where that was given, else the one
// that the data folder has, wherever it listens.
func (c *Doctor) listener(ctx context.Context, d *checkup, folder *datafolder.Folder) {
	at, owned := datafolder.Server{}, false
	if folder != nil {
		var err error
		if at, owned, err = folder.Owner(); err != nil {
			d.add("server", "warn", "%v", err)
		}
	}
	listen := c.Listen
	if owned && at.Listen != "" && !place.SameListener(at.Listen, listen) {
		if d.given("listen") {
			d.add("server", "info", "the one of this data folder is at %s; --listen %s looks at it", at.URL, at.Listen)
		} else {
			listen = at.Listen
		}
	}
	own := d.foreign || owned && (at.Listen == "" || place.SameListener(at.Listen, listen))
	if _, port, err := net.SplitHostPort(listen); err != nil || port == "0" {
		return
	}
	scheme, trust, err := "http", (*tls.Config)(nil), error(nil)
	if c.TLSCert != "" {
		scheme = "https"
		if trust, err = trustOwn(ctx, c.TLSCert, c.TLSKey); err != nil {
			return // said under settings
		}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+reachable(listen)+"/readyz", nil)
	if err != nil {
		d.add("server", "fail", "--listen %s: %v", strconv.Quote(listen), err)
		return
	}
	transport := &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		d.add("server", "info", "none at %s", listen)
		return
	case err != nil:
		d.add("server", "warn", "the one at %s does not answer: %v", listen, err)
		return
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusOK && own:
		d.add("server", "ok", "ready at %s", listen)
	case response.StatusCode == http.StatusOK:
		d.add("server", "warn", "one answers at %s, and not for the data folder looked at here, whose tokens and allowed hosts it does not know: give --data as serve has it", listen)
		d.neighbour(listen)
	case response.StatusCode == http.StatusServiceUnavailable:
		d.add("server", "fail", "the one at %s is not ready; its log says why", listen)
	case response.StatusCode == http.StatusBadRequest && own && c.TLSCert == "":
		d.add("server", "info", "the one at %s speaks TLS; give --tls-cert and --tls-key as serve has them, and it is asked", listen)
	default:
		d.add("server", "warn", "something else answers at %s (%d)", listen, response.StatusCode)
	}
}

// given says whether a setting was, by whatever way.
func (d *checkup) given(name string) bool {
	return slices.ContainsFunc(d.Settings, func(s cli.Setting) bool { return s.Name == name && s.Origin != "default" })
}

// neighbour says whose a server is whose data folder was not named (TM-093).
func (d *checkup) neighbour(listen string) {
	if user := listenerUser(portOf(listen)); user != "" {
		d.users(user, datafolder.Me(), "the one that listens at "+listen+" runs as")
	}
}

// trustOwn trusts exactly the certificate that serve would show, whatever name it is for.
func trustOwn(ctx context.Context, certFile, keyFile string) (*tls.Config, error) {
	pair, err := cli.ReadPair(ctx, certFile, keyFile)
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

// memory says whether others of the same user can read a server's memory (TM-095).
func memory(d *checkup) {
	switch err := undumpable(); {
	case err != nil:
		d.add("memory", "warn", "%v", err)
	case runtime.GOOS == "linux":
		d.add("memory", "ok", "serve and mcp hide their memory from other processes of this user")
	default:
		d.add("memory", "info", "on %s other processes of this user can read a server's memory", strings.ToLower(runtime.GOOS))
	}
}

// platform says what this system is good for.
func platform(d *checkup) {
	switch runtime.GOOS {
	case "linux":
		d.add("platform", "ok", "Linux: everything")
	case "darwin":
		d.add("platform", "info", "macOS: reading and the browser are supported; a second user keeps agents from the service here too")
	case "windows":
		d.add("platform", "info", "Windows: reading is supported, the browser is experimental; file permissions are not looked at")
	default:
		d.add("platform", "warn", "%s is not tested", runtime.GOOS)
	}
}

// metrics says where they are served, and whether they are.
func (c *Doctor) metrics(ctx context.Context, d *checkup) {
	if c.MetricsListen == "" || c.metricsAddress() != nil { // the latter is said under settings
		d.add("metrics", "info", "served nowhere; --metrics-listen 127.0.0.1:9477 serves them")
		return
	}
	if c.MetricsOpen {
		d.add("metrics", "warn", "--metrics-open: whoever reaches %s reads them, without a credential", c.MetricsListen)
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+reachable(c.MetricsListen)+"/metrics", nil)
	if err != nil {
		d.add("metrics", "fail", "--metrics-listen %s: %v", strconv.Quote(c.MetricsListen), err)
		return
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		d.add("metrics", "info", "none at %s now", c.MetricsListen)
	case err != nil:
		d.add("metrics", "warn", "%s does not answer: %v", c.MetricsListen, err)
	default:
		response.Body.Close()
		d.add("metrics", map[bool]string{true: "ok", false: "warn"}[response.StatusCode == http.StatusOK], "%s answers (%d)", c.MetricsListen, response.StatusCode)
	}
}

// reachable is the address at which this machine reaches a listener of its own.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
