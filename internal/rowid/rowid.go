// Package rowid makes the ids of rows: a prefix that says what the row is, and 128 bits in the order of time (a UUID of
// version 7), written in 26 letters and digits without look-alikes. An id names a row; it gives no right to it.
package rowid

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"time"
)

// alphabet is in the order of its bytes, so that texts sort as the numbers do.
var alphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// New makes an id such as call_06b2v7k8m4e1f9q3d5h7n2s0ac.
func New(prefix string) string { return at(prefix, time.Now()) }

func at(prefix string, t time.Time) string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // it does not fail: the runtime ends the process first
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(t.UnixMilli()))
	copy(id[:6], ms[2:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return prefix + "_" + alphabet.EncodeToString(id[:])
}
