package docx

import (
	"math"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

const (
	maxSeries = 20  // of a chart, which are shown
	maxPoints = 200 // of a series
)

// series is a row of a chart's data.
type series struct {
	name       string
	categories []string
	values     []string
}

// chart shows a chart as the table of its data, with its title before it.
func (r *reader) chart(x *pack.XML, d *drawing) error {
	var title strings.Builder
	var all []series
	err := x.Children(func(name string) error {
		if name != "chart" {
			return nil
		}
		return x.Children(func(name string) error {
			switch name {
			case "title":
				return drawnText(x, &title)
			case "plotArea":
				return r.plots(x, &all)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if text := strings.TrimSpace(title.String()); text != "" {
		d.boxes = append(d.boxes, prose.Block{Runs: []prose.Run{{Text: text}}})
	}
	if len(all) == 0 {
		return nil
	}
	words := func(text string) prose.Cell {
		return prose.Cell{Blocks: []prose.Block{{Runs: []prose.Run{{Text: text}}}}}
	}
	head := prose.Row{Cells: []prose.Cell{{}}}
	points := 0
	for _, s := range all {
		head.Cells = append(head.Cells, words(s.name))
		points = max(points, len(s.values), len(s.categories))
	}
	table := prose.Block{Form: prose.Table, Rows: []prose.Row{head}}
	for i := range points {
		row := prose.Row{Cells: []prose.Cell{words(shortened(at(all[0].categories, i)))}}
		for _, s := range all {
			row.Cells = append(row.Cells, words(shortened(at(s.values, i))))
		}
		table.Rows = append(table.Rows, row)
		if err := r.w.Spend(len(row.Cells) * 3); err != nil {
			return err
		}
	}
	d.boxes = append(d.boxes, table)
	return nil
}

// shortened gives a number without the digits that only a computer's way of counting adds.
func shortened(value string) string {
	const exact = 15 // digits that are always right
	if len(value) <= exact {
		return value
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return value
	}
	return strconv.FormatFloat(n, 'g', exact, 64)
}

func at(texts []string, i int) string {
	if i < len(texts) {
		return texts[i]
	}
	return ""
}

// plots reads the series of all plots in a chart.
func (r *reader) plots(x *pack.XML, all *[]series) error {
	return x.Children(func(name string) error {
		if !strings.HasSuffix(name, "Chart") {
			return nil
		}
		return x.Children(func(name string) error {
			if name != "ser" || len(*all) >= maxSeries {
				return nil
			}
			var s series
			err := x.Children(func(name string) (err error) {
				switch name {
				case "tx":
					var names []string
					names, err = points(x)
					s.name = at(names, 0)
				case "cat", "xVal":
					s.categories, err = points(x)
				case "val", "yVal":
					s.values, err = points(x)
				}
				return err
			})
			*all = append(*all, s)
			return err
		})
	})
}

// points reads the values that a chart keeps of the cells it was made of.
func points(x *pack.XML) ([]string, error) {
	var out []string
	var walk func(name string) error
	walk = func(name string) error {
		switch name {
		case "pt":
			i := number(x.Attr("idx"), -1)
			text := ""
			err := x.Children(func(name string) (err error) {
				if name == "v" {
					text, err = x.AllText()
				}
				return err
			})
			if i >= 0 && i < maxPoints {
				for len(out) <= i {
					out = append(out, "")
				}
				out[i] = text
			}
			return err
		case "v":
			text, err := x.AllText()
			if len(out) == 0 {
				out = append(out, text)
			}
			return err
		case "f", "formatCode":
			return nil
		}
		return x.Children(walk)
	}
	err := x.Children(walk)
	return out, err
}
