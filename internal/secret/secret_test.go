package secret

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"text/template"
)

const canary = "canary-7f3a9c"

// holder has the secret where careless code would have it: exported, unexported, by pointer, in a map and a slice.
type holder struct {
	Token  Value
	Ptr    *Value
	List   []Value
	ByName map[string]Value
	hidden Value
}

type tokenOnly struct{ Token Value }

func TestTM105SecretIsNeverPrinted(t *testing.T) {
	v := New(canary)
	h := holder{Token: v, Ptr: &v, List: []Value{v}, ByName: map[string]Value{"a": v}, hidden: v}

	ways := map[string]func(*bytes.Buffer) error{
		"json": func(b *bytes.Buffer) error { return json.NewEncoder(b).Encode(h) },
		"xml":  func(b *bytes.Buffer) error { return xml.NewEncoder(b).Encode(tokenOnly{v}) },
		"gob":  func(b *bytes.Buffer) error { return gob.NewEncoder(b).Encode(tokenOnly{v}) },
		"template": func(b *bytes.Buffer) error {
			return template.Must(template.New("").Parse("{{.Token}} {{printf \"%q\" .Token}}")).Execute(b, h)
		},
		"slog json": func(b *bytes.Buffer) error {
			slog.New(slog.NewJSONHandler(b, nil)).Info("x", "token", v, "holder", h)
			return nil
		},
		"slog text": func(b *bytes.Buffer) error {
			slog.New(slog.NewTextHandler(b, nil)).Info("x", "token", v, "holder", h)
			return nil
		},
		"wrapped error": func(b *bytes.Buffer) error {
			_, err := fmt.Fprint(b, fmt.Errorf("token %v: %w", v, errors.New("refused")))
			return err
		},
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v", "%10.3s", "%p"} {
		ways["verb "+verb] = func(b *bytes.Buffer) error {
			args := []any{v}
			if strings.Count(verb, "%") == 2 {
				args = append(args, v)
			}
			fmt.Fprintf(b, verb, args...)
			fmt.Fprintf(b, strings.TrimPrefix(verb, "%T "), h)
			fmt.Fprintf(b, strings.TrimPrefix(verb, "%T "), &h)
			return nil
		}
	}
	hexed := fmt.Sprintf("%x", canary)
	for name, print := range ways {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := print(&b); err != nil {
				t.Fatal(err)
			}
			if out := b.String(); strings.Contains(out, canary) || strings.Contains(strings.ToLower(out), hexed) {
				t.Fatalf("the secret was printed: %s", out)
			}
		})
	}
}

func TestRevealGivesTheSecret(t *testing.T) {
	if got := New(canary).Reveal(); got != canary {
		t.Fatalf("Reveal() = %q", got)
	}
	var zero Value
	if zero.Reveal() != "" || !zero.Empty() || New(canary).Empty() {
		t.Fatal("the zero Value is not the empty secret")
	}
}
