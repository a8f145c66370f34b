package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/datafolder"
)

// TestTM006ServerOfTheSameFolderIsNotReadOverPipes: another process of the install reaches no listener of it either,
// whatever its own flags permit.
func TestTM006ServerOfTheSameFolderIsNotReadOverPipes(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	address := server.Listener.Addr().String()
	data := filepath.Join(t.TempDir(), "data")
	folder, err := datafolder.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	release, err := folder.Own()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := folder.Announce(datafolder.Server{URL: server.URL + "/mcp", Listen: address}); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	var calls strings.Builder
	hosts := []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"}
	for id, host := range hosts {
		fmt.Fprintf(&calls, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"web_fetch","arguments":{"url":"http://%s:%s/"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", id, host, port)
	}
	var shown, problems strings.Builder
	code := run([]string{"mcp", "--data", data, "--allow-private-hosts"}, []string{"HOME=" + t.TempDir()}, strings.NewReader(calls.String()), &shown, &problems)
	if refused := strings.Count(shown.String(), "listener of this install"); code != exitDone || refused < len(hosts) || asked > 0 {
		t.Errorf("code %d, %d answers are refusals, the server was asked %d times:\n%s", code, refused, asked, shown.String())
	}
}
