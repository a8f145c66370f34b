// Package clientblock writes what a person pastes into a client's configuration so that it finds the server.
package clientblock

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/secret"
)

// TokenVariable is what a block reads instead of holding a token, with --variable.
const TokenVariable = "WAYLEAVE_TOKEN"

// Place is where a client finds the server: a URL with a token, or a command to start.
type Place struct {
	URL      string
	Token    secret.Value
	Variable bool     // the token comes from TokenVariable
	Command  []string // not nil: stdio
}

// Client is one program that can be attached.
type Client struct {
	Name  string
	Where string // where the block goes
	Block func(Place) string
}

// Clients are all that can be attached, the generic one last.
func Clients() []Client {
	return []Client{
		{"claude", "for Claude Code: merge it into ~/.claude.json (you alone) or .mcp.json (a project)", claudeBlock},
		{"opencode", "for OpenCode: merge it into ~/.config/opencode/opencode.json", openCodeBlock},
		{"ai-sdk", "for the AI SDK: npm install @ai-sdk/mcp", aiSDKBlock},
		{"generic", "for any MCP client that takes an mcpServers object", genericBlock},
	}
}

// Names are their names.
func Names() []string {
	var names []string
	for _, c := range Clients() {
		names = append(names, c.Name)
	}
	return names
}

// Of is the client with the given name.
func Of(name string) (Client, bool) {
	for _, c := range Clients() {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

// bearer is the Authorization value, with the client's own spelling of a variable.
func (p Place) bearer(variable string) string {
	if p.Variable {
		return "Bearer " + variable
	}
	return "Bearer " + p.Token.Reveal()
}

func indented(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(v) != nil { // maps of strings only: cannot be
		return ""
	}
	return b.String()
}

// server is one entry of a client's configuration, in the order in which a person reads it.
type server struct {
	Type    string            `json:"type"`
	URL     string            `json:"url,omitempty"`
	Command any               `json:"command,omitempty"` // Claude Code: the program; OpenCode: it and its arguments
	Args    []string          `json:"args,omitempty"`
	Enabled bool              `json:"enabled,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

func claudeBlock(p Place) string {
	server := server{Type: "http", URL: p.URL, Headers: map[string]string{"Authorization": p.bearer("${" + TokenVariable + "}")}}
	if p.Command != nil {
		server.Type, server.URL, server.Headers = "stdio", "", nil
		server.Command, server.Args = p.Command[0], p.Command[1:]
	}
	return indented(map[string]any{"mcpServers": map[string]any{"wayleave": server}})
}

func genericBlock(p Place) string { return claudeBlock(p) }

func openCodeBlock(p Place) string {
	server := server{Type: "remote", URL: p.URL, Enabled: true,
		Headers: map[string]string{"Authorization": p.bearer("{env:" + TokenVariable + "}")}}
	if p.Command != nil {
		server.Type, server.URL, server.Headers = "local", "", nil
		server.Command = p.Command
	}
	return indented(map[string]any{"mcp": map[string]any{"wayleave": server}})
}

func aiSDKBlock(p Place) string {
	if p.Command != nil {
		var args []string
		for _, a := range p.Command[1:] {
			args = append(args, strconv.Quote(a))
		}
		return "import { createMCPClient } from '@ai-sdk/mcp';\n" +
			"import { Experimental_StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';\n\n" +
			"const wayleave = await createMCPClient({\n" +
			"  transport: new Experimental_StdioMCPTransport({ command: " + strconv.Quote(p.Command[0]) + ", args: [" + strings.Join(args, ", ") + "] }),\n" +
			"});\nconst tools = await wayleave.tools();\n"
	}
	authorization := strconv.Quote(p.bearer(""))
	if p.Variable {
		authorization = "`Bearer ${process.env." + TokenVariable + "}`"
	}
	return "import { createMCPClient } from '@ai-sdk/mcp';\n\n" +
		"const wayleave = await createMCPClient({\n" +
		"  transport: {\n    type: 'http',\n    url: " + strconv.Quote(p.URL) + ",\n    headers: { Authorization: " + authorization + " },\n  },\n" +
		"});\nconst tools = await wayleave.tools();\n"
}
