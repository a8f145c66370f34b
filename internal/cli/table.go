// This file lays out what people read: columns and times.
package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Table writes rows in columns under a head whose cells tabs part.
func Table(s *Session, head string, rows func(row func(cells ...any))) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, head)
	rows(func(cells ...any) {
		for i, c := range cells {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, c)
		}
		fmt.Fprintln(w)
	})
	if err := w.Flush(); err != nil {
		return err
	}
	return s.Out.Print(b.String())
}

// When is a time as a person reads it, to the minute; a hyphen for none.
func When(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
