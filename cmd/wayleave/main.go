// Command wayleave gives AI agents leave to use the web: it serves web_fetch over MCP (serve, mcp), reads single pages
// (fetch, convert), judges URLs (check-url), and keeps the tokens with which agents call (agents, attach).
//
// The one rule: what a person or a page wrote goes to a terminal only through [output], which strips what a terminal
// would obey. Exit codes: 0 done, 1 failed, 2 used wrongly (flags, arguments, configuration).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// commands is the whole command line.
type commands struct {
	Config string `help:"Configuration file (JSON with comments). Keys are flag names with underscores." placeholder:"FILE"`

	Serve    serveCommand    `cmd:"" help:"Serve agents over MCP at /mcp."`
	MCP      mcpCommand      `cmd:"" name:"mcp" help:"Serve one agent over stdin and stdout."`
	Attach   attachCommand   `cmd:"" help:"Print the block that attaches an agent's harness, with a fresh token."`
	SignIn   signInCommand   `cmd:"" name:"sign-in" help:"Print a link with which a person signs in, once."`
	Agents   agentsCommand   `cmd:"" help:"List agents; make, list and revoke their tokens."`
	Allow    allowCommand    `cmd:"" help:"Let agents read a private host, also beside a running server."`
	Fetch    fetchCommand    `cmd:"" help:"Read one URL and print what a model would read."`
	Convert  convertCommand  `cmd:"" help:"Convert a file as if a site had sent it."`
	CheckURL checkURLCommand `cmd:"" name:"check-url" help:"Say for each URL whether it may be fetched, one JSON object a line."`
	Doctor   doctorCommand   `cmd:"" help:"Show what is set, from where, and what is wrong."`
	Version  versionCommand  `cmd:"" help:"Print the version."`
}

// session is what a command works with.
type session struct {
	ctx      context.Context
	in       io.Reader // standard input; a signal ends a read
	pipe     io.Reader // standard input as it is
	out      *output   // results
	err      *output   // everything else
	settings *settings
	getenv   func(string) string
}

// exit is how kong's help ends a run.
type exit int

func run(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	restrictFiles()
	out, problems := newOutput(stdout), newOutput(stderr)
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

	set, err := loadSettings(args, environ)
	if err != nil {
		problems.printf("wayleave: %v\n", err)
		return exitUsage
	}
	var cli commands
	parser, err := kong.New(&cli, kong.Name("wayleave"), kong.UsageOnError(), kong.Writers(out, problems),
		kong.Description("Leave for AI agents to use the web, on their operator's terms."),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Resolvers(set))
	if err != nil {
		problems.printf("wayleave: %v\n", err)
		return exitFailed
	}
	chosen, err := parser.Parse(withUnits(args))
	if err != nil {
		problems.printf("wayleave: %v\n", err)
		problems.printf("`wayleave %s--help` shows what there is\n", commandOf(err))
		return exitUsage
	}
	if err := set.note(chosen); err != nil {
		problems.printf("wayleave: %v\n", err)
		return exitUsage
	}
	err = chosen.Run(&session{ctx: ctx, in: input{ctx, stdin}, pipe: stdin, out: out, err: problems, settings: set, getenv: set.getenv})
	if err == nil {
		err = out.failed() // what was to be shown was not: a token, say
	}
	return report(err, problems)
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

// usageError is a mistake in flags, arguments or configuration.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func misused(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// errTold says that the command failed and has said so itself.
var errTold = errors.New("failed")

func report(err error, problems *output) int {
	var used *usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errTold):
		return exitFailed
	case errors.As(err, &used):
		problems.printf("wayleave: %v\n", err)
		return exitUsage
	default:
		problems.printf("wayleave: %v\n", err)
		return exitFailed
	}
}
