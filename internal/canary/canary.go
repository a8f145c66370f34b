// Package canary makes secrets that are easy to find again, and looks for them in everything that leaves a program. It is
// test support: no product package imports it.
//
// The one rule: a search that found nothing proves nothing by itself. Each place that is searched also has a control
// canary, planted there on purpose, and must have given bytes to look at.
package canary

import (
	"crypto/rand"
	"fmt"
	"strings"
)

const (
	// alphabet is of letters that no encoding of URLs, HTML or JSON touches by need.
	alphabet = "abcdefghijklmnopqrstuvwxyz234567"
	// randomLen is how many characters of a canary are random: 130 bits.
	randomLen = 26
	// window is how many characters in a row are a find: 40 bits, so that chance does not find them in a gigabyte.
	window = 8
	// edge is how many characters at either end are a find where they stand alone, in small answers.
	edge = 4
)

// Canary is a secret to plant. It is a plain text on purpose: it must be able to leak.
type Canary struct{ place, random string }

// New makes a canary; place is what it is, in letters, digits and dashes.
func New(place string) Canary {
	if place == "" || strings.Trim(place, alphabet+"0189-ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		panic(fmt.Sprintf("a canary's place is letters, digits and dashes: %q", place))
	}
	b := make([]byte, randomLen)
	_, _ = rand.Read(b) // it does not fail: the runtime ends the process first
	for i := range b {
		b[i] = alphabet[b[i]%byte(len(alphabet))]
	}
	return Canary{place, string(b)}
}

// Of takes a secret that a program made itself, such as a token, for a canary: its last 26 characters must be as hard to
// meet by chance. place names it in reports.
func Of(place, secret string) (Canary, error) {
	if len(secret) < randomLen {
		return Canary{}, fmt.Errorf("the secret of %s has %d characters; a canary needs %d", place, len(secret), randomLen)
	}
	return Canary{place, secret[len(secret)-randomLen:]}, nil
}

// Place says what it is.
func (c Canary) Place() string { return c.place }

// String is the text to plant.
func (c Canary) String() string { return "cnry-" + c.place + "-" + c.random }

// Code is the random part alone, for places that take no dashes.
func (c Canary) Code() string { return c.random }
