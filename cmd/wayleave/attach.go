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
	"github.com/wayleave/wayleave/internal/clientblock"
	"github.com/wayleave/wayleave/internal/datafolder"
)

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
	p := clientblock.Place{Variable: c.Variable}
	if c.Stdio {
		self, err := os.Executable()
		if err != nil {
			self = "wayleave"
		}
		p.Command = []string{self, "mcp"}
		if c.Agent != agent.Local {
			p.Command = append(p.Command, "--agent", c.Agent)
		}
		if c.Data != "" { // the harness has another working folder, and passes on what it likes of the environment
			p.Command = append(p.Command, "--data", absolute(c.Data))
			if _, err := datafolder.Look(c.Data); err != nil {
				s.err.printf("note: %v; the block starts nothing until it is there\n", err)
			}
		}
		out.Command = p.Command
	} else {
		told, err := c.told(s)
		if err != nil {
			return err
		}
		in, at, err := c.beside(s)
		if err != nil {
			return err
		}
		defer in.Close()
		if c.URL = cmp.Or(told, at.URL, "http://"+defaultListen+"/mcp"); at.URL != "" && c.URL != at.URL {
			s.err.printf("note: the block says %s; the server of this data folder says that it is at %s\n", c.URL, at.URL)
		}
		p.URL = c.URL
		token, text, err := newToken(s, in, c.Agent, agent.ScopeTools)
		if err != nil {
			return err
		}
		p.Token, out.URL, out.Token, out.ID, out.Data = text, c.URL, text.Reveal(), token.ID, in.Folder.Path()
	}
	client, ok := clientblock.Of(c.Client)
	if !ok {
		return misused("%s is not one of %s", strconv.Quote(c.Client), strings.Join(clientblock.Names(), ", "))
	}
	out.Block = client.Block(p)
	if c.JSON {
		return s.out.jsonIndented(out)
	}
	s.err.printf("%s\n", client.Where)
	if !c.Stdio {
		s.err.printf("it has a fresh token (%s of agent %s, for a server on %s): tokens are not kept, so an earlier one cannot be shown again; `%s agents token revoke %s%s` ends it\n", out.ID, c.Agent, out.Data, calledAs(), out.ID, c.again())
	}
	if c.Variable && !c.Stdio {
		s.err.printf("set the variable: export %s=%s\n", clientblock.TokenVariable, out.Token)
		if c.Client == "generic" {
			s.err.printf("the client must put the variable's value in place of ${%s} itself; one that does not sends these characters and gets 401, so give it a block without --variable\n", clientblock.TokenVariable)
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
