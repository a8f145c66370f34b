package weburl_test

// A generator of nasty URLs: every part is spelled in a way that some parser somewhere reads differently.

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
)

// urlGen makes the same URLs for the same seed.
type urlGen struct{ r *rand.Rand }

func newURLGen(seed uint64) *urlGen { return &urlGen{rand.New(rand.NewPCG(seed, 0))} }

func (g *urlGen) pick(from ...string) string { return from[g.r.IntN(len(from))] }
func (g *urlGen) chance(percent int) bool    { return g.r.IntN(100) < percent }

// url is a whole URL, usually absolute.
func (g *urlGen) url() string {
	u := g.scheme() + g.userinfo() + g.host() + g.port() + g.tail()
	if g.chance(2) {
		u += strings.Repeat("a", max(0, 1990+g.r.IntN(20)-len([]rune(u))))
	}
	if g.chance(12) {
		u = g.mutate(u)
	}
	return u
}

// reference is what a Location header may hold.
func (g *urlGen) reference() string {
	switch g.r.IntN(6) {
	case 0:
		return g.url()
	case 1:
		return g.pick("//", "\\\\", "/\\", "\\/", "///", " //") + g.userinfo() + g.host() + g.port() + g.tail()
	case 2:
		return g.pick("http:", "https:", "HTTP:", "https:\t", "file:", "mailto:") + g.pick("", "x", "/x", "?x", "#x", "..")
	case 3:
		return g.mutate(g.tail())
	case 4:
		return "/" + strings.Repeat("b", 1960+g.r.IntN(60)) + g.tail()
	}
	return g.pick("", ".", "..", "../..", "x", "x/y", "?", "#", "#f", "?q", "/", "./x", "/.//x", " x ", "x:y", "%2e%2e", "\\x", "é")
}

func (g *urlGen) scheme() string {
	if g.chance(80) {
		return g.pick("http://", "https://")
	}
	return g.pick("HTTP://", "hTtPs://", "http:", "http:/", "http:///", "http:////", "http:\\\\", "https:\\/", "http:/\\",
		"ht\ntp://", "\thttp://", "http:\t//", " http://", "\x01http://", "\x1f\u00a0http://", "ftp://", "ws://", "wss://",
		"file://", "file:", "javascript:", "data:", "gopher://", "blob:http://", "view-source:http://", "about:", "",
		"//", "htp://", "http;//", "http//", "ｈttp://", "https+x://", "h\u0131tp://")
}

func (g *urlGen) userinfo() string {
	if g.chance(85) {
		return ""
	}
	return g.pick("@", ":@", "u@", "u:p@", ":p@", "a@b@", "127.0.0.1@", "example.com@", "example.com:80@", "%40@", "@@",
		"u\\@", "u/@", "u?@", "u#@", "é@", "[::1]@", "u%00@")
}

func (g *urlGen) port() string {
	if g.chance(70) {
		return ""
	}
	return g.pick(":", ":80", ":443", ":8080", ":0", ":00080", ":00", ":65535", ":65536", ":99999999999999999999", ":22",
		":25", ":6667", ":10080", ":-1", ":+80", ":８０", ":80 ", ":8\t0", ":0x50", ":80:80", ":a", "::", ":6000", ":1",
		":"+strconv.Itoa(g.r.IntN(70000)))
}

func (g *urlGen) tail() string {
	tail := g.pick("", "/", "/", "/a/b", "\\", "/a\\b", "/./a/../b", "/%2e%2E/x", "/.%2e/", "/a//b", "//a", "/é", "/\u00a0x",
		"/a b", "/<>`{}|^\"'", "/%zz%", "/%e9", "/a;b,c", "/@x", "/http://127.0.0.1/", "/[x]", "/a:b", "/~!$&*()+=", "/\U0001f600", "/\ufffd", "/a\tb")
	if g.chance(25) {
		tail += g.pick("?", "?q", "?a=é&b='x'", "?a b", "?<>\"`^{}|\\", "?%zz", "?http://10.0.0.1/", "?@x", "?a?b", "?\u0085")
	}
	if g.chance(20) {
		tail += g.pick("#", "#f", "#é", "#@127.0.0.1/", "#a b", "#?x", "#<\"`>", "##")
	}
	return tail
}

func (g *urlGen) host() string {
	switch n := g.r.IntN(100); {
	case n < 35:
		return g.spellIPv4(g.ipv4())
	case n < 60:
		return g.spellIPv6()
	case n < 75:
		return g.disguise(g.pick("localhost", "LOCALHOST", "a.localhost", "internal", "db.internal", "metadata.google.internal",
			"localhost.", "localhost..", ".localhost", "localhost.localdomain", "xlocalhost", "internal.example"))
	}
	return g.name()
}

