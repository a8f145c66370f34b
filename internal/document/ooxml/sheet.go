package ooxml

import (
	"context"
	"errors"
	"strconv"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/pack"
)

// Sheet finds the part of a workbook's i-th sheet, which the workbook names by the id of a relation; ending is that of the
// parts' names, such as "xml". A sheet without cells has words to stand in its place; one without a part has no part.
func Sheet(a *pack.Archive, workbook Relations, id string, i int, ending string) (part, instead string) {
	rel, ok := workbook.ByID(id)
	if !ok || !a.Has(rel.Target) {
		rel = Relation{Kind: "worksheet", Target: "xl/worksheets/sheet" + strconv.Itoa(i+1) + "." + ending}
	}
	switch {
	case rel.Kind == "chartsheet":
		return rel.Target, "This sheet is a chart."
	case rel.Kind == "dialogsheet":
		return rel.Target, "This sheet is a dialog."
	case !a.Has(rel.Target):
		return "", "The file holds nothing for this sheet."
	}
	return rel.Target, ""
}

// Draws tells whether anything stands in the drawing that a sheet's part names by the id of a relation: some writers give every sheet
// one, and most of them are empty. One that is damaged has nothing.
func Draws(ctx context.Context, a *pack.Archive, sheet, id string, limits document.Limits) (bool, error) {
	rels, err := RelationsOf(ctx, a, sheet, limits)
	if err != nil {
		return false, err
	}
	rel, ok := rels.ByID(id)
	if !ok || rel.External || !a.Has(rel.Target) {
		return false, nil
	}
	x, err := a.XML(rel.Target, limits)
	if err != nil {
		return false, err
	}
	found := false
	if err = x.Root(); err == nil {
		err = x.Children(func(string) error {
			found = true
			return errFound
		})
	}
	var failed *document.Error
	if errors.Is(err, errFound) || errors.As(err, &failed) && failed.Reason == document.Damaged {
		err = nil
	}
	return found, err
}

// errFound ends a search.
var errFound = errors.New("found")
