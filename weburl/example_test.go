package weburl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"

	"github.com/wayleave/wayleave/weburl"
)

// The zero policy is the public web.
func ExamplePolicy_Check() {
	policy := &weburl.Policy{}
	for _, raw := range []string{"HTTPS://Example.com:443/a/../b#top", "http://0x7f.1/", "ftp://example.com/", "example.com"} {
		u, err := policy.Check(raw)
		if err != nil {
			fmt.Println("refused:", err)
			continue
		}
		fmt.Println("allowed:", u)
	}
	// Output:
	// allowed: https://example.com/b
	// refused: the host "127.0.0.1" is not public: loopback
	// refused: the scheme "ftp" is not allowed, only http and https are
	// refused: the URL is not absolute, it must begin with http:// or https://
}

// A redirect target is resolved and judged like any other URL.
func ExampleURL_Resolve() {
	policy := &weburl.Policy{}
	u, err := policy.Check("https://example.com/a/b")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, location := range []string{"../c?d#e", "//169.254.169.254/latest"} {
		target, err := u.Resolve(location)
		if err == nil {
			err = policy.CheckURL(target)
		}
		fmt.Println(target, err)
	}
	// Output:
	// https://example.com/c?d <nil>
	// https://169.254.169.254/latest the host "169.254.169.254" is not public: a cloud metadata address
}

// A permit lets one private host pass; the lists are checked all the same.
func ExampleParsePermit() {
	printer, err := weburl.ParsePermit("printer.internal:631")
	if err != nil {
		fmt.Println(err)
		return
	}
	policy := &weburl.Policy{Permitted: []weburl.Permit{printer}}
	for _, raw := range []string{"http://printer.internal:631/", "http://printer.internal/"} {
		_, err := policy.Check(raw)
		var refusal *weburl.Error
		if errors.As(err, &refusal) {
			fmt.Printf("%s To permit it: %s\n", refusal.Reason, refusal.Permit)
			continue
		}
		fmt.Println("allowed:", raw)
	}
	// Output:
	// allowed: http://printer.internal:631/
	// the host "printer.internal" is not public: a local name To permit it: printer.internal
}

// A verdict is one JSON object.
func ExamplePolicy_Judge() {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for _, raw := range []string{"http://example.com", "http://localhost/"} {
		if err := out.Encode(new(weburl.Policy).Judge(raw)); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// {"url":"http://example.com","verdict":"allow","canonical_url":"http://example.com/"}
	// {"url":"http://localhost/","verdict":"refuse","code":"web_fetch_disallowed_url","rule":"private","reason":"the host \"localhost\" is not public: a local name","permit":"localhost"}
}

// A client that reaches public addresses only, whatever a name resolves to.
func ExampleDialer() {
	d := &weburl.Dialer{Policy: &weburl.Policy{}, Resolver: privateDNS{}}
	client := &http.Client{Transport: &http.Transport{DialContext: d.DialContext}}
	_, err := client.Get("http://rebind.example/")
	var refusal *weburl.Error
	if errors.As(err, &refusal) {
		fmt.Println(refusal.Rule, "-", refusal)
	}
	// Output:
	// address - the host "rebind.example" resolves to an address that is not public: private network
}

// privateDNS answers every name with a private address.
type privateDNS struct{}

func (privateDNS) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("10.0.0.5")}, nil
}
