package wayleave

// What stands in an address and is no text is nobody's name, at every operation and page: it never reaches the database,
// which would call it a fault of ours.

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestTM048NoTextInAnAddressIsAFault(t *testing.T) {
	in := launch(t, Options{})
	_, link, err := in.beside.People.NewLink(t.Context(), "", "test")
	if err != nil {
		t.Fatal(err)
	}
	owner := in.signIn(t, link.Reveal(), "")
	_, document := owner.do(t, http.MethodGet, "/api/openapi.json", "")
	var d struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	if err := json.Unmarshal([]byte(document), &d); err != nil {
		t.Fatal(err)
	}
	parameter := regexp.MustCompile(`\{\w+\}`)
	asked := 0
	ask := func(method, path string) {
		asked++
		res, said := owner.do(t, method, path, "{}")
		if res.StatusCode < 400 || res.StatusCode > 499 {
			t.Errorf("%s %s: %d %s", method, path, res.StatusCode, said)
		}
	}
	for path, operations := range d.Paths {
		for method, operation := range operations {
			method = strings.ToUpper(method)
			for _, bad := range []string{"%00", "a%00b", "%FF", "%ED%A0%80"} {
				if strings.Contains(path, "{") {
					ask(method, parameter.ReplaceAllString(path, bad))
				}
				for _, p := range operation.Parameters {
					if p.In == "query" {
						ask(method, parameter.ReplaceAllString(path, "x")+"?"+p.Name+"="+bad)
					}
				}
			}
		}
	}
	if asked < 200 {
		t.Errorf("only %d requests", asked)
	}
	for _, page := range []string{"/runs/%00", "/agents/%FF", "/runs?cursor=%00", "/needs-you/approvals?id=%FF", "/audit?cursor=%00"} {
		if res, said := owner.do(t, http.MethodGet, page, ""); res.StatusCode >= 500 {
			t.Errorf("%s: %d %s", page, res.StatusCode, said)
		}
	}
}
