// This file is what doctor sees of an install: its folder, its owner, its database, its keys, and who is in it.
package serving

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/people"
	"github.com/wayleave/wayleave/internal/store/agentstore"
	"github.com/wayleave/wayleave/internal/store/allowedstore"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/keystore"
	"github.com/wayleave/wayleave/internal/store/peoplestore"
	"github.com/wayleave/wayleave/internal/store/processstore"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/store/watchstore"
)

// dataFolder looks at the folder; nil where there is none that could be used.
func (c *Doctor) dataFolder(s *cli.Session, d *checkup) *datafolder.Folder {
	path, err := c.Path(s)
	if err != nil {
		d.add("data", "fail", "%v", err)
		return nil
	}
	folder, err := datafolder.Look(path)
	if errors.Is(err, fs.ErrNotExist) {
		d.add("data", "info", "%s is not there yet; the first start makes it", path)
		return nil
	}
	if err != nil {
		d.add("data", "fail", "%v", err)
		return nil
	}
	for _, w := range folder.Warnings() {
		d.add("data", "warn", "%s", w)
	}
	if len(folder.Warnings()) == 0 {
		d.add("data", "ok", "%s, %s", folder.Path(), folder.Mode())
	}
	space(d, folder)
	if d.foreign = d.shut(folder); d.foreign {
		return nil
	}
	return folder
}

const (
	// tight and scarce are how much room on the disk is worth a word: a full disk stops every call.
	tight  = 1 << 30
	scarce = 100 << 20
)

func space(d *checkup, folder *datafolder.Folder) {
	free, err := folder.Free()
	if err != nil {
		d.add("disk", "warn", "how much room is left cannot be said: %v", err)
		return
	}
	status := "ok"
	switch {
	case free < scarce:
		status = "fail"
	case free < tight:
		status = "warn"
	}
	d.add("disk", status, "%d MiB free where the data folder is", free>>20)
}

// shut says whether the folder is another user's, so that nothing in it can be looked at.
func (d *checkup) shut(folder *datafolder.Folder) bool {
	owner, whose := folder.Whose(), "the data folder belongs to"
	if at, owned, err := folder.Owner(); err == nil && owned && at.User != "" {
		owner, whose = at.User, "the owner process runs as"
	}
	return d.users(owner, datafolder.Me(), whose)
}

// users says whether who asks is whom the service belongs to (TM-093): then an agent's shell under that user is its owner.
func (d *checkup) users(owner, me, whose string) (others bool) {
	switch {
	case owner == "" || me == "":
		return false // the system does not say
	case owner == me:
		d.add("users", "warn", "%s this user (%s): a shell of the same user, an agent's too, can read the key, sign in and approve; run agents that have a shell as another user, or in a container", whose, me)
		return false
	case me == "0":
		d.add("users", "info", "%s user %s, and this is root, who may read everything", whose, owner)
		return false
	}
	d.add("users", "ok", "%s user %s, and this is user %s, which cannot read the key, sign in or approve there; what follows is seen from outside", whose, owner, me)
	return true
}

// install looks at the database and what is in it.
func (c *Doctor) install(s *cli.Session, d *checkup, folder *datafolder.Folder) {
	warnings, err := c.Warnings(s.Settings)
	if err != nil {
		d.add("database", "fail", "%v", err)
		return
	}
	for _, w := range warnings { // a way that others read is a fault, a password that they see is one to understand
		d.add("database", map[bool]string{true: "warn", false: "fail"}[w == c.PasswordShown(s.Settings)], "%s", w)
	}
	if folder == nil && c.Database == "" {
		return
	}
	ctx, cancel := context.WithTimeout(s.Ctx, 2*probeTime)
	defer cancel()
	o := c.Where(s, folder)
	if folder != nil && c.Database == "" {
		looseFile(d, filepath.Join(folder.Path(), install.DatabaseName))
	}
	db, err := place.Existing(s, o)
	if errors.Is(err, place.ErrNoDatabase) {
		d.add("database", "info", "%v", err)
		return
	}
	if err != nil {
		d.add("database", "fail", "%v", err)
		return
	}
	defer db.Close()
	if !database(ctx, d, db) {
		return
	}
	skew(ctx, d, db)
	keys(ctx, d, db, o)
	who(ctx, d, db)
	record(ctx, d, db)
}

// looseFile says that others may read the database; whoever opens it shuts them out.
func looseFile(d *checkup, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 && datafolder.Me() != "" {
		d.add("database", "warn", "%s had mode %#o: other users may have read it; it is 0600 from now on", path, info.Mode().Perm())
	}
}

// database says which it is and whether this program may use it.
func database(ctx context.Context, d *checkup, db *sqldb.DB) (usable bool) {
	kind, ask := "SQLite", "SELECT sqlite_version()"
	if db.Dialect() == sqldb.Postgres {
		kind, ask = "PostgreSQL", "SELECT current_setting('server_version')"
	}
	version := ""
	err := db.Read(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.One(ask, nil, &version)
		return err
	})
	if err != nil {
		d.add("database", "fail", "it does not answer: %v", err)
		return false
	}
	version, _, _ = strings.Cut(version, " ") // a distribution's own numbers stand behind
	st, err := schema.Look(ctx, db)
	if err == nil {
		err = st.Err()
	}
	switch {
	case errors.Is(err, schema.ErrNeedsMigration) && db.Dialect() == sqldb.SQLite:
		d.add("database", "warn", "%s %s, schema %d: the next start copies it beside itself and brings it to schema %d", kind, version, st.Version, st.Known)
		return false
	case err != nil:
		d.add("database", "fail", "%s %s: %v", kind, version, err)
		return false
	case st.Version > st.Known:
		d.add("database", "warn", "%s %s, schema %d: a newer program's, which this one (schema %d) may go on using", kind, version, st.Version, st.Known)
	default:
		d.add("database", "ok", "%s %s, schema %d", kind, version, st.Version)
	}
	if file := db.File(); file != "" {
		if copies, err := schema.Backups(file); err == nil && len(copies) > 0 {
			d.add("database", "info", "%d copies of before migrations lie beside it, the newest is %s", len(copies), filepath.Base(copies[len(copies)-1]))
		}
	}
	return true
}

