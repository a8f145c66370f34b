// Command wayleave gives AI agents leave to use the web: it serves web_fetch over MCP (serve, mcp), reads single pages
// (fetch, convert), judges URLs (check-url), and lets people see, answer and limit what agents do.
//
// The one rule: it joins commands and decides nothing; each command is a file in one of the packages below internal/cli.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/keeping"
	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/cli/serving"
)

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// commands is the whole command line.
type commands struct {
	Config string `help:"Configuration file (JSON with comments). Keys are flag names with underscores." placeholder:"FILE"`

	Serve    serving.Serve  `cmd:"" help:"Serve agents over MCP at /mcp, and people."`
	MCP      serving.MCP    `cmd:"" name:"mcp" help:"Serve one agent over stdin and stdout."`
	Attach   keeping.Attach `cmd:"" help:"Print the block that attaches an agent's harness, with a fresh token."`
	SignIn   keeping.SignIn `cmd:"" name:"sign-in" help:"Print a link with which a person signs in, once."`
	Agents   keeping.Agents `cmd:"" help:"List agents; make, list and revoke their tokens."`
	Allow    keeping.Allow  `cmd:"" help:"Let agents read a private host, also beside a running server."`
	Fetch    page.Fetch     `cmd:"" help:"Read one URL and print what a model would read."`
	Convert  page.Convert   `cmd:"" help:"Convert a file as if a site had sent it."`
	CheckURL page.CheckURL  `cmd:"" name:"check-url" help:"Say for each URL whether it may be fetched, one JSON object a line."`
	Doctor   serving.Doctor `cmd:"" help:"Show what is set, from where, and what is wrong."`
	Version  versionCommand `cmd:"" help:"Print the version."`
}

// exit is how kong's help ends a run.
type exit int

func run(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	restrictFiles()
	out, problems := cli.NewOutput(stdout), cli.NewOutput(stderr)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit:
			code = int(p)
		default:
			panic(p)
		}
	}()

	set, err := cli.LoadSettings(args, environ)
	if err != nil {
		problems.Printf("wayleave: %v\n", err)
		return cli.ExitUsage
	}
	var tree commands
	parser, err := kong.New(&tree, kong.Name("wayleave"), kong.UsageOnError(), kong.Writers(out, problems),
		kong.Description("Leave for AI agents to use the web, on their operator's terms."),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Resolvers(set))
	if err != nil {
		problems.Printf("wayleave: %v\n", err)
		return cli.ExitFailed
	}
	chosen, err := parser.Parse(cli.WithUnits(args))
	if err != nil {
		problems.Printf("wayleave: %v\n", err)
		problems.Printf("`wayleave %s--help` shows what there is\n", commandOf(err))
		return cli.ExitUsage
	}
	if err := set.Note(chosen); err != nil {
		problems.Printf("wayleave: %v\n", err)
		return cli.ExitUsage
	}
	err = chosen.Run(&cli.Session{Ctx: ctx, In: cli.NewInput(ctx, stdin), Pipe: stdin, Out: out, Err: problems, Settings: set, Getenv: set.Getenv, Build: thisBuild()})
	return cli.Report(err, out, problems)
}

// commandOf names the command in which parsing failed, with a space behind it.
func commandOf(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if node := parse.Context.Selected(); node != nil {
			return node.FullPath()[len(parse.Context.Model.Name)+1:] + " "
		}
	}
	return ""
}
