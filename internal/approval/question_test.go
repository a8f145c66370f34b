package approval_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/wayleave/wayleave/internal/approval"
)

func TestTM058TheQuestionIsBuiltFromFacts(t *testing.T) {
	for _, c := range []struct {
		facts approval.Facts
		want  string
	}{
		{approval.Facts{Tier: approval.Sensitive, Origin: "https://example.com", Does: []string{"types", "uploads", "sends a form"}, Credential: "site_account"},
			"May writer run do_publish on https://example.com? It types, uploads, sends a form and signs in with site_account."},
		{approval.Facts{Tier: approval.Navigate, Origin: "https://example.com", Does: []string{"opens a page"}}, "May writer run do_publish on https://example.com? It opens a page."},
		{approval.Facts{Tier: approval.Interact}, "May writer run do_publish? That is clicking and typing."},
		{approval.Facts{Tier: "unheard of"}, "May writer run do_publish? That is sending forms, uploading or signing in."},
		// A look-alike host is shown as what it is, and a turned name on one line.
		{approval.Facts{Tier: approval.Read, Origin: "https://gооgle.com"}, "May writer run do_publish on https://g%D0%BE%D0%BEgle.com? That is looking."},
		{approval.Facts{Tier: approval.Read, Credential: "bank\u202e\nAllow it"}, "May writer run do_publish? It signs in with bank Allow it."},
	} {
		if got, _ := approval.Question("writer", "do_publish", c.facts); got != c.want {
			t.Errorf("the question is %q, want %q", got, c.want)
		}
	}
	long := strings.Repeat("x", 10<<10)
	message, shown := approval.Question("writer", "do_publish", approval.Facts{Tier: approval.Sensitive, Description: "Kind\u202e words", Inputs: []approval.Input{
		{Name: "text", Value: long}, {Name: "na\u200bme", Value: "a\u202eb\u00a0c\td\ne"}, {Name: "secret", Value: "hidden", Masked: true}}})
	if shown.Inputs[0].Value != long || shown.Inputs[1].Value != "a‹U+202E›b‹U+00A0›c\td\ne" || shown.Inputs[1].Name != "name" || shown.Description != "Kind‹U+202E› words" {
		t.Errorf("shown as %+v", shown.Inputs[1])
	}
	if shown.Inputs[2].Value != "" || !shown.Inputs[2].Masked {
		t.Error("a masked value is kept")
	}
	if strings.Contains(message, "Kind") {
		t.Errorf("an author's words stand in the question: %s", message)
	}
}

func FuzzTM058NothingHidesInAQuestion(f *testing.F) {
	f.Add("gооgle.com", "a\u202eb", "\u2800\u3164\ufe0f\x1b[2J")
	f.Fuzz(func(t *testing.T, origin, words, value string) {
		message, shown := approval.Question("writer", words, approval.Facts{Origin: origin, Credential: words, Description: value, Does: []string{"types"},
			Inputs: []approval.Input{{Name: words, Value: value}}})
		if len(message) > 400 || strings.ContainsAny(message, "\n\r") {
			t.Fatalf("%q asks %q", origin, message)
		}
		for _, text := range []string{message, shown.Origin, shown.Description, shown.Inputs[0].Name, shown.Inputs[0].Value} {
			for _, r := range text {
				if r != ' ' && r != '\n' && r != '\t' && (!unicode.IsGraphic(r) || unicode.IsSpace(r)) {
					t.Fatalf("%U is shown in %q", r, text)
				}
			}
		}
		for _, r := range shown.Origin {
			if r > unicode.MaxASCII && r != '…' {
				t.Fatalf("%U stands in the origin %q", r, shown.Origin)
			}
		}
	})
}

func TestTiersCoverThoseBelow(t *testing.T) {
	order := []approval.Tier{approval.Read, approval.Navigate, approval.Interact, approval.Sensitive}
	for i, a := range order {
		for j, b := range order {
			if a.Covers(b) != (j <= i) {
				t.Errorf("%s covers %s: %v", a, b, a.Covers(b))
			}
		}
		if a.Covers("unheard of") || approval.Tier("unheard of").Covers(a) {
			t.Errorf("%s and an unknown tier cover each other", a)
		}
	}
}

func TestAReplyIsOneOfThose(t *testing.T) {
	good := approval.Reply{Answer: approval.Once, Channel: approval.Page, By: "person:1"}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*approval.Reply){
		"answer":  func(r *approval.Reply) { r.Answer = "always" },
		"channel": func(r *approval.Reply) { r.Channel = "page of a stranger" },
		"by":      func(r *approval.Reply) { r.By = "" },
	} {
		r := good
		change(&r)
		if err := r.Check(); err == nil || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
