package hop

// What leaves this process for a URL: whatever the URL, the same shape.

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/weburl"
)

const agent = "Test/1 (+https://agent.test)"

// requestShape is every request there may be: one line, a host as the URL standard lets it be, our four fields.
var requestShape = regexp.MustCompile(`^GET (/[!-~]*) HTTP/1\.1\r\nHost: ([^\x00-\x20A-Z/?#@\\<>^|%\x7f-\x{10FFFF}]+)\r\nUser-Agent: ` + regexp.QuoteMeta(agent) +
	`\r\nAccept: [ -~]+\r\nAccept-Language: en\r\nAccept-Encoding: gzip, br, zstd\r\n\r\n$`)

// checkRequest writes the request for a URL, if it is one, and compares it with the shape and with what was judged.
func checkRequest(t *testing.T, raw string) bool {
	t.Helper()
	u, err := (&weburl.Policy{}).Check(raw)
	if err != nil {
		return false
	}
	var wire bytes.Buffer
	if err := writeRequest(&wire, "GET", target(u), authority(u), (&Transport{UserAgent: agent}).header("text/html", Condition{})); err != nil {
		t.Errorf("%q: %v", raw, err)
		return true
	}
	m := requestShape.FindStringSubmatch(wire.String())
	if m == nil {
		t.Errorf("%q is asked for with\n%q", raw, wire.String())
		return true
	}
	if host, _, _ := strings.Cut(m[2], ":"); !strings.HasPrefix(u.Host(), "[") && host != u.Host() {
		t.Errorf("%q: Host %q, judged was %q", raw, m[2], u.Host())
	}
	if !strings.HasSuffix(u.String(), m[1]) {
		t.Errorf("%q: target %q, judged was %q", raw, m[1], u.String())
	}
	return true
}

func TestTM008RequestsHaveOneShape(t *testing.T) {
	count := 20_000
	if os.Getenv("WAYLEAVE_SOAK") != "" {
		count = 1_000_000
	}
	hostile := []string{"\r\n", "\n", "\r", " ", "\t", "%0d%0a", "\x00", "#", "?", "@", "\\", "//", "é", "\u2028", "HTTP/1.1", "Host: x", "GET ", "%", "%zz", "|", "\"", "<", ">", "..", ".", ":", ";", "\u0085", "😀", "\x7f"}
	random := rand.New(rand.NewPCG(1, 2))
	asked := 0
	for range count {
		var b strings.Builder
		fmt.Fprintf(&b, "http%s://h%d.test", []string{"", "s"}[random.IntN(2)], random.IntN(10))
		if random.IntN(3) == 0 {
			fmt.Fprintf(&b, ":%d", 1024+random.IntN(60000))
		}
		b.WriteString("/")
		for range random.IntN(12) {
			if random.IntN(2) == 0 {
				b.WriteString(hostile[random.IntN(len(hostile))])
			} else {
				b.WriteByte(byte(random.IntN(256)))
			}
		}
		if checkRequest(t, b.String()) {
			asked++
		}
	}
	if asked < count/4 {
		t.Errorf("only %d of %d were URLs: the test tests little", asked, count)
	}
}

func FuzzRequest(f *testing.F) {
	for _, seed := range []string{"http://h.test/", "https://h.test:8443//a%zz?b#c", "http://h.test/\r\nHost: evil\r\n\r\nGET / HTTP/1.1", "http://h.test/ HTTP/1.1", "http://[2606:4700::1]/é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) { checkRequest(t, raw) })
}

func TestRequestPartsThatWouldSplitALineAreRefused(t *testing.T) {
	for _, c := range []struct{ target, host, value string }{
		{"/a b", "h", "v"}, {"/a\r\n", "h", "v"}, {"/", "h\n", "v"}, {"/", "h i", "v"}, {"/", "h", "v\r\nX: y"}, {"/é", "h", "v"}, {"/", "h", "\x00"},
	} {
		var wire bytes.Buffer
		if err := writeRequest(&wire, "GET", c.target, c.host, []field{{"X", c.value}}); err != BadRequest || wire.Len() > 0 {
			t.Errorf("%+v: %v after %q", c, err, wire.String())
		}
	}
}
