// This file is the keyset: the keys that open, and the one among them that seals.
package seal

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/wayleave/wayleave/internal/secret"
)

// ErrStale says that this process has not heard for too long which key seals now, so that it must not seal: the key it
// would take may be gone.
var ErrStale = errors.New("which key seals was not looked up for too long; nothing is sealed until the database answers")

// prefix is what stands before every sealed value: one byte 1 and the key's number in four bytes.
const prefix = 5

// Keyset seals and opens. It is safe for concurrent use, and prints as a mark.
type Keyset struct {
	now    atomic.Pointer[ring]
	source atomic.Pointer[Source]
	asking sync.Mutex // one reload at a time
}

// Source is where a keyset is kept, so that one of another process's making can be loaded.
type Source struct {
	// Load brings the keyset to what is kept now, by Replace. It may be called inside a transaction.
	Load func() error
	// Fresh says whether Load was called lately enough to seal. Where it was not, it is called before anything is sealed.
	Fresh func() bool
}

// ring is a keyset that does not change.
type ring struct {
	handle  *keyset.Handle
	aead    tink.AEAD
	primary uint32
	ids     []uint32
}

// NewKeyset makes a keyset of one new key.
func NewKeyset() (*Keyset, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("make a keyset: %w", err)
	}
	return fromHandle(handle)
}

func fromHandle(handle *keyset.Handle) (*Keyset, error) {
	r := &ring{handle: handle}
	var err error
	if r.aead, err = aead.New(handle); err != nil {
		return nil, fmt.Errorf("read a keyset: %w", err)
	}
	primary, err := handle.Primary()
	if err != nil {
		return nil, fmt.Errorf("read a keyset: %w", err)
	}
	r.primary = primary.KeyID()
	for i := range handle.Len() {
		entry, err := handle.Entry(i)
		if err != nil {
			return nil, fmt.Errorf("read a keyset: %w", err)
		}
		r.ids = append(r.ids, entry.KeyID())
	}
	k := new(Keyset)
	k.now.Store(r)
	return k, nil
}

// Seal closes a value for a place under the primary key. It is 33 bytes longer than the value.
func (k *Keyset) Seal(p Place, plain []byte) ([]byte, error) {
	where, err := p.associated()
	if err != nil {
		return nil, err
	}
	if s := k.source.Load(); s != nil && !s.Fresh() {
		if _, err := k.look(func(*ring) bool { return s.Fresh() }); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrStale, err)
		}
	}
	return k.now.Load().aead.Encrypt(plain, where)
}

// Open gives a sealed value. One under a key that is not known here asks the source once; then it is ErrSealed, as is
// everything else that does not open.
func (k *Keyset) Open(p Place, sealed []byte) ([]byte, error) {
	where, err := p.associated()
	if err != nil {
		return nil, err
	}
	id, ok := number(sealed)
	if !ok {
		return nil, fmt.Errorf("%s %s: %w", p.Table, p.Column, ErrSealed)
	}
	r := k.now.Load()
	if !slices.Contains(r.ids, id) {
		if r, err = k.look(func(r *ring) bool { return slices.Contains(r.ids, id) }); err != nil {
			return nil, fmt.Errorf("%s %s is under key %s, which is not known here: %w: %w", p.Table, p.Column, name(id), ErrSealed, err)
		}
	}
	plain, err := r.aead.Decrypt(sealed, where)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", p.Table, p.Column, ErrSealed) // the cause says nothing more
	}
	return plain, nil
}

// KeyOf names the key of a sealed value; empty where the bytes are not a sealed value.
func KeyOf(sealed []byte) string {
	id, ok := number(sealed)
	if !ok {
		return ""
	}
	return name(id)
}

func number(sealed []byte) (uint32, bool) {
	if len(sealed) < prefix || sealed[0] != 1 {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:prefix]), true
}

func name(id uint32) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint32(nil, id))
}

// Primary names the key that seals: eight hex digits, which are also bytes 2 to 5 of what it sealed.
func (k *Keyset) Primary() string { return name(k.now.Load().primary) }

// Keys names all keys, oldest first.
func (k *Keyset) Keys() []string {
	var names []string
	for _, id := range k.now.Load().ids {
		names = append(names, name(id))
	}
	return names
}

// From says where the keyset is kept. It is called before the keyset is shared.
func (k *Keyset) From(s Source) { k.source.Store(&s) }

// Replace takes over the keys of another keyset; what is being opened under the old ones ends well.
func (k *Keyset) Replace(with *Keyset) { k.now.Store(with.now.Load()) }

var errNoSource = errors.New("there is nowhere to look for it")

// look gives the ring after another look at the source, unless somebody looked meanwhile and found what is enough.
func (k *Keyset) look(enough func(*ring) bool) (*ring, error) {
	s := k.source.Load()
	if s == nil {
		return nil, errNoSource
	}
	k.asking.Lock()
	defer k.asking.Unlock()
	if r := k.now.Load(); enough(r) {
		return r, nil
	}
	if err := s.Load(); err != nil {
		return nil, err
	}
	return k.now.Load(), nil
}

// Format prints a mark, whatever the verb is.
func (k *Keyset) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, secret.Mark) }
