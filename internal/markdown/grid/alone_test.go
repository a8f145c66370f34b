package grid

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

func TestAlone(t *testing.T) {
	for src, want := range map[string]bool{
		"<tr><th>Data</th></tr><tr><td><table></table></td></tr>":      true,
		"<tr><th>Data</th><td></td></tr><tr><td> </td></tr>":           true,
		"<tr><th>Data</th><td>1</td></tr>":                             false,
		"<tr><th>Data</th><td><img src=a></td></tr>":                   false,
		"<tr><th>Data</th></tr><tr><td><table><tr><td>x</table>":       false,
		"<tr><th>Data</th><td>" + strings.Repeat("<i></i>", 80):        false, // too much to look at
		"<tr><th>Data</th><td><b><title>x</title></b><style>y</style>": true,
		"": true,
	} {
		root, err := html.Parse(strings.NewReader("<table>" + src))
		if err != nil {
			t.Fatal(err)
		}
		s := Of(facts.Find(root, atom.Table, 20))
		if s.Alone() != want {
			t.Errorf("%s: %v", src, !want)
		}
	}
}
