// This file is the chain itself: what a row is bound to, and by which key.
package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// minKey is the least length of an audit key in bytes: that of SHA-256.
const minKey = 32

// Row is an entry as it is kept.
type Row struct {
	ID                   string
	At                   time.Time // by the database's clock, in microseconds
	Actor, Verb, Subject string
	Detail               json.RawMessage // as it was written
	// Link is the row's number in the chain, Prev the hash of the row before it, Hash its own: 64 hex digits. 0 and empty
	// where it is not linked yet; the first row has no Prev.
	Link       int64
	Prev, Hash string
}

// Head is where a chain stands: its last row. The zero Head is before the first.
type Head struct {
	Link int64
	Hash string
}

// Key makes and judges links. It is the install's audit key.
type Key struct{ key []byte }

// NewKey takes a key of at least 32 bytes.
func NewKey(key []byte) (Key, error) {
	if len(key) < minKey {
		return Key{}, fmt.Errorf("the audit key has %d bytes; the least is %d", len(key), minKey)
	}
	return Key{key}, nil
}

// After gives a row as it is linked behind a head.
func (k Key) After(h Head, r Row) Row {
	r.Link, r.Prev = h.Link+1, h.Hash
	r.Hash = k.hash(r)
	return r
}

// Made says whether a row's hash was made under this key, of what the row says now.
func (k Key) Made(r Row) bool { return hmac.Equal([]byte(k.hash(r)), []byte(r.Hash)) }

func (k Key) hash(r Row) string {
	return k.mac("wayleave audit row", number(r.Link), r.Prev, r.ID, number(r.At.UnixMicro()), r.Actor, r.Verb, r.Subject, string(r.Detail))
}

// mac is over the fields and their lengths, so that no two lists of fields are one text.
func (k Key) mac(fields ...string) string {
	m := hmac.New(sha256.New, k.key)
	for _, f := range fields {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(f)))
		_, _ = m.Write(n[:])
		_, _ = m.Write([]byte(f))
	}
	return hex.EncodeToString(m.Sum(nil))
}

func number(n int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	return string(b[:])
}

// VerbPurged is the verb of a statement that rows were removed when their time of keeping was over.
const VerbPurged = "audit.purged"

// purged is a statement's detail. Seal is made under the key: whoever can only write to the database cannot claim that
// what they deleted was over its time.
type purged struct {
	Through int64  `json:"through"`
	Hash    string `json:"hash"`
	Seal    string `json:"seal"`
}

// Purge is the entry that states the removal of all rows up to a head, that one included.
func (k Key) Purge(h Head) Entry {
	return Entry{Actor: "system", Verb: VerbPurged, Subject: "audit", Detail: map[string]any{"through": h.Link, "hash": h.Hash, "seal": k.seal(h)}}
}

func (k Key) seal(h Head) string { return k.mac("wayleave audit purge", number(h.Link), h.Hash) }

// Purged reads such a statement; false where it is none of this key.
func (k Key) Purged(r Row) (Head, bool) {
	var p purged
	if r.Verb != VerbPurged || json.Unmarshal(r.Detail, &p) != nil {
		return Head{}, false
	}
	h := Head{p.Through, p.Hash}
	return h, hmac.Equal([]byte(k.seal(h)), []byte(p.Seal))
}
