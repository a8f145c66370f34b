// This file is what `wayleave doctor` looks at in an install: its database, its keys, and whose process owns it.
package serving

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/keystore"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// theInstall looks without changing anything: an install that is not there is not made. It says whether it is sound
// enough to be opened.
func (c *Doctor) theInstall(s *cli.Session, d *checkup, folder *datafolder.Folder) (sound bool) {
	if c.Database == "" {
		if _, err := os.Stat(filepath.Join(folder.Path(), install.DatabaseName)); errors.Is(err, fs.ErrNotExist) {
			d.add("database", "info", "there is none yet; the first start makes it")
			return false
		}
	} else {
		c.addressOf(s, d)
	}
	o := c.Where(s, folder)
	db, err := install.Database(s.Ctx, o)
	if err != nil {
		d.add("database", "fail", "%v", err)
		return false
	}
	defer db.Close()
	at, err := schema.Look(s.Ctx, db)
	if err == nil {
		err = at.Err()
	}
	if err != nil {
		d.add("database", "fail", "%v", err)
		return false
	}
	d.add("database", "ok", "%s, schema %d", db.Dialect(), at.Version)
	c.clock(s, d, db)
	data := folder.Path()
	keys, err := keystore.Examine(s.Ctx, db, install.Masters(o), data)
	if err != nil {
		d.add("keys", "fail", "%v", err)
		return false
	}
	sound = true
	for _, f := range keys.Findings() {
		sound = sound && f.Level != keystore.Bad
		d.add("keys", map[keystore.Level]string{keystore.OK: "ok", keystore.Warn: "warn", keystore.Bad: "fail"}[f.Level], "%s", f.Text)
	}
	return sound
}

// addressOf looks at the address of a database that is not in the folder.
func (c *Doctor) addressOf(s *cli.Session, d *checkup) {
	for _, set := range s.Settings.All {
		if set.Name == "database" && set.Origin == "flag --database" && sqldb.HasPassword(c.Database) {
			d.add("database", "warn", "its password stands on a command line, which every process of this machine may read: use the variable WAYLEAVE_DATABASE or the configuration file")
		}
	}
	if way, err := sqldb.Unprotected(c.Database); err != nil {
		d.add("database", "fail", "%v", err)
	} else if way != "" {
		d.add("database", "fail", "%s", way)
	}
}

// clock holds this machine's clock against the database's, which is the one that counts.
func (c *Doctor) clock(s *cli.Session, d *checkup, db *sqldb.DB) {
	var us int64
	before := time.Now()
	err := db.Read(s.Ctx, func(tx *sqldb.Tx) (err error) {
		us, err = tx.Now()
		return err
	})
	if err != nil {
		d.add("clock", "fail", "%v", err)
		return
	}
	off := time.UnixMicro(us).Sub(before.Add(time.Since(before) / 2))
	if off.Abs() > ledger.MaxSkew {
		d.add("clock", "fail", "this machine's is %s from the database's, and more than %s is not served; set it right", off.Round(time.Millisecond), ledger.MaxSkew)
		return
	}
	d.add("clock", "ok", "within %s of the database's", ledger.MaxSkew)
}
