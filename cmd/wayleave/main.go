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
	"slices"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/database"
	"github.com/wayleave/wayleave/internal/cli/keeping"
	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/cli/serving"
	"github.com/wayleave/wayleave/internal/cli/signing"
	"github.com/wayleave/wayleave/internal/document/child"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == child.Argument {
		os.Exit(readDocuments(os.Stdin, os.Stdout))
	}
	os.Exit(runAs(self(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// self is this program, even where its file was replaced since it started.
func self() cli.Program {
	path := "/proc/self/exe"
	if _, err := os.Stat(path); err != nil {
		if path, err = os.Executable(); err != nil {
			return cli.Program{}
		}
	}
	return cli.Program{Path: path, Name: os.Args[0]}
}

// commands is the whole command line.
type commands struct {
	Config string `help:"Configuration file (JSON with comments). Keys are flag names with underscores." placeholder:"FILE"`

	Serve  serving.Serve  `cmd:"" group:"serve" help:"Serve agents over MCP at /mcp, and people."`
	MCP    serving.MCP    `cmd:"" group:"serve" name:"mcp" help:"Serve one agent over stdin and stdout."`
	Doctor serving.Doctor `cmd:"" group:"serve" help:"Show what is set, from where, and what is wrong."`
	Demo   serving.Demo   `cmd:"" group:"serve" help:"Show an agent at work and the pages of people, all on this machine."`

	Attach keeping.Attach `cmd:"" group:"agents" help:"Print the block that attaches an agent's harness, with a fresh token."`
	Agents keeping.Agents `cmd:"" group:"agents" help:"List agents; make and revoke their tokens; pause, resume, disable and enable them."`
	Allow  keeping.Allow  `cmd:"" group:"agents" help:"Let agents read a private host, also beside a running server."`
	Apply  keeping.Apply  `cmd:"" group:"agents" help:"Make agents, hosts, limits and pauses what a file says."`

	SignIn    signing.SignIn    `cmd:"" group:"people" name:"sign-in" help:"Print a link with which a person signs in, once."`
	People    signing.People    `cmd:"" group:"people" help:"List people; add, change and disable them."`
	Approvals keeping.Approvals `cmd:"" group:"people" help:"Answer what agents ask."`
	Runs      keeping.Runs      `cmd:"" group:"people" help:"Show what agents did and why; end runs; reconcile calls."`
	Reads     keeping.Reads     `cmd:"" group:"people" help:"Count what was read, host by host, and which hosts give pages that are hardly any."`
	Audit     keeping.Audit     `cmd:"" group:"people" help:"Show what people decided, and check the record of it."`

	Keys    database.Keys    `cmd:"" group:"data" help:"Say how the keys are; rotate, rewrap, export and import them."`
	Backup  database.Backup  `cmd:"" group:"data" help:"Copy the database to a file while servers go on."`
	Restore database.Restore `cmd:"" group:"data" help:"Bring a backup back into an empty data folder or database."`
	Migrate database.Migrate `cmd:"" group:"data" help:"Bring a PostgreSQL database to this program's schema."`

	Fetch    page.Fetch    `cmd:"" group:"pages" help:"Read one URL and print what a model would read."`
	Convert  page.Convert  `cmd:"" group:"pages" help:"Convert a file as if a site had sent it."`
	CheckURL page.CheckURL `cmd:"" group:"pages" name:"check-url" help:"Say for each URL whether it may be fetched, one JSON object a line."`

	OpenAPI serving.OpenAPI `cmd:"" group:"program" name:"openapi" help:"Print the document of the HTTP API (OpenAPI 3.1)."`
	Version versionCommand  `cmd:"" group:"program" help:"Print the version."`
}

// exit is how kong's help ends a run.
type exit int

func runAs(self cli.Program, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
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

	if len(args) == 1 && args[0] == "--version" {
		args = []string{"version"}
	}
	set, err := cli.LoadSettings(ctx, args, environ)
	if err != nil {
		problems.Printf("wayleave: %v\n", err)
		return cli.ExitUsage
	}
	var tree commands
	parser, err := kong.New(&tree, kong.Name("wayleave"), kong.UsageOnError(), kong.Writers(out, problems),
		kong.Description("Leave for AI agents to use the web, on their operator's terms."),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.ExplicitGroups([]kong.Group{{Key: "serve", Title: "Serving:"}, {Key: "agents", Title: "Agents:"}, {Key: "people", Title: "People:"},
			{Key: "data", Title: "Database and keys:"}, {Key: "pages", Title: "Single pages:"}, {Key: "program", Title: "This program:"}}),
		kong.Resolvers(set))
	if err != nil {
		problems.Printf("wayleave: %v\n", err)
		return cli.ExitFailed
	}
	chosen, err := parser.Parse(cli.WithUnits(args))
	if err != nil {
		problems.Printf("wayleave: %v%s\n", err, set.CameFrom(err.Error()))
		problems.Printf("`wayleave %s--help` shows what there is\n", commandOf(err, args))
		return cli.ExitUsage
	}
	if err := set.Note(chosen); err != nil {
		problems.Printf("wayleave: %v\n", err)
		return cli.ExitUsage
	}
	err = chosen.Run(&cli.Session{Ctx: ctx, In: cli.NewInput(ctx, stdin), Pipe: stdin, Out: out, Err: problems, Settings: set, Getenv: set.Getenv, Build: thisBuild(), Self: self})
	return cli.Report(err, out, problems)
}

// commandOf names the command in which parsing failed, with a space behind it: one that was typed, not one that another
// stands for without a word.
func commandOf(err error, args []string) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if node := parse.Context.Selected(); node != nil {
			if node.Parent != nil && node.Parent.DefaultCmd == node && !slices.Contains(args, node.Name) {
				node = node.Parent
			}
			return node.FullPath()[len(parse.Context.Model.Name)+1:] + " "
		}
	}
	return ""
}
