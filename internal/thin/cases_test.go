// The thin cases of the case files.

package thin

import (
	"path/filepath"
	"testing"

	"github.com/wayleave/wayleave/internal/structurecheck"
)

// Every case of the area states a kind or null; the judge compares the whole list of kinds.
func TestThinCasesOfTheCaseFiles(t *testing.T) {
	files, err := filepath.Glob("../../testdata/structure*.json")
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, file := range files {
		cases, err := structurecheck.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if c.Area != "thin" {
				continue
			}
			judged++
			t.Run(c.ID, func(t *testing.T) {
				facts := page{html: c.HTML, status: c.Status}.facts(t)
				var kinds []string
				for _, fact := range facts {
					kinds = append(kinds, fact.Kind)
				}
				c.Checks = c.ChecksOn("thin")
				for _, failure := range c.Judge(structurecheck.Output{Thin: kinds}) {
					t.Errorf("%s (facts %+v)", failure, facts)
				}
			})
		}
	}
	if judged < 15 {
		t.Errorf("%d thin cases, at least 15 are known", judged)
	}
}
