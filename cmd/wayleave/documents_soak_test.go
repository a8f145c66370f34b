package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/datafolder"
)

type carrying string

func (token carrying) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// TestDocumentsByAServerLeaveNothing: agents read documents, four at once, of a site through one server, a tenth of them hostile;
// every document reads as it did the first time, the server holds no more at the end than early on, and leaves no child.
// make soak reads 10,000.
func TestDocumentsByAServerLeaveNothing(t *testing.T) {
	many := 60
	if os.Getenv("WAYLEAVE_SOAK") != "" {
		many = 10_000
	}
	documents := httptest.NewServer(http.FileServer(http.Dir(filepath.Join("..", "..", "testdata", "documents"))))
	defer documents.Close()
	data := filepath.Join(t.TempDir(), "data")
	environ, err := documentFolders(nil)
	if err != nil {
		t.Fatal(err)
	}
	caches, _ := strings.CutPrefix(environ[1], "CACHES=")
	folder, err := datafolder.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	server := begin(t, program(t), []string{"XDG_CACHE_HOME=" + caches}, "serve", "--listen", "127.0.0.1:0", "--data", data, "--allow-private-hosts", "--per-host", "8",
		"--per-host-second", "10000", "--per-minute", "1000000", "--log-level", "error")
	place := owned(t, folder)
	var agents []*mcp.ClientSession
	for n := range 1 + many/600 { // a run has an end: 1,000 calls
		token, said, code := commandLine(t, "", nil, "agents", "token", "new", fmt.Sprintf("reader-%d", n), "--data", data)
		if code != 0 {
			t.Fatal(said)
		}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "soak", Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: "http://" + place.Listen + "/mcp", HTTPClient: &http.Client{Transport: carrying(strings.TrimSpace(token))}, MaxRetries: -1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		if _, err := session.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		agents = append(agents, session)
	}
	ids := regexp.MustCompile(`(call|run|evidence)_[0-9a-z]+`)
	read := func(agent int, name string) string {
		res, err := agents[agent].CallTool(t.Context(), &mcp.CallToolParams{Name: "web_fetch", Arguments: map[string]any{"url": documents.URL + "/" + name}})
		if err != nil {
			return err.Error()
		}
		text := fmt.Sprint(res.IsError)
		for _, c := range res.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				text += " " + t.Text
			}
		}
		return ids.ReplaceAllString(text, "$1")
	}
	first := map[string]string{}
	for _, name := range slices.Concat(honestDocuments(), hostileDocuments()) {
		if first[name] = read(0, name); strings.HasPrefix(first[name], "true") != slices.Contains(hostileDocuments(), name) {
			t.Errorf("%s: %.300s", name, first[name])
		}
	}
	round := func(from, to int) {
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				for i := from + worker; i < to; i += 4 {
					name := honestDocuments()[i%len(honestDocuments())]
					if i%10 == 0 {
						name = hostileDocuments()[i/10%len(hostileDocuments())]
					}
					if got := read(i*len(agents)/many, name); got != first[name] {
						t.Errorf("%s, the %d.: %.300s\nwant %.300s", name, i, got, first[name])
					}
				}
			})
		}
		all.Wait()
	}
	round(0, many/4)
	early := heldBy(t, server.Process.Pid)
	round(many/4, many)
	late := heldBy(t, server.Process.Pid)
	t.Logf("the server held %d KB after %d documents and %d KB after %d", early, many/4, late, many)
	const spare = 32 << 10 // KB
	if late > early+spare {
		t.Errorf("the server held %d KB after %d documents and %d KB after %d", early, many/4, late, many)
	}
	if left, err := children(server.Process.Pid); err != nil || len(left) > 4 {
		t.Errorf("children: %q, %v", left, err)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.ended(); err != nil {
		t.Error(err)
	}
	if left, err := children(1); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// heldBy is what a process has of memory, in kilobytes; 0 where the system does not tell.
func heldBy(t *testing.T, pid int) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
