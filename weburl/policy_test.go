package weburl_test

// The order of the rules, the lists, and what a permit lifts.

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/weburl"
)

func patterns(t testing.TB, list ...string) (ps []weburl.HostPattern) {
	t.Helper()
	for _, s := range list {
		p, err := weburl.ParseHostPattern(s)
		if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
	return ps
}

func permits(t testing.TB, list ...string) (ps []weburl.Permit) {
	t.Helper()
	for _, s := range list {
		p, err := weburl.ParsePermit(s)
		if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
	return ps
}

// ruleOf is the rule of a refusal, "" for none.
func ruleOf(t testing.TB, err error) weburl.Rule {
	t.Helper()
	if err == nil {
		return ""
	}
	var refusal *weburl.Error
	if !errors.As(err, &refusal) {
		t.Errorf("not a refusal: %v", err)
		return "?"
	}
	if refusal.Kind != weburl.Invalid && refusal.Kind != weburl.Disallowed || refusal.Reason == "" {
		t.Errorf("a refusal without kind or reason: %+v", refusal)
	}
	return refusal.Rule
}

// checks is a table of URLs and the rule that each is refused by, "" where it is allowed.
type checks map[string]weburl.Rule

func (c checks) run(t *testing.T, p *weburl.Policy) {
	t.Helper()
	for raw, want := range c {
		_, err := p.Check(raw)
		if got := ruleOf(t, err); got != want {
			t.Errorf("%q: refused by %q, want %q (%v)", raw, got, want, err)
		}
	}
}

func TestW141RulesAnswerInOrder(t *testing.T) {
	long := strings.Repeat("a", weburl.MaxLength)
	checks{
		"":                                       weburl.RuleShape,
		" \t\u00a0":                              weburl.RuleShape,
		"http://h/\xff":                          weburl.RuleShape,
		"http://h/\x00":                          weburl.RuleShape,
		"\x00" + long + long:                     weburl.RuleShape,
		"file:///" + long:                        weburl.RuleLength,
		"nonsense" + long:                        weburl.RuleLength,
		"nonsense":                               weburl.RuleParse,
		"ftp://[bad/":                            weburl.RuleParse,
		"ftp://u:p@localhost:25/":                weburl.RuleScheme,
		"http://u@blocked.example:25/":           weburl.RuleCredentials,
		"http://u@a..b/":                         weburl.RuleCredentials,
		"http://blocked..example/":               weburl.RuleHost,
		"http://blocked.localhost:25/":           weburl.RuleBlocked,
		"http://10.9.9.9/":                       weburl.RuleBlocked,
		"http://localhost:25/":                   weburl.RuleAllowed,
		"http://allowed.localhost:25/":           weburl.RulePrivate,
		"http://169.254.169.254:25/":             weburl.RuleMetadata,
		"http://allowed.example:25/":             weburl.RulePort,
		"http://allowed.example:8080/":           weburl.RulePort,
		"http://allowed.example:80/":             "",
		"http://allowed.example:443/":            "",
		"https://sub.allowed.example/#:25":       "",
		"http://allowed.example/" + long[:1977]:  "",
		"http://allowed.example/" + long[:1978]:  weburl.RuleLength,
		"http://allowed.example/é" + long[:1976]: "", // two bytes, one character
	}.run(t, &weburl.Policy{
		BlockedHosts:    patterns(t, "blocked.example", "*.blocked.example", "blocked.localhost"),
		AllowedHosts:    patterns(t, "allowed.example", "*.allowed.example", "allowed.localhost", "blocked.localhost", "169.254.169.254"),
		BlockedNetworks: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16")},
		AllowedPorts:    []uint16{80, 443, 25},
	})
}

func TestZeroPolicyIsThePublicWebAndNilIsNothing(t *testing.T) {
	checks{"https://example.com/": "", "http://127.0.0.1/": weburl.RulePrivate}.run(t, &weburl.Policy{})
	checks{"https://example.com/": weburl.RulePolicy, "http://127.0.0.1/": weburl.RulePolicy, "x": weburl.RuleParse}.run(t, nil)
	if got := ruleOf(t, new(weburl.Policy).CheckURL(nil)); got != weburl.RulePrivate {
		t.Errorf("no URL: refused by %q", got)
	}
	if got := ruleOf(t, new(weburl.Policy).CheckURL(&weburl.URL{})); got != weburl.RulePrivate {
		t.Errorf("a URL that nobody parsed: refused by %q", got)
	}
}

func TestPolicyWithAnEmptyEntryRefusesEverything(t *testing.T) {
	for name, p := range map[string]*weburl.Policy{
		"allowed":   {AllowedHosts: make([]weburl.HostPattern, 1)},
		"blocked":   {BlockedHosts: make([]weburl.HostPattern, 1)},
		"permitted": {Permitted: make([]weburl.Permit, 1)},
		"network":   {BlockedNetworks: make([]netip.Prefix, 1)},
	} {
		if _, err := p.Check("https://example.com/"); ruleOf(t, err) != weburl.RulePolicy {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestW138AllowPrivateLiftsThePrivateRuleOnly(t *testing.T) {
	checks{
		"http://localhost:8787/":            "",
		"http://db.internal/":               "",
		"http://10.1.2.3/":                  "",
		"http://[::1]/":                     "",
		"http://[fd00::1]/":                 "",
		"http://169.254.1.1/":               "",
		"file:///etc/passwd":                weburl.RuleScheme,
		"http://u:p@localhost/":             weburl.RuleCredentials,
		"http://localhost../":               weburl.RuleHost,
		"http://blocked.internal/":          weburl.RuleBlocked,
		"http://localhost:25/":              weburl.RulePort,
		"http://169.254.169.254/":           weburl.RuleMetadata,
		"http://[::ffff:169.254.169.254]/":  weburl.RuleMetadata,
		"http://[64:ff9b::169.254.169.254]": weburl.RuleMetadata,
		"http://2852039166/":                weburl.RuleMetadata,
		"http://100.100.100.200/":           weburl.RuleMetadata,
		"http://168.63.129.16/":             weburl.RuleMetadata,
		"http://[fd00:ec2::254]/":           weburl.RuleMetadata,
	}.run(t, &weburl.Policy{AllowPrivateHosts: true, BlockedHosts: patterns(t, "blocked.internal")})
}

func TestW139AllowListDoesNotLiftThePrivateRule(t *testing.T) {
	for _, list := range [][]string{{"*"}, {"127.0.0.1", "localhost", "[::1]"}} {
		checks{
			"http://127.0.0.1/": weburl.RulePrivate,
			"http://localhost/": weburl.RulePrivate,
			"http://[::1]/":     weburl.RulePrivate,
		}.run(t, &weburl.Policy{AllowedHosts: patterns(t, list...)})
	}
}

func TestW024PermitsLiftThePrivateRule(t *testing.T) {
	checks{
		"http://10.1.2.3/":           "",
		"http://10.1.2.3:9999/":      "",
		"http://[::ffff:10.1.2.3]/":  "",
		"http://11.1.2.3/":           "",
		"http://192.168.0.5:8080/":   "",
		"http://192.168.0.5/":        weburl.RulePrivate,
		"http://192.168.0.6:8080/":   weburl.RulePrivate,
		"http://[fd00::5]:81/":       "",
		"http://[fd00::5]/":          weburl.RulePrivate,
		"http://[fd00:1::5]/":        "",
		"http://localhost:3000/":     "",
		"http://localhost:3001/":     weburl.RulePrivate,
		"http://127.0.0.1:3000/":     weburl.RulePrivate, // the name was permitted, not the address
		"http://a.b.internal/":       "",
		"http://internal/":           weburl.RulePrivate,
		"http://printer.lan/":        "", // a name like any other until it is looked up
		"http://10.1.2.3:25/":        weburl.RulePort,
		"http://[64:ff9b::a01:203]/": weburl.RulePrivate, // another way to the permitted network is not permitted
	}.run(t, &weburl.Policy{Permitted: permits(t, "10.0.0.0/8", "192.168.0.5:8080", "[fd00::5]:81", "fd00:1::/32", "localhost:3000", "*.internal")})
}

func TestW024PermitDoesNotLiftTheLists(t *testing.T) {
	checks{
		"http://10.0.0.1/": weburl.RuleAllowed,
		"http://10.0.0.2/": weburl.RuleBlocked,
		"http://10.0.0.3/": "",
	}.run(t, &weburl.Policy{
		Permitted:    permits(t, "10.0.0.0/8"),
		AllowedHosts: patterns(t, "10.0.0.2", "10.0.0.3"),
		BlockedHosts: patterns(t, "10.0.0.2"),
	})
}

func TestTM007PermitSaysWhichMetadataStaysRefused(t *testing.T) {
	for text, want := range map[string]int{"169.254.0.0/16": 3, "169.254.169.254": 0, "10.0.0.0/8": 0, "fd00::/8:8080": 3, "*.internal": 0, "192.0.0.192/32": 0, "0.0.0.0/0": 6} {
		if got := permits(t, text)[0].Metadata(); len(got) != want {
			t.Errorf("%s: %v, want %d", text, got, want)
		}
	}
}

func TestTM007MetadataIsPermittedOneByOneOnly(t *testing.T) {
	for _, addr := range []string{"169.254.169.254", "100.100.100.200", "168.63.129.16", "[fd00:ec2::254]"} {
		raw := "http://" + addr + "/latest"
		checks{raw: weburl.RuleMetadata}.run(t, &weburl.Policy{})
		checks{raw: weburl.RuleMetadata}.run(t, &weburl.Policy{
			AllowPrivateHosts: true,
			Permitted:         permits(t, "0.0.0.0/0", "::/0", "169.254.0.0/16", "*.internal", "100.100.100.200/31", "169.254.169.254:81"),
		})
		checks{raw: "", "http://169.254.1.1/": weburl.RulePrivate}.run(t, &weburl.Policy{Permitted: permits(t, addr)})
	}
	checks{"http://169.254.169.254/": ""}.run(t, &weburl.Policy{Permitted: permits(t, "169.254.169.254/32")})
	_, err := new(weburl.Policy).Check("http://169.254.169.254/")
	if refusal := err.(*weburl.Error); refusal.Permit != "" {
		t.Errorf("the refusal advises to permit %q", refusal.Permit)
	}
}

// TestPermitIsNamedOnlyWhereItLiftsTheRefusal: a port that is refused whatever is permitted stays refused.
func TestPermitIsNamedOnlyWhereItLiftsTheRefusal(t *testing.T) {
	for raw, want := range map[string]string{
		"http://127.0.0.1:8080/": "127.0.0.1",
		"http://localhost:8080/": "localhost",
		"http://127.0.0.1/":      "127.0.0.1",
		"http://127.0.0.1:22/":   "",
		"http://localhost:25/":   "",
		"http://[::1]:6000/":     "",
		"http://10.0.0.1:9999/":  "", // not on the list of allowed ports
	} {
		policy := &weburl.Policy{}
		if strings.Contains(raw, ":9999") {
			policy.AllowedPorts = []uint16{80, 443}
		}
		verdict := policy.Judge(raw)
		if verdict.Rule != weburl.RulePrivate || verdict.Permit != want {
			t.Errorf("%s: %+v, want the permit %q", raw, verdict, want)
			continue
		}
		policy.Permitted = permits(t, "127.0.0.1", "localhost", "[::1]", "10.0.0.1")
		if lifted := policy.Judge(raw).Verdict == "allow"; lifted != (want != "") {
			t.Errorf("%s: a permit lifts it: %v, the refusal names %q", raw, lifted, want)
		}
	}
}

func TestBlockedAddressStopsEverySpelling(t *testing.T) {
	p := &weburl.Policy{
		BlockedHosts:    patterns(t, "93.184.216.34", "[2606:4700::5]"),
		BlockedNetworks: []netip.Prefix{netip.MustParsePrefix("8.8.0.0/16"), netip.MustParsePrefix("::ffff:9.9.9.0/120"), netip.MustParsePrefix("2a00::/16")},
	}
	for _, raw := range []string{
		"http://93.184.216.34/", "http://[::ffff:93.184.216.34]/", "http://[::ffff:5db8:d822]/", "http://1572395042/",
		"http://0x5db8d822/", "http://[64:ff9b::5db8:d822]/", "http://[2002:5db8:d822::1]/", "http://[2606:4700::5]/",
		"http://8.8.4.4/", "http://[64:ff9b::808:808]/", "http://9.9.9.9/", "http://[2a00::1]/", "http://[2606:4700::5efe:808:808]/",
	} {
		checks{raw: weburl.RuleBlocked}.run(t, p)
	}
	checks{"http://93.184.216.35/": "", "http://8.9.0.0/": "", "http://[2a01::1]/": "", "http://93.184.216.34.example/": ""}.run(t, p)
}

func TestW142BadPortsAndAllowedPorts(t *testing.T) {
	checks{
		"http://h:0/": weburl.RulePort, "http://h:1/": weburl.RulePort, "http://h:21/": weburl.RulePort, "http://h:22/": weburl.RulePort,
		"http://h:25/": weburl.RulePort, "http://h:6000/": weburl.RulePort, "http://h:6697/": weburl.RulePort, "http://h:10080/": weburl.RulePort,
		"http://h:00025/": weburl.RulePort, "http://h:2/": "", "http://h:24/": "", "http://h:8080/": "", "http://h:65535/": "", "http://h:/": "",
	}.run(t, &weburl.Policy{})
	checks{"http://h/": "", "https://h/": weburl.RulePort, "http://h:25/": weburl.RulePort}.run(t, &weburl.Policy{AllowedPorts: []uint16{80, 25}})
}

func TestRefusalsNameTheRuleAndTheCanonicalHost(t *testing.T) {
	p := &weburl.Policy{BlockedHosts: patterns(t, "bücher.example")}
	for raw, want := range map[string]weburl.Error{
		"http://[::FFFF:127.0.0.1]/":   {Kind: weburl.Disallowed, Rule: weburl.RulePrivate, Host: "[::ffff:7f00:1]", Permit: "[::ffff:7f00:1]", Reason: `the host "[::ffff:7f00:1]" is not public: loopback`},
		"http://0x7f.1/":               {Kind: weburl.Disallowed, Rule: weburl.RulePrivate, Host: "127.0.0.1", Permit: "127.0.0.1", Reason: `the host "127.0.0.1" is not public: loopback`},
		"http://[64:ff9b::10.0.0.1]/":  {Kind: weburl.Disallowed, Rule: weburl.RulePrivate, Host: "[64:ff9b::a00:1]", Permit: "[64:ff9b::a00:1]", Reason: `the host "[64:ff9b::a00:1]" is not public: private network, as 10.0.0.1 inside an IPv6 address`},
		"http://LOCALHOST./":           {Kind: weburl.Disallowed, Rule: weburl.RulePrivate, Host: "localhost", Permit: "localhost", Reason: `the host "localhost" is not public: a local name`},
		"http://Bücher.example./":      {Kind: weburl.Disallowed, Rule: weburl.RuleBlocked, Host: "xn--bcher-kva.example", Reason: `the host "xn--bcher-kva.example" is on the list of blocked hosts`},
		"http://h:25/":                 {Kind: weburl.Disallowed, Rule: weburl.RulePort, Host: "h", Reason: `port 25 of the host "h" belongs to another protocol than HTTP`},
		"ftp://h/":                     {Kind: weburl.Disallowed, Rule: weburl.RuleScheme, Reason: `the scheme "ftp" is not allowed, only http and https are`},
		"http://u:p@h/":                {Kind: weburl.Disallowed, Rule: weburl.RuleCredentials, Host: "h", Reason: `the URL for "h" holds a user name or password, which is never sent`},
		"http://a..b/":                 {Kind: weburl.Invalid, Rule: weburl.RuleHost, Host: "a..b", Reason: `the host "a..b" has an empty label`},
		"http://1.2.3.256/":            {Kind: weburl.Invalid, Rule: weburl.RuleParse, Reason: "the host of the URL ends in a number but is not an IPv4 address"},
		"http://[fe80::1%25eth0]/":     {Kind: weburl.Invalid, Rule: weburl.RuleParse, Reason: "the host of the URL has brackets but is not an IPv6 address"},
		"http://a b/":                  {Kind: weburl.Invalid, Rule: weburl.RuleParse, Reason: "the host of the URL holds a character that no host may hold"},
		"http://xn--a/":                {Kind: weburl.Invalid, Rule: weburl.RuleParse, Reason: "the host of the URL is not a valid domain name"},
		"http:///":                     {Kind: weburl.Invalid, Rule: weburl.RuleParse, Reason: "the URL has no host"},
		"http://h:65536/":              {Kind: weburl.Invalid, Rule: weburl.RuleParse, Reason: "the port of the URL is above 65535"},
		"http://h:x/":                  {Kind: weburl.Invalid, Rule: weburl.RuleParse, Reason: "the port of the URL is not a number"},
		"example.com":                  {Kind: weburl.Invalid, Rule: weburl.RuleParse, Reason: "the URL is not absolute, it must begin with http:// or https://"},
		"  ":                           {Kind: weburl.Invalid, Rule: weburl.RuleShape, Reason: "the URL is blank"},
		strings.Repeat("x", 1_002_001): {Kind: weburl.Invalid, Rule: weburl.RuleLength, Reason: "the URL has 1,002,001 characters, at most 2,000 are allowed"},
	} {
		_, err := p.Check(raw)
		got := *err.(*weburl.Error)
		got.Address = netip.Addr{}
		if got != want {
			t.Errorf("%.60q:\n got %+v\nwant %+v", raw, got, want)
		}
	}
}

func TestHostInAReasonIsBounded(t *testing.T) {
	_, err := new(weburl.Policy).Check("http://" + strings.Repeat("ignore-all-rules.", 100) + "localhost/")
	if n := len(err.Error()); n > 200 {
		t.Errorf("the reason has %d bytes: %s", n, err)
	}
}
