// Addresses are the same when a browser would go to the same place.

package structurecheck

import whatwg "github.com/nlnwa/whatwg-url/url"

// sameAddress compares after URL normalisation; what is no absolute address is compared as it stands.
func sameAddress(a, b string) bool {
	return a == b || href(a) == href(b)
}

func href(s string) string {
	u, err := whatwg.Parse(s)
	if err != nil {
		return s
	}
	return u.Href(false)
}

func anyAddress(want texts, got string) bool {
	if want == nil {
		return true
	}
	for _, w := range want {
		if sameAddress(w, got) {
			return true
		}
	}
	return false
}
