package reading

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// Shelf keeps the pages that a run read, so that reading on reads the same page. Pages belong to one run and are never
// given to another.
type Shelf interface {
	// Take gives a run's page by a key of it, nil where there is none, and notes that it was used.
	Take(ctx context.Context, run, key string) (*Kept, error)
	// Tagged is Take for a page of which Tagged says so.
	Tagged(ctx context.Context, run, key string) (*Kept, error)
	// Put keeps a page under its keys, the first of which is the address that was asked for. A page over the run's bound is
	// only remembered, by its number and hash. A shelf that may be there again within seconds is waited for.
	Put(ctx context.Context, at Place, keys []string, p *webfetch.Page) (Put, error)
}

// Kept is a page with its number: from 1, one more each time that a fetch gave another text.
type Kept struct {
	Page     *webfetch.Page
	Snapshot int
}

// Put is what a shelf knows of a page that was just put on it.
type Put struct {
	Snapshot int
	Known    bool // an earlier one was there or is remembered
	Changed  bool // and differs
	// SHA256 is the page's hash as [Sum] gives it, where the shelf took it.
	SHA256 string
}

// Tagged says that a page's site told by what it can be asked whether the page still holds.
func Tagged(p *webfetch.Page) bool {
	return !p.NoStore && p.Status == http.StatusOK && (p.Headers["etag"] != "" || p.Headers["last-modified"] != "")
}

// Sum is the hash by which two readings of a page are the same, and that evidence names.
func Sum(p *webfetch.Page) string {
	sum, block := sha256.New(), make([]byte, 0, 4096) // a copy of a block is less than one of the text
	for text := p.Content; text != ""; text = text[len(block):] {
		block = append(block[:0], text[:min(len(text), cap(block))]...)
		_, _ = sum.Write(block) // it gives no error
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Encode and Decode are how a page is kept.
func Encode(p *webfetch.Page) ([]byte, error) {
	out, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode a page: %w", err)
	}
	return out, nil
}

// Decode reads what Encode wrote.
func Decode(data []byte) (*webfetch.Page, error) {
	p := new(webfetch.Page)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("decode a page: %w", err)
	}
	return p, nil
}

// notes say what a model must know of a page that is not the one it read before.
func notes(a webfetch.Arguments, k Put) []webfetch.Note {
	switch {
	case a.Offset > 0 || a.Find != "" && k.Known:
		fact := "the page that was read before is gone; it was fetched anew"
		if k.Changed {
			fact += fmt.Sprintf(" and differs; snapshot %d", k.Snapshot)
		}
		return []webfetch.Note{{Kind: "reread", Fact: fact, Data: map[string]any{"snapshot": k.Snapshot}}}
	case k.Changed:
		return []webfetch.Note{{Kind: "snapshot", Fact: fmt.Sprintf("the page was fetched anew and differs; snapshot %d", k.Snapshot),
			Data: map[string]any{"snapshot": k.Snapshot}}}
	}
	return nil
}

// output is the host's record of a window: all of it, page text too. It is no HTML: < and & are kept as they are, not in
// six bytes each.
func output(w *webfetch.Window, snapshot int) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(struct {
		*webfetch.Window
		Snapshot int `json:"snapshot,omitempty"`
	}{w, snapshot}); err != nil { // a source gave notes that are not JSON
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

// evidence is what was read: the whole page's hash, which sum is where it is known, under the address that it came from.
func (f *Fetch) evidence(p *webfetch.Page, sum string) []ledger.Evidence {
	if sum == "" {
		sum = Sum(p)
	}
	e := ledger.Evidence{Kind: "content", URL: p.FinalURL, Title: p.Title, SHA256: sum, Chars: int64(p.TotalChars)}
	if len(p.Thin) > 0 {
		e.Thin = p.Thin[0].Kind
	}
	if e.URL == "" {
		e.URL = withoutFragment(p.RequestedURL)
	}
	if e.URL == f.asked().url {
		e.Host = f.own.host
	} else if u, err := weburl.Parse(e.URL); err == nil {
		e.Host = u.Host()
	}
	return []ledger.Evidence{e}
}

// Code is the code of a result that is a failure.
func Code(r agenttool.Result) string { return codeOf(r.Failure) }

func codeOf(err error) string {
	var e *webfetch.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return string(webfetch.CodeUnavailable)
}

func withoutFragment(url string) string {
	url, _, _ = strings.Cut(url, "#")
	return url
}
