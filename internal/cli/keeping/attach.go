// This file is `wayleave attach`: the block that a person pastes into an agent's configuration. Tokens are kept as
// hashes only, so each block has a fresh one; the older ones go on working until they are revoked.
package keeping

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/clientblock"
	"github.com/wayleave/wayleave/internal/datafolder"
)

// Attach is the command.
type Attach struct {
	place.DataFlags
	place.ListenFlags
	Client   string `arg:"" enum:"claude,opencode,ai-sdk,generic" help:"claude, opencode, ai-sdk or generic."`
	Agent    string `default:"local" help:"The agent that the client is. Default: local." placeholder:"SLUG"`
	URL      string `name:"url" setting:"-" help:"Where the server is. Default: where the server of the data folder is, or would be by the same variables and file." placeholder:"URL"`
	Stdio    bool   `setting:"-" help:"A block that starts wayleave mcp; no server and no token."`
	Variable bool   `setting:"-" help:"A block that reads the token from the variable WAYLEAVE_TOKEN, for files in a repository."`
	JSON     bool   `setting:"-" help:"As JSON: client, agent, url or command, token, id, data, block."`
}

// Run prints a block on standard output and all else on standard error.
func (c *Attach) Run(s *cli.Session) error {
	if err := agent.CheckSlug(c.Agent); err != nil {
		return cli.Misused("--agent: %v", err)
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
			p.Command = append(p.Command, "--data", place.Absolute(c.Data))
			if _, err := datafolder.Look(c.Data); err != nil {
				s.Err.Printf("note: %v; the block starts nothing until it is there\n", err)
			}
		}
		out.Command = p.Command
	} else {
		told, err := c.told(s)
		if err != nil {
			return err
		}
		in, at, err := c.Beside(s)
		if err != nil {
			return err
		}
		defer in.Close()
		if c.URL = cmp.Or(told, at.URL, "http://"+place.DefaultListen+"/mcp"); at.URL != "" && c.URL != at.URL {
			s.Err.Printf("note: the block says %s; the server of this data folder says that it is at %s\n", c.URL, at.URL)
		}
		p.URL = c.URL
		token, text, err := place.NewToken(s.Ctx, in, c.Agent, agent.ScopeTools)
		if err != nil {
			return err
		}
		p.Token, out.URL, out.Token, out.ID, out.Data = text, c.URL, text.Reveal(), token.ID, in.Folder.Path()
	}
	client, ok := clientblock.Of(c.Client)
	if !ok {
		return cli.Misused("%s is not one of %s", strconv.Quote(c.Client), strings.Join(clientblock.Names(), ", "))
	}
	out.Block = client.Block(p)
	if c.JSON {
		return s.Out.JSON(out)
	}
	s.Err.Printf("%s\n", client.Where)
	if !c.Stdio {
		s.Err.Printf("it has a fresh token (%s of agent %s, for a server on %s): tokens are not kept, so an earlier one cannot be shown again; `%s agents token revoke %s%s` ends it\n", out.ID, c.Agent, out.Data, place.CalledAs(), out.ID, c.Again())
	}
	if c.Variable && !c.Stdio {
		s.Err.Printf("set the variable: export %s=%s\n", clientblock.TokenVariable, out.Token)
		if c.Client == "generic" {
			s.Err.Printf("the client must put the variable's value in place of ${%s} itself; one that does not sends these characters and gets 401, so give it a block without --variable\n", clientblock.TokenVariable)
		}
	}
	if c.Client == "claude" && !c.Stdio && !c.Variable {
		s.Err.Printf("a file of a project should name the token's variable instead: attach --variable\n")
		s.Err.Printf("or let Claude Code write it: claude mcp add --scope user --transport http wayleave %s --header %q\n", c.URL, "Authorization: Bearer "+out.Token)
	}
	if c.Client == "claude" && c.Stdio {
		words := make([]string, len(out.Command))
		for i, w := range out.Command {
			words[i] = place.ShellWord(w)
		}
		s.Err.Printf("or let Claude Code write it: claude mcp add --scope user wayleave -- %s\n", strings.Join(words, " "))
	}
	s.Err.Printf("\n")
	return s.Out.Print(out.Block)
}

// told is where the server is by flag, variable or file; empty where none of them says so.
func (c *Attach) told(s *cli.Session) (string, error) {
	if c.URL != "" {
		if !strings.HasPrefix(c.URL, "http://") && !strings.HasPrefix(c.URL, "https://") {
			return "", cli.Misused("--url %s is not an http or https URL", strconv.Quote(c.URL))
		}
		return c.URL, nil
	}
	for _, set := range s.Settings.All {
		if set.Origin != "default" && slices.Contains([]string{"listen", "public-url", "tls-cert", "behind-proxy"}, set.Name) {
			return c.Endpoint(s.Ctx)
		}
	}
	return "", nil
}
