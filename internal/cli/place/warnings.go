// This file says what of an install's place a person should know before anything begins.
package place

import (
	"slices"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// PasswordShown says that a password stands in --database itself, where the list of processes and a shell's history show
// it (TM-094); empty where none does.
func (d DataFlags) PasswordShown(set *cli.Settings) string {
	given := slices.ContainsFunc(set.All, func(s cli.Setting) bool { return s.Name == "database" && s.Origin == "flag --database" })
	if !given || !sqldb.HasPassword(d.Database) {
		return ""
	}
	return "--database holds a password, which the list of processes and a shell's history show: put the address into the variable WAYLEAVE_DATABASE or the configuration file, or the password into PGPASSWORD or a password file"
}

// Warnings are sentences about the database's address: a password that others see, and a way that others read (TM-109).
// The error is an address that cannot be read.
func (d DataFlags) Warnings(set *cli.Settings) (all []string, err error) {
	if shown := d.PasswordShown(set); shown != "" {
		all = append(all, shown)
	}
	if d.Database == "" {
		return all, nil
	}
	unprotected, err := sqldb.Unprotected(d.Database)
	if unprotected != "" {
		all = append(all, unprotected)
	}
	return all, err
}
