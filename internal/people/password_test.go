package people

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// cheap is a cost at which a test can try passwords.
var cheap = Cost{Memory: 8, Passes: 1, Lanes: 1}

func TestPasswordMatchesItsOwnEncodingAlone(t *testing.T) {
	h := newHasher(cheap)
	const right = "correct horse battery"
	encoded, err := h.encode(t.Context(), right)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := h.encode(t.Context(), right); err != nil || again == encoded {
		t.Fatalf("one password was encoded twice alike: %v", err)
	}
	if !strings.HasPrefix(encoded, "$argon2id$v=19$m=8,t=1,p=1$") || strings.Contains(encoded, "horse") {
		t.Fatalf("encoded as %s", encoded)
	}
	dearer := newHasher(Cost{Memory: 16, Passes: 2, Lanes: 2}) // another version's cost: each password keeps its own
	for _, h := range []*hasher{h, dearer} {
		for text, want := range map[string]bool{right: true, right + " ": false, "Correct horse battery": false, "": false, right[1:]: false,
			strings.Repeat("x", MaxPassword+1): false, "\xff\xfe": false} {
			if got, err := h.matches(t.Context(), text, encoded); err != nil || got != want {
				t.Errorf("%.30q: %v, %v", text, got, err)
			}
		}
		if got, err := h.matches(t.Context(), "", ""); err != nil || got {
			t.Errorf("no password matches the empty one: %v, %v", got, err)
		}
		if got, err := h.matches(t.Context(), right, ""); err != nil || got {
			t.Errorf("no password is matched: %v, %v", got, err)
		}
	}
}

func TestOneSpellingOfAPasswordOnEveryKeyboard(t *testing.T) {
	h := newHasher(cheap)
	encoded, err := h.encode(t.Context(), "caf\u00e9 caf\u00e9 caf\u00e9")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := h.matches(t.Context(), "cafe\u0301 cafe\u0301 cafe\u0301", encoded); err != nil || !ok {
		t.Fatalf("the same letters in two parts: %v, %v", ok, err)
	}
}

func TestDamagedEncodingIsAnErrorAndCostsNothing(t *testing.T) {
	h := newHasher(cheap)
	good, err := h.encode(t.Context(), "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"x", "plain text password", strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "v=19", "v=16", 1),
		strings.Replace(good, "m=8", "m=4294967295", 1), strings.Replace(good, "t=1", "t=0", 1), strings.Replace(good, "p=1", "p=0", 1), strings.Replace(good, "t=1", "t=99999", 1),
		good + "$", good[:len(good)-4], strings.Replace(good, "m=8,", "", 1)} {
		if ok, err := h.matches(t.Context(), "correct horse battery", bad); err == nil || ok {
			t.Errorf("%q: %v", bad, ok)
		} else if strings.Contains(err.Error(), "$") {
			t.Errorf("the error shows the encoding: %v", err)
		}
	}
}

func FuzzEncodedPassword(f *testing.F) {
	good, _ := newHasher(cheap).encode(context.Background(), "correct horse battery")
	f.Add(good)
	f.Add("$argon2id$v=19$m=65536,t=3,p=4$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("$argon2id$$$$")
	f.Fuzz(func(t *testing.T, s string) {
		c, salt, key, err := decode(s)
		if err != nil {
			return
		}
		if c.Memory > most.Memory || c.Passes > most.Passes || c.Lanes > most.Lanes || c.Passes == 0 || c.Lanes == 0 || len(salt) != saltBytes || len(key) != keyBytes {
			t.Fatalf("%q gave %+v", s, c)
		}
		if again, _, _, err := decode(encode(c, salt, key)); err != nil || again != c {
			t.Fatalf("%q does not come back: %+v, %v", s, again, err)
		}
	})
}

func TestNewPasswords(t *testing.T) {
	for text, want := range map[string]bool{"": false, "elevenchars": false, "twelve chars": true, strings.Repeat("é", 12): true, strings.Repeat("é", 11): false,
		strings.Repeat("x", MaxPassword): true, strings.Repeat("x", MaxPassword+1): false, "valid but for \xff": false} {
		if err := CheckPassword(text); (err == nil) != want {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// names are rows that know two people.
type names struct {
	Rows
	encoded string
	asked   int
}

func (n *names) Attempt(context.Context, int, time.Duration, ...string) (time.Duration, error) {
	return 0, nil
}

func (n *names) ByName(_ context.Context, name string) (Person, string, error) {
	n.asked++
	switch name {
	case "anna":
		return Person{ID: "person_1", Name: name}, n.encoded, nil
	case "disabled":
		return Person{ID: "person_2", Name: name, Disabled: true}, n.encoded, nil
	case "link-only":
		return Person{ID: "person_3", Name: name}, "", nil
	}
	return Person{}, "", ErrNotFound
}

// TestTM075UnknownNamesCostWhatWrongPasswordsDo: whoever is asked for, one look and one password of the usual cost are
// tried, and the words are the same.
func TestTM075UnknownNamesCostWhatWrongPasswordsDo(t *testing.T) {
	asks := map[string][2]string{
		"wrong":             {"anna", "wrong password here"},
		"unknown":           {"nobody", "wrong password here"},
		"no name":           {"", "wrong password here"},
		"not a name":        {"' OR 1=1 --", "wrong password here"},
		"disabled":          {"disabled", "correct horse battery"},
		"without password":  {"link-only", ""},
		"too long password": {"anna", strings.Repeat("x", MaxPassword+1)},
		"empty password":    {"anna", ""},
	}
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &names{}
				d := NewDirectory(n, Options{Cost: cheap})
				var err error
				if n.encoded, err = d.hasher.encode(t.Context(), "correct horse battery"); err != nil {
					t.Fatal(err)
				}
				if _, err := d.SignIn(t.Context(), ask[0], ask[1], Browser{}); err != ErrWrong {
					t.Fatalf("%v", err)
				}
				if n.asked != 1 {
					t.Errorf("the database was asked %d times", n.asked)
				}
				// While another sign-in has its turn, this one must wait for its own: it answers nothing without trying.
				d.hasher.turn <- struct{}{}
				answered := false
				go func() {
					_, _ = d.SignIn(t.Context(), ask[0], ask[1], Browser{})
					answered = true
				}()
				synctest.Wait()
				if answered {
					t.Error("it answered without trying a password")
				}
				<-d.hasher.turn
				synctest.Wait()
				if !answered {
					t.Error("it does not end")
				}
			})
		})
	}
	if c, _, _, err := decode(newHasher(Cost{}).decoy); err != nil || c != usual {
		t.Fatalf("the decoy costs %+v, %v", c, err)
	}
}

func TestCallerWhoLeavesWhileWaitingCostsNothing(t *testing.T) {
	h := newHasher(cheap)
	h.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.encode(ctx, "correct horse battery"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestAddressesOfOneCustomerCountTogether(t *testing.T) {
	for _, same := range [][2]string{{"192.0.2.1", "::ffff:192.0.2.1"}, {"2001:db8:1:2::1", "2001:db8:1:2:ffff::9"}, {"fe80::1%eth0", "fe80::2%eth1"}, {"", "nonsense"}} {
		if a, b := addressSubject(same[0]), addressSubject(same[1]); a != b {
			t.Errorf("%q is %s, %q is %s", same[0], a, same[1], b)
		}
	}
	for _, other := range [][2]string{{"192.0.2.1", "192.0.2.2"}, {"2001:db8:1:2::1", "2001:db8:1:3::1"}} {
		if addressSubject(other[0]) == addressSubject(other[1]) {
			t.Errorf("%v count together", other)
		}
	}
}
