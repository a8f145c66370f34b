package strictjson

import (
	"encoding/json"
	"strings"
	"testing"
)

type kept struct {
	Version int `json:"version"`
	Tokens  []struct {
		ID    string            `json:"id"`
		Facts map[string]string `json:"facts"`
	} `json:"tokens"`
}

func TestDecodeTakesWhatWasWritten(t *testing.T) {
	for _, text := range []string{
		`{}`, ` {"version": 1} ` + "\n", `{"version":1,"tokens":[]}`,
		`{"version":1,"tokens":[{"id":"a","facts":{"x":"y","z":""}},{"id":"b","facts":{"x":"y"}},{"id":"version"}]}`,
		`{"tokens":[{"id":"tokens","facts":{"tokens":"id","id":"tokens"}}],"version":2}`,
	} {
		var got kept
		if err := Decode([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDecodeRefusesWhatReadsInTwoWays(t *testing.T) {
	for text, says := range map[string]string{
		``:                               "EOF",
		`{"version":1`:                   "EOF",
		`{"version":1}}`:                 "behind the end",
		`{"version":1}{"version":2}`:     "behind the end",
		`{"version":1} x`:                "behind the end",
		`{"version":1,"version":2}`:      `"version" stands twice`,
		`{"version":1,"VERSION":2}`:      `"VERSION" stands twice`,
		`{"version":1,"ver\u017fion":2}`: "stands twice",
		`{"tokens":[{"id":"a"},{"id":"b","id":"c"}]}`:                    `"id" stands twice`,
		`{"tokens":[{"id":"a","facts":{"x":"1","x":"2"}}]}`:              `"x" stands twice`,
		`{"tokens":[{"facts":{"x":"1"},"id":"a","id":"b"}],"version":1}`: `"id" stands twice`,
		`{"tokens":[],"version":1,"tokens":[]}`:                          `"tokens" stands twice`,
		`{"other":1}`:                                                    "unknown field",
		"{\"tokens\":[{\"id\":\"a\xff\"}]}":                              "not UTF-8",
		`[]`:                                                             "cannot unmarshal",
	} {
		var got kept
		if err := Decode([]byte(text), &got); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want words %q", text, err, says)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"version":1,"tokens":[{"id":"a","facts":{"x":"y"}}]}`)
	f.Add(`{"version":1,"version":2}`)
	f.Fuzz(func(t *testing.T, text string) {
		var strict, loose kept
		if Decode([]byte(text), &strict) != nil {
			return
		}
		if err := json.Unmarshal([]byte(text), &loose); err != nil {
			t.Fatalf("%q: taken here, refused by encoding/json: %v", text, err)
		}
		a, _ := json.Marshal(strict)
		b, _ := json.Marshal(loose)
		if string(a) != string(b) {
			t.Errorf("%q: %s here, %s there", text, a, b)
		}
	})
}
