// Values that a cell holds beside what it shows to old programs: places, shares, pictures, and the errors that came later. What
// old programs are shown is #VALUE!; what a person sees today is told by parts of their own.

package xlsx

import (
	"errors"
	"strconv"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/sheet"
)

// maxRich is how many of such values, and of what leads to them, a workbook may have. Those after are shown as old programs do.
const maxRich = 200_000

// richValue is such a value, as far as it is shown.
type richValue struct {
	shape int    // its structure
	text  string // what the structure says is shown
}

// shape is a structure: which of a value's fields is shown.
type shape struct {
	kind   string // such as "_localImage"
	field  int    // -1 for none
	follow bool   // the field is the number of the value that is shown
}

// rich is what the workbook holds of such values.
type rich struct {
	shapes []shape
	values []richValue
	byCell []int // number of the value, by the number that a cell has, less one
}

// richCell is the value of the cell with this number, without a text for a picture of which nothing is said; false where the
// workbook does not tell it.
func (r *reader) richCell(number string) (sheet.Value, bool, error) {
	if r.rich == nil {
		r.rich = &rich{}
		if err := r.readRich(); err != nil {
			return sheet.Value{}, false, err
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(r.rich.byCell) {
		return sheet.Value{}, false, nil
	}
	at := r.rich.byCell[n-1]
	for range 4 { // values name others
		if at < 0 || at >= len(r.rich.values) {
			break
		}
		v := r.rich.values[at]
		if v.shape < 0 || v.shape >= len(r.rich.shapes) {
			break
		}
		s := r.rich.shapes[v.shape]
		switch {
		case s.kind == "_error":
			text := laterError(v.text)
			return sheet.Value{Text: text, Kind: sheet.Fault}, text != "", nil
		case s.kind == "_localImage" || s.kind == "_webimage":
			return sheet.Value{Text: v.text}, true, nil
		case s.field < 0 || v.text == "":
			return sheet.Value{}, false, nil
		case !s.follow:
			return sheet.Value{Text: v.text}, true, nil
		}
		if at, err = strconv.Atoi(v.text); err != nil {
			break
		}
	}
	return sheet.Value{}, false, nil
}

// laterError is what a cell shows for one of the errors that came after the first seven, by its number; "" for another.
func laterError(number string) string {
	switch number {
	case "8":
		return "#SPILL!"
	case "9":
		return "#CONNECT!"
	case "10":
		return "#BLOCKED!"
	case "11":
		return "#UNKNOWN!"
	case "12":
		return "#FIELD!"
	case "13":
		return "#CALC!"
	case "14":
		return "#BUSY!"
	case "18":
		return "#EXTERNAL!"
	case "19":
		return "#TIMEOUT!"
	}
	return ""
}

// readRich reads the parts. One that is damaged tells nothing.
func (r *reader) readRich() error {
	for _, p := range []struct {
		kind string
		read func(*pack.XML) error
	}{{"rdRichValueStructure", r.richShapes}, {"rdRichValue", r.richValues}, {"sheetMetadata", r.richCells}} {
		part := r.rels.Part(p.kind)
		if part == "" || !r.archive.Has(part) {
			return nil
		}
		x, err := r.part(part)
		if err == nil {
			err = p.read(x)
		}
		var failed *document.Error
		if errors.As(err, &failed) && failed.Reason == document.Damaged {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) richShapes(x *pack.XML) error {
	return x.Children(func(name string) error {
		if name != "s" || len(r.rich.shapes) == maxRich {
			return nil
		}
		s := shape{kind: x.Attr("t"), field: -1}
		i := -1
		err := x.Children(func(string) error {
			i++
			switch x.Attr("n") {
			case "_DisplayString":
				s.field, s.follow = i, false
			case "errorType", "Text":
				if s.field < 0 {
					s.field = i
				}
			case "%cvi": // the value that has all that is known, this one's words too
				if s.field < 0 {
					s.field, s.follow = i, true
				}
			}
			return nil
		})
		r.rich.shapes = append(r.rich.shapes, s)
		return err
	})
}

func (r *reader) richValues(x *pack.XML) error {
	return x.Children(func(name string) error {
		if name != "rv" || len(r.rich.values) == maxRich {
			return r.ctx.Err()
		}
		v := richValue{shape: -1}
		field := -1
		if n, err := strconv.Atoi(x.Attr("s")); err == nil && n >= 0 && n < len(r.rich.shapes) {
			v.shape, field = n, r.rich.shapes[n].field
		}
		i := -1
		err := x.Children(func(name string) (err error) {
			if name != "v" {
				return nil // what old programs are shown
			}
			if i++; i == field {
				v.text, err = x.TextUpTo(maxText)
			}
			return err
		})
		r.rich.values = append(r.rich.values, v)
		return err
	})
}

// richCells reads what leads from a cell to a value: a list of kinds, for one of these a list of values, and which of it a cell has.
func (r *reader) richCells(x *pack.XML) error {
	const wanted = "XLRICHVALUE"
	kind, kinds := -1, 0
	var values []int
	return x.Children(func(name string) error {
		switch {
		case name == "metadataTypes":
			return x.Children(func(string) error {
				if kinds++; x.Attr("name") == wanted {
					kind = kinds
				}
				return nil
			})
		case name == "futureMetadata" && x.Attr("name") == wanted:
			return x.Children(func(string) error { // one block a value
				at := -1
				err := inside(x, func() {
					if n, err := strconv.Atoi(x.Attr("i")); err == nil && x.Name == "rvb" {
						at = n
					}
				})
				if len(values) < maxRich {
					values = append(values, at)
				}
				return err
			})
		case name == "valueMetadata":
			return x.Children(func(string) error { // one block a number that cells have
				at := -1
				err := x.Children(func(string) error {
					t, err1 := strconv.Atoi(x.Attr("t"))
					v, err2 := strconv.Atoi(x.Attr("v"))
					if err1 == nil && err2 == nil && t == kind && v >= 0 && v < len(values) {
						at = values[v]
					}
					return nil
				})
				if len(r.rich.byCell) < maxRich {
					r.rich.byCell = append(r.rich.byCell, at)
				}
				return err
			})
		}
		return nil
	})
}

// inside visits all elements within the one that started.
func inside(x *pack.XML, visit func()) error {
	return x.Children(func(string) error {
		visit()
		return inside(x, visit)
	})
}
