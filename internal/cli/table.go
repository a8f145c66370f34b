// This file lays out what people read: columns and times.
package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// Many says a number of things.
func Many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

// longestCell is the most characters of somebody else's text in a line.
const longestCell = 120

// OneLine is a text of somebody else's in one line, cut to 120 characters.
func OneLine(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > longestCell {
		return string(line[:longestCell-1]) + "…"
	}
	return string(line)
}

// Sorted are the keys of a map in their order.
func Sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
