// Package database is the commands on an install's database as a whole: its copies, its schema, and the keys that open
// what is sealed in it.
//
// The one rule: nothing here replaces what is there. A backup and an export want a name that is free, and a restore a
// database that is empty.
package database

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/backup"
	"github.com/wayleave/wayleave/internal/store/keystore"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Backup is the command.
type Backup struct {
	place.DataFlags
	File string `arg:"" help:"The file, which must not be there yet. It is a SQLite database, of PostgreSQL too, and goes back into either."`
	JSON bool   `setting:"-" help:"As JSON: file, schema, bytes."`
}

// Help is an example.
func (c *Backup) Help() string {
	return "Servers go on meanwhile. Example: wayleave backup /mnt/backups/wayleave-$(date +%F).db"
}

// Run copies the database.
func (c *Backup) Run(s *cli.Session) error {
	if err := c.named(); err != nil {
		return err
	}
	db, _, err := c.Bare(s)
	if err != nil {
		return err
	}
	defer db.Close()
	done := s.Err.Progress("copying the database")
	made, err := backup.Backup(s.Ctx, db, c.File)
	done()
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w; a backup replaces nothing, so give another name", err)
	}
	if err != nil {
		return err
	}
	// Whoever has a copy has all that is in it, so the copying is told to whoever reads the audit.
	told := audit.Entry{Actor: place.ByCLI, Verb: "install.backed_up", Subject: "install", Detail: map[string]any{"schema": made.Schema, "bytes": made.Bytes}}
	if err := auditstore.New(db).Append(s.Ctx, told); err != nil {
		s.Err.Printf("warning: the audit does not tell of this backup: %v\n", err)
	}
	if c.JSON {
		return s.Out.JSON(map[string]any{"file": place.Absolute(c.File), "schema": made.Schema, "bytes": made.Bytes})
	}
	s.Out.Printf("%s: %d bytes, schema %d\n", c.File, made.Bytes, made.Schema)
	s.Err.Printf("%s\n", backup.Keys)
	return nil
}

// named looks whether a file may come where FILE says.
func (c *Backup) named() error {
	if c.File == "" {
		return cli.Misused("FILE is empty: give the name of a file that is not there yet, such as wayleave-backup.db")
	}
	info, err := os.Stat(c.File)
	if err == nil && info.IsDir() {
		return cli.Misused("FILE %s is a folder: give the name of a file in it, such as %s", c.File, filepath.Join(c.File, "wayleave-backup.db"))
	}
	if info, err = os.Stat(filepath.Dir(c.File)); err != nil || !info.IsDir() {
		return cli.Misused("FILE %s: there is no folder %s: make it, or give another name", c.File, filepath.Dir(c.File))
	}
	return nil
}

// Restore is the command.
type Restore struct {
	place.DataFlags
	File string `arg:"" help:"The backup."`
	JSON bool   `setting:"-" help:"As JSON: schema, newest, ended, tokens and hosts that hold again, keys."`
}

// Help is an example.
func (c *Restore) Help() string {
	return "Into a data folder without a database, or an empty PostgreSQL database. Example: wayleave restore --data /var/lib/wayleave-new wayleave-2026-03-04.db"
}

// Run brings a backup back. The folder is owned meanwhile, so that no server begins on half of it.
func (c *Restore) Run(s *cli.Session) error {
	if err := c.named(); err != nil {
		return err
	}
	folder, err := c.Folder(s)
	if err != nil {
		return err
	}
	release, err := folder.Own()
	if errors.Is(err, datafolder.ErrOwned) {
		return fmt.Errorf("%s: %w; restore into a new folder", folder.Path(), err)
	}
	if err != nil {
		return err
	}
	defer release()
	o := c.Where(s, folder)
	db, err := install.Database(s.Ctx, o)
	if err != nil {
		return err
	}
	defer db.Close()
	done := s.Err.Progress("restoring")
	got, err := backup.Restore(s.Ctx, c.File, db)
	done()
	if err != nil {
		return err
	}
	st, err := keystore.Examine(s.Ctx, db, install.Masters(o), folder.Path())
	if err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(restoredJSON(got, st))
	}
	return c.print(s, folder.Path(), got, st)
}

