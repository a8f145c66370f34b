package clienttest

// What `wayleave attach` prints works where a person pastes it. W-073: each block is put into the client's own
// configuration as it came out, and the client is run with a scripted model.

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var openCode = harness{tool: "wayleave_web_fetch"}

func TestBlockForOpenCodeWorksAsPrinted(t *testing.T) {
	t.Parallel()
	page := newSite(t)
	s := serve(t, program(t), "--allow-host", page.host())
	for name, flags := range map[string][]string{"HTTP": {"--url", s.url}, "HTTP, token in a variable": {"--url", s.url, "--variable"}, "stdio": {"--stdio"}} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			block := s.command(t, append([]string{"attach", "opencode"}, flags...)...)
			if err := os.WriteFile(filepath.Join(project, "opencode.json"), []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			m := newModel(t, openCode.tool, script(page))
			env := append(openCodeEnv(t, m, page), "WAYLEAVE_TOKEN="+s.token)
			r := runAlone(t, project, "", env, installed(t, "opencode-linux-*/bin/opencode"), "run", "--pure", "--auto", "read")
			if r.code != 0 {
				t.Fatalf("exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
			}
			expectConversation(t, openCode, m.report(t), page)
		})
	}
}

// openCodeEnv gives OpenCode the scripted model and keeps it from asking anybody else for anything. A local MCP server
// inherits its environment, and so is told which private host it may read.
func openCodeEnv(t *testing.T, m *model, page *site) []string {
	t.Helper()
	config, err := json.Marshal(map[string]any{
		"model": "scripted/scripted", "small_model": "scripted/scripted", "share": "disabled", "autoupdate": false,
		"provider": map[string]any{"scripted": map[string]any{"npm": "@ai-sdk/openai-compatible", "name": "scripted",
			"options": map[string]string{"baseURL": m.URL + "/v1", "apiKey": "none"},
			"models":  map[string]any{"scripted": map[string]any{"name": "scripted", "limit": map[string]int{"context": 200_000, "output": 8_000}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const nobody = "http://127.0.0.1:9" // the discard port
	return []string{"OPENCODE_CONFIG_CONTENT=" + string(config), "WAYLEAVE_ALLOW_HOST=" + page.host(),
		"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "npm_config_offline=true", "npm_config_fetch_retries=0",
		"HTTP_PROXY=" + nobody, "HTTPS_PROXY=" + nobody, "NO_PROXY=127.0.0.1"}
}

func TestBlockForTheAISDKWorksAsPrinted(t *testing.T) {
	t.Parallel()
	page := newSite(t)
	s := serve(t, program(t), "--allow-host", page.host())
	// Modules are looked up from where a program stands, so it stands beside a link to the installed ones.
	folder := t.TempDir()
	if err := os.Symlink(inClients("node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	rest := `
import { orders, report } from '` + inClients("script.mjs") + `';
import { converse } from '` + inClients("ai-sdk-model.mjs") + `';
report(await converse(tools, orders().calls));
await wayleave.close();
`
	converse := func(t *testing.T, calls []map[string]any, flags ...string) report {
		t.Helper()
		path := filepath.Join(folder, strings.ReplaceAll(t.Name(), "/", "-")+".mjs")
		block := s.command(t, append([]string{"attach", "ai-sdk"}, flags...)...)
		if err := os.WriteFile(path, []byte(block+rest), 0o600); err != nil {
			t.Fatal(err)
		}
		return drive(t, path, map[string]any{"calls": calls}, "WAYLEAVE_TOKEN="+s.token)
	}
	t.Run("HTTP", func(t *testing.T) {
		expectConversation(t, harnesses["AI SDK"], converse(t, script(page), "--url", s.url), page)
	})
	t.Run("HTTP, token in a variable", func(t *testing.T) {
		expectConversation(t, harnesses["AI SDK"], converse(t, script(page), "--url", s.url, "--variable"), page)
	})
	// The library hides the environment from a server that it starts, so there is no way to allow it a private host
	// and the block stays as it is: a refusal shows that the tool is offered and called.
	t.Run("stdio", func(t *testing.T) {
		rep := converse(t, []map[string]any{{"url": refusedURL}}, "--stdio")
		if len(rep.Offered) != 1 || rep.Offered[0] != "web_fetch" || len(rep.Texts) != 1 {
			t.Fatalf("offered %q, %d results", rep.Offered, len(rep.Texts))
		}
		expectRefusal(t, rep.Texts[0], false)
	})
}

// The generic block is an mcpServers object, which pi and LangChain read as it is.
func TestGenericBlockWorksAsPrinted(t *testing.T) {
	t.Parallel()
	page := newSite(t)
	s := serve(t, program(t), "--allow-host", page.host())
	for _, name := range []string{"pi", "LangChain"} {
		t.Run(name, func(t *testing.T) {
			block := parseBlock(t, s.command(t, "attach", "generic", "--url", s.url))
			block["calls"] = script(page)
			expectConversation(t, harnesses[name], drive(t, inClients(harnesses[name].driver), block), page)
		})
	}
	t.Run("pi over stdio", func(t *testing.T) {
		block := parseBlock(t, s.command(t, "attach", "generic", "--stdio"))
		block["calls"] = script(page)
		expectConversation(t, harnesses["pi"], drive(t, inClients("pi.mjs"), block, "WAYLEAVE_ALLOW_HOST="+page.host()), page)
	})
	t.Run("of the first start", func(t *testing.T) {
		whole := regexp.MustCompile(`(?ms)^\{\n.*?^\}$`).FindString(s.log())
		if !strings.Contains(whole, s.url) {
			t.Fatalf("the first start printed no block with %s:\n%s", s.url, s.log())
		}
		block := parseBlock(t, whole)
		block["calls"] = script(page)
		expectConversation(t, harnesses["pi"], drive(t, inClients("pi.mjs"), block), page)
	})
}

func parseBlock(t *testing.T, text string) map[string]any {
	t.Helper()
	var block map[string]any
	if err := json.Unmarshal([]byte(text), &block); err != nil {
		t.Fatalf("the block is no JSON: %v\n%s", err, text)
	}
	return block
}

// Claude Code itself cannot run without its model; the Inspector reads the same file.
func TestBlockForClaudeCodeIsReadAsAConfigurationFile(t *testing.T) {
	t.Parallel()
	page := newSite(t)
	s := serve(t, program(t), "--allow-host", page.host())
	for transport, flags := range map[string][]string{"HTTP": {"--url", s.url}, "stdio": {"--stdio"}} {
		t.Run(transport, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), ".mcp.json")
			block := s.command(t, append([]string{"attach", "claude"}, flags...)...)
			if err := os.WriteFile(path, []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			r := runNode(t, "", nil, installed(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
				"--cli", "--config", path, "--server", "wayleave", "--method", "tools/list", "-q", "--format", "json")
			if r.code != inspectorOK {
				t.Fatalf("exit %d: %s%s", r.code, r.stderr, r.stdout)
			}
			expectWebFetchListed(t, r.stdout)
		})
	}
}
