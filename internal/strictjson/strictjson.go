// Package strictjson reads JSON that we wrote ourselves and nobody else should have: one value in UTF-8, every member
// known, none twice. encoding/json takes the last of two members, of any letter case, replaces what is not UTF-8, and
// leaves what stands behind the value; a file in which somebody's right stands must not be read by one of its halves.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Decode reads data into a pointer. The error is the end of a sentence about the data.
func Decode(data []byte, into any) error {
	if !utf8.Valid(data) {
		return errors.New("it is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the end")
	}
	return repeated(data)
}

// level is an array or object on the way down; members are nil for an array.
type level struct {
	members map[string]bool
	named   bool // of an object: the name of a member was read, its value comes next
}

// repeated finds a member that an object has twice, in any letter case. data is one JSON value.
func repeated(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	var way []*level
	for {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(way) > 0 {
			if in := way[len(way)-1]; in.members != nil && t != json.Delim('}') {
				if name, ok := t.(string); ok && !in.named {
					folded := strings.ToLower(strings.ToUpper(name))
					if in.members[folded] {
						return fmt.Errorf("the member %q stands twice", name)
					}
					in.members[folded], in.named = true, true
					continue
				}
				in.named = false
			}
		}
		switch t {
		case json.Delim('{'):
			way = append(way, &level{members: make(map[string]bool)})
		case json.Delim('['):
			way = append(way, new(level))
		case json.Delim('}'), json.Delim(']'):
			way = way[:len(way)-1]
		}
	}
}