// named looks whether FILE can be a backup, before anything is made for it.
func (c *Restore) named() error {
	if c.File == "" {
		return cli.Misused("FILE is empty: give the backup's file, as `wayleave backup` wrote it")
	}
	info, err := os.Stat(c.File)
	switch {
	case err != nil:
		return fmt.Errorf("FILE %s: %w: give the backup's file, as `wayleave backup` wrote it", c.File, errors.Unwrap(err))
	case info.IsDir():
		return cli.Misused("FILE %s is a folder: give the backup's file itself, as `wayleave backup` wrote it", c.File)
	case !info.Mode().IsRegular():
		return cli.Misused("FILE %s is not an ordinary file: copy the backup to one first", c.File)
	}
	return nil
}

func (c *Restore) print(s *cli.Session, folder string, got backup.Restored, st keystore.Status) error {
	where := folder
	if c.DataFlags.Database != "" {
		where = "the PostgreSQL database"
	}
	s.Out.Printf("restored %s into %s: the install as it was at %s UTC (schema %d). It serves nobody yet.\n", c.File, where, cli.When(got.Newest), got.Schema)
	if ended := ended(got.Ended); ended != "" {
		s.Out.Printf("ended, since nothing of then goes on: %s\n", ended)
	}
	s.Out.Printf("\nNow:\n")
	for n, step := range c.steps(got, st) {
		s.Out.Printf("%2d. %s\n", n+1, step)
	}
	if len(got.Tokens) > 0 {
		s.Out.Printf("\n")
		if err := cli.Table(s, "TOKEN\tOF\tMAY\tMADE\tLAST USED", func(row func(...any)) {
			for _, t := range got.Tokens {
				row(t.ID, t.Kind+" "+t.Of, cli.OneLine(t.Scope+" "+t.Label), cli.When(t.Made), cli.When(t.Used))
			}
		}); err != nil {
			return err
		}
	}
	if len(got.Hosts) == 0 {
		return nil
	}
	s.Out.Printf("\n")
	return cli.Table(s, "HOST\tAGENT\tSINCE", func(row func(...any)) {
		for _, h := range got.Hosts {
			row(h.Host, cmp.Or(h.Agent, "(all)"), cli.When(h.Made))
		}
	})
}

// ended says what a restore ended, without what there was none of.
func ended(e backup.Ended) string {
	var all []string
	for _, of := range []struct {
		n         int64
		one, more string
	}{{e.Runs, "run", "runs"}, {e.Calls, "call in flight", "calls in flight"}, {e.Approvals, "question", "questions"}, {e.SignIns, "sign-in", "sign-ins"},
		{e.Links, "sign-in link", "sign-in links"}, {e.Sessions, "session of a client", "sessions of clients"}} {
		if of.n > 0 {
			all = append(all, cli.Many(int(of.n), of.one, of.more))
		}
	}
	return strings.Join(all, ", ")
}

// steps is what whoever restores has to do, in that order. What nobody has to do is left out.
func (c *Restore) steps(got backup.Restored, st keystore.Status) []string {
	me, again := place.CalledAs(), c.Again()
	var all []string
	step := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if st.Err != nil || st.Master.Err != nil {
		step("The keys do not open yet: put the master key of the time of the backup into its file or %s, or take it from an export: `%s keys import FILE%s`", keyfile.Variable, me, again)
	}
	if kind := func(k string) bool {
		return slices.ContainsFunc(got.Tokens, func(t backup.Token) bool { return t.Kind == k })
	}; len(got.Tokens) > 0 {
		how := ""
		if kind("agent") {
			how = fmt.Sprintf(": `%s agents token revoke TOKEN%s`", me, again)
		}
		if kind("person") {
			how += fmt.Sprintf("; of a person, `%s people disable PERSON%s` ends all, or they revoke it themselves", me, again)
		}
		step("Revoke what was revoked since the backup, for it works again, of these %s%s", cli.Many(len(got.Tokens), "token", "tokens"), how)
	}
	if len(got.Hosts) > 0 {
		step("Take away what was taken away since, of these %s that agents may read again: `%s allow --remove HOST%s`", cli.Many(len(got.Hosts), "private host", "private hosts"), me, again)
	}
	if e := got.Ended; e.Uncertain > 0 {
		step("State what happened with %s: `%s runs%s`, then `%s runs reconcile RUN CALL happened|not_happened|unknown%s`",
			cli.Many(int(e.Uncertain), "call that may have been sent", "calls that may have been sent"), me, again, me, again)
	}
	step("Start `%s serve%s`; people sign in anew: `%s sign-in PERSON%s`", me, again, me, again)
	return all
}

