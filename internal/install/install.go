// Package install opens one install: its database, its keys, and the directories of agents, people and settings over
// them. The service and the commands that work beside it open it in the same way.
//
// The one rule: what cannot be opened whole is not opened. A database that is too new or not migrated, and keys that are
// locked, end a start with a sentence that names the way out.
package install

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/catalogdata"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/people"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/agentstore"
	"github.com/wayleave/wayleave/internal/store/allowedstore"
	"github.com/wayleave/wayleave/internal/store/approvalstore"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/connectionstore"
	"github.com/wayleave/wayleave/internal/store/keystore"
	"github.com/wayleave/wayleave/internal/store/ledgerstore"
	"github.com/wayleave/wayleave/internal/store/peoplestore"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// DatabaseName is SQLite's file in a data folder.
const DatabaseName = "wayleave.db"

// Options of an install.
type Options struct {
	// Folder is the data folder. Required.
	Folder *datafolder.Folder
	// Database is PostgreSQL's address; empty means SQLite in the folder. It may hold a password.
	Database secret.Value
	// KeyFile is the master key's file; empty means master.key in the folder. Key is the key itself, which counts first.
	KeyFile string
	Key     secret.Value
	// Catalog is what this build can do; the zero Catalog means catalogdata.Built.
	Catalog catalogdata.Catalog
	// Now is the clock of SQLite's now_us, in microseconds; nil means the system's. PostgreSQL has its own.
	Now func() int64
	// Log hears what no caller does; nil drops it.
	Log *slog.Logger
}

// Install is an open install.
type Install struct {
	Folder *datafolder.Folder
	DB     *sqldb.DB
	// Masters is where the master key is, Keys the keyset that it opens.
	Masters *keyfile.Source
	Keys    *keystore.Store
	// Label is the install's own name on loopback.
	Label    string
	Catalog  catalogdata.Catalog
	Rules    *connection.Rules
	Agents   *agent.Directory
	People   *people.Directory
	Allowed  *allowed.Register
	Settings *connection.Settings
	// Rows are the ledger's, Approvals the questions to people, Trail what people did.
	Rows      *ledgerstore.Store
	Approvals *approvalstore.Store
	Trail     *auditstore.Store
}

// Actor is who imports and migrates, in the audit.
const Actor = "system"

// Database opens the database alone, as it is: for commands that migrate, back up or look.
func Database(ctx context.Context, o Options) (*sqldb.DB, error) {
	if address := o.Database.Reveal(); address != "" {
		return sqldb.OpenPostgres(ctx, address)
	}
	return sqldb.OpenSQLite(ctx, filepath.Join(o.Folder.Path(), DatabaseName), o.Now)
}

// Masters says where the master key of an install is.
func Masters(o Options) *keyfile.Source {
	file := o.KeyFile
	if file == "" {
		file = filepath.Join(o.Folder.Path(), keyfile.Name)
	}
	return keyfile.New(file, o.Key)
}

// Open opens an install. SQLite is migrated where it has to be; PostgreSQL must be. Errors that a person mends:
// schema.ErrNeedsMigration, schema.ErrTooNew, keystore.ErrLocked, keystore.ErrLost, sqldb.ErrUnavailable.
func Open(ctx context.Context, o Options) (_ *Install, err error) {
	if o.Folder == nil {
		return nil, errors.New("install: no data folder")
	}
	if len(o.Catalog.Providers) == 0 {
		o.Catalog = catalogdata.Built()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	db, err := Database(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if db.Dialect() == sqldb.SQLite {
		_, err = schema.Up(ctx, db)
	} else {
		err = schema.Check(ctx, db)
	}
	if err != nil {
		return nil, err
	}
	i := &Install{Folder: o.Folder, DB: db, Masters: Masters(o), Catalog: o.Catalog,
		Agents: agent.NewDirectory(agentstore.New(db)), People: people.NewDirectory(peoplestore.New(db), people.Options{}), Allowed: allowed.NewRegister(allowedstore.New(db))}
	if i.Keys, err = keystore.Open(ctx, db, i.Masters, keystore.Options{Log: o.Log}); err != nil {
		return nil, err
	}
	if i.Label, err = settings.Label(ctx, db); err != nil {
		return nil, fmt.Errorf("name the install: %w", err)
	}
	if i.Rules, err = connection.New(o.Catalog); err != nil {
		return nil, err
	}
	i.Settings = connection.NewSettings(i.Rules, connectionstore.New(db))
	if i.Rows, err = ledgerstore.New(db, i.Keys.Keys(), i.Rules.Resolve, ledgerstore.Options{}); err != nil {
		return nil, err
	}
	i.Approvals, i.Trail = approvalstore.New(db, i.Keys.Keys()), auditstore.New(db)
	if err := i.takeOver(ctx, o.Log); err != nil {
		return nil, err
	}
	return i, nil
}

// takeOver keeps in the database what an earlier version kept in files of the folder.
func (i *Install) takeOver(ctx context.Context, log *slog.Logger) error {
	did, err := i.Agents.Import(ctx, i.Folder, Actor)
	if err != nil {
		return fmt.Errorf("take over the agents of an earlier version: %w", err)
	}
	hosts, err := i.Allowed.Import(ctx, i.Folder, Actor, func(ctx context.Context, slug string) (string, error) {
		a, _, err := i.Agents.EnsureAgent(ctx, slug, Actor)
		return a.ID, err
	})
	if err != nil {
		return fmt.Errorf("take over the allowed hosts of an earlier version: %w", err)
	}
	if did || hosts {
		log.Info("agents and allowed hosts of an earlier version are in the database now", "agents", did, "hosts", hosts)
	}
	return nil
}

// Close ends it.
func (i *Install) Close() error { return i.DB.Close() }
