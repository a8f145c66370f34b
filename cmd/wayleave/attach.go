// This file is `wayleave attach`: the block that a person pastes into an agent's configuration. Tokens are kept as
// hashes only, so each block has a fresh one; the older ones go on working until they are revoked.
package main

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/secret"
)

// tokenVariable is what a block reads instead of holding a token, with --variable.
const tokenVariable = "WAYLEAVE_TOKEN"

// place is where a client finds the server: a URL with a token, or a command to start.
type place struct {
	url      string
	token    secret.Value
	variable bool     // the token comes from tokenVariable
	command  []string // not nil: stdio
}

// client is one program that can be attached.
type client struct {
	name  string
	where string // where the block goes
	block func(place) string
}

func clients() []client {
	return []client{
		{"claude", "for Claude Code: merge it into ~/.claude.json (you alone) or .mcp.json (a project; use --variable there)", claudeBlock},
		{"opencode", "for OpenCode: merge it into ~/.config/opencode/opencode.json", openCodeBlock},
		{"ai-sdk", "for the AI SDK: npm install @ai-sdk/mcp", aiSDKBlock},
		{"generic", "for any MCP client that takes an mcpServers object", genericBlock},
	}
}

func clientNames() []string {
	var names []string
	for _, c := range clients() {
		names = append(names, c.name)
	}
	return names
}

func blockOf(name string, p place) string {
	all := clients()
	i := slices.IndexFunc(all, func(c client) bool { return c.name == name })
	return all[i].block(p)
}

type attachCommand struct {
	dataFlags
	listenFlags
	Client   string `arg:"" enum:"claude,opencode,ai-sdk,generic" help:"claude, opencode, ai-sdk or generic."`
	Agent    string `default:"local" help:"The agent that the client is. Default: local." placeholder:"SLUG"`
	URL      string `name:"url" setting:"-" help:"Where the server is. Default: where the server of the data folder is, or would be by the same variables and file." placeholder:"URL"`
	Stdio    bool   `setting:"-" help:"A block that starts wayleave mcp; no server and no token."`
	Variable bool   `setting:"-" help:"A block that reads the token from the variable WAYLEAVE_TOKEN, for files in a repository."`
	JSON     bool   `setting:"-" help:"As JSON: client, agent, url or command, token, id, data, block."`
}

// Run prints a block on standard output and all else on standard error.
func (c *attachCommand) Run(s *session) error {
	if err := agent.CheckSlug(c.Agent); err != nil {
		return misused("--agent: %v", err)
	}
	out := struct {
		Client  string   `json:"client"`
		Agent   string   `json:"agent"`
		URL     string   `json:"url,omitempty"`
		Command []string `json:"command,omitempty"`
		Token   string   `json:"token,omitempty"`
		ID      string   `json:"id,omitempty"`
		Data    string   `json:"data,omitempty"`
		Block   string   `json:"block"`
	}{Client: c.Client, Agent: c.Agent}
	p := place{variable: c.Variable}
	if c.Stdio {
		self, err := os.Executable()
		if err != nil {
			self = "wayleave"
		}
		p.command = []string{self, "mcp"}
		if c.Agent != agent.Local {
			p.command = append(p.command, "--agent", c.Agent)
		}
		if c.Data != "" { // the harness has another working folder, and passes on what it likes of the environment
			p.command = append(p.command, "--data", absolute(c.Data))
			if _, err := datafolder.Look(c.Data); err != nil {
				s.err.printf("note: %v; the block starts nothing until it is there\n", err)
			}
		}
		out.Command = p.command
	} else {
		told, err := c.told(s)
		if err != nil {
			return err
		}
		store, folder, at, err := c.beside(s)
		if err != nil {
			return err
		}
		if c.URL = cmp.Or(told, at.URL, "http://"+defaultListen+"/mcp"); at.URL != "" && c.URL != at.URL {
			s.err.printf("note: the block says %s; the server of this data folder says that it is at %s\n", c.URL, at.URL)
		}
		p.url = c.URL
		token, text, err := store.NewToken(c.Agent, agent.ScopeTools)
		if err != nil {
			return err
		}
		p.token, out.URL, out.Token, out.ID, out.Data = text, c.URL, text.Reveal(), token.ID, folder.Path()
	}
	out.Block = blockOf(c.Client, p)
	if c.JSON {
		return s.out.jsonIndented(out)
	}
	all := clients()
	i := slices.IndexFunc(all, func(k client) bool { return k.name == c.Client })
	s.err.printf("%s\n", all[i].where)
	if !c.Stdio {
		s.err.printf("it has a fresh token (%s of agent %s, for a server on %s): tokens are not kept, so an earlier one cannot be shown again; `%s agents token revoke %s%s` ends it\n", out.ID, c.Agent, out.Data, calledAs(), out.ID, c.again())
	}
	if c.Variable && !c.Stdio {
		s.err.printf("set the variable: export %s=%s\n", tokenVariable, out.Token)
		if c.Client == "generic" {
			s.err.printf("the client must put the variable's value in place of ${%s} itself; one that does not sends these characters and gets 401, so give it a block without --variable\n", tokenVariable)
		}
	}
	if c.Client == "claude" && !c.Stdio && !c.Variable {
		s.err.printf("or let Claude Code write it: claude mcp add --scope user --transport http wayleave %s --header %q\n", c.URL, "Authorization: Bearer "+out.Token)
	}
	s.err.printf("\n")
	return s.out.print(out.Block)
}