func restoredJSON(got backup.Restored, st keystore.Status) any {
	type token struct {
		ID    string    `json:"id"`
		Kind  string    `json:"kind"`
		Of    string    `json:"of"`
		Scope string    `json:"scope"`
		Label string    `json:"label,omitempty"`
		Made  time.Time `json:"created"`
		Used  time.Time `json:"last_used,omitzero"`
	}
	type host struct {
		Host  string    `json:"host"`
		Agent string    `json:"agent,omitempty"`
		Made  time.Time `json:"created"`
	}
	tokens, hosts := []token{}, []host{}
	for _, t := range got.Tokens {
		tokens = append(tokens, token{t.ID, t.Kind, t.Of, t.Scope, t.Label, t.Made, t.Used})
	}
	for _, h := range got.Hosts {
		hosts = append(hosts, host{h.Host, h.Agent, h.Made})
	}
	e := got.Ended
	return map[string]any{"schema": got.Schema, "newest": got.Newest, "tokens": tokens, "hosts": hosts, "keys_open": st.Err == nil && st.Master.Err == nil,
		"ended": map[string]int64{"runs": e.Runs, "calls": e.Calls, "uncertain": e.Uncertain, "approvals": e.Approvals, "sign_ins": e.SignIns, "links": e.Links, "sessions": e.Sessions}}
}

// Migrate is the command.
type Migrate struct {
	place.DataFlags
	Check bool `setting:"-" help:"Change nothing: say where the database stands, and exit 1 where it needs a migration or is too new."`
	JSON  bool `setting:"-" help:"As JSON: database, schema, known, applied."`
}

// Help is an example.
func (c *Migrate) Help() string {
	return "Migrate first, then replace the servers one by one: those of the version before go on. Example: WAYLEAVE_DATABASE=postgres://wayleave@db.example/wayleave?sslmode=verify-full wayleave migrate"
}

// Run brings PostgreSQL to this program's schema. SQLite is migrated by whatever opens it.
func (c *Migrate) Run(s *cli.Session) error {
	db, err := c.database(s)
	if err != nil {
		return err
	}
	defer db.Close()
	before, err := schema.Look(s.Ctx, db)
	if err != nil {
		return err
	}
	applied, now := 0, before
	switch {
	case c.Check || db.Dialect() == sqldb.SQLite:
		err = before.Err()
	default:
		done := s.Err.Progress("migrating")
		applied, err = schema.Up(s.Ctx, db)
		done()
		if err != nil {
			return err
		}
		now, err = schema.Look(s.Ctx, db)
	}
	if err != nil && (c.Check || !errors.Is(err, schema.ErrNeedsMigration)) {
		return err
	}
	if c.JSON {
		return s.Out.JSON(map[string]any{"database": db.Dialect(), "schema": now.Version, "known": now.Known, "applied": applied})
	}
	switch {
	case db.Dialect() == sqldb.SQLite && err != nil:
		s.Out.Printf("%s has schema %d, this program %d: SQLite is copied beside itself and migrated by the next start or command; nothing was done here\n", filepath.Base(db.File()), now.Version, now.Known)
	case applied > 0:
		s.Out.Printf("the database has schema %d now, it had %s\n", now.Version, orNone(before.Version))
	case now.Version > now.Known:
		s.Out.Printf("the database has schema %d, newer than this program's %d, which may go on using it; nothing was to be done\n", now.Version, now.Known)
	default:
		s.Out.Printf("the database has schema %d, as this program; nothing was to be done\n", now.Version)
	}
	return nil
}

// database is PostgreSQL, which needs no data folder here, or the folder's.
func (c *Migrate) database(s *cli.Session) (*sqldb.DB, error) {
	if c.DataFlags.Database != "" {
		return install.Database(s.Ctx, c.Where(s, nil))
	}
	db, o, err := c.Bare(s)
	if err == nil {
		s.Err.Printf("note: this is the SQLite database of the data folder %s; PostgreSQL is named by the variable WAYLEAVE_DATABASE, or by --database\n", o.Folder.Path())
	}
	return db, err
}

func orNone(schema int64) string {
	if schema == 0 {
		return "none"
	}
	return strconv.FormatInt(schema, 10)
}
