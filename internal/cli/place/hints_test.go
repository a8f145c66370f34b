package place

import (
	"testing"
)

func TestAPathIsOneWordOfAShell(t *testing.T) {
	for text, want := range map[string]string{
		"/srv/wayleave-1":        "/srv/wayleave-1",
		"http://127.0.0.1:1/mcp": "http://127.0.0.1:1/mcp",
		"":                       "''",
		"/home/a b":              "'/home/a b'",
		"~/x":                    "'~/x'",
		"it's $HOME":             `'it'\''s $HOME'`,
		"a;b":                    "'a;b'",
	} {
		if got := ShellWord(text); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", text, got, want)
		}
	}
}
