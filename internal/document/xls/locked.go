// Workbooks that are encrypted and yet open for everybody. Excel encrypts a workbook whose structure alone is protected under a
// password that it tries by itself, so that nobody is asked for one; whoever opens it sees it, and so do we. No other password
// is tried.

package xls

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"encoding/binary"
	"unicode/utf16"

	"github.com/wayleave/wayleave/internal/document"
)

// openPassword is what Excel tries before it asks ([MS-OFFCRYPTO] 2.4.2.3).
const openPassword = "VelvetSweatshop"

// blockBytes is how many bytes of the stream have one key.
const blockBytes = 1024

// unlock decrypts the stream by what the record of its password says. Reason: Encrypted, for any other password.
func (r *reader) unlock(rec record) error {
	key := blockKeys(rec)
	if key == nil {
		return document.Fail(document.Encrypted, "a workbook under a password")
	}
	data := bytes.Clone(r.data)
	recs := records{data: data}
	var stream [blockBytes]byte
	block := int64(-1)
	for n := 0; ; n++ {
		if n%4096 == 0 {
			if err := r.ctx.Err(); err != nil {
				return err
			}
		}
		one, err := recs.next()
		if err != nil { // the end of the stream, or what is cut off, which the readers of records tell
			break
		}
		from := recs.at - int64(len(one.Fields))
		switch one.id {
		case recBOF, recFilePass, recInterface:
			continue
		case recBoundSheet: // where the sheet is stays readable
			from += 4
		}
		for at := from; at < recs.at; at++ {
			if at/blockBytes != block {
				block = at / blockBytes
				cipher := newCipher(key(uint32(block)))
				for i := range stream {
					stream[i] = cipher.next()
				}
			}
			data[at] ^= stream[at%blockBytes]
		}
	}
	r.data = data
	return nil
}

// blockKeys gives the keys of blocks under the open password; nil if it is another one, or another way of encrypting.
func blockKeys(rec record) func(block uint32) []byte {
	var password []byte
	for _, u := range utf16.Encode([]rune(openPassword)) {
		password = binary.LittleEndian.AppendUint16(password, u)
	}
	number := func(block uint32) []byte { return binary.LittleEndian.AppendUint32(nil, block) }
	if rec.U16(0) != 1 {
		return nil
	}
	switch major, minor := rec.U16(2), rec.U16(4); {
	case major == 1 && minor == 1 && len(rec.Fields) >= 54:
		first := md5.Sum(password)
		second := md5.Sum(bytes.Repeat(append(first[:5:5], rec.Fields[6:22]...), 16))
		key := func(block uint32) []byte {
			sum := md5.Sum(append(second[:5:5], number(block)...))
			return sum[:]
		}
		cipher := newCipher(key(0))
		verifier, hash := cipher.apply(rec.Fields[22:38]), cipher.apply(rec.Fields[38:54])
		if sum := md5.Sum(verifier); bytes.Equal(sum[:], hash) {
			return key
		}
	case major >= 2 && major <= 4 && minor == 2:
		bits := rec.U32(14 + 16)
		at := 14 + int(min(rec.U32(10), 4096)) // of the salt's length
		if at+4+16+16+4+20 > len(rec.Fields) || rec.U32(at) != 16 {
			return nil
		}
		if bits == 0 {
			bits = 40
		}
		if bits > 128 || bits%8 != 0 {
			return nil
		}
		salt := rec.Fields[at+4 : at+20]
		first := sha1.Sum(append(bytes.Clone(salt), password...))
		key := func(block uint32) []byte {
			sum := sha1.Sum(append(first[:20:20], number(block)...))
			if bits == 40 { // the rest of a short key is zeros
				return append(sum[:5:5], make([]byte, 11)...)
			}
			return sum[:bits/8]
		}
		cipher := newCipher(key(0))
		verifier, hash := cipher.apply(rec.Fields[at+20:at+36]), cipher.apply(rec.Fields[at+40:at+60])
		if sum := sha1.Sum(verifier); bytes.Equal(sum[:], hash) {
			return key
		}
	}
	return nil
}

// cipher is RC4, which these workbooks have. It keeps nothing secret here: the key is known to all.
type cipher struct {
	state [256]byte
	i, j  byte
}

func newCipher(key []byte) *cipher {
	c := &cipher{}
	for i := range c.state {
		c.state[i] = byte(i)
	}
	var j byte
	for i := range c.state {
		j += c.state[i] + key[i%len(key)]
		c.state[i], c.state[j] = c.state[j], c.state[i]
	}
	return c
}

func (c *cipher) next() byte {
	c.i++
	c.j += c.state[c.i]
	c.state[c.i], c.state[c.j] = c.state[c.j], c.state[c.i]
	return c.state[c.state[c.i]+c.state[c.j]]
}

func (c *cipher) apply(data []byte) []byte {
	out := bytes.Clone(data)
	for i := range out {
		out[i] ^= c.next()
	}
	return out
}
