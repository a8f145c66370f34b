package declaration

import "testing"

func TestQuirks(t *testing.T) {
	for _, test := range []struct {
		doctype string
		quirks  bool
	}{
		{" html>", false},
		{" HTML >", false},
		{" html SYSTEM \"about:legacy-compat\">", false},
		{">", true},
		{" svg>", true},
		{" html PUBLIC>", true},
		{" html PUBLIC \"unclosed>", true},
		{" html PUBLIC \"-//W3C//DTD HTML 3.2 Final//EN\">", true},
		{" html PUBLIC '-//W3C//DTD HTML 4.01 Transitional//EN'>", true},
		{" html PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\" \"http://www.w3.org/TR/html4/loose.dtd\">", false},
		{" html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\">", false},
		{" html SYSTEM \"http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd\">", true},
	} {
		if got := Quirks(test.doctype); got != test.quirks {
			t.Errorf("Quirks(%q) is %v", test.doctype, got)
		}
	}
}

func TestCommentEnd(t *testing.T) {
	for _, test := range []struct {
		text string // after "<!--"
		end  int
	}{
		{"a-->b", 4}, {"-->b", 3}, {">b", 1}, {"->b", 2}, {"a--!>b", 5}, {"a---->b", 6}, {"a- ->b", 6}, {"a--b-->c", 7}, {"a--", 3}, {"a", 1}, {"", 0},
	} {
		if got := CommentEnd("<!--"+test.text, 4) - 4; got != test.end {
			t.Errorf("%q ends at %d, not %d", test.text, got, test.end)
		}
	}
}
