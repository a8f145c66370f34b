package weburl_test

// What may be written in lists, and what it means.

import (
	"strings"
	"testing"

	"github.com/wayleave/wayleave/weburl"
)

func TestW020HostPatternsMatch(t *testing.T) {
	for pattern, hosts := range map[string]string{
		"example.com":                 "example.com EXAMPLE.com. !a.example.com !example.org !xexample.com",
		"*.example.com":               "a.example.com a.b.example.com A.Example.Com. !example.com !xexample.com !example.com.evil.org",
		"*":                           "example.com a.b 93.184.216.34 [2606:4700::1]",
		"bücher.de":                   "xn--bcher-kva.de BÜCHER.de !bucher.de",
		"93.184.216.34":               "93.184.216.34 1572395042 [::ffff:93.184.216.34] !93.184.216.35 !93.184.216.34.example",
		"1572395042":                  "93.184.216.34",
		"[2606:4700:0:0::1]":          "[2606:4700::1] ![2606:4700::2]",
		"[::ffff:93.184.216.34]":      "93.184.216.34 [::ffff:5db8:d822]",
		"*.\uff25xample\u3002com":     "a.example.com",
		"  exa%6dple.com.\t":          "example.com",
		"under_score.example":         "under_score.example",
		"*.co":                        "a.co !co",
		"\U0001d425ocalhost.example.": "localhost.example",
	} {
		p := patterns(t, pattern)[0]
		for _, host := range strings.Fields(hosts) {
			host, not := strings.CutPrefix(host, "!")
			u, err := weburl.Parse("http://" + host + "/")
			if err != nil {
				t.Fatal(err)
			}
			if p.Matches(u) == not {
				t.Errorf("%q and host %s: matches %v", pattern, host, !not)
			}
		}
	}
	u, _ := weburl.Parse("http://example.com/")
	if (weburl.HostPattern{}).Matches(u) {
		t.Error("the zero pattern matches")
	}
}

func TestW022MalformedPatternsAreErrorsThatNameThem(t *testing.T) {
	for _, pattern := range []string{
		"", "  ", ".", "..", "a..b", "*.", "**", "*.*", "a*.com", "a.*", "*a.com", "*.a*.com", "a%2a.com", "http://example.com",
		"example.com/", "example.com/path", "example.com?q", "example.com#f", "u@example.com", "a\\b", "a b", "a\tb", "a\u00a0b\x00",
		"example.com:80", "[::1]:80", "[::1", "::1", "[::1]]", "[[::1]]", "[127.0.0.1]", "[::1%25lo]", "1.2.3.256", "256.1.1.1",
		"foo.0x10", "*.127.0.0.1", "*.[::1]", "*.1", "*.0x7f", "xn--a", "\xff.com", "\u00ad", strings.Repeat("a", 3000), "%", "a|b", "a^b",
	} {
		p, err := weburl.ParseHostPattern(pattern)
		if err == nil {
			t.Errorf("%q is taken, as %s", pattern, p)
			continue
		}
		if !strings.Contains(err.Error(), "host pattern \"") || len(err.Error()) > 500 {
			t.Errorf("%.80q: %v", pattern, err)
		}
	}
}

func TestPatternErrorsSayWhatIsWrong(t *testing.T) {
	for pattern, want := range map[string]string{
		"[::1]:80":            "a bracketed address ends with its bracket, no port may follow",
		"example.com:80":      "a host holds no port and no scheme, and an IPv6 address is written in brackets",
		"https://example.com": `a host holds no "/"`,
		"*.127.0.0.1":         "there is nothing below an address",
		"exa*mple.com":        `a star stands alone, or as "*." before a name`,
		"a..b":                `the host "a..b" has an empty label`,
	} {
		if _, err := weburl.ParseHostPattern(pattern); err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%q: %v, want … %s", pattern, err, want)
		}
	}
}

func TestPermitsAreCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"printer.lan":                "printer.lan",
		" Printer.LAN. ":             "printer.lan",
		"printer.lan:631":            "printer.lan:631",
		"*.lan":                      "*.lan",
		"*.lan:8080":                 "*.lan:8080",
		"localhost:3000":             "localhost:3000",
		"10.0.0.5":                   "10.0.0.5",
		"10.0.0.5:8080":              "10.0.0.5:8080",
		"0x0a000005":                 "10.0.0.5",
		"10.0.0.5/32":                "10.0.0.5",
		"10.0.0.0/8":                 "10.0.0.0/8",
		"10.0.0.0/8:8080":            "10.0.0.0/8:8080",
		"[fd00::5]":                  "[fd00::5]",
		"[FD00:0::5]:8080":           "[fd00::5]:8080",
		"fd00::/8":                   "fd00::/8",
		"fd00::/8:8080":              "fd00::/8:8080",
		"fd00::5/128":                "[fd00::5]",
		"::ffff:10.0.0.0/104":        "10.0.0.0/8",
		"[::ffff:10.0.0.5]":          "10.0.0.5",
		"::/0":                       "::/0",
		"0.0.0.0/0":                  "0.0.0.0/0",
		"bücher.internal:" + "65535": "xn--bcher-kva.internal:65535",
	} {
		p, err := weburl.ParsePermit(text)
		if err != nil || p.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, p, err, want)
			continue
		}
		if again, err := weburl.ParsePermit(p.String()); err != nil || again != p {
			t.Errorf("%q: canonical %q reads as %q, %v", text, p, again, err)
		}
	}
	if s := (weburl.Permit{}).String(); s != "" {
		t.Errorf("the zero permit is written %q", s)
	}
}

func TestMalformedPermitsAreErrorsThatNameThem(t *testing.T) {
	for _, text := range []string{
		"", " ", "*", "*:80", "http://printer.lan", "printer.lan/x", "u@printer.lan", "printer.lan:", "printer.lan:0",
		"printer.lan:65536", "printer.lan:http", "printer.lan:-1", "printer.lan:+80", "printer.lan:80:80", "10.0.0.5/8", "10.0.0.0/33", "10.0.0.0/",
		"10.0.0/8", "10/8", "fd00::5", "fd00::5:8080", "[fd00::5", "[fd00::5]8080", "[fd00::]/8", "fe80::%eth0/64", "::ffff:0.0.0.0/90",
		"printer.lan:25", "10.0.0.0/8:6000", "a..b", "1.2.3.256", "*.10.0.0.1", "printer lan", "\xff",
	} {
		p, err := weburl.ParsePermit(text)
		if err == nil {
			t.Errorf("%q is taken, as %s", text, p)
			continue
		}
		if !strings.Contains(err.Error(), "permit \"") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
