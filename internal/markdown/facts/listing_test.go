package facts

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func TestCutName(t *testing.T) {
	for src, want := range map[string]string{
		`<a href="harbour-plan-of-the-north-quay.pdf">harbour-plan-of-th..&gt;</a>`:      "harbour-plan-of-the-north-quay.pdf",
		`<a href="/pub/harbour%20plan%20of%20the%20quay.pdf"> harbour plan of..&gt;</a>`: "harbour plan of the quay.pdf",
		`<a href="plans-of-the-harbour-and-town/">plans-of-the-harb..&gt;</a>`:           "plans-of-the-harbour-and-town/",
		`<a href="other.pdf">harbour-plan-of-th..&gt;</a>`:                               "",
		`<a href="harbour-plan.pdf">harbour-plan.pdf</a>`:                                "",
		`<a href="harbour%0Aplan.pdf">harbour..&gt;</a>`:                                 "",
		`<a href="harbour%zzplan.pdf">harbour..&gt;</a>`:                                 "",
		`<a href="harbour-plan.pdf"><b>harbour..&gt;</b></a>`:                            "",
		`<a href="x">..&gt;</a>`:                                                         "",
		`<a>harbour..&gt;</a>`:                                                           "",
		`<a href="harbour%FFplan">harbour..&gt;</a>`:                                     "harbour\uFFFDplan",
	} {
		root, err := html.Parse(strings.NewReader("<pre>" + src))
		if err != nil {
			t.Fatal(err)
		}
		if got := CutName(Find(root, atom.A, 20)); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}
