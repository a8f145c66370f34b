// This file is passwords, and how often somebody may try one.
package people

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// Bounds of a password. The lower one is in characters; the upper one, in bytes, keeps a request from costing more.
const (
	MinPassword = 12
	MaxPassword = 1024
)

// CheckPassword says what is wrong with a new password.
func CheckPassword(s string) error {
	switch {
	case !utf8.ValidString(s):
		return errors.New("password: it is not text")
	case utf8.RuneCountInString(s) < MinPassword:
		return fmt.Errorf("password: it is shorter than %d characters", MinPassword)
	case len(s) > MaxPassword:
		return fmt.Errorf("password: it is longer than %d bytes", MaxPassword)
	}
	return nil
}

// Cost is what trying a password costs: argon2id's memory in KiB, passes and lanes.
type Cost struct {
	Memory, Passes uint32
	Lanes          uint8
}

// usual is the second of the two settings that RFC 9106 recommends, for where 2 GiB are too much.
var usual = Cost{Memory: 64 << 10, Passes: 3, Lanes: 4}

// most bounds what a row may ask for, so that a damaged one does not ask for all memory.
var most = Cost{Memory: 1 << 20, Passes: 64, Lanes: 64}

const (
	saltBytes = 16
	keyBytes  = 32
)

// hasher tries passwords one at a time: a flood of sign-ins waits, and takes neither all memory nor all cores.
type hasher struct {
	cost  Cost
	turn  chan struct{}
	decoy string // compared with where there is no password, so that it takes as long
}

func newHasher(c Cost) *hasher {
	if c == (Cost{}) {
		c = usual
	}
	h := &hasher{cost: c, turn: make(chan struct{}, 1)}
	h.decoy = encode(c, make([]byte, saltBytes), make([]byte, keyBytes))
	return h
}

// derive takes its turn; a caller who leaves meanwhile takes none.
func (h *hasher) derive(ctx context.Context, c Cost, password string, salt []byte) ([]byte, error) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return argon2.IDKey([]byte(norm.NFC.String(password)), salt, c.Passes, c.Memory, c.Lanes, keyBytes), nil
}

func (h *hasher) encode(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // documented never to fail
	key, err := h.derive(ctx, h.cost, password, salt)
	if err != nil {
		return "", err
	}
	return encode(h.cost, salt, key), nil
}

// encode writes a hash in the form that other programs read: $argon2id$v=19$m=…,t=…,p=…$salt$key.
func encode(c Cost, salt, key []byte) string {
	b := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.Memory, c.Passes, c.Lanes, b.EncodeToString(salt), b.EncodeToString(key))
}

// matches says whether a password is the one that was encoded. An empty encoding matches nothing and takes as long; so
// does a password that is too long to be one.
func (h *hasher) matches(ctx context.Context, password, encoded string) (bool, error) {
	known := encoded != "" && len(password) <= MaxPassword && utf8.ValidString(password)
	if !known {
		password, encoded = "", h.decoy
	}
	c, salt, want, err := decode(encoded)
	if err != nil {
		return false, err
	}
	key, err := h.derive(ctx, c, password, salt)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(key, want) == 1 && known, nil
}

var errEncoding = errors.New("a kept password cannot be read; set a new one, after `wayleave sign-in`")

func decode(encoded string) (c Cost, salt, key []byte, err error) {
	parts := strings.Split(encoded, "$")
	var version int
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return Cost{}, nil, nil, errEncoding
	}
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &c.Memory, &c.Passes, &c.Lanes); err != nil || version != argon2.Version {
		return Cost{}, nil, nil, errEncoding
	}
	if c.Memory < 8 || c.Passes < 1 || c.Lanes < 1 || c.Memory > most.Memory || c.Passes > most.Passes || c.Lanes > most.Lanes {
		return Cost{}, nil, nil, errEncoding
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil || len(salt) != saltBytes {
		return Cost{}, nil, nil, errEncoding
	}
	if key, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil || len(key) != keyBytes {
		return Cost{}, nil, nil, errEncoding
	}
	return c, salt, key, nil
}

// How often a password may be tried, for one name and from one address.
const (
	attempts      = 20
	attemptWindow = 15 * time.Minute
)

// TooMany says that a name or an address has tried too often, right or wrong.
type TooMany struct{ Wait time.Duration }

func (e *TooMany) Error() string {
	return fmt.Sprintf("too many sign-ins; try again in %s, or by a link from `wayleave sign-in`", e.Wait.Round(time.Second))
}

// nameSubject is what tries of a name are counted under: 16 bits of its hash. So names that nobody has count like others,
// there are no more than 65,536 rows, and a password that was typed in the wrong field cannot be read from them.
func nameSubject(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "name:" + hex.EncodeToString(sum[:2])
}

// addressSubject is what tries from an address are counted under. One customer has a whole /64 of IPv6.
func addressSubject(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "from:unknown"
	}
	a = a.Unmap().WithZone("")
	if a.Is6() {
		p, _ := a.Prefix(64) // 64 is in range
		a = p.Addr()
	}
	return "from:" + a.String()
}

// maxLabel bounds a label, in characters.
const maxLabel = 80

// plain is a label on one line, without what a screen obeys.
func plain(label string) string {
	label = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, label)
	if r := []rune(label); len(r) > maxLabel {
		label = string(r[:maxLabel])
	}
	return strings.TrimSpace(label)
}
