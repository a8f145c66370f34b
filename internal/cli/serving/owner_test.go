package serving

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wayleave/wayleave"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// TestTM006OwnListenersAreNotReadOverPipes: a client of the owner's reaches no listener of it, whatever is permitted:
// neither that of agents and people nor that of metrics.
func TestTM006OwnListenersAreNotReadOverPipes(t *testing.T) {
	folder, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	options := wayleave.Options{Data: folder.Path(), Log: slog.New(slog.DiscardHandler), Fetch: webfetch.Options{Policy: &weburl.Policy{AllowPrivateHosts: true}}}
	own, err := take(t.Context(), ownerPlan{folder: folder, options: options, listen: "127.0.0.1:0", metrics: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- own.run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := own.leave(); err != nil {
			t.Error(err)
		}
	}()
	at, owned, err := folder.Owner()
	if err != nil || !owned {
		t.Fatalf("%+v, %v, %v", at, owned, err)
	}
	client, err := wayleave.DialPipe(t.Context(), at.Pipe, "local")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	answers := bufio.NewReader(client)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	ask := func(message string) string {
		if _, err := io.WriteString(client, message+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`)
	for _, listener := range []string{own.listener.Addr().String(), own.metrics.Addr().String()} {
		_, port, _ := strings.Cut(listener, ":")
		for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"} {
			got := ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"web_fetch","arguments":{"url":"http://%s:%s/metrics"},%s}}`, host, port, meta))
			if !strings.Contains(got, "listener of this install") {
				t.Errorf("%s:%s: %s", host, port, got)
			}
		}
	}
}
