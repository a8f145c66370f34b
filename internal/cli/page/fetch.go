// This file is `wayleave fetch`: the library on the command line. Nothing is kept and nothing recorded.
package page

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/webfetch"
)

// showFlags say which part of a page is shown.
type showFlags struct {
	Content   string `setting:"-" enum:"full,main" default:"full" help:"full: the whole page; main: its main content."`
	Main      bool   `setting:"-" help:"Same as --content main."`
	Links     string `setting:"-" enum:"auto,inline,items,none,references" default:"auto" help:"inline: addresses in their links; items: those within running text left out; none: without addresses; references: short numbers, the addresses at the end; auto: inline, with --content main items."`
	ListLinks bool   `setting:"-" help:"Add the list of the page's links."`
}

func (f showFlags) part() webfetch.Part {
	if f.Main {
		return webfetch.PartMain
	}
	return webfetch.Part(f.Content)
}

// ask fills in the library's options.
func (f showFlags) ask(o *webfetch.Options) {
	o.Content, o.ListLinks = f.part(), f.ListLinks
	if f.Links != "auto" {
		o.Links = webfetch.Links(f.Links)
	}
}

// Fetch is the command.
type Fetch struct {
	ReadFlags
	showFlags
	Format   string `setting:"-" enum:"auto,raw" default:"auto" help:"auto: the most readable text; raw: as sent."`
	Offset   int    `setting:"-" help:"Continue at this character, as the header line says."`
	Find     string `setting:"-" help:"Show the window with the first place of this text at or after --offset (1–200 characters; letter case and line breaks do not count), as the tool does." placeholder:"TEXT"`
	MaxBytes *int   `setting:"-" help:"Most bytes of the window (1–20000), in place of --page-chars." placeholder:"N"`
	JSON     bool   `setting:"-" help:"As JSON: the window with all that is known of the page; a failure as an object with code."`
	URL      string `arg:"" name:"url" help:"The URL."`
}

// Run reads one URL.
func (c *Fetch) Run(s *cli.Session) error {
	switch {
	case c.Offset < 0:
		return cli.Misused("--offset is %d, must be 0 or more", c.Offset)
	case c.Find != "" && !findable(c.Find):
		return cli.Misused("--find has 1 to %d characters besides white space around it", maxFindChars)
	case c.MaxBytes != nil && (*c.MaxBytes < 1 || *c.MaxBytes > webfetch.MaxWindowBytes):
		return cli.Misused("--max-bytes is %d, must be 1 to %d", *c.MaxBytes, webfetch.MaxWindowBytes)
	}
	o, err := c.Options(s.Ctx)
	if err != nil {
		return err
	}
	c.ask(&o)
	end, err := readDocuments(s, &o)
	if err != nil {
		return err
	}
	defer end()
	fetcher, err := webfetch.Direct(o)
	if err != nil {
		return OptionMisused(err)
	}
	done := s.Err.Progress("reading " + c.URL)
	page, err := fetcher.Fetch(s.Ctx, webfetch.Request{URL: c.URL, Format: webfetch.Format(c.Format)})
	done()
	if err != nil {
		return failedRead(s, err, "", c.JSON)
	}
	chars := webfetch.DefaultPageChars
	if c.PageChars != nil {
		chars = *c.PageChars
	}
	window := webfetch.NewWindow(page, c.Offset, chars)
	switch {
	case c.Find != "": // the tool's own windows, so that a person sees the one that a model would
		a := webfetch.Arguments{URL: c.URL, Offset: c.Offset, Find: strings.TrimSpace(c.Find), MaxBytes: Or(c.MaxBytes, webfetch.DefaultWindowBytes)}
		window = webfetch.ReadWindow(page, a, webfetch.AnswerOptions{PageChars: chars})
	case c.MaxBytes != nil:
		window = webfetch.NewByteWindow(page, c.Offset, *c.MaxBytes)
	}
	if c.JSON {
		return s.Out.JSON(window)
	}
	return s.Out.Print(webfetch.Render(window) + "\n")
}

// maxFindChars is the tool's bound of a text to find.
const maxFindChars = 200

func findable(text string) bool {
	n := utf8.RuneCountInString(strings.TrimSpace(text))
	return n >= 1 && n <= maxFindChars
}

// failure is a failed read as JSON.
type failure struct {
	Code        webfetch.Code `json:"code"`
	Status      int           `json:"status"`
	Retryable   bool          `json:"retryable"`
	Message     string        `json:"message"`
	URL         string        `json:"url,omitempty"`
	ContentType string        `json:"content_type,omitempty"`
	Field       string        `json:"field,omitempty"`
	TimeoutMS   int64         `json:"timeout_ms,omitempty"`
	LimitBytes  int64         `json:"limit_bytes,omitempty"`
	RetryAfter  int           `json:"retry_after_seconds,omitempty"`
}

// failedRead tells of a failure: what a model would read on standard error, and with --json an object on standard
// output. file is what was read where that was no URL.
func failedRead(s *cli.Session, err error, file string, asJSON bool) error {
	if errors.Is(err, context.Canceled) {
		return cli.ErrInterrupted
	}
	var e *webfetch.Error
	if !errors.As(err, &e) {
		return err
	}
	if asJSON {
		out := failure{Code: e.Code, Status: e.Status, Retryable: e.Retryable, Message: e.Message, URL: e.URL, ContentType: e.ContentType,
			Field: e.Field, TimeoutMS: e.Timeout.Milliseconds(), LimitBytes: e.LimitBytes, RetryAfter: int(e.RetryAfter / time.Second)}
		if err := s.Out.JSON(out); err != nil {
			return err
		}
	}
	told := *e
	if told.URL == "" {
		told.URL = file
	}
	// A person reads this, and what the next command takes is a flag.
	again := "wayleave fetch --allow-host"
	if plainWord(e.URL) {
		again = "wayleave fetch " + e.URL + " --allow-host"
	}
	s.Err.Printf("%s\n", webfetch.ErrorResult(&told, webfetch.AnswerOptions{PermitCommand: again, RobotsSetting: "wayleave fetch --robots-ignore"}).Text())
	return cli.ErrTold
}

// plainWord says whether a URL is one word of every shell as it is.
func plainWord(u string) bool {
	return u != "" && strings.IndexFunc(u, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(":/.-_%", r)
	}) < 0
}
