package weburl_test

// The canonical form, redirects, and the way into net/http.

import (
	"bufio"
	"bytes"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/weburl"
)

func TestW135CanonicalForm(t *testing.T) {
	for raw, want := range map[string]string{
		"HTTP://EXAMPLE.COM:80/a/../b#f":     "http://example.com/b",
		"https://example.com:443":            "https://example.com/",
		"https://example.com:80/":            "https://example.com:80/",
		"https:example.com":                  "https://example.com/",
		"https:///example.com":               "https://example.com/",
		"https:\\\\example.com\\a":           "https://example.com/a",
		" \thttps://exa\nmple.com/ ":         "https://example.com/",
		"http://@example.com/":               "http://example.com/",
		"http://:@example.com/":              "http://example.com/",
		"http://example.com./":               "http://example.com./",
		"http://①②⑦.0.0.1/":                  "http://127.0.0.1/",
		"http://127。0。0。1/":                  "http://127.0.0.1/",
		"http://0x7f.1/":                     "http://127.0.0.1/",
		"http://0177.0.0.1/":                 "http://127.0.0.1/",
		"http://2130706433/":                 "http://127.0.0.1/",
		"http://127.1./":                     "http://127.0.0.1/",
		"http://0/":                          "http://0.0.0.0/",
		"http://0x/":                         "http://0.0.0.0/",
		"http://[::FFFF:127.0.0.1]/":         "http://[::ffff:7f00:1]/",
		"http://[0:0:0:0:0:0:0:1]/":          "http://[::1]/",
		"http://[1:0:0:2:0:0:0:3]/":          "http://[1:0:0:2::3]/",
		"http://[64:ff9b::1.2.3.4]/":         "http://[64:ff9b::102:304]/",
		"http://ex%61mple.com/%61?%61":       "http://example.com/%61?%61",
		"http://faß.de/":                     "http://xn--fa-hia.de/",
		"http://ex_ä.com/":                   "http://xn--ex_-sla.com/",
		"http://foo.-1/":                     "http://foo.-1/",
		"http://0-1/":                        "http://0-1/",
		"http://-1/":                         "http://-1/",
		"http://h/é?é'\"":                    "http://h/%C3%A9?%C3%A9%27%22",
		"http://h?":                          "http://h/?",
		"http://h/%zz":                       "http://h/%zz",
		"http://h:0/":                        "http://h:0/",
		"http://h:00080/":                    "http://h/",
		"http://example.com\\@127.0.0.1/":    "http://example.com/@127.0.0.1/",
		"http://example.com#@127.0.0.1/":     "http://example.com/",
		"http://xn--bcher-kva.example:65535": "http://xn--bcher-kva.example:65535/",
	} {
		u, err := weburl.Parse(raw)
		if err != nil || u.String() != want {
			t.Errorf("%q: %v, %v; want %s", raw, u, err, want)
		}
	}
}

func TestTM001SpellingsThatParsersReadDifferentlyAreNoAddress(t *testing.T) {
	for _, raw := range []string{
		"http://+1.0.0.1/", "http://-1.2.3.4/", "http://0x-1.1/", "http://1.+2/", "http://0+1/", "http://0-1.1/", "http://[[::1]]/", "http://[::1]]/",
		"http://[::1]x/", "http://[::1%25eth0]/", "http://[127.0.0.1]/", "http://[::01.2.3.4]/", "http://1..1/", "http://08/", "http://1.2.3.4.5/",
		"http://256.0.0.1/", "http://4294967296/", "http://%2561/", "http://xn--bcheré-kva.example/", "http://a%00b/", "http://a%25b/", "http://%ff/",
		"http://１２７.0.0.256/", "http://h:+80/", "http://h:８０/", "http://h:80 /", "http://foo.0x10/", "http://1_0.0.0.1/", "http://1e2/",
	} {
		u, err := weburl.Parse(raw)
		if err != nil {
			continue
		}
		if _, err := netip.ParseAddr(strings.Trim(u.Host(), "[]")); err == nil {
			t.Errorf("%q is read as %s", raw, u)
		}
	}
}

func TestPunycodeLabelHoldsNoOtherLetters(t *testing.T) {
	for raw, valid := range map[string]bool{
		"http://xn--bcheré-kva.example/": false, "http://a.ｘｎ－－bcheré-kva/": false, "http://XN--\u00adbcheré-kva/": false,
		"http://xn--bcher-kva.example/": true, "http://ｘn--bcher-kva。example/": true, "http://xn--bcher\u00ad-kva.é/": true, "http://éxn--/": true,
	} {
		if u, err := weburl.Parse(raw); (err == nil) != valid {
			t.Errorf("%q: %v, %v", raw, u, err)
		}
	}
}

func TestPortIsTheOneDialled(t *testing.T) {
	for raw, want := range map[string]uint16{"http://h/": 80, "https://h/": 443, "http://h:443/": 443, "https://h:8443/": 8443, "http://h:0/": 0, "https://h:/": 443} {
		if u, err := weburl.Parse(raw); err != nil || u.Port() != want || u.Scheme() != raw[:strings.Index(raw, ":")] {
			t.Errorf("%s: %v, %v; want port %d", raw, u, err, want)
		}
	}
}

