package wayleave

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/datafolder"
)

func TestRefusalNamesTheCommandThatPermitsExactlyThatHost(t *testing.T) {
	url, permit, _ := site(t, "internal wiki")
	in := launch(t, Options{PermitCommand: "wayleave allow --data '/srv/a b'"})
	alice := in.client(t, in.token(t, "alice"), "")
	got, failed := read(t, alice, map[string]any{"url": url})
	if want := "A person can permit this host: wayleave allow --data '/srv/a b' " + permit.String(); !failed || !strings.HasSuffix(got, want) || !strings.Contains(permit.String(), ":") {
		t.Errorf("%s\nwant at its end: %s", got, want)
	}
	for _, none := range []string{in.url + "/readyz", strings.Replace(in.url, "127.0.0.1", "localhost", 1), "http://127.0.0.1:22/"} {
		if got, failed := read(t, alice, map[string]any{"url": none}); !failed || strings.Contains(got, "permit") {
			t.Errorf("%s: no permit would help: %s", none, got)
		}
	}
}

func TestDamagedFilesRefuseTheStartAndNameTheWayOut(t *testing.T) {
	for file, way := range map[string]string{"allowed.json": "move it away and allow each host anew", "agents.json": "move it away and make every agent and token anew", "token-use.json": "delete it"} {
		folder, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder.Path(), file)
		if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = New(Options{Data: folder.Path()})
		if err == nil || !strings.Contains(err.Error(), path+" is damaged") || !strings.Contains(err.Error(), way) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestListDamagedWhileItRunsAllowsNothingAndBreaksNothing(t *testing.T) {
	url, permit, _ := site(t, "internal wiki")
	in := launch(t, Options{})
	if _, err := allowed.NewStore(in.folder, nil).Allow(permit.String(), ""); err != nil {
		t.Fatal(err)
	}
	token := in.token(t, "alice")
	alice := in.client(t, token, "")
	if got, failed := read(t, alice, map[string]any{"url": url}); failed {
		t.Fatal(got)
	}
	spoil := func([]byte) ([]byte, error) { return []byte("{"), nil }
	if err := in.folder.Update("allowed.json", spoil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, failed := read(t, alice, map[string]any{"url": url}); !failed || !strings.HasPrefix(got, "web_fetch_disallowed_url: ") {
			t.Errorf("with a damaged list: %s", got)
		}
	}
	if err := in.folder.Update("agents.json", spoil); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, in.url+"/mcp", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("with damaged agents: %d", res.StatusCode)
	}
	if err := in.stop(); err != nil {
		t.Fatal(err)
	}
	log := in.log.String()
	if n := strings.Count(log, filepath.Join(in.folder.Path(), "allowed.json")+" is damaged"); n != 1 {
		t.Errorf("the damaged list is logged %d times", n)
	}
	if !strings.Contains(log, filepath.Join(in.folder.Path(), "agents.json")+" is damaged") {
		t.Error("the damaged agents are not logged")
	}
}
