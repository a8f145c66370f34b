// This file reads the configuration file: one JSON object, comments and trailing commas allowed, each key once, each
// value of its flag's type.
package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"github.com/tailscale/hujson"
)

// parseConfig gives the members of a configuration file. Numbers are json.Number.
func parseConfig(data []byte) (map[string]any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("is not UTF-8")
	}
	plain, err := hujson.Standardize(data)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(plain))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("is not one object of keys and values")
	}
	values := make(map[string]any)
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("key %q stands twice", name)
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		// A list that turned out empty, or a switch that nobody set, must not read as "anything goes".
		if value == nil {
			return nil, fmt.Errorf("key %q is null; leave it out for the default", name)
		}
		values[name] = value
	}
	return values, nil
}

// typed checks the value of a key against its flag's type and gives what kong takes.
func typed(f *kong.Flag, name string, value any) (any, error) {
	kind := f.Target.Type()
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	switch {
	case kind.Kind() == reflect.Slice:
		list, ok := value.([]any)
		if !ok {
			return nil, errors.New("must be a list")
		}
		var texts []string
		for _, member := range list {
			text, ok := scalar(member)
			if !ok {
				return nil, errors.New("must be a list of texts")
			}
			texts = append(texts, strings.ReplaceAll(text, ",", `\,`))
		}
		if texts == nil {
			return nil, nil // an empty list is the default of every list
		}
		return strings.Join(texts, ","), nil
	case kind.Kind() == reflect.Bool:
		b, ok := value.(bool)
		if !ok {
			return nil, errors.New("must be true or false")
		}
		return b, nil
	case kind.Kind() == reflect.String:
		text, ok := value.(string)
		if !ok {
			return nil, errors.New("must be a text")
		}
		return text, nil
	}
	text, ok := scalar(value)
	if !ok {
		return nil, errors.New("must be one value")
	}
	if own, ok := reflect.New(kind).Interface().(encoding.TextUnmarshaler); ok {
		text = withUnit(strings.ReplaceAll(name, "_", "-"), text)
		return text, own.UnmarshalText([]byte(text))
	}
	if _, number := value.(json.Number); !number {
		return nil, errors.New("must be a number")
	}
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		return nil, errors.New("must be a whole number")
	}
	return text, nil
}

func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

func deref(value any) any {
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Pointer {
		return value
	}
	if v.IsNil() {
		return nil
	}
	return v.Elem().Interface()
}

// nearest is the end of a sentence that names the known name nearest to one that is not known, or nothing.
func nearest(name string, known map[string]bool) string {
	const farthest = 2 // edits: a slip of the finger, not another word
	best, at := "", farthest+1
	var names []string
	for k := range known {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		if d := distance(name, k); d < at {
			best, at = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
