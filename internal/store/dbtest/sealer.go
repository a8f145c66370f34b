// This file is the sealer of tests.
package dbtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"strings"

	"github.com/wayleave/wayleave/internal/seal"
)

// Sealer gives a sealer with a key of its own: it hides what it seals and binds it to its place, as the real one does.
func Sealer() seal.Sealer {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // the key's length is right
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return sealer{aead}
}

type sealer struct{ aead cipher.AEAD }

func place(p seal.Place) []byte {
	return []byte(strings.Join([]string{p.Table, p.Column, p.Row}, "\x00"))
}

func (s sealer) Seal(p seal.Place, plain []byte) ([]byte, error) {
	return s.aead.Seal(nil, nil, plain, place(p)), nil
}

func (s sealer) Open(p seal.Place, sealed []byte) ([]byte, error) {
	plain, err := s.aead.Open(nil, nil, sealed, place(p))
	if err != nil {
		return nil, seal.ErrSealed // as the real one says of a value that does not open in its place
	}
	return plain, nil
}
