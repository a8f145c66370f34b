// This file is `wayleave convert`: a body from a file, treated as if a site had sent it.
package page

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/bodytype"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/webfetch"
)

// Convert is the command.
type Convert struct {
	showFlags
	ContentType  string `setting:"-" help:"The Content-Type that the site sent. Without it the ending of the file decides where it is one of a page or text, such as .html or .json, and the body is no document; else the body." placeholder:"TYPE"`
	BaseURL      string `name:"base-url" setting:"-" help:"The page's own address, for relative links." placeholder:"URL"`
	MaxBodyBytes *int64 `help:"Most bytes of a body (1–100000000; default 5000000)." placeholder:"N"`
	JSON         bool   `setting:"-" help:"As JSON: the page with all that is known of it."`
	File         string `arg:"" optional:"" default:"-" help:"The file, or - for standard input."`
}

// endings are of texts and pages, which do not always tell by themselves what they are, with what a site would send for them.
// Documents do.
var endings = map[string]string{
	".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml", ".xht": "application/xhtml+xml",
	".json": "application/json", ".ndjson": "application/x-ndjson", ".xml": "application/xml", ".csv": "text/csv", ".md": "text/markdown", ".txt": "text/plain",
}

// Run converts one body.
func (c *Convert) Run(s *cli.Session) error {
	limit := int64(webfetch.DefaultMaxBodyBytes)
	if c.MaxBodyBytes != nil {
		limit = *c.MaxBodyBytes
	}
	body, err := c.read(s, limit)
	if err != nil {
		return err
	}
	var contentType []string
	ending := endings[strings.ToLower(filepath.Ext(c.File))]
	shown := bodytype.KindOf(bodytype.Sniff(body, "", ""))
	switch {
	case c.ContentType != "":
		contentType = []string{c.ContentType}
	case ending != "" && shown != bodytype.Document && (shown != bodytype.HTML || bodytype.KindOf(ending) != bodytype.HTML):
		contentType = []string{ending} // nobody served it, so what the bytes show goes before what the file is called
	}
	done := s.Err.Progress("converting")
	o := webfetch.Options{MaxBodyBytes: c.MaxBodyBytes}
	c.ask(&o)
	end, err := readDocuments(s, &o)
	if err != nil {
		return err
	}
	defer end()
	page, err := webfetch.Convert(s.Ctx, body, contentType, c.BaseURL, o)
	done()
	if err != nil {
		file := c.File
		if file == "-" {
			file = "stdin"
		}
		return failedRead(s, OptionMisused(err), file, c.JSON)
	}
	if c.JSON {
		page.RetrievedAt = time.Now().UTC()
		return s.Out.JSON(page)
	}
	text := page.Content
	if s.Out.Terminal && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return s.Out.Print(text)
}

// read takes one byte more than the limit, so that the library says that the body is too large.
func (c *Convert) read(s *cli.Session, limit int64) ([]byte, error) {
	in := s.In
	if c.File != "-" {
		f, err := cli.Open(s.Ctx, c.File)
		if errors.Is(err, cli.ErrInterrupted) {
			return nil, err
		}
		if err != nil {
			return nil, cli.Misused("%v", err)
		}
		defer f.Close()
		in = f
	}
	if limit < 0 {
		limit = 0 // the library names the option
	}
	body, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	return body, nil
}
