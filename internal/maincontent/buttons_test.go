package maincontent

import (
	"fmt"
	"strings"
	"testing"
)

// TestButtonsOfCardsAreNoText: what every card offers to do goes from each of them, also from those that are judged by others;
// a question that a button unfolds is a page's own, and so is the only button that says something.
func TestButtonsOfCardsAreNoText(t *testing.T) {
	var cards strings.Builder
	for i := range 24 {
		fmt.Fprintf(&cards, `<div class="card"><a href="/b/%d"><h3>Boat %d of the fleet</h3></a><p class="price">€ %d,000</p><p>Built in %d, moored at pier %d.</p><button>Add to favourites</button></div>`,
			i, i, 10+3*i, 1980+i, i%7)
	}
	got := shown(t, `<head><title>Boats for sale</title></head><body>`+siteHead+`<main><h1>Boats for sale</h1><div class="grid">`+cards.String()+`</div></main>`+siteFoot)
	if strings.Contains(got, "favourites") {
		t.Errorf("a button is kept: %s", got)
	}
	for _, says := range []string{"Boat 0 of the fleet", "Boat 23 of the fleet", "Built in 2003, moored at pier 2."} {
		if !strings.Contains(got, says) {
			t.Errorf("%q is lost: %s", says, got)
		}
	}
	for _, unfolds := range []string{`<h3><button aria-expanded="true">%s</button></h3>`, `<button class="accordion">%s</button>`} {
		var questions strings.Builder
		for _, q := range []string{"When does the harbour open?", "What does a berth cost?", "May I stay over night?", "开门时间是几点？"} {
			fmt.Fprintf(&questions, `<div class="faq">`+unfolds+`<div><p>It is written at the gate, and the warden tells it to whoever asks him on the pier in the morning.</p></div></div>`, q)
		}
		got = shown(t, `<head><title>Questions</title></head><body>`+siteHead+`<main><h1>Questions and answers</h1>`+questions.String()+`<form><input name=q><button>Ask us</button></form></main>`+siteFoot)
		for _, says := range []string{"When does the harbour open?", "May I stay over night?", "开门时间是几点？"} {
			if !strings.Contains(got, says) {
				t.Errorf("%s: %q is lost: %s", unfolds, says, got)
			}
		}
		if strings.Contains(got, "Ask us") {
			t.Errorf("a button is kept: %s", got)
		}
	}
}
