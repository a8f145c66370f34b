// This file decides, before a byte of a body is read, what package doorstep does not: which page may have sent a request,
// and which token stands on it.
package mcpserver

import (
	"net/http"
	"net/url"
	"strings"
)

// ownOrigin says whether the page that sent a request, if one did, is ours: no other page may use a token that it got
// hold of from inside someone's browser. Without an Origin header no page sent it.
func ownOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	u, err := url.Parse(values[0])
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Path != "" || u.User != nil {
		return false
	}
	// Host was judged before, so an origin that equals it is an origin of ours.
	return strings.EqualFold(u.Host, r.Host)
}

// bearer is the token of a request; ok is false where there is none, or not exactly one.
func bearer(r *http.Request) (token string, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, found := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !found || !strings.EqualFold(scheme, "bearer") || token == "" || strings.ContainsAny(token, " \t,") {
		return "", false
	}
	return token, true
}
