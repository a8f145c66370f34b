// This file finds the value of each flag that was not given: in the environment, else in the configuration file, else
// the default. It remembers where each came from, and refuses names that nobody would read (TM-118).
package cli

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/wayleave/wayleave/internal/configfile"
	"github.com/wayleave/wayleave/internal/keyfile"
)

const envPrefix = "WAYLEAVE_"

// Settings are the values outside the command line. They are a kong.Resolver.
type Settings struct {
	// File is the path of the configuration file; empty for none.
	File string
	// All are the flags of the chosen command, after Note.
	All []Setting

	env      map[string]string
	values   map[string]any    // of the file, by key
	resolved map[string]string // flag name → origin, for flags that were resolved here
}

// Setting is one flag of the chosen command with its value and where that came from: default, flag --NAME, variable
// NAME or file PATH. The value of a secret is "(set)".
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// LoadSettings reads the environment and the file that --config or WAYLEAVE_CONFIG names.
func LoadSettings(ctx context.Context, args, environ []string) (*Settings, error) {
	s := &Settings{env: make(map[string]string), resolved: make(map[string]string)}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		s.env[name] = value
	}
	path, origin := configFlag(args)
	if path == "" {
		path, origin = s.env[envPrefix+"CONFIG"], "variable "+envPrefix+"CONFIG"
	}
	if path == "" {
		return s, nil
	}
	data, err := ReadFile(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("configuration file (from %s): %w", origin, err)
	}
	values, err := configfile.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("configuration file %s: %w", path, err)
	}
	s.File, s.values = path, values
	return s, nil
}

// configFlag finds --config before kong parses, since kong asks for values while it does.
func configFlag(args []string) (path, origin string) {
	for i, a := range args {
		if a == "--" {
			break
		}
		if value, ok := strings.CutPrefix(a, "--config="); ok {
			return value, "flag --config"
		}
		if a == "--config" && i+1 < len(args) {
			return args[i+1], "flag --config"
		}
	}
	return "", ""
}

// Getenv is a variable of the environment; empty for none.
func (s *Settings) Getenv(name string) string { return s.env[name] }

// Validate refuses keys and variables that nothing reads. A variable is refused only where it is nearly the name of
// one that is read: others of that prefix may be a person's own.
func (s *Settings) Validate(app *kong.Application) error {
	keys, byKey := make(map[string]bool), make(map[string]*kong.Flag)
	for _, f := range flags(app.Node) {
		if !settable(f) {
			continue
		}
		names := append([]string{f.Name}, f.Aliases...)
		for _, name := range names {
			keys[Key(name)], byKey[Key(name)] = true, f
		}
		if err := s.contradicts(names); err != nil {
			return err
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.values)) {
		if !keys[k] {
			return fmt.Errorf("configuration file %s: unknown key %q%s", s.File, k, configfile.Nearest(k, keys))
		}
		// Also where a flag or variable stands before it: the next start may lack that.
		if _, err := typed(byKey[k], k, s.values[k]); err != nil {
			return fmt.Errorf("key %s of configuration file %s: %w", k, s.File, err)
		}
	}
	variables := map[string]bool{envPrefix + "CONFIG": true, keyfile.Variable: true}
	for k := range keys {
		variables[variable(k)] = true
	}
	for name := range s.env {
		if strings.HasPrefix(name, envPrefix) && !variables[name] {
			if hint := configfile.Nearest(name, variables); hint != "" {
				return fmt.Errorf("variable %s is not read%s", name, hint)
			}
		}
	}
	return nil
}

// contradicts refuses one setting under two of its names: only one of them would be read.
func (s *Settings) contradicts(names []string) error {
	file, env := "", ""
	for _, name := range names {
		if _, ok := s.values[Key(name)]; ok {
			if file != "" {
				return fmt.Errorf("configuration file %s: keys %s and %s are one setting; leave one out", s.File, file, Key(name))
			}
			file = Key(name)
		}
		if s.env[variable(name)] != "" {
			if env != "" {
				return fmt.Errorf("variables %s and %s are one setting; leave one out", env, variable(name))
			}
			env = variable(name)
		}
	}
	return nil
}

func flags(n *kong.Node) []*kong.Flag {
	out := slices.Clone(n.Flags)
	for _, c := range n.Children {
		out = append(out, flags(c)...)
	}
	return out
}

// settable says whether a flag may come from the environment or a file.
func settable(f *kong.Flag) bool {
	return f.Name != "help" && f.Name != "config" && f.Tag.Get("setting") != "-"
}

// Resolve gives the value of a flag that is not on the command line, nil for none.
func (s *Settings) Resolve(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
	if !settable(f) {
		return nil, nil
	}
	for _, name := range append([]string{f.Name}, f.Aliases...) {
		// An empty variable counts as none: it must not stand for an empty list, which allows everything.
		if value := s.env[variable(name)]; value != "" {
			s.resolved[f.Name] = "variable " + variable(name)
			return withUnit(name, value), nil
		}
	}
	for _, name := range append([]string{f.Name}, f.Aliases...) {
		if value, ok := s.values[Key(name)]; ok {
			value, err := typed(f, Key(name), value)
			if err != nil {
				return nil, fmt.Errorf("key %s of configuration file %s: %w", Key(name), s.File, err)
			}
			s.resolved[f.Name] = "file " + s.File
			return value, nil
		}
	}
	return nil, nil
}

// CameFrom is where the value of the flag came from that a message begins with, in brackets with a space before them: who
// typed no flag looks for it there. Empty where it was typed, and where the message says it already.
func (s *Settings) CameFrom(message string) string {
	name, ok := strings.CutPrefix(message, "--")
	if !ok {
		return ""
	}
	if end := strings.IndexFunc(name, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }); end >= 0 {
		name = name[:end]
	}
	origin := s.resolved[name]
	if origin == "" || strings.Contains(message, "configuration file") {
		return ""
	}
	return " (" + origin + ")"
}

// Note lists the chosen command's flags with their values and origins. A list that was given with nothing in it is an
// error: it meant to narrow, and would read as "anything goes" (TM-118).
func (s *Settings) Note(chosen *kong.Context) error {
	given := make(map[string]bool)
	for _, p := range chosen.Path {
		if p.Flag != nil && !p.Resolved {
			given[p.Flag.Name] = true
		}
	}
	for _, f := range chosen.Flags() {
		if f.Name == "help" || f.Tag.Get("setting") == "-" {
			continue
		}
		origin := "default"
		switch {
		case given[f.Name]:
			origin = "flag --" + f.Name
		case s.resolved[f.Name] != "":
			origin = s.resolved[f.Name]
		}
		value := chosen.FlagValue(f)
		if list := reflect.ValueOf(value); origin != "default" && list.Kind() == reflect.Slice && list.Len() == 0 {
			return fmt.Errorf("--%s (%s) is a list with nothing in it; leave it out for the default", f.Name, origin)
		}
		s.All = append(s.All, Setting{Name: f.Name, Value: shown(f, value), Origin: origin})
	}
	return nil
}

// Key is a flag's name in the configuration file.
func Key(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

func variable(flag string) string { return envPrefix + strings.ToUpper(Key(flag)) }

// shown is a value as a person reads it. A value that may hold a password is named and not shown.
func shown(f *kong.Flag, value any) string {
	text := fmt.Sprint(deref(value))
	switch {
	case text == "" || text == "[]" || text == "<nil>":
		return ""
	case f.Tag.Get("setting") == "secret":
		return "(set)"
	}
	return strings.Trim(text, "[]")
}
