// This file holds values of the configuration file against the types of their flags.
package cli

import (
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

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
