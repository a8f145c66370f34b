package agentstore_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Tokens of the earlier version, and its files that know them.
var (
	oldToken = "wl_tools_" + strings.Repeat("0a1b", 13)
	oldGone  = "wl_harness_" + strings.Repeat("2c3d", 13)
	oldBook  = fmt.Sprintf(`{"version":1,"agents":[{"slug":"alice","created":"2025-11-02T03:04:05Z"},{"slug":"bob","created":"2025-11-03T00:00:00Z"}],
		"tokens":[{"id":"tok_one","agent":"alice","scope":"tools","hash":"%x","created":"2025-11-02T03:04:06Z"},
		{"id":"tok_two","agent":"carol","scope":"harness","hash":"%x","created":"2025-11-02T03:04:07Z","revoked":"2025-11-05T00:00:00Z"}]}`,
		sha256.Sum256([]byte(oldToken)), sha256.Sum256([]byte(oldGone)))
	oldUses = `{"tok_one":{"at":"2025-12-01T00:00:00Z","from":"192.0.2.9"}}`
)

func folder(t *testing.T, files map[string]string) *datafolder.Folder {
	t.Helper()
	f, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(f.Path(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func exists(t *testing.T, f *datafolder.Folder, name string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(f.Path(), name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestTokensOfAnEarlierVersionKeepWorking(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d, f := open(db), folder(t, map[string]string{"agents.json": oldBook, "token-use.json": oldUses, "agents.json.lock": "", "token-use.json.lock": ""})
		if did, err := d.Import(t.Context(), f, "system"); err != nil || !did {
			t.Fatalf("%v, %v", did, err)
		}
		who, err := d.Verify(oldToken, from)
		if err != nil || who.Agent != "alice" || who.AgentID == "" || who.TokenID != "tok_one" || who.Scope != agent.ScopeTools {
			t.Fatalf("%+v, %v", who, err)
		}
		if _, err := d.Verify(oldGone, from); !errors.Is(err, agent.ErrUnknownToken) {
			t.Fatalf("a token that was revoked before: %v", err)
		}
		agents, tokens, err := open(db).List(t.Context(), nil)
		if err != nil || len(agents) != 3 || len(tokens) != 2 {
			t.Fatalf("%+v, %+v, %v", agents, tokens, err)
		}
		if made := time.Date(2025, 11, 2, 3, 4, 5, 0, time.UTC); agents[0].Slug != "alice" || !agents[0].Created.Equal(made) || agents[2].Slug != "carol" {
			t.Errorf("agents: %+v", agents)
		}
		if want := (agent.Use{At: time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC), From: "192.0.2.9"}); tokens[0].LastUse != want {
			t.Errorf("last use: %+v", tokens[0])
		}
		if want := time.Date(2025, 11, 5, 0, 0, 0, 0, time.UTC); !tokens[1].Revoked.Equal(want) || tokens[1].Agent != "carol" {
			t.Errorf("the revoked one: %+v", tokens[1])
		}
		for _, name := range []string{"agents.json", "token-use.json"} {
			if exists(t, f, name) || !exists(t, f, name+agent.ImportedSuffix) {
				t.Errorf("%s was not set aside", name)
			}
			if exists(t, f, name+".lock") {
				t.Errorf("the lock of %s was left behind", name)
			}
			if err := os.WriteFile(filepath.Join(f.Path(), name+".lock"), nil, 0o600); err != nil { // as a program left it that set the file aside alone
				t.Fatal(err)
			}
		}
		if did, err := d.Import(t.Context(), f, "system"); err != nil || did {
			t.Fatalf("a second time: %v, %v", did, err)
		}
		for _, name := range []string{"agents.json.lock", "token-use.json.lock"} {
			if exists(t, f, name) {
				t.Errorf("%s was left behind beside files that were taken over before", name)
			}
		}
		if n := strings.Count(dump(t, db, "verb", "audit"), "agents.imported"); n != 1 {
			t.Fatalf("%d entries", n)
		}
	})
}

func TestImportThatWasCutOffIsFinished(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d, f := open(db), folder(t, map[string]string{"agents.json": oldBook})
		if _, err := d.Import(t.Context(), f, "system"); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Revoke(t.Context(), "", "tok_one", by); err != nil {
			t.Fatal(err)
		}
		// As if the process had died between the commit and the renaming.
		if err := os.Rename(filepath.Join(f.Path(), "agents.json"+agent.ImportedSuffix), filepath.Join(f.Path(), "agents.json")); err != nil {
			t.Fatal(err)
		}
		if did, err := d.Import(t.Context(), f, "system"); err != nil || did || exists(t, f, "agents.json") {
			t.Fatalf("%v, %v", did, err)
		}
		if _, err := d.Verify(oldToken, from); !errors.Is(err, agent.ErrUnknownToken) {
			t.Fatalf("a token that was revoked since: %v", err)
		}
	})
}

