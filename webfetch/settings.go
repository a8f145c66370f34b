package webfetch

import (
	"crypto/tls"
	"net/url"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/weburl"
)

// DefaultUserAgent names the product and where a site's owner can read about it.
const DefaultUserAgent = "Wayleave/0 (+https://github.com/wayleave/wayleave)"

// newTransport makes what sends the requests. It checks the options that only it reads.
func (o Options) newTransport(dialer *weburl.Dialer) (*hop.Transport, error) {
	t := &hop.Transport{
		Dial: dialer.DialContext,
		// Certificates are always checked, and there is no session cache: a ticket would let a site know us again.
		TLS:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		UserAgent: valueOr(o.UserAgent, DefaultUserAgent),
	}
	if strings.ContainsFunc(t.UserAgent, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, &OptionError{"user_agent", strconv.QuoteToASCII(t.UserAgent), "printable ASCII"}
	}
	if o.EgressProxy == nil {
		return t, nil
	}
	proxy, err := url.Parse(*o.EgressProxy)
	if err != nil || proxy.Scheme != "http" && proxy.Scheme != "https" || proxy.Hostname() == "" ||
		strings.Trim(proxy.Path, "/") != "" || proxy.RawQuery != "" || proxy.Fragment != "" {
		// The value may hold a password and is not repeated.
		return nil, &OptionError{"egress_proxy", "not a URL of a proxy", "http://[user:password@]HOST[:PORT], or the same with https"}
	}
	t.Proxy = proxy
	return t, nil
}

// dialer judges addresses by the policy; no policy is the public web.
func (o Options) dialer() (*weburl.Dialer, error) {
	switch {
	case o.Dialer != nil && o.Policy != nil:
		return nil, &OptionError{"policy", "given beside a dialer", "left out there: the dialer has its own"}
	case o.Dialer != nil:
		return o.Dialer, nil
	case o.Policy != nil:
		return &weburl.Dialer{Policy: o.Policy}, nil
	}
	return &weburl.Dialer{Policy: &weburl.Policy{}}, nil
}
