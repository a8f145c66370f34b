package clientblock

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/secret"
)

func TestEveryBlockHasWhatItsClientNeedsAndNoMore(t *testing.T) {
	const url, token = "https://wl.example/mcp", "wl_tools_canary"
	for _, name := range Names() {
		c, ok := Of(name)
		if !ok || c.Where == "" {
			t.Fatalf("%s: %+v, %t", name, c, ok)
		}
		for kind, p := range map[string]Place{
			"token":    {URL: url, Token: secret.New(token)},
			"variable": {URL: url, Token: secret.New(token), Variable: true},
			"stdio":    {Command: []string{"/opt/a b/wayleave", "mcp"}},
		} {
			block := c.Block(p)
			if name != "ai-sdk" && !json.Valid([]byte(block)) {
				t.Errorf("%s, %s: not JSON: %s", name, kind, block)
			}
			for text, want := range map[string]bool{url: kind != "stdio", token: kind == "token", TokenVariable: kind == "variable", "/opt/a b/wayleave": kind == "stdio", "Authorization": kind != "stdio"} {
				if strings.Contains(block, text) != want {
					t.Errorf("%s, %s: has %q is not %t:\n%s", name, kind, text, want, block)
				}
			}
		}
	}
	if _, ok := Of("emacs"); ok {
		t.Error("a client that nobody knows")
	}
}
