package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"wayleave": main})
}

// TestScripts runs testdata/script/*.txtar: command lines as people type them. The scripts have $SITE, a web site on
// loopback, $DOCUMENTS, documents of ours, $CACHES, the folder of this user's caches, $PORT, a port that is free, and these commands: ready URL waits for a server, post URL TOKEN-FILE BODY-FILE
// sends an MCP message of the newest era, mode FILE MODE compares permissions, token FILE OUT takes the token out of
// JSON, alone fails where a reader of documents has lost its parent, stage DATA leaves there what a person must answer, sql DATA STATEMENT
// writes to its database behind the program's back, readkey FILE sets WAYLEAVE_MASTER_KEY, postgres sets POSTGRES to the address
// of an empty database and PASSWORD to what is secret in it, status N COMMAND… runs a command that must exit with N.
func TestScripts(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(pages))
	t.Cleanup(site.Close)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SITE", site.URL)
			e.Setenv("SITEHOST", strings.TrimPrefix(site.URL, "http://"))
			port, err := freePort()
			if err != nil {
				return err
			}
			e.Setenv("PORT", port)
			if e.Vars, err = documentFolders(e.Vars); err != nil {
				return err
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ready":   ready,
			"post":    post,
			"mode":    mode,
			"token":   token,
			"status":  status,
			"stage":   stage,
			"sql":     edit,
			"readkey": readKey,
			"alone":   alone,
			"postgres": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 0 {
					ts.Fatalf("usage: postgres")
				}
				address := dbtest.Empty(t, sqldb.Postgres).TCP
				u, err := url.Parse(address)
				ts.Check(err)
				password, _ := u.User.Password()
				ts.Setenv("POSTGRES", address)
				ts.Setenv("PASSWORD", password)
			},
		},
	})
}

// pages is the site: one page a path.
func pages(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/text":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "plain words\n")
	case "/html":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>A page</title><h1>Heading</h1><p>Some <b>words</b>.</p>")
	case "/shell":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>App</title><div id="root"></div><script src="/a.js"></script>`)
	case "/gone":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<h1>Page not found</h1>")
	case "/long":
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, strings.Repeat("0123456789", 3000))
	case "/evil":
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "a\x1b]52;c;ZXZpbA==\x07b\x1b[2Jc\u009b31md")
	case "/moved":
		http.Redirect(w, r, "/text", http.StatusFound)
	case "/picture":
		w.Header().Set("Content-Type", "image/png")
		_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n")
	default:
		if name, ok := strings.CutPrefix(r.URL.Path, "/documents/"); ok {
			w.Header().Set("Content-Type", "application/octet-stream")
			http.ServeFile(w, r, filepath.Join("..", "..", "testdata", "documents", filepath.Base(name)))
			return
		}
		http.NotFound(w, r)
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

func ready(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ready URL")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		res, err := http.Get(args[0])
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			ts.Fatalf("%s is not ready: %v", args[0], err)
		}
	}
}

func post(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: post URL TOKEN-FILE BODY-FILE")
	}
	body := ts.ReadFile(args[2])
	var message struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	ts.Check(json.Unmarshal([]byte(body), &message))
	body = strings.NewReplacer("$SITE", ts.Getenv("SITE"), "$PORT", ts.Getenv("PORT")).Replace(body)
	r, err := http.NewRequest(http.MethodPost, args[0], strings.NewReader(body))
	ts.Check(err)
	for name, value := range map[string]string{
		"Authorization": "Bearer " + strings.TrimSpace(ts.ReadFile(args[1])), "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": message.Method, "Mcp-Name": message.Params.Name} {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	ts.Check(err)
	if failed := res.StatusCode >= 400; failed != neg {
		ts.Fatalf("%d %s", res.StatusCode, text)
	}
	fmt.Fprintf(ts.Stdout(), "%d %s", res.StatusCode, text)
}

func mode(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: mode FILE MODE")
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); (got == args[1]) == neg {
		ts.Fatalf("%s has mode %s", filepath.Base(args[0]), got)
	}
}

func token(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: token FILE OUT")
	}
	var out struct {
		Token string `json:"token"`
		ID    string `json:"id"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &out))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out.Token), 0o600))
	ts.Setenv("ID", out.ID)
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql DATA STATEMENT")
	}
	ts.Check(statement(context.Background(), ts.MkAbs(args[0]), args[1]))
}

// statement changes the database of a data folder behind the program's back.
func statement(ctx context.Context, data, text string) error {
	db, err := sqldb.OpenSQLite(ctx, filepath.Join(data, install.DatabaseName), nil)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Maintain(ctx, func(ctx context.Context, pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, text)
		return err
	})
}

func readKey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: readkey FILE")
	}
	ts.Setenv(keyfile.Variable, strings.TrimSpace(ts.ReadFile(args[0])))
}
