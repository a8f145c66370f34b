// Package ooxml finds the parts of Office's archives by their relations. It knows what all kinds of these documents share,
// and none of them.
package ooxml

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/pack"
)

// Relation is what a part names: another part, or an address.
type Relation struct {
	Kind     string // the last word of its type, such as "worksheet"; both of the standard's namespaces have the same
	Target   string // the part's name from the archive's root, or an address as it stands
	External bool   // it is an address
}

// Relations are those of one part, by id.
type Relations struct {
	byID  map[string]Relation
	order []Relation
}

// maxRelations is how many relations one part may have; each link of a sheet is one.
const maxRelations = 200_000

// RelationsOf reads the relations of a part; those of the archive itself are of part "". A part without any has none.
func RelationsOf(ctx context.Context, a *pack.Archive, part string, limits document.Limits) (Relations, error) {
	folder, file := path.Split(part)
	name := folder + "_rels/" + file + ".rels"
	data, err := a.Optional(name)
	if err != nil || data == nil {
		return Relations{}, err
	}
	r := Relations{byID: map[string]Relation{}}
	x := pack.NewXML(name, data, limits)
	if err := x.Root(); err != nil {
		return r, err
	}
	return r, x.Children(func(element string) error {
		if element != "Relationship" {
			return nil
		}
		if len(r.order) >= maxRelations {
			return document.Fail(document.TooLarge, "part %q has too many relations", name)
		}
		kind := x.Attr("Type")
		one := Relation{Kind: kind[strings.LastIndexByte(kind, '/')+1:], Target: x.Attr("Target"), External: strings.EqualFold(x.Attr("TargetMode"), "External")}
		if !one.External {
			one.Target = resolve(folder, one.Target)
		}
		r.byID[x.Attr("Id")] = one
		r.order = append(r.order, one)
		return ctx.Err()
	})
}

// resolve makes a target relative to a folder one from the root.
func resolve(folder, target string) string {
	target, _, _ = strings.Cut(strings.ReplaceAll(target, `\`, "/"), "#")
	if !strings.HasPrefix(target, "/") {
		target = "/" + folder + target
	}
	return strings.TrimPrefix(path.Clean(target), "/")
}

// ByID gives a relation; false if there is none of that id.
func (r Relations) ByID(id string) (Relation, bool) {
	one, ok := r.byID[id]
	return one, ok
}

// Part gives the name of the first part of a kind; "" for none.
func (r Relations) Part(kind string) string {
	for _, one := range r.order {
		if one.Kind == kind && !one.External {
			return one.Target
		}
	}
	return ""
}

// Title reads the document's title out of its core properties, which root names. A document without one, or one that is damaged
// there, has none.
func Title(a *pack.Archive, root Relations, limits document.Limits) (string, error) {
	part := root.Part("core-properties")
	if part == "" {
		return "", nil
	}
	data, err := a.Optional(part)
	if err != nil || data == nil {
		return "", err
	}
	title := ""
	x := pack.NewXML(part, data, limits)
	if err = x.Root(); err == nil {
		err = x.Children(func(name string) error {
			if name != "title" {
				return nil
			}
			text, err := x.AllText()
			title = strings.Join(strings.Fields(text), " ")
			return err
		})
	}
	var failed *document.Error
	if errors.As(err, &failed) && failed.Reason == document.Damaged {
		err = nil
	}
	return title, err
}
