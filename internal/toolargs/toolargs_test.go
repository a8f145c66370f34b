package toolargs

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestIntegersInEverySpelling(t *testing.T) {
	for literal, want := range map[string]int64{
		"0": 0, "-0": 0, "0.0": 0, "0e99999999999999999999": 0, "7": 7, "-7": -7, "7.0": 7, "70e-1": 7, "0.7e1": 7, "7E0": 7, "7e+2": 700,
		"1000000000000000000": 1_000_000_000_000_000_000,
	} {
		if got, ok := integer(literal); !ok || got != want {
			t.Errorf("%s is %d, %v", literal, got, ok)
		}
	}
	for _, literal := range []string{"", `"7"`, "true", "null", "[7]", "7.5", "75e-1", "7e-1", "1e19", "99999999999999999999", "1e9999999999"} {
		if got, ok := integer(literal); ok {
			t.Errorf("%s is taken for %d", literal, got)
		}
	}
}

type color string

// read reads arguments as a tool with one member of each type would.
func read(raw string) (text string, flag bool, chosen color, n int, err error) {
	chosen, n = "red", 7
	ms, err := Parse(json.RawMessage(raw))
	if err == nil {
		err = ms.Only([]string{"text", "flag", "color", "n"})
	}
	if err == nil {
		text, _, err = ms.String("text")
	}
	if err == nil {
		err = ms.Bool("flag", &flag)
	}
	if err == nil {
		err = Choice(ms, "color", []color{"red", "blue"}, &chosen)
	}
	if err == nil {
		err = ms.Integer("n", 1, 10, &n)
	}
	return text, flag, chosen, n, err
}

func TestWhatIsGivenIsReadAndWhatIsNotStays(t *testing.T) {
	for raw, want := range map[string]struct {
		text   string
		flag   bool
		chosen color
		n      int
	}{
		``:     {"", false, "red", 7},
		`null`: {"", false, "red", 7},
		`{"text":null,"flag":null,"color":null,"n":null}`:      {"", false, "red", 7},
		`{"text":" a ","flag":true,"color":"blue","n":1e1}`:    {" a ", true, "blue", 10},
		"\n{ \"t\\u0065xt\" : \"\\u0062\" , \"flag\":false}\t": {"b", false, "red", 7},
	} {
		text, flag, chosen, n, err := read(raw)
		if err != nil || text != want.text || flag != want.flag || chosen != want.chosen || n != want.n {
			t.Errorf("%s: %q %v %q %d, error %v; want %+v", raw, text, flag, chosen, n, err, want)
		}
	}
}

func TestTM042WhatIsNotAsTheToolTakesItIsRefusedByName(t *testing.T) {
	for raw, want := range map[string]string{
		`{"text":1}`:         "argument text must be a string",
		`{"flag":"true"}`:    "argument flag must be true or false",
		`{"flag":1}`:         "argument flag must be true or false",
		`{"color":"green"}`:  `argument color must be "red" or "blue"`,
		`{"color":["red"]}`:  `argument color must be "red" or "blue"`,
		`{"n":11}`:           "argument n must be a whole number from 1 to 10",
		`{"n":0}`:            "argument n must be a whole number from 1 to 10",
		`{"n":"5"}`:          "argument n must be a whole number from 1 to 10",
		`{"n":1.5}`:          "argument n must be a whole number from 1 to 10",
		`{"proxy":"x"}`:      "argument proxy is no argument of this tool, which takes text, flag, color, n",
		`{"Text":"x"}`:       "argument Text is no argument of this tool, which takes text, flag, color, n",
		`{"n":1,"n":2}`:      "argument n is given twice",
		`{"n":1,"\u006e":2}`: "argument n is given twice",
		`{"n":1`:             "the arguments are not valid JSON",
		`{"n":}`:             "the arguments are not valid JSON",
		`{"n":1}}`:           "the arguments must be one JSON object",
		`{} {}`:              "the arguments must be one JSON object",
		`[1]`:                "the arguments must be one JSON object",
		`"{}"`:               "the arguments must be one JSON object",
		`{"text":"` + strings.Repeat("x", MaxBytes) + `"}`: "the arguments are longer than 256 KiB",
	} {
		if _, _, _, _, err := read(raw); err == nil || err.Error() != want {
			t.Errorf("%.40s: %v, want %s", raw, err, want)
		}
	}
	var n int
	ms, err := Parse(json.RawMessage(`{"n":-1}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := ms.Integer("n", 0, MaxExact, &n); err == nil || err.Error() != "argument n must be a whole number, 0 or more" {
		t.Errorf("below 0 without an upper bound: %v", err)
	}
}

// FuzzParse: whatever a model sends, it is an object that encoding/json reads as one too, or refused in words of ours.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{``, `null`, `{}`, `{"n":1,"n":2}`, `{"text":"\ud800","n":1e400}`, `{"a":{"a":[]}}`, `{"n":1} x`, "{\"\x00\":1}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		ms, err := Parse(json.RawMessage(raw))
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Reason == "" || ms != nil {
				t.Fatalf("%q: %#v with %d members", raw, err, len(ms))
			}
			return
		}
		if strings.TrimSpace(raw) == "" {
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(raw), &object); err != nil || len(object) != len(ms) {
			t.Fatalf("%q: %d members, encoding/json says %d and %v", raw, len(ms), len(object), err)
		}
		read(raw) // must not panic
	})
}