// skew compares this machine's clock with the database's, by which everything is timed.
func skew(ctx context.Context, d *checkup, db *sqldb.DB) {
	if db.Dialect() == sqldb.SQLite {
		d.add("clock", "ok", "the database's is this machine's")
		return
	}
	before := time.Now()
	now, err := processstore.New(db, func(string) {}).Now(ctx)
	if err != nil {
		d.add("clock", "fail", "%v", err)
		return
	}
	waited := time.Since(before)
	clock(d, now.Sub(before.Add(waited/2)), waited)
}

// clock judges how far the database's clock is ahead of this machine's, as seen over a question that took a while.
func clock(d *checkup, ahead, waited time.Duration) {
	if ahead.Abs()-waited/2 > ledger.MaxSkew {
		d.add("clock", "fail", "this machine's clock is %s from the database's, and a server here would not be ready; set it right", ahead.Abs().Round(10*time.Millisecond))
		return
	}
	d.add("clock", "ok", "%s from the database's", ahead.Abs().Round(time.Millisecond))
}

// keys says how the keys are kept (TM-101).
func keys(ctx context.Context, d *checkup, db *sqldb.DB, o install.Options) {
	data := ""
	if o.Folder != nil {
		data = o.Folder.Path()
	} else if o.KeyFile == "" && o.Key.Empty() {
		d.add("keys", "warn", "no data folder, no --key-file and no %s: a server here would make a key of its own, and not open what is there", keyfile.Variable)
		return
	}
	st, err := keystore.Examine(ctx, db, install.Masters(o), data)
	if err != nil {
		d.add("keys", "fail", "%v", err)
		return
	}
	for _, f := range st.Findings() {
		d.add("keys", map[keystore.Level]string{keystore.OK: "ok", keystore.Warn: "warn", keystore.Bad: "fail"}[f.Level], "%s", f.Text)
	}
}

// who says who may call, who may sign in, and which private hosts may be read.
func who(ctx context.Context, d *checkup, db *sqldb.DB) {
	agents, tokens, err := agent.NewDirectory(agentstore.New(db)).List(ctx, nil)
	if err != nil {
		d.add("tokens", "fail", "%v", err)
		return
	}
	live := 0
	for _, t := range tokens {
		if t.Revoked.IsZero() {
			live++
		}
	}
	if live == 0 {
		d.add("tokens", "warn", "no token works; `wayleave agents token new %s` makes one", agent.Local)
	} else {
		d.add("tokens", "ok", "%d that work, %d agents", live, len(agents))
	}
	all, err := people.NewDirectory(peoplestore.New(db), people.Options{}).List(ctx)
	owners := 0
	for _, p := range all {
		if p.Role == people.Owner && !p.Disabled {
			owners++
		}
	}
	switch {
	case err != nil:
		d.add("people", "fail", "%v", err)
	case len(all) == 0:
		d.add("people", "info", "nobody has signed in yet; `wayleave sign-in` makes the first owner")
	default:
		d.add("people", "ok", "%d, of them %d owners", len(all), owners)
	}
	hosts, err := allowed.NewRegister(allowedstore.New(db)).List(ctx)
	switch {
	case err != nil:
		d.add("allowed", "fail", "%v", err)
	case len(hosts) > 0:
		d.add("allowed", "info", "%d private hosts or networks; `wayleave allow` lists them", len(hosts))
	}
}

// waitTooLong is how long an entry may wait to be linked while a server runs: that does it each second.
const waitTooLong = time.Minute

// record says what waits for a person, and whether the audit is linked.
func record(ctx context.Context, d *checkup, db *sqldb.DB) {
	unknown, err := watchstore.New(db).Uncertain(ctx, nil, 1000)
	switch {
	case err != nil:
		d.add("calls", "fail", "%v", err)
	case len(unknown) > 0:
		d.add("calls", "warn", "%d of unknown outcome hold their runs; `wayleave runs reconcile %s %s VERDICT` states what happened with the first", len(unknown), unknown[0].Run, unknown[0].ID)
	}
	waiting, oldest, err := auditstore.New(db).Waiting(ctx)
	switch {
	case err != nil:
		d.add("audit", "fail", "%v", err)
	case waiting > 0 && time.Since(oldest) > waitTooLong:
		d.add("audit", "warn", "%d entries are not linked since %s: no server runs, or its log says why; `wayleave audit verify` checks the rest", waiting, oldest.UTC().Format(time.RFC3339))
	default:
		d.add("audit", "ok", "%s; `wayleave audit verify` checks all of it", map[bool]string{true: "all entries are linked", false: fmt.Sprintf("%d entries are just being linked", waiting)}[waiting == 0])
	}
}
