// Package seal closes what must not be read from a database file, and opens it again: under a keyset that is itself
// wrapped by a master key.
//
// The one rule: a sealed value opens only in the place where it was sealed, so that nobody moves it to another row.
package seal

// Place is where a sealed value stands. It is bound to the value as associated data.
type Place struct{ Table, Column, Row string }

// Sealer seals and opens; a *Keyset is one.
type Sealer interface {
	Seal(p Place, plain []byte) ([]byte, error)
	// Open gives the value. ErrSealed says that it does not open here: damaged, moved, or of another install's key.
	Open(p Place, sealed []byte) ([]byte, error)
}
