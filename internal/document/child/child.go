// Package child reads documents in processes of our own program that hold nothing and reach nothing: strangers' files are
// parsed there, so that whatever a file makes of a parser stays there.
//
// The one rule: the parent believes nothing that a child sends but text, and ends a child that costs more than a document
// may, fails, or has read enough of them.
package child

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/confine"
)

// Argument is the one argument of a program that is to be a child.
const Argument = "read-documents-as-a-child"

// Reader reads documents in the child. Start starts the engine that some documents need, while files can still be opened.
type Reader interface {
	Start(ctx context.Context) error
	Read(ctx context.Context, mediaType string, body []byte) (document.Text, error)
}

// Hello says what a child is to be.
type Hello struct {
	CacheDir string          `json:"cache_dir,omitempty"` // of the compiled engine
	Limits   document.Limits `json:"limits"`
	Engine   bool            `json:"engine,omitempty"` // it is to start the engine
}

type ready struct {
	Holds confine.Holds `json:"holds"`
	Error string        `json:"error,omitempty"`
}

type ask struct {
	MediaType string `json:"media_type"`
}

type answer struct {
	Title  string          `json:"title,omitempty"`
	Facts  []document.Fact `json:"facts,omitempty"`
	Notes  []document.Fact `json:"notes,omitempty"`
	Reason document.Reason `json:"reason,omitempty"` // set: it cannot be read
	Detail string          `json:"detail,omitempty"`
}

const (
	heap      = 80 << 20 // that the runtime keeps below while it can, beyond what it has when it is ready
	lifetime  = 900      // seconds of CPU, after which the system ends a child that nobody watches
	addresses = 2 << 30
	maxDetail = 4 << 10
)

// Serve is the child: it makes a reader, gives up what it does not need for reading, and answers until in ends. It is to
// be the only thing that the process does.
func Serve(ctx context.Context, in io.Reader, out io.Writer, make func(Hello) Reader) error {
	var hello Hello
	if _, err := readFrame(in, frameHello, &hello, 0); err != nil {
		return fmt.Errorf("the parent's first words: %w", err)
	}
	// A zone is read from a file when it is first asked for, and then there are no files.
	time.Local = time.UTC
	debug.SetTraceback("none")
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0)) // said, it is not asked again of files that are closed to it
	reader := make(hello)
	if hello.Engine {
		if err := reader.Start(ctx); err != nil {
			return writeFrame(out, frameReady, ready{Error: err.Error()}, nil)
		}
	}
	debug.FreeOSMemory()
	debug.SetMemoryLimit(heap)
	debug.SetMaxStack(64 << 20)
	holds := confine.Apply(confine.Limits{CPUSeconds: lifetime, Space: addresses})
	if err := writeFrame(out, frameReady, ready{Holds: holds}, nil); err != nil {
		return err
	}
	for {
		var q ask
		body, err := readFrame(in, frameAsk, &q, maxDocument)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("a document: %w", err)
		}
		text, err := reader.Read(ctx, q.MediaType, body)
		body = nil
		a := answer{Title: text.Title, Facts: text.Facts, Notes: text.Notes}
		if err != nil {
			a = answer{Reason: document.Failed, Detail: clip(err.Error())}
			if failed, ok := err.(*document.Error); ok {
				a.Reason, a.Detail = failed.Reason, clip(failed.Detail)
			}
			text.Markdown = ""
		}
		if err := writeFrame(out, frameAnswer, a, []byte(text.Markdown)); err != nil {
			return fmt.Errorf("an answer: %w", err)
		}
		text = document.Text{}
		debug.FreeOSMemory()
	}
}

func clip(s string) string {
	if len(s) > maxDetail {
		s = s[:maxDetail]
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// text is what of an answer is believed.
func (a answer) text(markdown []byte) (document.Text, error) {
	if a.Reason != "" {
		if !slices.Contains(document.Reasons(), a.Reason) {
			a.Reason = document.Failed
		}
		return document.Text{}, document.Fail(a.Reason, "%s", clip(a.Detail))
	}
	return document.Text{Markdown: string(markdown), Title: a.Title, Facts: believed(a.Facts), Notes: believed(a.Notes)}, nil
}

const (
	maxFacts = 20
	maxWords = 300
)

// ownWords are such as facts are made of. Words that a document chose cannot come in them even from a child that it has
// taken over: what is told of one is a sentence without signs of markup.
var (
	ownWords = regexp.MustCompile(`^[A-Za-z0-9 ,.;:()'%–-]+$`)
	ownName  = regexp.MustCompile(`^[a-z_]{1,40}$`)
)

// believed are the facts that look like ours.
func believed(facts []document.Fact) []document.Fact {
	var out []document.Fact
	for _, f := range facts {
		if len(out) == maxFacts || len(f.Words) > maxWords || !ownWords.MatchString(f.Words) || !ownName.MatchString(f.Kind) {
			continue
		}
		data := map[string]any{}
		for name, value := range f.Data {
			if v, ok := figures(value); ok && ownName.MatchString(name) && len(data) < maxFacts {
				data[name] = v
			}
		}
		if f.Data = data; len(data) == 0 {
			f.Data = nil
		}
		out = append(out, f)
	}
	return out
}

// figures are a number or a list of numbers; false for anything else.
func figures(value any) (any, bool) {
	switch v := value.(type) {
	case json.Number:
		n, err := v.Int64()
		return int(n), err == nil
	case []any:
		var list []int
		for _, one := range v {
			n, ok := one.(json.Number)
			if !ok {
				return nil, false
			}
			whole, err := n.Int64()
			if err != nil {
				return nil, false
			}
			list = append(list, int(whole))
		}
		return list, true
	}
	return nil, false
}