func TestResolveFollowsTheStandard(t *testing.T) {
	base, err := weburl.Parse("https://example.com:8443/a/b?q#f")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"":                      "https://example.com:8443/a/b?q",
		"#x":                    "https://example.com:8443/a/b?q",
		"?x":                    "https://example.com:8443/a/b?x",
		"c":                     "https://example.com:8443/a/c",
		"../../c":               "https://example.com:8443/c",
		"/c":                    "https://example.com:8443/c",
		"\\c":                   "https://example.com:8443/c",
		"//other.org/x":         "https://other.org/x",
		"/\\other.org":          "https://other.org/",
		"https:c":               "https://example.com:8443/a/c",
		"http:other.org":        "http://other.org/",
		"http://0x7f.1:1":       "http://127.0.0.1:1/",
		" \n//[::ffff:1.2.3.4]": "https://[::ffff:102:304]/",
	} {
		if u, err := base.Resolve(ref); err != nil || u.String() != want {
			t.Errorf("%q: %v, %v; want %s", ref, u, err, want)
		}
	}
	for ref, want := range map[string]weburl.Rule{
		"mailto:a@b": weburl.RuleScheme, "file:///x": weburl.RuleScheme, "javascript:1": weburl.RuleScheme, "foo://host/": weburl.RuleScheme,
		"//u:p@h/": weburl.RuleCredentials, "//[::1": weburl.RuleParse, "//h:x/": weburl.RuleParse, "//1.2.3.256": weburl.RuleParse,
		"//a..b": weburl.RuleHost, "/\xff": weburl.RuleShape, "/\x00": weburl.RuleShape, "http://": weburl.RuleParse,
	} {
		if u, err := base.Resolve(ref); ruleOf(t, err) != want {
			t.Errorf("%q: %v, %v; want a refusal by %s", ref, u, err, want)
		}
	}
}

func TestResolveMeasuresTheResolvedURLWithItsFragment(t *testing.T) {
	base, _ := weburl.Parse("http://h/") // nine characters
	for _, c := range []struct {
		ref  string
		want weburl.Rule
	}{
		{strings.Repeat("a", weburl.MaxLength-9), ""},
		{strings.Repeat("a", weburl.MaxLength-8), weburl.RuleLength},
		{"#" + strings.Repeat("a", weburl.MaxLength-10), ""},
		{"#" + strings.Repeat("a", weburl.MaxLength-9), weburl.RuleLength},
		{strings.Repeat("é", 331), ""}, // each six characters once encoded
		{strings.Repeat("é", 332), weburl.RuleLength},
		{strings.Repeat("./", 2_000) + "a", ""},
		{strings.Repeat("./", 4_000) + "a", weburl.RuleLength},
		{strings.Repeat("/a", 10_000_000), weburl.RuleLength},
	} {
		if _, err := base.Resolve(c.ref); ruleOf(t, err) != c.want {
			t.Errorf("%.20q, %d bytes: %v, want %q", c.ref, len(c.ref), err, c.want)
		}
	}
}

func TestResolveAgainstALongCanonicalURL(t *testing.T) {
	base, err := weburl.Parse("http://h/" + strings.Repeat("é", 1_900) + "/")
	if err != nil || len(base.String()) < weburl.MaxLength {
		t.Fatalf("%d bytes, %v", len(base.String()), err)
	}
	if u, err := base.Resolve("/x"); err != nil || u.String() != "http://h/x" {
		t.Errorf("%v, %v", u, err)
	}
}

// requestOf writes the request that net/http would send for u, and reads it again.
func requestOf(t testing.TB, u *weburl.URL) (line, host string) {
	t.Helper()
	var b bytes.Buffer
	if err := (&http.Request{Method: "GET", URL: u.HTTP(), Header: http.Header{}}).Write(&b); err != nil {
		t.Errorf("%s: %v", u, err)
		return "", ""
	}
	line, rest, _ := strings.Cut(b.String(), "\r\n")
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET / HTTP/1.1\r\n" + rest)))
	if err != nil {
		t.Errorf("%s: %v", u, err)
		return "", ""
	}
	return line, req.Host
}

func TestTM001RequestHoldsTheCanonicalURL(t *testing.T) {
	for raw, want := range map[string]string{
		"http://h/":              "GET / HTTP/1.1",
		"http://h?":              "GET /? HTTP/1.1",
		"http://h/a%2fb%zz?%zz":  "GET /a%2fb%zz?%zz HTTP/1.1",
		"http://h/a|b^c":         "GET /a|b^c HTTP/1.1",
		"http://h//evil.org/x":   "GET //evil.org/x HTTP/1.1",
		"http://h//evil.org/|":   "GET //evil.org/%7C HTTP/1.1",
		"http://h//evil.org/%zz": "GET //evil.org/%25zz HTTP/1.1",
		"http://h/é b?é b":       "GET /%C3%A9%20b?%C3%A9%20b HTTP/1.1",
		"http://h/%E9%00":        "GET /%E9%00 HTTP/1.1",
		"http://h/a?b?c=?":       "GET /a?b?c=? HTTP/1.1",
		"http://h/*":             "GET /* HTTP/1.1",
		"http://h/:":             "GET /: HTTP/1.1",
	} {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if line, host := requestOf(t, u); line != want || host != "h" {
			t.Errorf("%s: %q to %q, want %q", raw, line, host, want)
		}
	}
}

func TestTM008GeneratedURLsMakeOneShapeOfRequest(t *testing.T) {
	gen := newURLGen(8)
	for range 20_000 {
		u, err := new(weburl.Policy).Check(gen.url())
		if err != nil || strings.ContainsAny(u.Host(), "\"`{}") { // net/http refuses these hosts before it sends
			continue
		}
		line, host := requestOf(t, u)
		target, ok := strings.CutPrefix(line, "GET ")
		target, ok2 := strings.CutSuffix(target, " HTTP/1.1")
		authority, rest, _ := strings.Cut(strings.TrimPrefix(u.String(), u.Scheme()+"://"), "/")
		if !ok || !ok2 || strings.ContainsAny(target, " \t\r\n") || target != "/"+rest && !strings.HasPrefix(rest, "/") || host != authority {
			t.Errorf("%s: %q to %q", u, line, host)
		}
	}
}
