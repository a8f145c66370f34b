// Package place says where things are: the flags that name an install and its server, how an install is opened by a
// command beside whatever serves it, and how a command is worded that a person is told to type next.
//
// The one rule: a command that works beside a server says when it is not beside one, so that a person who named another
// folder than the server's learns it.
package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/wayleave/wayleave"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// DataFlags name the install: its data folder, and what is kept elsewhere.
type DataFlags struct {
	Data     string `help:"Data folder. Default: the system's per-user one." placeholder:"DIR"`
	Database string `setting:"secret" help:"PostgreSQL, for several servers: postgres://USER@HOST:PORT/NAME. A password belongs into the variable WAYLEAVE_DATABASE, not on a command line. Default: SQLite in the data folder." placeholder:"URL"`
	KeyFile  string `name:"key-file" help:"File of the master key. Default: master.key in the data folder. The variable WAYLEAVE_MASTER_KEY may hold the key itself." placeholder:"FILE"`
}

// Path is the folder named, or the system's.
func (d DataFlags) Path(s *cli.Session) (string, error) {
	if d.Data != "" {
		return d.Data, nil
	}
	path, err := datafolder.Default(runtime.GOOS, s.Getenv)
	if err != nil {
		return "", &cli.UsageError{Err: err}
	}
	return path, nil
}

// Where says how the install of a folder is opened.
func (d DataFlags) Where(s *cli.Session, folder *datafolder.Folder) install.Options {
	return install.Options{Folder: folder, Database: secret.New(d.Database), KeyFile: d.KeyFile, Key: secret.New(s.Getenv(keyfile.Variable))}
}

// Folder opens the folder, which is made where it is not there.
func (d DataFlags) Folder(s *cli.Session) (*datafolder.Folder, error) {
	path, err := d.Path(s)
	if err != nil {
		return nil, err
	}
	folder, err := datafolder.Open(path)
	if err != nil {
		return nil, err
	}
	for _, w := range folder.Warnings() {
		s.Err.Printf("warning: %s\n", w)
	}
	return folder, nil
}

// Into says to the service where its install is.
func (d DataFlags) Into(s *cli.Session, folder *datafolder.Folder, o *wayleave.Options) {
	o.Data, o.Database, o.KeyFile, o.Key = folder.Path(), d.Database, d.KeyFile, s.Getenv(keyfile.Variable)
}

// Open opens the install; the folder is made where it is not there.
func (d DataFlags) Open(s *cli.Session) (*install.Install, error) {
	folder, err := d.Folder(s)
	if err != nil {
		return nil, err
	}
	in, err := install.Open(s.Ctx, d.Where(s, folder))
	return in, ofAnother(err)
}

// there is the folder, which must be there already.
func (d DataFlags) there(s *cli.Session) (*datafolder.Folder, error) {
	path, err := d.Path(s)
	if err != nil {
		return nil, err
	}
	folder, err := datafolder.Look(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no data folder at %s; `wayleave serve` and `wayleave agents token new` make one, --data names another", path)
	}
	return folder, err
}

// Look opens an install that is there; a missing folder has none and is not made.
func (d DataFlags) Look(s *cli.Session) (*install.Install, error) {
	folder, err := d.there(s)
	if err != nil {
		return nil, err
	}
	if err := d.servedFrom(folder); err != nil {
		return nil, err
	}
	in, err := install.Open(s.Ctx, d.Where(s, folder))
	return in, ofAnother(err)
}

// servedFrom refuses the folder's own database where the folder's server has another: what a command reads or makes there
// the server never hears of.
func (d DataFlags) servedFrom(folder *datafolder.Folder) error {
	at, running, err := folder.Owner()
	if err != nil || !running || !at.Elsewhere || d.Database != "" {
		return nil // who cannot see the owner is told by whoever opens the folder
	}
	return fmt.Errorf("the server on the data folder %s has its database in PostgreSQL, and this command was not told where: give the address that the server has, in the variable WAYLEAVE_DATABASE or with --database", folder.Path())
}

// ErrNoDatabase says that a data folder has no database yet.
var ErrNoDatabase = errors.New("there is no database")

// Existing opens the database alone, as it is, whatever its keys are: to look, to copy, to migrate. ErrNoDatabase where
// SQLite has no file yet; it is not made.
func Existing(s *cli.Session, o install.Options) (*sqldb.DB, error) {
	if o.Database.Empty() {
		path := filepath.Join(o.Folder.Path(), install.DatabaseName)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w at %s yet; `wayleave serve` makes one", ErrNoDatabase, path)
		}
	}
	db, err := install.Database(s.Ctx, o)
	return db, ofAnother(err)
}

// ofAnother says the way out where the files are another user's.
func ofAnother(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: run this as the user that the server runs as", err)
	}
	return err
}

// Bare is Existing of the install that the flags name, and how the rest of it would be opened.
func (d DataFlags) Bare(s *cli.Session) (*sqldb.DB, install.Options, error) {
	folder, err := d.there(s)
	if err != nil {
		return nil, install.Options{}, err
	}
	if err := d.servedFrom(folder); err != nil {
		return nil, install.Options{}, err
	}
	o := d.Where(s, folder)
	db, err := Existing(s, o)
	return db, o, err
}

// ByCLI is who changes something by a command, in the audit: whoever may read the master key.
const ByCLI = "cli"

// NewToken makes a token, and its agent where it is not there.
func NewToken(ctx context.Context, in *install.Install, slug string, scope agent.Scope) (agent.Token, secret.Value, error) {
	a, _, err := in.Agents.EnsureAgent(ctx, slug, ByCLI)
	if err != nil {
		return agent.Token{}, secret.Value{}, err
	}
	return in.Agents.NewToken(ctx, a.ID, scope, ByCLI)
}
