package weburl_test

import (
	"strings"
	"testing"

	"github.com/wayleave/wayleave/weburl"
)

// BenchmarkCheck is one verdict without a list, on an ordinary URL, an international one, an address and a long one.
func BenchmarkCheck(b *testing.B) {
	for name, raw := range map[string]string{
		"ordinary":      "https://www.example.com/articles/2026/11/reading-the-web?page=2#comments",
		"international": "https://www.bücher.example/straße",
		"address":       "http://0x7f.1/",
		"long":          "https://www.example.com/" + strings.Repeat("a/", 900) + "?" + strings.Repeat("q", 100),
	} {
		b.Run(name, func(b *testing.B) {
			p := &weburl.Policy{}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Check(raw); err != nil && name != "address" {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheckWithLists is a verdict with a hundred entries in each list.
func BenchmarkCheckWithLists(b *testing.B) {
	var hosts []string
	for i := range 100 {
		hosts = append(hosts, "*."+strings.Repeat("x", i+1)+".example")
	}
	p := &weburl.Policy{AllowedHosts: patterns(b, append(hosts, "*.example.com")...), BlockedHosts: patterns(b, hosts...), Permitted: permits(b, hosts...)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Check("https://www.example.com/articles/2026/11/reading-the-web?page=2"); err != nil {
			b.Fatal(err)
		}
	}
}
