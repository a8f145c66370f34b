// This file starts PostgreSQL: one cluster for a test process, ended by a child that notices when the process is gone.
package dbtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const (
	// template is the migrated database that others are copied from.
	template = "migrated"
	role     = "wayleave"
	// startWithin is generous: the machine may be busy with other tests.
	startWithin = 90 * time.Second
	// fsyncVariable switches PostgreSQL's syncing off where a test run values speed over the disk's part in it.
	fsyncVariable = "WAYLEAVE_TEST_POSTGRES_FSYNC"
)

// cluster is a running PostgreSQL.
type cluster struct {
	folder, password string
	port             int
	admin            *sql.DB
	alive            io.Closer // the guard's input
	databases        atomic.Int64
	mu               sync.Mutex // CREATE DATABASE wants its template for itself
	emptied, bare    []string   // databases of tests that ended, for the next: with tables, and without
	shape            string     // of the template: what a test may not leave changed
}

// started is the process's one cluster. It and the SQLite file that tests copy are the variables of this package: both are
// too dear to make for each test, and a test cannot be given them from outside.
var started = sync.OnceValues(start)

func theCluster(t testing.TB) *cluster {
	t.Helper()
	c, err := started()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// binaries finds the folder that has initdb and postgres: Debian keeps them out of PATH.
func binaries() (string, error) {
	var folders []string
	if found, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(found); err == nil {
			folders = append(folders, filepath.Dir(real))
		}
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(debian, func(a, b string) int { return majorOf(b) - majorOf(a) })
	folders = append(folders, debian...)
	folders = append(folders, "/usr/local/pgsql/bin", "/usr/local/bin", "/opt/homebrew/bin")
	for _, f := range folders {
		if isFile(filepath.Join(f, "initdb")) && isFile(filepath.Join(f, "postgres")) {
			return f, nil
		}
	}
	return "", errors.New("PostgreSQL's initdb and postgres were not found; run `make deps`, which installs them")
}

// majorOf reads the version out of /usr/lib/postgresql/15/bin.
func majorOf(folder string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
	return n
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func start() (*cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	who, err := ordinaryUser()
	if err != nil {
		return nil, err
	}
	// Not below the system's temporary folder of a test: a socket's path must be short, and the user must reach it.
	folder, err := os.MkdirTemp("/tmp", "wayleave-postgres-")
	if err != nil {
		return nil, err
	}
	c := &cluster{folder: folder, password: rand.Text()}
	if err := c.start(bin, who); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return c, nil
}

func (c *cluster) start(bin string, who identity) error {
	if err := who.own(c.folder); err != nil {
		return err
	}
	password := filepath.Join(c.folder, "password")
	if err := os.WriteFile(password, []byte(c.password), 0o600); err != nil {
		return err
	}
	if err := who.own(password); err != nil {
		return err
	}
	data := filepath.Join(c.folder, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", role, "--pwfile", password, "--auth-local=trust", "--auth-host=scram-sha-256",
		"--locale=C", "--encoding=UTF8", "--no-sync")
	initdb.Dir = c.folder
	initdb.Env = []string{"PATH=" + os.Getenv("PATH"), "TZ=UTC"}
	who.run(initdb)
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	fsync := "on"
	if v := os.Getenv(fsyncVariable); v != "" {
		fsync = v
	}
	for attempt := 1; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return err
		}
		c.port = port
		err = c.serve(bin, who, data, fsync)
		if err == nil {
			break
		}
		if attempt == 3 || !strings.Contains(err.Error(), "could not bind") { // somebody else took the port meanwhile
			return err
		}
	}
	return c.prepare()
}

// guard starts PostgreSQL and waits for the end of its own input, whose other end this process holds: however the
// process ends, the system closes that end, and the cluster is stopped and removed.
const guard = `"$1" -D "$2" -p "$3" -k "$4" -c listen_addresses=127.0.0.1 -c unix_socket_permissions=0700 \
  -c fsync="$5" -c shared_buffers=24MB -c max_connections=200 -c max_wal_size=256MB -c log_min_messages=warning -c log_line_prefix='%t [%p] %d ' \
  -c autovacuum_naptime=10min -c max_worker_processes=2 -c max_logical_replication_workers=0 -c log_lock_waits=on \
  </dev/null >"$4/log" 2>&1 &
postgres=$!
read -r line
kill -QUIT $postgres 2>/dev/null
wait $postgres
cd / && rm -rf "$4"`

// serve starts the server and waits until it answers.
func (c *cluster) serve(bin string, who identity, data, fsync string) error {
	cmd := exec.Command("/bin/sh", "-c", guard, "wayleave-postgres-guard", filepath.Join(bin, "postgres"), data, strconv.Itoa(c.port), c.folder, fsync)
	cmd.Dir = c.folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TZ=UTC", "LC_ALL=C"}
	who.run(cmd)
	alive, err := cmd.StdinPipe() // never written to; its end is the message
	if err != nil {
		return err
	}
	c.alive = alive // what nobody holds is closed by the garbage collector
	if err := cmd.Start(); err != nil {
		return err
	}
	admin, err := sql.Open("pgx", c.address("postgres"))
	if err != nil {
		return errors.Join(err, alive.Close())
	}
	admin.SetMaxOpenConns(2)
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if err = admin.PingContext(ctx); err == nil {
			c.admin = admin
			return nil
		}
		log, _ := os.ReadFile(filepath.Join(c.folder, "log"))
		if ctx.Err() != nil || strings.Contains(string(log), "FATAL:  could not") || strings.Contains(string(log), "database system is shut down") {
			return errors.Join(fmt.Errorf("PostgreSQL did not start: %w\n%s", err, log), admin.Close(), alive.Close())
		}
		<-tick.C
	}
}

// prepare makes the template.
func (c *cluster) prepare() error {
	ctx := context.Background()
	if _, err := c.admin.ExecContext(ctx, "CREATE DATABASE "+template+" TEMPLATE template0"); err != nil {
		return err
	}
	db, err := sqldb.OpenPostgres(ctx, c.address(template))
	if err != nil {
		return err
	}
	_, err = schema.Up(ctx, db)
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return c.keepFirst(ctx)
}

// addresses are those of a database: on the socket, and over loopback with a password.
func (c *cluster) addresses(name string) (socket, tcp string) {
	over := url.URL{Scheme: "postgres", User: url.UserPassword(role, c.password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)), Path: "/" + name, RawQuery: "sslmode=disable"}
	return c.address(name), over.String()
}

// create makes a database.
func (c *cluster) create(t testing.TB, from string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", c.databases.Add(1))
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.admin.Exec("CREATE DATABASE " + name + " TEMPLATE " + from); err != nil {
		t.Fatal(err)
	}
	return name
}

// address is that of a database on the socket, which only this user reaches.
func (c *cluster) address(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database,
		RawQuery: url.Values{"host": {c.folder}, "port": {strconv.Itoa(c.port)}}.Encode()}
	return u.String()
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
