package configfile

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFileIsOneObjectWithEachKeyOnce(t *testing.T) {
	got, err := Parse([]byte("{\n// words\n\"a\": [1, \"x\"], \"b\": 9007199254740993,\n}"))
	if err != nil || len(got) != 2 || got["b"] != json.Number("9007199254740993") {
		t.Fatalf("%v, %v", got, err)
	}
	for text, why := range map[string]string{
		`["a"]`:             "is not one object",
		`{"a":1,"a":2}`:     `key "a" stands twice`,
		`{"a":null}`:        `key "a" is null`,
		"{\"a\": \"\xff\"}": "is not UTF-8",
		`{"a": }`:           "invalid",
		``:                  "EOF",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
}

func TestNearestIsASlipOfTheFingerAndNoOtherWord(t *testing.T) {
	known := map[string]bool{"allowed_hosts": true, "allow_host": true, "listen": true}
	for name, want := range map[string]string{"alowed_hosts": "allowed_hosts", "allow_hosts": "allow_host", "lisn": "listen", "verbose": "", "": ""} {
		if got := Nearest(name, known); got == "" != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, "{/**/\"a\":[1,],}", `{"a":{"b":null}}`, "{\"a\":1}{", "//", `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		values, err := Parse(text)
		if err != nil {
			return
		}
		for key, value := range values {
			if value == nil {
				t.Fatalf("%q: key %q is null", text, key)
			}
		}
	})
}
