// Package configfile reads a configuration file: one JSON object, comments and trailing commas allowed, each key once. It
// knows no key; whoever does finds the one that was meant with [Nearest].
package configfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Parse gives the members of a configuration file. Numbers are json.Number.
func Parse(data []byte) (map[string]any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("is not UTF-8")
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("is empty (EOF where an object should begin); {} says that there is nothing to set")
	}
	plain, err := hujson.Standardize(data)
	if err != nil {
		return nil, fmt.Errorf("is not JSON with comments: %s", strings.TrimPrefix(err.Error(), "hujson: "))
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

// Nearest is the end of a sentence that names the known name Nearest to one that is not known, or nothing.
func Nearest(name string, known map[string]bool) string {
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
