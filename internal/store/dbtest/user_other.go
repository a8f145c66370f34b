//go:build !unix

// This file stands where no PostgreSQL is started.
package dbtest

import (
	"errors"
	"os/exec"
)

type identity struct{}

func ordinaryUser() (identity, error) {
	return identity{}, errors.New("the tests start PostgreSQL on Unix only")
}

func (identity) own(string) error { return nil }

func (identity) run(*exec.Cmd) {}
