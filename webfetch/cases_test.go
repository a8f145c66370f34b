package webfetch

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The behaviour cases of testdata/webfetch.json, one subtest each, named by the case's id.

// behaviour is one case. Input and Expected have the shape of the case's area.
type behaviour struct {
	ID       string          `json:"id"`
	Area     string          `json:"area"`
	Input    json.RawMessage `json:"input"`
	Expected json.RawMessage `json:"expected"`
}

// behaviours are the cases of an area, or those with the given ids.
func behaviours(t *testing.T, area string, ids ...string) []behaviour {
	t.Helper()
	text, err := os.ReadFile("../testdata/webfetch.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []behaviour `json:"cases"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var picked []behaviour
	for _, c := range file.Cases {
		if len(ids) == 0 && c.Area == area || strings.Contains(" "+strings.Join(ids, " ")+" ", " "+c.ID+" ") {
			picked = append(picked, c)
		}
	}
	if len(picked) == 0 || len(ids) > 0 && len(picked) != len(ids) {
		t.Fatalf("area %q, ids %q: found %d cases", area, ids, len(picked))
	}
	return picked
}

// read fills v with a case's input or expectation.
func read(t *testing.T, raw json.RawMessage, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

// pieces is a text as the cases write it: a string, or a list of strings and of {text, times}.
type pieces string

func (p *pieces) UnmarshalJSON(raw []byte) error {
	var whole string
	if json.Unmarshal(raw, &whole) == nil {
		*p = pieces(whole)
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	var b strings.Builder
	for _, item := range list {
		if json.Unmarshal(item, &whole) == nil {
			b.WriteString(whole)
			continue
		}
		var repeated struct {
			Text  string `json:"text"`
			Times int    `json:"times"`
		}
		if err := json.Unmarshal(item, &repeated); err != nil {
			return err
		}
		b.WriteString(strings.Repeat(repeated.Text, repeated.Times))
	}
	*p = pieces(b.String())
	return nil
}
