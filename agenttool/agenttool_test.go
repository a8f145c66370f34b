package agenttool

import "testing"

func TestTextIsThatOfTheFirstPart(t *testing.T) {
	for _, c := range []struct {
		content []Part
		want    string
	}{
		{nil, ""},
		{[]Part{{Text: "a"}}, "a"},
		{[]Part{{Text: "a"}, {MIME: "image/jpeg", Data: []byte("j")}}, "a"},
	} {
		if got := (Result{Content: c.content}).Text(); got != c.want {
			t.Errorf("%v has the text %q", c.content, got)
		}
	}
}
