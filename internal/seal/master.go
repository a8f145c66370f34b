// This file is the master key: what a keyset is wrapped with, and its text.
package seal

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead"
	gcm "github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"github.com/wayleave/wayleave/internal/secret"
)

const (
	// masterPrefix begins a master key's text, so that people and secret scanners know one when they see it.
	masterPrefix = "wlmk1_"
	masterBytes  = 32 // AES-256
	sumBytes     = 4  // of the checksum, which finds a damaged text: a chance of 1 in 4 billion to miss it
)

// What is wrong with the text of a master key. None of them holds a part of the text.
var (
	ErrNoMasterKey = errors.New("this is not a master key: one begins with " + masterPrefix + ", or is 32 bytes as 64 hexadecimal digits or as base64")
	ErrMasterCut   = fmt.Errorf("the master key is damaged: after %s come %d characters", masterPrefix, masterText.EncodedLen(masterBytes+sumBytes))
	ErrMasterSum   = errors.New("the master key is damaged: its checksum does not fit; a character was changed")
	// ErrMaster says that a keyset was not wrapped by this master key, or is damaged.
	ErrMaster = errors.New("the keyset does not open under this master key")
)

var masterText = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// Master wraps keysets. It prints as a mark; the zero Master wraps nothing.
type Master struct {
	key func() []byte // a func, for the reason that secret.Value gives
}

// NewMaster makes a master key.
func NewMaster() Master {
	key := make([]byte, masterBytes)
	_, _ = rand.Read(key) // it does not fail: the runtime ends the process first
	return Master{func() []byte { return key }}
}

// ParseMaster reads the text of a master key, ours or 32 bytes that another program made, as 64 hexadecimal digits or as
// base64; blanks and line ends around it do not matter. The errors are ErrNoMasterKey, ErrMasterCut and ErrMasterSum.
func ParseMaster(text string) (Master, error) {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, masterPrefix)
	if !ok {
		return foreignMaster(text)
	}
	if len(rest) != masterText.EncodedLen(masterBytes+sumBytes) {
		return Master{}, ErrMasterCut
	}
	all, err := masterText.DecodeString(rest)
	// The last character has bits that no byte takes up; only one spelling of them is the key's.
	if err != nil || masterText.EncodeToString(all) != rest {
		return Master{}, ErrMasterSum
	}
	key := all[:masterBytes]
	if subtle.ConstantTimeCompare(checksum(key), all[masterBytes:]) != 1 {
		return Master{}, ErrMasterSum
	}
	return Master{func() []byte { return key }}, nil
}

// foreignMaster reads the bytes themselves, which have no checksum: a damaged text that still is 32 bytes is another key, and
// opens nothing.
func foreignMaster(text string) (Master, error) {
	key, err := hex.DecodeString(text)
	if err != nil {
		key, err = base64.StdEncoding.Strict().DecodeString(text)
	}
	if err != nil || len(key) != masterBytes {
		return Master{}, ErrNoMasterKey
	}
	return Master{func() []byte { return key }}, nil
}

func checksum(key []byte) []byte { return digest("wayleave master key checksum", key)[:sumBytes] }

func digest(what string, key []byte) []byte {
	h := sha256.New()
	_, _ = h.Write([]byte(what))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(key)
	return h.Sum(nil)
}

// Zero says whether it is no key at all.
func (m Master) Zero() bool { return m.key == nil }

// Text is the key as ParseMaster reads it: 64 characters of one line.
func (m Master) Text() secret.Value {
	if m.Zero() {
		return secret.Value{}
	}
	return secret.New(masterPrefix + masterText.EncodeToString(append(bytes.Clone(m.key()), checksum(m.key())...)))
}

// Fingerprint names the key without telling it: sixteen hex digits; empty for the zero Master.
func (m Master) Fingerprint() string {
	if m.Zero() {
		return ""
	}
	return hex.EncodeToString(digest("wayleave master key fingerprint", m.key())[:8])
}

// Format prints a mark, whatever the verb is.
func (m Master) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, secret.Mark) }

// MarshalText gives a mark, for encoders that do not print.
func (m Master) MarshalText() ([]byte, error) { return []byte(secret.Mark), nil }

// Wrap closes the keyset under a master key. id names the wrapping and is bound to it.
func (k *Keyset) Wrap(m Master, id string) ([]byte, error) {
	box, where, err := m.wrapping(id)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := k.now.Load().handle.WriteWithAssociatedData(keyset.NewBinaryWriter(&b), box, where); err != nil {
		return nil, fmt.Errorf("wrap the keyset: %w", err)
	}
	return b.Bytes(), nil
}

// Unwrap opens a wrapped keyset. ErrMaster says that the key is another, or the bytes or the id are not those of Wrap.
func Unwrap(m Master, id string, wrapped []byte) (*Keyset, error) {
	box, where, err := m.wrapping(id)
	if err != nil {
		return nil, err
	}
	handle, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(wrapped)), box, where)
	if err != nil {
		return nil, ErrMaster // the cause says nothing more
	}
	return fromHandle(handle)
}

func (m Master) wrapping(id string) (*gcm.AESGCM, []byte, error) {
	if m.Zero() {
		return nil, nil, errors.New("there is no master key")
	}
	where, err := Place{Table: "keysets", Column: "wrapped", Row: id}.associated()
	if err != nil {
		return nil, nil, err
	}
	box, err := gcm.NewAESGCM(m.key())
	return box, where, err
}

// WithNewPrimary gives a keyset that seals with a new key and opens with all old ones too.
func (k *Keyset) WithNewPrimary() (*Keyset, error) {
	m := keyset.NewManagerFromHandle(k.now.Load().handle)
	id, err := m.Add(aead.AES256GCMKeyTemplate())
	if err == nil {
		err = m.SetPrimary(id)
	}
	if err != nil {
		return nil, fmt.Errorf("add a key to the keyset: %w", err)
	}
	return fromManager(m)
}

// OnlyPrimary gives a keyset without the keys that only open.
func (k *Keyset) OnlyPrimary() (*Keyset, error) {
	r := k.now.Load()
	m := keyset.NewManagerFromHandle(r.handle)
	for _, id := range r.ids {
		if id == r.primary {
			continue
		}
		if err := m.Delete(id); err != nil {
			return nil, fmt.Errorf("drop a key from the keyset: %w", err)
		}
	}
	return fromManager(m)
}

func fromManager(m *keyset.Manager) (*Keyset, error) {
	handle, err := m.Handle()
	if err != nil {
		return nil, fmt.Errorf("read a keyset: %w", err)
	}
	return fromHandle(handle)
}