// told is where the server is by flag, variable or file; empty where none of them says so.
func (c *attachCommand) told(s *session) (string, error) {
	if c.URL != "" {
		if !strings.HasPrefix(c.URL, "http://") && !strings.HasPrefix(c.URL, "https://") {
			return "", misused("--url %s is not an http or https URL", strconv.Quote(c.URL))
		}
		return c.URL, nil
	}
	for _, set := range s.settings.all {
		if set.Origin != "default" && slices.Contains([]string{"listen", "public-url", "tls-cert", "behind-proxy"}, set.Name) {
			return c.endpoint()
		}
	}
	return "", nil
}

// bearer is the Authorization value, with the client's own spelling of a variable.
func (p place) bearer(variable string) string {
	if p.variable {
		return "Bearer " + variable
	}
	return "Bearer " + p.token.Reveal()
}

func indented(v any) string {
	text, err := encode(v, "  ")
	if err != nil { // maps of strings only: cannot be
		return ""
	}
	return text
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

func claudeBlock(p place) string {
	server := server{Type: "http", URL: p.url, Headers: map[string]string{"Authorization": p.bearer("${" + tokenVariable + "}")}}
	if p.command != nil {
		server.Type, server.URL, server.Headers = "stdio", "", nil
		server.Command, server.Args = p.command[0], p.command[1:]
	}
	return indented(map[string]any{"mcpServers": map[string]any{"wayleave": server}})
}

func genericBlock(p place) string { return claudeBlock(p) }

func openCodeBlock(p place) string {
	server := server{Type: "remote", URL: p.url, Enabled: true,
		Headers: map[string]string{"Authorization": p.bearer("{env:" + tokenVariable + "}")}}
	if p.command != nil {
		server.Type, server.URL, server.Headers = "local", "", nil
		server.Command = p.command
	}
	return indented(map[string]any{"mcp": map[string]any{"wayleave": server}})
}

func aiSDKBlock(p place) string {
	if p.command != nil {
		var args []string
		for _, a := range p.command[1:] {
			args = append(args, strconv.Quote(a))
		}
		return "import { createMCPClient } from '@ai-sdk/mcp';\n" +
			"import { Experimental_StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';\n\n" +
			"const wayleave = await createMCPClient({\n" +
			"  transport: new Experimental_StdioMCPTransport({ command: " + strconv.Quote(p.command[0]) + ", args: [" + strings.Join(args, ", ") + "] }),\n" +
			"});\nconst tools = await wayleave.tools();\n"
	}
	authorization := strconv.Quote(p.bearer(""))
	if p.variable {
		authorization = "`Bearer ${process.env." + tokenVariable + "}`"
	}
	return "import { createMCPClient } from '@ai-sdk/mcp';\n\n" +
		"const wayleave = await createMCPClient({\n" +
		"  transport: {\n    type: 'http',\n    url: " + strconv.Quote(p.url) + ",\n    headers: { Authorization: " + authorization + " },\n  },\n" +
		"});\nconst tools = await wayleave.tools();\n"
}
