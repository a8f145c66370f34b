package docx

import (
	"errors"
	"strings"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
	"github.com/wayleave/wayleave/internal/markdown/address"
)

// picture reads a drawing, a shape or an object: what is said in place of it, and the text boxes in it.
func (r *reader) picture(x *pack.XML, p *paragraph, link string) error {
	d := drawing{link: link}
	if err := r.shapes(x, &d); err != nil {
		return err
	}
	run := prose.Run{Kind: prose.Picture, Text: d.alt, Link: d.link}
	switch {
	case d.alt == "" || d.written && !d.pictured || isPath(d.alt): // the words in it say more than those about it
	case d.anchored: // it stands beside the text, not in it
		p.after = append(p.after, prose.Block{Runs: []prose.Run{run}})
		if err := r.w.Spend(2); err != nil {
			return err
		}
	default:
		if err := r.add(p, run); err != nil {
			return err
		}
	}
	p.after = append(p.after, d.boxes...)
	return nil
}

// drawing is what a drawing says.
type drawing struct {
	alt        string
	link       string
	boxes      []prose.Block
	decorative bool
	anchored   bool
	written    bool // there is text in it
	pictured   bool // there is a picture in it
}

// isPath says that what is said of a picture is only where its file was, which Word fills in by itself.
func isPath(alt string) bool {
	ending := strings.LastIndexByte(alt, '.') > len(alt)-6
	return ending && !strings.ContainsAny(alt, "\n") && (len(alt) > 3 && alt[1:3] == `:\` || strings.HasPrefix(alt, "http") && strings.Contains(alt, "://") && !strings.Contains(alt, " "))
}

func (r *reader) shapes(x *pack.XML, d *drawing) error {
	return x.Children(func(name string) error {
		switch name {
		case "pic", "imagedata":
			d.pictured = true
		case "anchor":
			d.anchored = true
		case "docPr", "cNvPr":
			return r.described(x, d, name == "docPr")
		case "shape", "rect", "roundrect", "oval", "line", "group": // VML
			if alt := x.Attr("alt"); alt != "" && d.alt == "" {
				d.alt = alt
			}
			if to := address.Elsewhere(x.Attr("href")); to != "" && d.link == "" {
				d.link = to
			}
		case "textpath":
			if text := strings.TrimSpace(x.Attr("string")); text != "" {
				d.boxes = append(d.boxes, prose.Block{Runs: []prose.Run{{Text: text}}})
				return r.w.Spend(2)
			}
		case "txbxContent":
			d.written = true
			carry := r.carry
			r.carry = nil
			fields, items := r.fields, r.items
			r.fields, r.items = nil, nil
			err := r.blocks(x, func(b *prose.Block) error {
				d.boxes = append(d.boxes, *b)
				return r.w.Spend(1)
			})
			r.carry, r.fields, r.items = carry, fields, items
			return err
		case "chart":
			return r.linked(relation(x, "id"), d, r.chart)
		case "relIds":
			return r.linked(relation(x, "dm"), d, r.diagram)
		case "AlternateContent":
			done := false
			return x.Children(func(name string) error {
				if done || name != "Choice" && name != "Fallback" {
					return nil
				}
				before, alt := len(d.boxes), d.alt
				err := r.shapes(x, d)
				done = len(d.boxes) > before || d.alt != alt
				return err
			})
		case "instrText", "delText":
			return nil
		}
		return r.shapes(x, d)
	})
}

// described reads the properties of a drawing; those of the pictures in it count where it has none of its own.
func (r *reader) described(x *pack.XML, d *drawing, whole bool) error {
	alt := strings.TrimSpace(x.Attr("descr"))
	if alt == "" && whole {
		alt = strings.TrimSpace(x.Attr("title"))
	}
	if hidden := x.Attr("hidden"); hidden == "1" || hidden == "true" {
		alt = ""
	}
	link, decorative := "", false
	err := x.Children(func(name string) error {
		switch name {
		case "hlinkClick":
			to, _ := r.rels.ByID(relation(x, "id"))
			link = address.Elsewhere(to.Target)
		case "extLst":
			return x.Children(func(name string) error {
				return x.Children(func(name string) error {
					if name == "decorative" && truth(x.Attr("val")) == on {
						decorative = true
					}
					return nil
				})
			})
		}
		return nil
	})
	if decorative {
		d.decorative, alt = true, ""
	}
	if alt != "" && d.alt == "" && !d.decorative {
		d.alt = alt
	}
	if link != "" {
		d.link = link
	}
	return err
}

// linked reads a part that a drawing shows.
func (r *reader) linked(id string, d *drawing, read func(*pack.XML, *drawing) error) error {
	to, ok := r.rels.ByID(id)
	if !ok || to.External || !r.archive.Has(to.Target) {
		return nil
	}
	x, err := r.part(to.Target)
	if err == nil {
		err = read(x, d)
	}
	if errors.Is(err, prose.ErrFull) {
		return err
	}
	return nil // a drawing that cannot be read is no reason not to read the text around it
}

// diagram reads the words of a diagram's nodes.
func (r *reader) diagram(x *pack.XML, d *drawing) error {
	return x.Children(func(name string) error {
		if name != "ptLst" {
			return nil
		}
		return x.Children(func(name string) error {
			if name != "pt" {
				return nil
			}
			if kind := x.Attr("type"); kind != "" && kind != "node" && kind != "asst" {
				return nil
			}
			var words strings.Builder
			if err := drawnText(x, &words); err != nil {
				return err
			}
			if text := strings.TrimSpace(words.String()); text != "" {
				d.boxes = append(d.boxes, prose.Block{Item: &prose.Item{}, Runs: []prose.Run{{Text: text}}})
				return r.w.Spend(2)
			}
			return nil
		})
	})
}

// drawnText collects DrawingML's text: a blank between paragraphs.
func drawnText(x *pack.XML, out *strings.Builder) error {
	return x.Children(func(name string) error {
		switch name {
		case "t":
			text, err := x.AllText()
			out.WriteString(text)
			return err
		case "p":
			out.WriteByte(' ')
		}
		return drawnText(x, out)
	})
}