func TestFilesAreNotMixedIntoADatabaseThatIsInUse(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d, f := open(db), folder(t, map[string]string{"agents.json": oldBook})
		made(t, d, "alice")
		if did, err := d.Import(t.Context(), f, "system"); !errors.Is(err, agent.ErrNotImported) || did || !strings.Contains(err.Error(), f.Path()) {
			t.Fatalf("%v, %v", did, err)
		}
		if !exists(t, f, "agents.json") {
			t.Fatal("a file that was not read was set aside")
		}
		if _, err := d.Verify(oldToken, from); !errors.Is(err, agent.ErrUnknownToken) {
			t.Fatal(err)
		}
	})
}

func TestDamagedFilesAreNotImported(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		d := open(db)
		for name, files := range map[string]map[string]string{
			"not JSON":     {"agents.json": "{"},
			"next version": {"agents.json": `{"version":2}`},
			"no version":   {"agents.json": `{}`},
			"null":         {"agents.json": "null"},
			"empty":        {"agents.json": ""},
			"more behind":  {"agents.json": oldBook + "{}"},
			"list twice":   {"agents.json": `{"version":1,"agents":[],"tokens":[],"tokens":[]}`},
			"unknown key":  {"agents.json": `{"version":1,"tokenz":[]}`},
			"bad slug":     {"agents.json": `{"version":1,"agents":[{"slug":"../x","created":"2025-11-02T03:04:05Z"}]}`},
			"bad scope":    {"agents.json": strings.Replace(oldBook, `"scope":"tools"`, `"scope":"admin"`, 1)},
			"bad hash":     {"agents.json": strings.Replace(oldBook, `"hash":"`, `"hash":"z`, 1)},
			"no id":        {"agents.json": strings.Replace(oldBook, "tok_one", "", 1)},
			"id twice":     {"agents.json": strings.Replace(oldBook, "tok_two", "tok_one", 1)},
			"bad uses":     {"agents.json": oldBook, "token-use.json": "["},
		} {
			f := folder(t, files)
			if did, err := d.Import(t.Context(), f, "system"); err == nil || did || !strings.Contains(err.Error(), f.Path()) {
				t.Errorf("%s: %v, %v", name, did, err)
			}
			if !exists(t, f, "agents.json") {
				t.Errorf("%s: set aside", name)
			}
		}
		if agents, tokens, err := d.List(t.Context(), nil); err != nil || len(agents)+len(tokens) != 0 {
			t.Fatalf("%v, %v, %v", agents, tokens, err)
		}
		if did, err := d.Import(t.Context(), folder(t, nil), "system"); err != nil || did {
			t.Fatalf("a folder without files: %v, %v", did, err)
		}
	})
}

// TestTwoProcessesImportOnce starts both at once on one folder and one database.
func TestTwoProcessesImportOnce(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		f := folder(t, map[string]string{"agents.json": oldBook, "token-use.json": oldUses})
		var did [2]bool
		var wg sync.WaitGroup
		for i, db := range []*sqldb.DB{one, two} {
			wg.Go(func() {
				var err error
				if did[i], err = open(db).Import(t.Context(), f, "system"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if did[0] == did[1] {
			t.Fatalf("imported: %v", did)
		}
		if _, tokens, err := open(one).List(t.Context(), nil); err != nil || len(tokens) != 2 {
			t.Fatalf("%v, %v", tokens, err)
		}
	})
}
