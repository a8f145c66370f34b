package wayleave

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	for file, way := range map[string]string{"allowed.json": "move it away and allow each host anew", "agents.json": "move it away and make every agent and token anew"} {
		folder, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder.Path(), file)
		if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = New(t.Context(), Options{Data: folder.Path()})
		if err == nil || !strings.Contains(err.Error(), path+" is damaged") || !strings.Contains(err.Error(), way) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestFilesOfAnEarlierVersionAreTakenOver(t *testing.T) {
	url, permit, _ := site(t, "internal wiki")
	folder, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	token := "wl_tools_" + strings.Repeat("0a1b", 13)
	for name, text := range map[string]string{
		"agents.json": fmt.Sprintf(`{"version":1,"agents":[{"slug":"alice","created":"2025-11-02T03:04:05Z"}],
			"tokens":[{"id":"tok_one","agent":"alice","scope":"tools","hash":"%x","created":"2025-11-02T03:04:06Z"}]}`, sha256.Sum256([]byte(token))),
		"allowed.json": fmt.Sprintf(`{"version":1,"hosts":[{"host":%q,"agent":"alice","created":"2025-11-02T03:04:05Z"}]}`, permit),
	} {
		if err := os.WriteFile(filepath.Join(folder.Path(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second start finds them in the database
		in := launch(t, Options{Data: folder.Path()})
		if got, failed := read(t, in.client(t, token, ""), map[string]any{"url": url}); failed || !strings.Contains(got, "internal wiki") {
			t.Fatalf("the token and the permit of before: %s", got)
		}
		if err := in.stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeptPageOfAHostThatIsOffTheListIsNotReadOn: what may not be read now stays unread, though it was kept when it might.
func TestKeptPageOfAHostThatIsOffTheListIsNotReadOn(t *testing.T) {
	url, permit, asked := site(t, strings.Repeat("internal wiki ", 3000)+"needle")
	in := launch(t, Options{})
	alice := in.client(t, in.token(t, "alice"), "")
	if _, err := in.beside.Allowed.Allow(t.Context(), permit.String(), "", "test"); err != nil {
		t.Fatal(err)
	}
	in.until(t, "the host may be read", func() bool {
		_, failed := read(t, alice, map[string]any{"url": url})
		return !failed
	})
	if got, failed := read(t, alice, map[string]any{"url": url, "offset": 13000}); failed || !strings.Contains(got, "wiki") {
		t.Fatal(got)
	}
	before := asked.Load()
	if _, err := in.beside.Allowed.Remove(t.Context(), permit.String(), "", "test"); err != nil {
		t.Fatal(err)
	}
	for _, more := range []map[string]any{{"url": url, "offset": 13000}, {"url": url, "find": "needle"}} {
		in.until(t, "the kept page is refused", func() bool {
			got, failed := read(t, alice, more)
			return failed && strings.Contains(got, "web_fetch_disallowed_url") && !strings.Contains(got, "wiki")
		})
	}
	if asked.Load() != before {
		t.Error("the site was asked")
	}
}
