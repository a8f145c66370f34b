// Package structurecheck judges Markdown that was made from a page: it loads cases that state what the
// Markdown has to mean and compares that with the tree a CommonMark + GFM parser makes of it.
//
// Its one rule: several spellings of the same tree are right, anything that changes the tree or the visible
// text is wrong. It serves tests alone; no production package imports it.
package structurecheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Case is one page and what has to hold of its Markdown.
type Case struct {
	ID      string            // unique within its file
	Area    string            // tables, lists, escaping …
	Mode    string            // full (the whole page) or main (its main content)
	URL     string            // the page's own address, base of its links
	HTML    string            // decoded, repeated parts already joined
	Status  int               // of the response; 0 where the case states none
	Headers map[string]string // of the response; nil where the case states none
	Checks  []Check           // all have to hold
	LimitMS int               // time for the whole conversion in milliseconds; 0 where the case states none
	Note    string            // why the case is there
	// WayleaveShould says where the product spells something otherwise than the case.
	WayleaveShould string
}

// Output is what the product made of a page.
type Output struct {
	Markdown string
	Title    string
	Thin     []string // thin kinds as the product spells them; empty for an ordinary page
}

// Judge lists every check of the case that the output fails, in the order of the case; empty means that it passes.
func (c Case) Judge(o Output) []string {
	d := parse(o)
	var failures []string
	for _, check := range c.Checks {
		if why := d.judge(check); why != "" {
			failures = append(failures, check.source+": "+why)
		}
	}
	return failures
}

// ChecksOn are the checks of the case that have a name, such as "thin"; those within others are not among them.
func (c Case) ChecksOn(name string) []Check {
	var checks []Check
	for _, check := range c.Checks {
		if check.name == name {
			checks = append(checks, check)
		}
	}
	return checks
}

// Load reads a case file. It refuses unknown fields and unknown checks, so a check that is misspelt cannot pass unseen.
func Load(path string) ([]Case, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	cases, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cases, nil
}

func decode(raw []byte) ([]Case, error) {
	var file struct {
		About json.RawMessage `json:"about"`
		Cases []wireCase      `json:"cases"`
	}
	if err := strict(raw, &file); err != nil {
		return nil, err
	}
	cases := make([]Case, 0, len(file.Cases))
	seen := map[string]bool{}
	for _, w := range file.Cases {
		c, err := w.toCase()
		if err != nil {
			return nil, fmt.Errorf("case %q: %w", w.ID, err)
		}
		if seen[c.ID] {
			return nil, fmt.Errorf("case %q: id used twice", c.ID)
		}
		seen[c.ID] = true
		cases = append(cases, c)
	}
	return cases, nil
}

type wireCase struct {
	ID             string            `json:"id"`
	Area           string            `json:"area"`
	Mode           string            `json:"mode"`
	URL            string            `json:"url"`
	HTML           json.RawMessage   `json:"html"`
	Status         int               `json:"status"`
	Headers        map[string]string `json:"headers"`
	Checks         []Check           `json:"checks"`
	LimitMS        int               `json:"limit_ms"`
	Note           string            `json:"note"`
	WayleaveShould string            `json:"wayleave_should"`
}

func (w wireCase) toCase() (Case, error) {
	page, err := joinHTML(w.HTML)
	switch {
	case err != nil:
		return Case{}, err
	case w.ID == "":
		return Case{}, fmt.Errorf("id: must be set")
	case w.Mode != "full" && w.Mode != "main":
		return Case{}, fmt.Errorf("mode: %q is neither full nor main", w.Mode)
	case len(w.Checks) == 0:
		return Case{}, fmt.Errorf("checks: a case without checks cannot fail")
	}
	return Case{
		ID: w.ID, Area: w.Area, Mode: w.Mode, URL: w.URL, HTML: page, Status: w.Status, Headers: w.Headers,
		Checks: w.Checks, LimitMS: w.LimitMS, Note: w.Note, WayleaveShould: w.WayleaveShould,
	}, nil
}

// joinHTML reads a page that is one string, or a list of strings and of {text, times} parts.
func joinHTML(raw json.RawMessage) (string, error) {
	var whole string
	if json.Unmarshal(raw, &whole) == nil {
		return whole, nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("html: %w", err)
	}
	var b strings.Builder
	for _, part := range parts {
		var text string
		if json.Unmarshal(part, &text) == nil {
			b.WriteString(text)
			continue
		}
		var repeated struct {
			Text  string `json:"text"`
			Times int    `json:"times"`
		}
		if err := strict(part, &repeated); err != nil {
			return "", fmt.Errorf("html part: %w", err)
		}
		b.WriteString(strings.Repeat(repeated.Text, repeated.Times))
	}
	return b.String(), nil
}

// strict decodes JSON and refuses fields that the target does not have.
func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
