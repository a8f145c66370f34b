// Package seal closes what must not be read from a database file, and opens it again: under a keyset that is itself
// wrapped by a master key.
//
// The one rule: a sealed value opens only in the place where it was sealed, so that nobody moves it to another row.
package seal

import (
	"errors"
	"fmt"
	"strings"
)

// ErrSealed says that a value does not open here: it is damaged, was moved from another place, or was sealed under a
// key that this install does not have.
var ErrSealed = errors.New("the sealed value does not open here: it is damaged, moved, or under another key")

// Place is where a sealed value stands. It is bound to the value as associated data.
//
// Row is the row's primary key; of several columns, their values joined by "/" in the order of the key (an evidence row
// is call_…/0). The one row of settings is "1".
type Place struct{ Table, Column, Row string }

// Sealer seals and opens; a *Keyset is one.
type Sealer interface {
	Seal(p Place, plain []byte) ([]byte, error)
	// Open gives the value. ErrSealed says that it does not open here: damaged, moved, or of another install's key.
	Open(p Place, sealed []byte) ([]byte, error)
}

// associated gives a place as bytes. Tables and columns are names of ours without a slash, so the text is read in one
// way, whatever is in the row's key.
func (p Place) associated() ([]byte, error) {
	if p.Table == "" || p.Column == "" || p.Row == "" || strings.Contains(p.Table, "/") || strings.Contains(p.Column, "/") {
		return nil, fmt.Errorf("a sealed value needs a table, a column and a row; it was given %q, %q, %q", p.Table, p.Column, p.Row)
	}
	return []byte(p.Table + "/" + p.Column + "/" + p.Row), nil
}
