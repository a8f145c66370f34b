package allowed

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/wayleave/wayleave/internal/datafolder"
)

func folder(t *testing.T) *datafolder.Folder {
	t.Helper()
	f, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func names(t *testing.T, s *Store, agent string) (out []string, edition string) {
	t.Helper()
	permits, edition, err := s.For(agent)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range permits {
		out = append(out, p.String())
	}
	return out, edition
}

func TestHostAllowedBesideARunningService(t *testing.T) {
	f := folder(t)
	service, person := NewStore(f, nil), NewStore(f, nil)
	none, before := names(t, service, "alice")
	if len(none) != 0 {
		t.Fatalf("an empty list allows %q", none)
	}
	if _, err := person.Allow("Printer.Local:631", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := person.Allow("10.0.0.0/8", "bob"); err != nil {
		t.Fatal(err)
	}
	alice, after := names(t, service, "alice")
	if len(alice) != 1 || alice[0] != "printer.local:631" || after == before {
		t.Fatalf("alice may read %q, edition %q after %q", alice, after, before)
	}
	if bob, _ := names(t, service, "bob"); len(bob) != 2 {
		t.Fatalf("bob may read %q", bob)
	}
	if _, err := person.Allow("printer.local:631", ""); err != nil {
		t.Fatal(err)
	}
	if again, edition := names(t, service, "alice"); len(again) != 1 || edition != after {
		t.Fatalf("allowing twice: %q, %q", again, edition)
	}
	if _, err := person.Remove("printer.local:631", "alice"); !errors.Is(err, ErrNotAllowed) {
		t.Fatalf("removing what was allowed to all from one: %v", err)
	}
	if _, err := person.Remove("PRINTER.local:631", ""); err != nil {
		t.Fatal(err)
	}
	if alice, _ := names(t, service, "alice"); len(alice) != 0 {
		t.Fatalf("alice may still read %q", alice)
	}
}

func TestMalformedHostIsNotKept(t *testing.T) {
	s := NewStore(folder(t), nil)
	for _, bad := range []string{"", " ", "http://a.example/", "a b", "10.0.0.0/40", "10.1.2.3/8", "a.example:0x1"} {
		if _, err := s.Allow(bad, ""); err == nil {
			t.Errorf("%q was kept", bad)
		}
	}
	if hosts, err := s.List(); err != nil || len(hosts) != 0 {
		t.Fatalf("%v, %v", hosts, err)
	}
}

func TestFileThatCannotBeReadAllowsNothing(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON":     "{",
		"unknown key":  `{"version":1,"hostz":[]}`,
		"next version": `{"version":2}`,
		"no version":   `{}`,
		"null":         `null`,
		"more behind":  `{"version":1,"hosts":[]} x`,
		"agent twice":  `{"version":1,"hosts":[{"host":"10.0.0.1","agent":"alice","AGENT":""}]}`,
		"bad host":     `{"version":1,"hosts":[{"host":"http://x/"}]}`,
	} {
		f := folder(t)
		if err := os.WriteFile(filepath.Join(f.Path(), file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := NewStore(f, nil)
		for range 2 {
			if permits, _, err := s.For("alice"); err == nil || permits != nil {
				t.Errorf("%s: %v, %v", name, permits, err)
			}
		}
	}
}