// ipv4 is an address at, in or beside an interesting range, or any.
func (g *urlGen) ipv4() [4]byte {
	if g.chance(25) {
		n := g.r.Uint32()
		return [4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	}
	edge := netip.MustParseAddr(g.pick("0.0.0.0", "0.255.255.255", "1.0.0.0", "10.0.0.0", "10.255.255.255", "9.255.255.255",
		"100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.255", "128.0.0.0", "169.254.169.254", "169.254.0.0",
		"172.16.0.0", "172.31.255.255", "192.0.0.0", "192.0.0.255", "192.0.2.0", "192.31.196.0", "192.52.193.255",
		"192.88.99.0", "192.168.0.0", "192.168.255.255", "192.175.48.0", "198.18.0.0", "198.19.255.255", "198.51.100.0",
		"203.0.113.255", "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255", "168.63.129.16",
		"93.184.216.34", "8.8.8.8"))
	for range g.r.IntN(3) {
		if next := edge.Next(); next.IsValid() && g.chance(50) {
			edge = next
		} else if prev := edge.Prev(); prev.IsValid() {
			edge = prev
		}
	}
	return edge.As4()
}

func (g *urlGen) spellIPv4(a [4]byte) string {
	parts := []uint64{uint64(a[0]), uint64(a[1]), uint64(a[2]), uint64(a[3])}
	for range g.r.IntN(8) - 4 { // fold the last two parts into one, up to three times
		if n := len(parts); n > 1 {
			parts = append(parts[:n-2], parts[n-2]<<(8*(5-n))|parts[n-1])
		}
	}
	var words []string
	for _, n := range parts {
		words = append(words, g.number(n))
	}
	s := strings.Join(words, g.pick(".", ".", ".", ".", ".", "。", "．", "｡", "%2e", "%2E", "..", "%EF%BC%8E"))
	s = g.pick("", "", "", "", "", "", "", "", "x.", "-", "+", "0.", ".", "a-b.") + s
	return g.disguise(s + g.pick("", "", "", "", "", "", "", ".", "..", ".x", ".0x", ".1", ".-1", "\u3002"))
}

func (g *urlGen) number(n uint64) string {
	switch g.r.IntN(16) {
	case 0:
		return fmt.Sprintf("0x%x", n)
	case 1:
		return fmt.Sprintf("0X%X", n)
	case 2:
		return fmt.Sprintf("0%o", n)
	case 3:
		return fmt.Sprintf("0x%012x", n)
	case 4:
		return fmt.Sprintf("%020o", n)
	case 5:
		return g.pick("-", "+", "0-", "0+", "0x-", "0x+") + strconv.FormatUint(n, 10)
	case 6:
		return g.pick("0x", "0", "00", "08", "09", "0xg", "1_0", "1e2", "4294967296", "256", "18446744073709551616", "")
	}
	return strconv.FormatUint(n, 10)
}

func (g *urlGen) spellIPv6() string {
	a := g.ipv4()
	hex := fmt.Sprintf("%02x%02x:%02x%02x", a[0], a[1], a[2], a[3])
	four := hex
	if g.chance(50) {
		four = netip.AddrFrom4(a).String()
	}
	s := g.pick("::", "::1", "::"+four, "::ffff:"+four, "::ffff:0:"+four, "64:ff9b::"+four, "64:ff9b:1::"+four,
		"64:ff9b::1:"+four, "2002:"+hex+"::", "2002:"+hex+"::1", "2001::"+four, "2606:4700::5efe:"+four,
		"2606:4700::200:5efe:"+four, "2606:4700::100:5efe:"+four, "2606:4700::"+four, "fe80::1", "febf::1", "fec0::1",
		"feff::1", "fc00::1", "fdff::1", "fbff::1", "fe00::1", "ff02::1", "100::1", "100:0:0:1::1", "100:0:0:2::1",
		"2001:1ff:ffff::1", "2001:200::1", "2001:db8::1", "2001:db7::1", "3fff::1", "3fff:fff:ffff::1", "3fff:1000::1",
		"5f00::1", "5eff::1", "5f01::1", "2620:4f:8000::1", "2620:4f:8001::1", "0:0:0:0:0:0:0:1", "0:0:0:0:0:ffff:"+hex,
		"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::2:3:4:5:6:7:8", "1:2:3:4:5:6:"+four, "1:2:3:4:5:6:7:"+four,
		"fd00:ec2::254", "::1%25eth0", "fe80::1%eth0", ":::", "1:2", "12345::", "::g", "::1.2.3", "::1.2.3.4.5", "::01.2.3.4",
		"::1.2.3.4:5", ":1", "1:", "", "www.example.com", "127.0.0.1", "[::1]", "::1]", "::+1", "::-1", "::0x1", "::ffff:1.2.3.256",
		fmt.Sprintf("%x:%x::%x", g.r.Uint32()&0xffff, g.r.Uint32()&0xffff, g.r.Uint32()&0xffff))
	if g.chance(20) {
		s = strings.ToUpper(s)
	}
	if g.chance(5) {
		s = g.mutate(s)
	}
	switch g.r.IntN(25) {
	case 0:
		return s
	case 1:
		return "[" + s
	case 2:
		return "[" + s + "]" + g.pick("x", ".", "]", "1")
	case 3:
		return "[[" + s + "]]"
	case 4:
		return g.pick("%5B", "［", "x[", ".[") + s + g.pick("%5D", "］", "]")
	}
	return "[" + s + "]"
}

func (g *urlGen) name() string {
	if g.chance(50) {
		return g.disguise(g.pick("example.com", "EXAMPLE.com", "www.example.co.uk", "example.com.", "example.com..", "a..b",
			".example.com", "example", "127.0.0.1.nip.io", "1.2.3.4.example", "a_b.example", "-a.example", "a-.example",
			"ab--c.example", "xn--bcher-kva.example", "xn--a", "xn--", "xn--zn7c.com", "xn--ex_-sla.com", "XN--BCHER-KVA.example",
			"*.example.com", "a,b", "a;b", "a'b", "a!b", "a$b&c", "a(b)", "a+b", "a=b", "a~b", "a`b", "a{b}", "a\"b", "foo.-1",
			"foo.+1", "foo.0-1", "-1", "+1", "0x", "foo.0x", "foo.1x", "cafe-bad", "0xcafe-1", "1-2", "0-a"))
	}
	letters := []rune("abcxyzABC019-_.bücherßẞſςσKÅéñ。．日本語中文한국어кирилица" +
		"ελληνικά\u0301\u0308\u00ad\u200b\u200c\u200d\u2060\ufeff\u034f①⑳⒈㍘ﬀǅ℡㏂\u05d0\u05d1\u0627\u0628\u0661\u06f1" +
		"\u0e01\u0915\u094d\U0001f600\U0001f468𝐥𝟏\u2260\u226e\u0338\u1806\u180e\ufe0f\ufffd\u2027\u00b7\u0375\u30fb\u19da\ua69e\u1e9e")
	var b strings.Builder
	for range 1 + g.r.IntN(10) {
		b.WriteRune(letters[g.r.IntN(len(letters))])
	}
	return g.disguise(b.String() + g.pick("", ".com", ".example", ".example", ".", ".1", ".рф"))
}

// disguise spells some characters of a host otherwise: percent signs, full width, circles, letters that vanish.
func (g *urlGen) disguise(host string) string {
	if g.chance(60) {
		return host
	}
	var b strings.Builder
	for _, c := range host {
		switch n := g.r.IntN(30); {
		case n == 0:
			for _, octet := range []byte(string(c)) {
				fmt.Fprintf(&b, "%%%02x", octet)
			}
		case n == 1 && c > ' ' && c < 0x7f:
			b.WriteRune(c - '!' + '！')
		case n == 2 && c >= '1' && c <= '9':
			b.WriteRune(c - '1' + '①')
		case n == 3 && c >= 'a' && c <= 'z':
			b.WriteRune(c - 'a' + g.variant())
		case n == 4:
			b.WriteString(g.pick("\u00ad", "\u200b", "\u2060", "\ufeff", "\t", "\n", "\r", "\u180b", "\ufe00") + string(c))
		case n == 5 && c == '.':
			b.WriteString(g.pick("。", "．", "｡", "․", "·"))
		case n == 6:
			b.WriteString(strings.ToUpper(string(c)))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// variant is the first letter of an alphabet that folds to ASCII.
func (g *urlGen) variant() rune {
	return []rune{'ａ', 'ⓐ', '𝐚', '𝒶', '𝕒', '𝚊'}[g.r.IntN(6)]
}

// mutate inserts, drops or doubles a few characters.
func (g *urlGen) mutate(s string) string {
	runes := []rune(s)
	for range 1 + g.r.IntN(3) {
		i := g.r.IntN(len(runes) + 1)
		switch g.r.IntN(4) {
		case 0:
			if i < len(runes) {
				runes = append(runes[:i], runes[i+1:]...)
			}
		case 1:
			if i < len(runes) {
				runes = append(runes[:i+1], runes[i:]...)
			}
		default:
			nasty := []rune("\t\n\r\v\f \u0000\u0001\u001f\u007f\u0080\u00a0\u00ad\u200b\u2028\u3000\ufeff\ufffd/\\?#@:[]%.。-+|^<>\"`'{}&=;0x1aAZé①\U0001f600")
			runes = append(runes[:i], append([]rune{nasty[g.r.IntN(len(nasty))]}, runes[i:]...)...)
		}
	}
	return string(runes)
}
